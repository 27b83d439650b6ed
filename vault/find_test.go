package vault

import (
	"strings"
	"testing"
	"time"
)

// find gives what is found, memories as they are and messages with their speaker.
func (h *home) find(in Scope, query string) (out []string) {
	h.t.Helper()
	for _, hit := range must(h.Find(h.t.Context(), in, Query{Text: query}))(h.t) {
		if hit.Memory != nil {
			out = append(out, hit.Memory.Text)
		} else {
			out = append(out, hit.Speaker+": "+hit.Message.Text)
		}
	}
	return out
}

func (h *home) first(in Scope, query string) string {
	h.t.Helper()
	return append(h.find(in, query), "")[0]
}

func TestFindsWhatWasSaid(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	h.talk(h.ann, "I moved the ladders into the cellar", "Good to know.")
	h.clock.add(48 * time.Hour)
	h.talk(h.ann, "which trophy did they give you?", "I won nothing, I am a program.")
	h.talk(h.ann, "我的妻子怀孕了，预产期在十月", "恭喜")
	h.clock.add(48 * time.Hour)
	for query, want := range map[string]string{
		"moving a ladder": "Ann: I moved the ladders into the cellar", "怀孕": "Ann: 我的妻子怀孕了，预产期在十月", "trophies": "Ann: which trophy did they give you?",
		"what did we speak of on 30 November": "Ann: I moved the ladders into the cellar", "C++": "", `"`: "", "AND OR NOT": "", "quetzal": "",
	} {
		if got := h.first(in, query); got != want {
			t.Errorf("%q finds %q first, want %q", query, got, want)
		}
	}
	hit := must(h.Find(t.Context(), in, Query{Text: "ladder cellar"}))(t)[0]
	if hit.After == nil || hit.After.Text != "Good to know." || hit.Before != nil {
		t.Errorf("around the line stand %v and %v", hit.Before, hit.After)
	}
}

func TestFindGivesNoCommandAndNotTheRunThatAsks(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	check(t, h.Command(t.Context(), h.says(h.ann, "/remember the zebra code"), h.ann, func(*Tx, Conversation) ([]Part, error) { return nil, nil }))
	p := h.claimed(h.ann, "where is the zebra?")
	if got := must(h.Find(t.Context(), in, Query{Text: "zebra", Run: p.Run.ID}))(t); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	equal(t, "others find it", len(h.find(in, "zebra")), 1)
}

// MEM-07: what is forgotten, edited away or withdrawn is not found, and its words are in no index.
func TestMEM07FindForgets(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	h.talk(h.ann, "the safe hides behind the quokka", "noted")
	m := h.remember(in, "quokka")
	equal(t, "found", len(h.find(in, "quokka safe")) > 1, true)
	must(h.Forget(t.Context(), in, m.ID))(t)
	if got := h.find(in, "quokka"); len(got) != 0 {
		t.Errorf("still found: %q", got)
	}
	equal(t, "found by the other words", h.first(in, "safe"), "Ann: the safe hides behind the "+blank)
	equal(t, "rows of the index for the word", h.count(`SELECT count(*) FROM message_fts WHERE message_fts MATCH 'quokka'`), 0)
	said := h.says(h.ann, "meet the wombat at noon")
	must(h.Accept(t.Context(), said, h.ann, 0))(t)
	must(h.Accept(t.Context(), edited(said, "meet the badger at noon", 5), h.ann, 0))(t)
	equal(t, "before the edit", len(h.find(in, "wombat")), 0)
	equal(t, "after it", h.first(in, "badger"), "Ann: meet the badger at noon")
}

func TestSpeakersAndPinsWeigh(t *testing.T) {
	h := newHome(t)
	in := h.inGroup("-5", h.ann)
	for _, l := range []struct {
		p     Person
		words string
	}{{h.ann, "the boat needs paint"}, {h.bob, "the boat needs a mast"}} {
		h.clock.add(2 * time.Hour)
		must(h.Accept(t.Context(), h.saysIn("-5", l.p, l.words), l.p, 0))(t)
	}
	equal(t, "of Ann", h.first(in, "what did Ann say about the boat"), "Ann: the boat needs paint")
	equal(t, "of Bob", h.first(in, "what did Bob say about the boat"), "Bob: the boat needs a mast")
	h.remember(in, "boat one")
	two := h.remember(in, "boat two")
	h.do(func(tx *Tx) error { _, err := tx.Pin(in, two.ID, true); return err })
	equal(t, "pinned", h.first(in, "boat"), "boat two")
}

func TestTimesInAQuery(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) // a Monday
	for query, want := range map[string]string{
		"on 2026-03-04": "2026-03-04 2026-03-05", "on 7 July, 2023": "2023-07-07 2023-07-08", "May 3rd": "2026-05-03 2026-05-04", "the 24th of december": "2025-12-24 2025-12-25",
		"in June 2023": "2023-06-01 2023-07-01", "yesterday": "2026-11-29 2026-11-30", "today": "2026-11-30 2026-12-01", "3 days ago": "2026-11-27 2026-11-28", "last week": "2026-11-23 2026-11-30",
		"last month": "2026-10-01 2026-11-01", "on friday": "2026-11-27 2026-11-28", "in 2024": "2024-01-01 2024-12-31", "in march": "March", "we may march": "", "99 may": "", "2026-13-01": "2026-01-01 2027-01-01", "": "",
	} {
		p := timeIn(query, now, nil)
		got := ""
		switch {
		case p.month != 0:
			got = p.month.String()
		case p.known():
			got = p.from.Format(time.DateOnly) + " " + p.to.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", query, got, want)
		}
	}
}

// FuzzFind: no query is an error, nothing of another conversation is found, and a line is found by its own words.
func FuzzFind(f *testing.F) {
	for _, s := range append(odd, "on 31 february", "99999999999 days ago", "may 3, 2023", "last friday", "I you Bob") {
		f.Add(s)
	}
	h := newHome(f)
	in := h.private(h.ann)
	h.talk(h.bob, "Bob's own fact about nuts", "yes")
	h.talk(h.ann, "what Ann says of nuts today", "yes")
	f.Fuzz(func(t *testing.T, query string) {
		for _, hit := range must(h.Find(t.Context(), in, Query{Text: query}))(t) {
			if strings.Contains(hit.Message.Text, "Bob's") {
				t.Errorf("%q finds another's %q", query, hit.Message.Text)
			}
		}
	})
}
