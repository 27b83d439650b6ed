package vault

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// extracted has a fact taken out of a message, as the reading of an old talk does.
func (h *home) extracted(in Scope, fact string, message int64) (Memory, error) {
	m, _, err := h.Remember(h.t.Context(), Memory{Text: fact, Source: "extracted", SourceMessage: message}, in)
	return m, err
}

func TestMEM08WhatIsForgottenIsNotTakenFromATalkAgain(t *testing.T) {
	h := newHome(t)
	in, bob := h.private(h.ann), h.private(h.bob)
	m := h.remember(in, "the code of the safe is CANARY77")
	h.remember(in, "I like tea")
	must(h.Forget(t.Context(), in, m.ID))(t)
	must(h.Forget(t.Context(), in, 2))(t)
	h.reopen() // the key is kept
	for _, fact := range []string{"the code of the safe is CANARY77", "The safe's code: canary77!", "CANARY77 is Ann's safe code", "I like tea.", "Ann likes tea", "she liked teas"} {
		_, err := h.extracted(in, fact, 0)
		wantErr(t, err, ErrForgotten)
	}
	for _, fact := range []string{"the code of the safe is another", "Ann does not like tea", "I never like tea", "Bob likes tea"} {
		must(h.extracted(in, fact, 0))(t)
	}
	must(h.extracted(bob, "the code of the safe is CANARY77", 0))(t) // Bob's own
	must(h.extracted(h.inGroup("-5", h.ann), "the code of the safe is CANARY77", 0))(t)
	wantTexts(t, "found", h.recall(in, "safe code canary77"), "the code of the safe is another")
	// In the marks is no word, and in an export neither marks nor key.
	equal(t, "marks", h.count(`SELECT count(*) FROM tombstone`), 2)
	key := h.str(`SELECT value FROM setting WHERE name = 'tombstone_key'`)
	if len(key) < 64 {
		t.Errorf("the key is %q", key)
	}
	for _, l := range exportOf(t, h, h.ann) {
		for _, f := range l.Fields {
			if l.Kind == "tombstone" || f.Value == key || f.Name == "gist" {
				t.Errorf("the export has %s of %s", f.Name, l.Kind)
			}
		}
	}
}

// A group's mark is the group's, whoever tells the fact there.
func TestMEM08AGroupForgetsForItself(t *testing.T) {
	h := newHome(t)
	anns, bobs := h.inGroup("-5", h.ann), h.inGroup("-5", h.bob)
	m := h.remember(anns, "the party is at CANARY hall")
	must(h.Forget(t.Context(), anns, m.ID))(t)
	_, err := h.extracted(bobs, "at Canary hall the party is", 0)
	wantErr(t, err, ErrForgotten)
	must(h.extracted(h.inGroup("-6", h.ann), "the party is at CANARY hall", 0))(t)
}

func TestMEM08OnlyThePersonBringsItBack(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	tool := func(p Progress, fact string) error {
		_, _, err := h.Remember(t.Context(), Memory{Text: fact, Source: "message", SourceRun: p.Run.ID, SourceMessage: p.Messages[0].ID}, in)
		return err
	}
	ended := func(p Progress) { check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "ok"})) }
	p := h.claimed(h.ann, "my bank is the Canary Bank, mind that")
	check(t, tool(p, "Ann's bank is the Canary Bank"))
	ended(p)
	must(h.Forget(t.Context(), in, 1))(t)

	p = h.claimed(h.ann, "good morning")
	wantErr(t, tool(p, "Ann's bank is the Canary Bank"), ErrForgotten) // the model's own idea
	ended(p)
	forward := h.says(h.ann, "Ann's bank is the Canary Bank")
	forward.Forwarded = "Eve"
	must(h.Accept(t.Context(), forward, h.ann, 0))(t)
	p = h.claim()
	wantErr(t, tool(p, "Ann's bank is the Canary Bank"), ErrForgotten) // Eve's words
	ended(p)
	bobs := h.claimed(h.bob, "my bank is the Canary Bank too")
	ended(bobs)
	p = h.claimed(h.ann, "so be it")
	wantErr(t, tool(p, "Ann's bank is the Canary Bank"), ErrForgotten) // Bob's words
	ended(p)
	p = h.claimed(h.ann, "the bank: it is Canary Bank after all")
	ended(p)
	p = h.claimed(h.ann, "please remember that")
	check(t, tool(p, "Ann's bank is the Canary Bank"))
	ended(p)
	_, err := h.extracted(in, "Ann's bank: the Canary Bank!", 0) // it is no longer forgotten, and known
	check(t, err)
	equal(t, "kept", h.count(`SELECT count(*) FROM memory`), 1)

	must(h.Forget(t.Context(), in, 2))(t)
	_, _, err = h.Remember(t.Context(), Memory{Text: "my bank is the Canary Bank", Source: "command"}, in)
	check(t, err)
	equal(t, "marks", h.count(`SELECT count(*) FROM tombstone`), 0)
}

func TestMEM07WhatWasTakenFromTheSameMessageGoesToo(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	p := h.claimed(h.ann, "my sister Quetza lives at 5 Canary Street, and I drive a red car")
	said := p.Messages[0].ID
	told, _, err := h.Remember(t.Context(), Memory{Text: "Her sister Quetza lives at 5 Canary Street", Source: "message", SourceRun: p.Run.ID, SourceMessage: said}, in)
	check(t, err)
	twin := must(h.extracted(in, "Quetza's street is Canary Street", said))(t)
	car := must(h.extracted(in, "Ann drives a red car", said))(t)
	apart := must(h.extracted(in, "Canary Street is noisy", said+100))(t)
	h.step(p, StepDone{End: &Ending{State: Done, Reply: "Noted."}})
	must(os.Create(filepath.Join(h.folder, "vault.db.before-restore-20261129-080000")))(t)
	must(os.Create(filepath.Join(h.folder, "vault.db.before-restore-20261129-080000-wal")))(t)
	must(h.Snapshot(t.Context(), Daily))(t)
	f := must(h.Forget(t.Context(), in, told.ID))(t)
	equal(t, "numbers that went too", len(f.Also), 1)
	equal(t, "which", f.Also[0], twin.ID)
	equal(t, "lines: what was said and what was answered", f.Lines, 2)
	equal(t, "out of the snapshots until", f.Gone.Equal(h.clock.now().Add(24*time.Hour)), true)
	equal(t, "vaults aside", strings.Join(f.KeptDBs, " "), filepath.Join(h.folder, "vault.db.before-restore-20261129-080000"))
	must(h.Memory(t.Context(), in, car.ID))(t)
	must(h.Memory(t.Context(), in, apart.ID))(t)
	equal(t, "left of the name", h.left("quetza"), 0)
	_, err = h.extracted(in, "Quetza's street is Canary Street", said)
	wantErr(t, err, ErrForgotten)
}

// A rule ends by its own number: who has a fact forgotten, the model above all, does not lift a lock with it.
func TestForgettingAFactLeavesTheRuleOfTheSameMessage(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	p := h.claimed(h.ann, "never write to my boss Quetza without asking")
	said := p.Messages[0].ID
	rule, _, err := h.Remember(t.Context(), Memory{Text: "never write to my boss Quetza without asking", Kind: "rule", Source: "message", SourceMessage: said}, in)
	check(t, err)
	fact := must(h.extracted(in, "Ann's boss is Quetza", said))(t)
	h.step(p, StepDone{End: &Ending{State: Done, Reply: "Noted."}})
	f := must(h.Forget(t.Context(), in, fact.ID))(t)
	equal(t, "also", len(f.Also), 0)
	equal(t, "kind", must(h.Memory(t.Context(), in, rule.ID))(t).Kind, "rule")
}

func TestMEM07ForgettingTellsWhatIsNotThere(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	h.remember(in, "it rains")
	f := must(h.Forget(t.Context(), in, 1))(t)
	equal(t, "lines", f.Lines, 0)
	equal(t, "snapshots", f.Gone.IsZero(), true)
	equal(t, "vaults aside", len(f.KeptDBs), 0)
	equal(t, "also", len(f.Also), 0)
}

// The marks of two vaults cannot be compared, and none tells words that somebody guesses.
func TestTombstonesAreKeyed(t *testing.T) {
	var marks [][]byte
	for range 2 {
		h := newHome(t)
		in := h.private(h.ann)
		h.remember(in, "it rains")
		must(h.Forget(t.Context(), in, 1))(t)
		marks = append(marks, must(one(t.Context(), h.rdb, func(s scanner) (b []byte, err error) { err = s.Scan(&b); return b, err }, `SELECT mark FROM tombstone`))(t))
	}
	if len(marks[0]) != 32 || bytes.Equal(marks[0], marks[1]) {
		t.Errorf("the marks are %x and %x", marks[0], marks[1])
	}
}

func TestGist(t *testing.T) {
	for _, c := range []struct{ fact, want string }{
		{"Ann's sister is allergic to nuts", "allerg nut sister"},
		{"My sister: allergic to NUTS!", "allerg nut sister"},
		{"I don't like tea", "like not tea"},
		{"Ann does not like tea any more", "like not tea"},
		{"I like tea", "like tea"},
		{"I can't, won't and don’t like tea", "like not tea"},
		{"I'd like tea; he's, they're", "like tea"},
		{"I take vitamin D", "d take vitamin"},
		{"I take a vitamin A", "a take vitamin"},
		{"我怀孕了", "了 孕 怀 我"},
		{"I am here", "am here i"},
		{"", ""},
	} {
		if got := gist(c.fact, "Ann"); got != c.want {
			t.Errorf("the gist of %q is %q, want %q", c.fact, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"The spare key is under the blue pot", "spare key: under a blue pot", true},
		{"I like tea", "Ann likes tea", true},
		{"I like tea", "she likes tea", false},
		{"I gave Bob the key", "Bob gave me the key", false},
		{"I like tea", "I don't like tea", false},
	} {
		if got := sameTold(c.a, c.b, "Ann"); got != c.same {
			t.Errorf("%q and %q are the same: %t", c.a, c.b, got)
		}
	}
	for _, c := range []struct {
		said, fact string
		backs      bool
	}{
		{"I can't stand sushi any more", "Ann dislikes sushi", true},
		{"nice weather today", "Ann dislikes sushi", false},
		{"my sister Rita can't eat nuts", "Ann's sister Rita is allergic to nuts", true},
		{"hello", "Ann's token is 12345 and her name is on it", false},
		{"", "tea", false},
	} {
		if got := Backs(c.said, c.fact, "Ann"); got != c.backs {
			t.Errorf("%q backs %q: %t", c.said, c.fact, got)
		}
	}
}
