package vault

import (
	"strings"
	"testing"
	"time"
)

// arrived has a letter to Bob of which nobody knows whether it arrived, and gives it with the question about it.
func arrived(h *home) (letter Part, q Approval) {
	h.t.Helper()
	p := h.claimed(h.ann, "tell Bob")
	must(h.Letter(h.t.Context(), "call:1", p.Run.ID, h.ann, h.bob, "dinner at eight"))(h.t)
	letter = h.parts()[0]
	check(h.t, h.Sending(h.t.Context(), letter))
	check(h.t, h.EndRun(h.t.Context(), p.Run.ID, Ending{State: Done, Reply: "on its way"}))
	check(h.t, h.Undelivered(h.t.Context(), letter, MayHaveSent, "timeout", time.Time{}))
	open := must(h.Approvals(h.t.Context(), true, 10))(h.t)
	equal(h.t, "questions", len(open), 1)
	return letter, open[0]
}

func TestALetterThatMayHaveArrivedIsAskedAbout(t *testing.T) {
	for choice, want := range map[string]struct {
		state  string
		marked bool
	}{"again": {"waiting", true}, "worked": {"sent", true}, "drop": {"dropped", true}} {
		t.Run(choice, func(t *testing.T) {
			h := newHome(t)
			letter, q := arrived(h)
			equal(t, "kind", q.Kind, "unknown")
			equal(t, "person", q.Person, h.ann.ID)
			var asked Part
			for _, p := range h.parts() {
				if p.Class == Asks {
					asked = p
				}
			}
			if !strings.Contains(asked.Text, "From Ann: dinner at eight") || len(asked.Buttons) != 3 || asked.Buttons[1] != (Button{"It worked", "a:1:worked"}) {
				t.Errorf("asked: %+v", asked)
			}
			_, err := h.decide(q.ID, h.bob, choice)
			wantErr(t, err, ErrNotOwner)
			must(h.decide(q.ID, h.ann, choice))(t)
			got := h.part(letter.ID)
			equal(t, "state", got.State, want.state)
			equal(t, "marked", got.Marked, want.marked)
			_, err = h.decide(q.ID, h.ann, "again")
			wantErr(t, err, ErrDecided)
			equal(t, "state after a second answer", h.part(letter.ID).State, want.state)
		})
	}
}

// Decided on the command line, it is no question any more.
func TestALetterThatWasSettledElsewhereIsNoQuestion(t *testing.T) {
	for name, settle := range map[string]func(h *home, part int64) error{
		"retry": func(h *home, part int64) error { return h.RetryPart(h.t.Context(), part) },
		"drop":  func(h *home, part int64) error { return h.DropPart(h.t.Context(), part) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			letter, q := arrived(h)
			check(t, settle(h, letter.ID))
			before := h.part(letter.ID).State
			_, err := h.decide(q.ID, h.ann, "worked")
			wantErr(t, err, ErrDecided)
			equal(t, "state", h.part(letter.ID).State, before)
		})
	}
}
