package skills

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"hearth/vault"
)

// Bounds of a fact. A memory is one sentence, not a page, a transcript or the program's own instructions.
const (
	maxFact       = 300 // characters
	maxFactBreaks = 2   // line breaks
)

type rememberArgs struct {
	Fact     string `json:"fact"`
	Replaces int64  `json:"replaces"`
}

func (b builtin) remember(ctx context.Context, c Call, a rememberArgs) (Result, error) {
	fact := strings.TrimSpace(a.Fact)
	if n := utf8.RuneCountInString(fact); n > maxFact || strings.Count(fact, "\n") > maxFactBreaks {
		return Result{}, fmt.Errorf("a memory is one short sentence of at most %d characters, and this has %s; put the fact shorter, or keep a long text with write_file", maxFact, thousands(n))
	}
	kind, fact := kindOf(c, fact)
	m, known, err := b.vault.Remember(ctx, vault.Memory{
		Key: c.Key, Kind: kind, Text: fact, Source: "message", SourceMessage: c.Message, SourceRun: c.Run, Origin: oneLine(c.Origin), Replaces: a.Replaces,
	}, c.Scope())
	switch {
	case errors.Is(err, vault.ErrForgotten):
		return Result{}, errors.New("the person had this forgotten and has not told it again since, so it is not stored; do not bring it up")
	case errors.Is(err, vault.ErrNotReplaceable):
		return Result{}, fmt.Errorf("there is no memory %d whose place this could take, so nothing is stored; recall gives the numbers of those that hold", a.Replaces)
	case errors.Is(err, vault.ErrNoFact), errors.Is(err, vault.ErrTooManyMemories):
		return Result{}, err
	case err != nil:
		return Result{}, fmt.Errorf("store the memory: %w", err)
	}
	words := "Noted"
	if known && m.Key != c.Key { // known by this call's own key: it ran before a crash
		words = "Already remembered"
	}
	receipt := fmt.Sprintf("%s (memory %d): %s", words, m.ID, m.Text)
	if m.Origin != "" {
		receipt += " (" + m.Origin + ")"
	}
	if a.Replaces != 0 && a.Replaces != m.ID {
		receipt += fmt.Sprintf(" (instead of memory %d)", a.Replaces)
	}
	people, err := b.vault.People(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("find out what is enforced: %w", err)
	}
	return confirm(receipt, vault.OrderNote(m, people)), nil
}
