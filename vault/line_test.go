package vault

import (
	"strings"
	"testing"
	"time"
)

func (h *home) line(key, words string) bool {
	h.t.Helper()
	return must(h.ShowLine(h.t.Context(), Part{Key: key, To: to("1"), Text: words}))(h.t)
}

func (h *home) lines() []Line {
	h.t.Helper()
	return must(h.Lines(h.t.Context(), "telegram"))(h.t)
}

// TestLOOP22AProgressLineNeverHoldsUpAnAnswer: what was not sent yet makes way, in whatever state it waits, and what is in
// the air does not cost the answer a flush.
func TestLOOP22AProgressLineNeverHoldsUpAnAnswer(t *testing.T) {
	h := newHome(t)
	equal(t, "first", h.line("a", "thinking"), true)
	equal(t, "again", h.line("a", "reading"), false)
	equal(t, "parts", len(h.parts()), 1)
	line := h.parts()[0]
	equal(t, "text", line.Text, "reading")
	h.post(Part{Text: "the answer", To: to("1")})
	wantTexts(t, "heads", h.heads(), "the answer")
	equal(t, "the answer", h.parts()[0].State, "sending")
	wantErr(t, h.Sending(t.Context(), line), ErrNotFound) // the outbox had it in hand already

	equal(t, "behind the answer", h.line("a", "reading on"), true)
	h.send()
	line = h.head()
	check(t, h.Sending(t.Context(), line))
	check(t, h.Undelivered(t.Context(), line, NotSent, "429", h.clock.now().Add(time.Minute)))
	h.post(Part{Text: "another", To: to("1")})
	wantTexts(t, "heads", h.heads(), "another")
	h.send()

	h.line("a", "still reading")
	line = h.head()
	check(t, h.Sending(t.Context(), line)) // in the air
	h.post(Part{Text: "the last", To: to("1")})
	wantTexts(t, "order", h.heads(), "still reading")
	equal(t, "the last", h.parts()[len(h.parts())-1].State, "sending")
	check(t, h.Delivered(t.Context(), line, "r1"))
	wantTexts(t, "heads", h.heads(), "the last")
}

// TestProgressCostsNoFlush: neither the line, nor what comes of it.
func TestProgressCostsNoFlush(t *testing.T) {
	h := newHome(t)
	run := h.accept(h.ann, "hello")
	for what, do := range map[string]func(){
		"notice": func() { check(t, h.NoticeWaiting(t.Context(), run, "One moment.")) },
		"show":   func() { h.line("b", "x") },
		"shown":  func() { check(t, h.LineShown(t.Context(), 1, "y", false)) },
		"end":    func() { check(t, h.EndLine(t.Context(), "b", "z")) },
		"sent": func() {
			check(t, h.Delivered(t.Context(), Part{ID: 1, Class: Status, To: to("1")}, "r"))
		},
		"ambiguous": func() {
			check(t, h.Undelivered(t.Context(), Part{ID: 1, Class: Status, To: to("1")}, MayHaveSent, "", time.Time{}))
		},
	} {
		h.do(func(*Tx) error { return nil }) // flushed
		equal(t, "before "+what, h.onDisk(), true)
		do()
		equal(t, what, h.onDisk(), false)
	}
}

func TestLinesKnowWhatIsShownAndDone(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "read it")
	check(t, h.NoticeWaiting(t.Context(), p.Run.ID, "You are second in line."))
	check(t, h.NoticeWaiting(t.Context(), p.Run.ID, "You are third in line."))
	l := h.lines()[0]
	equal(t, "lines", len(h.lines()), 1)
	equal(t, "waits", l.Of.Waits, "You are third in line.")
	equal(t, "state", l.State, "sending")
	equal(t, "chat", l.Chat, Private)
	h.send()
	equal(t, "shown", h.lines()[0].Shown, "You are second in line.")
	equal(t, "answered", h.lines()[0].Answered, true)
	h.step(p, StepDone{Calls: []Call{{Tool: "web_fetch", Args: `{}`, Effect: "reads"}}})
	l = h.lines()[0]
	equal(t, "waits after a step", l.Of.Waits, "")
	equal(t, "tool", l.Tool, "web_fetch")
	check(t, h.LineShown(t.Context(), l.ID, "reading a page", false))
	h.reopen() // the next life knows it
	l = h.lines()[0]
	equal(t, "shown", l.Shown, "reading a page")
	equal(t, "ref", l.Ref, "ref1")
	equal(t, "run", l.Of.State, Queued)
	check(t, h.MoveChat(t.Context(), "telegram", l.To.Chat, "-77"))
	equal(t, "chat", h.lines()[0].To.Chat, "-77")
	h.claim()
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "read"}))
	equal(t, "answered", h.lines()[0].Answered, false)
	h.send()
	equal(t, "answered", h.lines()[0].Answered, true)
	check(t, h.LineShown(t.Context(), l.ID, "done", true))
	equal(t, "lines", len(h.lines()), 0)
}

func TestAResumedRunGetsANewLine(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "read it")
	check(t, h.NoticeWaiting(t.Context(), p.Run.ID, "busy"))
	h.send()
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Failed}))
	must(h.ResumeRun(t.Context(), p.Run.ID))(t)
	equal(t, "old lines", len(h.lines()), 0)
	h.claim()
	check(t, h.NoticeWaiting(t.Context(), p.Run.ID, "busy again"))
	equal(t, "new lines", len(h.lines()), 1)
	if _, err := h.ShowLine(t.Context(), Part{To: to("1"), Text: "x"}); err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("a line without a key: %v", err)
	}
}

// TestALineThatIsRefusedIsNoDeadLetter: nobody is told.
func TestALineThatIsRefusedIsNoDeadLetter(t *testing.T) {
	h := newHome(t)
	h.line("a", "x")
	p := h.parts()[0]
	check(t, h.Sending(t.Context(), p))
	check(t, h.Undelivered(t.Context(), p, Refused, "blocked", time.Time{}))
	equal(t, "state", h.parts()[0].State, "dropped")
	equal(t, "parts", len(h.parts()), 1)
	equal(t, "lines", len(h.lines()), 0)
	equal(t, "again", h.line("a", "y"), false)
	h.line("b", "x")
	check(t, h.EndLine(t.Context(), "b", "over"))
	equal(t, "ended unsent", h.parts()[1].State, "dropped")
}

func (h *home) head() Part {
	h.t.Helper()
	return must(h.Heads(h.t.Context(), "telegram"))(h.t)[0]
}
