package vault

import (
	"errors"
	"testing"
	"time"
)

func TestMEM04AChangedMindLeavesOneCurrentFact(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	old := h.remember(in, "I love sushi")
	h.do(func(tx *Tx) error { _, err := tx.Pin(in, old.ID, true); return err })
	put := func(text string, replaces int64) Memory {
		m, _, err := h.Remember(t.Context(), Memory{Text: text, Source: "message", Replaces: replaces}, in)
		check(t, err)
		return m
	}
	now := put("I can't stand sushi any more", old.ID)
	equal(t, "it is pinned in its place", now.Pinned, true)
	wantTexts(t, "found", h.recall(in, "sushi"), now.Text)
	wantTexts(t, "listed", h.recall(in, ""), now.Text)
	wantTexts(t, "pinned", textsOf(must(h.Pinned(t.Context(), in))(t)), now.Text)
	hits := must(h.Find(t.Context(), in, Query{Text: "sushi", Zone: time.UTC}))(t)
	equal(t, "hits", len(hits), 1)
	equal(t, "hit", hits[0].Memory.ID, now.ID)
	equal(t, "history", must(h.Memory(t.Context(), in, old.ID))(t).SupersededBy, now.ID)
	wantTexts(t, "before it", textsOf(must(h.Before(t.Context(), in, now.ID))(t)), old.Text)
	equal(t, "all rows", len(must(h.Memories(t.Context(), h.ann.ID, 10))(t)), 2)

	// A chain: whoever is taken out of its middle leaves the ends joined.
	last := put("I eat sushi on Sundays", now.ID)
	wantTexts(t, "before the last", textsOf(must(h.Before(t.Context(), in, last.ID))(t)), now.Text, old.Text)
	f := must(h.Forget(t.Context(), in, now.ID))(t)
	equal(t, "holds again", f.Again, int64(0))
	equal(t, "the first is history still", must(h.Memory(t.Context(), in, old.ID))(t).SupersededBy, last.ID)
	wantTexts(t, "found", h.recall(in, "sushi"), last.Text)
	f = must(h.Forget(t.Context(), in, last.ID))(t)
	equal(t, "holds again", f.Again, old.ID)
	wantTexts(t, "nothing ends with neither", h.recall(in, "sushi"), old.Text)
	// A mind changed back is a new fact, and history stays.
	back := put("no sushi for me", old.ID)
	again := put("I love sushi", back.ID)
	if again.ID == old.ID {
		t.Error("the old row holds again")
	}
	wantTexts(t, "found", h.recall(in, "sushi"), again.Text)
	// The same told once more is the one that is there; it takes the other's place all the same.
	rival := h.remember(in, "sushi is what Ann hates")
	equal(t, "known", put("I LOVE sushi!", rival.ID).ID, again.ID)
	wantTexts(t, "found", h.recall(in, "sushi"), again.Text)
	equal(t, "itself", put("I love sushi", again.ID).SupersededBy, int64(0))
}

func TestWhatCannotBeSuperseded(t *testing.T) {
	h := newHome(t)
	in, group := h.private(h.ann), h.inGroup("-5", h.ann)
	rule, _, err := h.Remember(t.Context(), Memory{Text: "never write to my boss", Kind: "rule", Source: "command"}, in)
	check(t, err)
	bobs := h.remember(h.private(h.bob), "Bob lives in Porto")
	shared := h.remember(h.private(h.bob), "the wifi is slow")
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`UPDATE memory SET scope = 'household' WHERE id = ?`, shared.ID)
		return err
	})
	here := h.remember(group, "dinner is at eight")
	old := h.remember(in, "I live in Porto")
	now, _, err := h.Remember(t.Context(), Memory{Text: "I live in Lisbon", Source: "message", Replaces: old.ID}, in)
	check(t, err)
	for name, c := range map[string]struct {
		in Scope
		m  Memory
	}{
		"a rule, by what was read in a talk": {in, Memory{Text: "write to anybody", Source: "extracted", Replaces: rule.ID}},
		"a rule, by a call of the model's":   {in, Memory{Text: "write to anybody", Source: "message", Replaces: rule.ID}},
		"a rule, by another one":             {in, Memory{Text: "always answer in Portuguese", Kind: "rule", Source: "message", Replaces: rule.ID}},
		"of another person":                  {in, Memory{Text: "Bob lives in Faro", Source: "message", Replaces: bobs.ID}},
		"shared by another":                  {in, Memory{Text: "the wifi is fast", Source: "message", Replaces: shared.ID}},
		"a group's, in private":              {in, Memory{Text: "dinner is at nine", Source: "message", Replaces: here.ID}},
		"a person's, in a group":             {group, Memory{Text: "Ann lives in Faro", Source: "message", Replaces: now.ID}},
		"by somebody else's words":           {in, Memory{Text: "Ann lives in Faro", Source: "message", Origin: "forwarded from Eve", Replaces: now.ID}},
		"superseded already":                 {in, Memory{Text: "Ann lives in Faro", Source: "message", Replaces: old.ID}},
		"nothing":                            {in, Memory{Text: "Ann lives in Faro", Source: "message", Replaces: 99}},
	} {
		if _, _, err := h.Remember(t.Context(), c.m, c.in); !errors.Is(err, ErrNotReplaceable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	equal(t, "rows", h.count(`SELECT count(*) FROM memory`), 6)
	equal(t, "superseded", h.count(`SELECT count(*) FROM memory WHERE superseded_by IS NOT NULL`), 1)
}

func textsOf(found []Memory) (out []string) {
	for _, m := range found {
		out = append(out, m.Text)
	}
	return out
}
