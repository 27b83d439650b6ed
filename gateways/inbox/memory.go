package inbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hearth/vault"
)

// A memory's words stand in an answer whole or not at all: when it is forgotten, they are looked for in all that was ever
// said, and a piece of them would not be found.

// maxFact is the longest fact of /remember, in letters: its confirmation fits into one message.
const maxFact = 2000

// remember keeps a fact in the scope of the conversation.
func remember(r *request) ([]string, error) {
	if r.arg == "" {
		return say("What shall I remember? Write it as /remember TEXT.")
	}
	if n := len([]rune(r.arg)); n > maxFact {
		return say("That has %d letters; at most %d fit into one memory. Tell it in several.", n, maxFact)
	}
	m, known, err := r.tx.Remember(vault.Memory{Key: r.key(), Kind: vault.KindOf(r.arg), Text: r.arg, Source: "command"}, r.scope())
	switch {
	case errors.Is(err, vault.ErrNoFact):
		return say("There are no words to remember in this. Write it as /remember TEXT.")
	case errors.Is(err, vault.ErrTooManyMemories):
		return say("%s /memory lists what there is.", sentence(err.Error()))
	case err != nil:
		return nil, err
	}
	people, err := r.i.opt.Vault.People(r.ctx)
	if err != nil {
		return nil, err
	}
	words := "Noted"
	if known {
		words = "I know that already"
	}
	told := fmt.Sprintf("%s (memory %d): %s", words, m.ID, m.Text)
	if note := vault.OrderNote(m, people); note != "" {
		told += "\n" + note
	}
	return []string{told}, nil
}

// foundMemories is how many a search shows, listedMemories how many a listing.
const (
	foundMemories  = 20
	listedMemories = 50
)

// memory lists or searches what is remembered in this conversation's scope. A listing goes on by "before N".
func memory(r *request) ([]string, error) {
	limit := listedMemories
	before, further := int64(0), false
	if word, rest, _ := strings.Cut(r.arg, " "); strings.EqualFold(word, "before") {
		n, after, ok := number(rest)
		before, further = n, ok && after == ""
	}
	var found []vault.Memory
	var err error
	if further {
		found, err = r.i.opt.Vault.MemoriesBefore(r.ctx, r.scope(), before, limit+1)
	} else {
		if r.arg != "" {
			limit = foundMemories
		}
		found, err = r.i.opt.Vault.FindMemories(r.ctx, r.scope(), vault.Query{Text: r.arg, Limit: limit + 1, Zone: r.zone})
	}
	if err != nil {
		return nil, err
	}
	more := fmt.Sprintf("… and more: /memory before %d goes on, /memory QUERY searches", lastNumber(found, limit))
	switch {
	case len(found) == 0 && further:
		return say("There is nothing before memory %d%s.", before, r.where())
	case len(found) == 0 && r.arg != "":
		return say("I remember nothing about that%s. /memory lists everything.", r.where())
	case len(found) == 0:
		return say("I remember nothing%s yet. /remember TEXT keeps a fact.", r.where())
	}
	var lines []string
	for n, m := range found {
		if n == limit {
			if r.arg != "" && !further {
				more = "… and more: other words find less"
			}
			lines = append(lines, more)
			break
		}
		lines = append(lines, memoryLine(m))
	}
	return pack(lines), nil
}

// lastNumber is that of the last memory that is shown.
func lastNumber(found []vault.Memory, limit int) int64 {
	if len(found) < limit || limit == 0 {
		return 0
	}
	return found[limit-1].ID
}

// where names the scope when it is not everything.
func (r *request) where() string {
	if r.private() {
		return ""
	}
	return " in this group"
}

func memoryLine(m vault.Memory) string {
	line := fmt.Sprintf("%d · %s", m.ID, m.Text)
	var notes []string
	if m.Kind != "fact" {
		notes = append(notes, m.Kind)
	}
	if m.Pinned {
		notes = append(notes, "pinned")
	}
	if m.Scope == "household" {
		notes = append(notes, "for the household")
	}
	if m.Origin != "" {
		notes = append(notes, m.Origin)
	}
	if len(notes) > 0 {
		line += " (" + strings.Join(notes, ", ") + ")"
	}
	return line
}

// noMemory is the answer for a number that is nobody's, somebody else's, or forgotten.
func noMemory(r *request, n int64) ([]string, error) {
	return say("There is no memory %d%s. /memory lists what there is.", n, r.where())
}

// pin keeps a memory in view, or with "off" no longer.
func pin(r *request) ([]string, error) {
	n, rest, ok := number(r.arg)
	if !ok || rest != "" && !strings.EqualFold(rest, "off") {
		return say("Which one? Write it as /pin N, for example /pin 3, or /pin 3 off. /memory lists the numbers.")
	}
	m, err := r.tx.Pin(r.scope(), n, rest == "")
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return noMemory(r, n)
	case err != nil:
		return nil, err
	case rest != "":
		return say("Memory %d is no longer always in view: %s", n, m.Text)
	}
	return say("Memory %d is always in view from now on: %s", n, m.Text)
}

// forget removes a memory. It says which one by its number alone: its words would be back in the vault with the answer.
func forget(r *request) ([]string, error) {
	n, _, ok := number(r.arg)
	if !ok {
		return say("Which one? Write it as /forget N, for example /forget 3. /memory lists the numbers.")
	}
	f, err := r.tx.Forget(r.scope(), n)
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return noMemory(r, n)
	case err != nil:
		return nil, err
	}
	rule := ""
	if f.Kind == "rule" {
		rule = " It binds me no longer."
	}
	lines := []string{fmt.Sprintf("Forgotten: memory %d, of %s%s.%s Its words are removed wherever I kept them%s.", n, r.date(f.Created), alsoGone(f.Also), rule, fromMessages(f.Lines))}
	if f.Again != 0 {
		lines = append(lines, fmt.Sprintf("Memory %d, which it had replaced, holds again.", f.Again))
	}
	if f.Gone.IsZero() {
		lines = append(lines, "There are no snapshots on this machine; a backup that you made keeps the words.")
	} else {
		lines = append(lines, fmt.Sprintf("Snapshots on this machine lose them by %s; a backup that you made keeps them.", r.date(f.Gone)))
	}
	for _, path := range f.KeptDBs {
		lines = append(lines, fmt.Sprintf("The vault that a restore put aside keeps them too, until you delete it: %s", filepath.Base(path)))
	}
	return []string{strings.Join(lines, "\n")}, nil
}

// alsoGone names the memories that said the same as one that is forgotten.
func alsoGone(numbers []int64) string {
	out := ""
	for _, n := range numbers {
		out += fmt.Sprintf(", and memory %d, which came from the same words", n)
	}
	return out
}

func fromMessages(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", also from 1 message"
	}
	return fmt.Sprintf(", also from %d messages", n)
}
