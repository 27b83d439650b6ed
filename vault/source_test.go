package vault

import "testing"

// Whoever sees a memory that was told elsewhere does not see the message.
func TestMEM11TheSourceOfWhatIsSharedShowsNoWords(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	p := h.claimed(h.ann, "CANARY: the bins go out on Monday")
	m, _, err := h.Remember(t.Context(), Memory{Text: "the bins go out on Monday", Source: "message", SourceMessage: p.Messages[0].ID, SourceRun: p.Run.ID}, in)
	check(t, err)
	_, err = h.SourceOf(t.Context(), h.private(h.bob), m.ID)
	wantErr(t, err, ErrNotFound)
	h.do(func(tx *Tx) error { _, err := tx.exec(`UPDATE memory SET scope = 'household'`); return err })
	for _, there := range []Scope{h.private(h.bob), h.inGroup("-5", h.ann)} {
		got := must(h.SourceOf(t.Context(), there, m.ID))(t)
		equal(t, "words", got.Text, "")
		equal(t, "writer", got.Person, h.ann.ID)
		equal(t, "place", got.Kind, Private)
	}
	equal(t, "at home", must(h.SourceOf(t.Context(), in, m.ID))(t).Text, "CANARY: the bins go out on Monday")
	_, err = h.SourceOf(t.Context(), in, h.remember(in, "told by command").ID)
	wantErr(t, err, ErrNotFound)
}

func TestFindMemoriesGivesNothingOfWhatWasSaid(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	h.accept(h.ann, "the boiler drips")
	h.remember(in, "the boiler is from 1998")
	for query, want := range map[string]int{"boiler": 1, "": 1, "*": 1, "zebra": 0} {
		equal(t, query, len(must(h.FindMemories(t.Context(), in, Query{Text: query}))(t)), want)
	}
}
