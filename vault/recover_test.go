package vault

import (
	"testing"
	"time"
)

func TestPartsFoundSendingAreJudgedByTheirClass(t *testing.T) {
	type found struct {
		state  string
		marked bool
		told   int
	}
	again, marked := found{"waiting", false, 0}, found{"waiting", true, 0}
	for name, c := range map[string]struct {
		attempts  int
		otherBoot bool
		noBoot    bool
		want      map[Class]found
	}{
		// The counter outlives the process: nothing was handed to the messenger.
		"never tried": {want: map[Class]found{Answer: again, Reminder: again, Notice: again, Asks: again, Status: again, Letter: again}},
		"tried": {attempts: 1, want: map[Class]found{
			Answer: marked, Reminder: marked, Notice: marked, Asks: marked, Status: {"dropped", false, 0}, Letter: {"unknown", false, 1},
		}},
		// The machine went down, and with it perhaps the counter.
		"another start of the machine": {otherBoot: true, want: map[Class]found{Answer: marked, Status: {"dropped", false, 0}, Letter: {"unknown", false, 1}}},
		"a system without a boot id":   {noBoot: true, want: map[Class]found{Answer: marked, Letter: {"unknown", false, 1}}},
	} {
		for class, want := range c.want {
			t.Run(name+" "+string(class), func(t *testing.T) {
				h := newHome(t)
				if c.otherBoot {
					h.boot = "another"
				}
				if c.noBoot {
					h.boot = ""
				}
				p := h.post(Part{Text: "words", Class: class, To: to("2")})
				for range c.attempts {
					check(t, h.Sending(t.Context(), p))
				}
				again := h.reopen
				if c.noBoot { // a new life would ask this system, which tells
					again = func() { check(t, h.recover(t.Context())) }
				}
				again()
				got := h.part(p.ID)
				equal(t, "state", got.State, want.state)
				equal(t, "marked", got.Marked, want.marked)
				equal(t, "told", len(h.parts())-1, want.told)
				again() // a second crash right after changes nothing
				equal(t, "told", len(h.parts())-1, want.told)
				equal(t, "state", h.part(p.ID).State, want.state)
				equal(t, "marked", h.part(p.ID).Marked, want.marked)
			})
		}
	}
}

func TestRecoveredPartGoesBeforeWhatIsBehindIt(t *testing.T) {
	h := newHome(t)
	p := h.post(Part{Text: "one", Class: Answer})
	h.post(Part{Text: "two", Class: Answer})
	check(t, h.Sending(t.Context(), p))
	check(t, h.Undelivered(t.Context(), p, NotSent, "x", h.clock.now().Add(time.Hour)))
	check(t, h.Sending(t.Context(), h.part(p.ID)))
	h.reopen()
	wantTexts(t, "heads", h.heads(), "one")
	head := must(h.Heads(t.Context(), "telegram"))(t)[0]
	equal(t, "at once", head.NextTry.After(h.clock.now()), false)
	equal(t, "marked", head.Marked, true)
	contains(t, "error", head.Error, "ended while this was being sent")
}
