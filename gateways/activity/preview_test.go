package activity

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// writes is a model that writes a word a second of a run's answer.
func (h *house) writes(run int64, from, words int) {
	for n := from + 1; n <= from+words; n++ {
		h.Preview(run, strings.TrimSpace(strings.Repeat("word ", n)))
		time.Sleep(time.Second)
	}
	synctest.Wait()
}

// An answer that is still being written is shown below the line, at the pace of a line and in whole words. It is never sent
// as a message and never stored, and the line's last words take its place when the answer is there.
func TestLOOP22AnAnswerIsShownWhileItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.lined("tell me a story")
		h.writes(p.Run.ID, 0, 20)
		edits := h.one.edited()
		if len(edits) < 5 {
			t.Fatalf("edits: %v", edits)
		}
		for i, e := range edits[1:] {
			status, preview, _ := strings.Cut(e.text, "\n\n")
			if status != "⏳ Writing" || strings.Trim(preview, "word ") != "" || strings.HasSuffix(preview, " ") || preview == "" {
				t.Errorf("it shows %q", e.text)
			}
			if len(e.text) <= len(edits[i].text) && i > 0 || e.at-edits[i].at < lineEvery {
				t.Errorf("edit %d: %v after %v", i+1, e, edits[i])
			}
		}
		parts, err := h.PartsOf(t.Context(), p.Run.ID)
		h.must(err)
		for _, part := range parts {
			if strings.Contains(part.Text, "word") {
				t.Errorf("the vault holds %q", part.Text)
			}
		}
		lines, err := h.Lines(t.Context(), "one")
		h.must(err)
		if len(lines) != 1 || lines[0].Shown != "⏳ Writing" {
			t.Errorf("the lines are %+v", lines)
		}

		h.end(p, vault.Done)
		h.Preview(p.Run.ID, "")
		time.Sleep(20 * time.Second)
		if edits := h.one.edited(); len(edits) != 0 {
			t.Errorf("before the answer is there: %v", edits)
		}
		if got := h.deliver(); len(got) != 1 || got[0] != "answer: done" {
			t.Errorf("it says %q", got)
		}
		time.Sleep(time.Minute)
		if edits := h.one.edited(); len(edits) != 1 || edits[0].text != "✓ Done in 29 s" {
			t.Errorf("in the end: %v", edits)
		}
	})
}

// A preview makes way when the run waits, uses a tool or has come to nothing.
func TestAPreviewIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.lined("tell me a story")
		last := func() string {
			time.Sleep(10 * time.Second)
			edits := h.one.edited()
			if len(edits) == 0 {
				return ""
			}
			return edits[len(edits)-1].text
		}
		h.Preview(p.Run.ID, "once upon a")
		if got := last(); got != "⏳ Writing\n\nonce upon" {
			t.Errorf("it shows %q", got)
		}
		h.Preview(p.Run.ID, "")
		if got := last(); got != "⏳ Thinking" {
			t.Errorf("when it has come to nothing: %q", got)
		}
		h.Preview(p.Run.ID, "once upon a")
		last()
		h.must(h.NoticeWaiting(t.Context(), p.Run.ID, "The line is down."))
		if got := last(); got != "⏳ The line is down." {
			t.Errorf("while it waits: %q", got)
		}
		h.must(h.NoticeWaiting(t.Context(), p.Run.ID, ""))
		last()
		call := h.step(p.Run.ID, "web_search")
		if got := last(); !strings.HasPrefix(got, "⏳ Searching the web") || strings.Contains(got, "once") {
			t.Errorf("while it uses a tool: %q", got)
		}
		h.finishCall(call)
		h.end(p, vault.Stopped)
	})
}

// A life that ended leaves a preview in the chat; the next one takes it away, and says nothing twice.
func TestThePreviewOfALostLifeIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.lined("tell me a story")
		h.writes(p.Run.ID, 0, 2)
		// It ends between the edit and the note of it.
		h.allow("line-shown", 1)
		h.writes(p.Run.ID, 2, 5)
		if edits := h.one.edited(); len(edits) == 0 || !strings.Contains(edits[len(edits)-1].text, "word") {
			t.Fatalf("no preview: %v", edits)
		}
		h.stop()
		h.Preview(p.Run.ID, "") // as after a restart
		h.allow("line-shown", -1)
		h.start()
		time.Sleep(10 * time.Second)
		if edits := h.one.edited(); len(edits) == 0 || strings.Contains(edits[len(edits)-1].text, "word") {
			t.Errorf("the next life: %v", edits)
		}
		if got := h.deliver(); len(got) != 0 {
			t.Errorf("more messages: %q", got)
		}
		h.end(p, vault.Done)
	})
}

// retry_after is honoured: nothing is edited in that chat until it is over, and then the newest is shown.
func TestAPreviewObeysTheMessenger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.lined("tell me a story")
		h.one.set(false, &gateways.SendError{Outcome: vault.NotSent, Wait: 25 * time.Second})
		h.writes(p.Run.ID, 0, 10)
		h.one.set(false, nil)
		first := h.one.edited()
		h.writes(p.Run.ID, 10, 30)
		edits := h.one.edited()
		if len(first) != 1 || len(edits) == 0 || edits[0].at-first[0].at < 25*time.Second {
			t.Fatalf("edits: %v, then %v", first, edits)
		}
		if n := strings.Count(edits[0].text, "word"); n < 20 {
			t.Errorf("when it may write again it shows %d words", n)
		}
		h.end(p, vault.Done)
	})
}

// In a group nothing is shown of an answer before it is there.
func TestAGroupSeesNoPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		p := h.run("one", "-1")
		h.must(h.NoticeWaiting(t.Context(), p.Run.ID, "One moment.")) // the only line that a group sees
		h.deliver()
		h.must(h.NoticeWaiting(t.Context(), p.Run.ID, ""))
		h.writes(p.Run.ID, 0, 20)
		for _, e := range h.one.edited() {
			if strings.Contains(e.text, "word") {
				t.Errorf("it shows %q", e.text)
			}
		}
		h.end(p, vault.Done)
	})
}

func TestTail(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"short", "short"},
		{"exactly ten", "… ten"},
		{"ää öö üü ßß ää", "… üü ßß ää"},
		{"unbreakableword", "… eakableword"},
	} {
		most := 10
		if c.text == "unbreakableword" {
			most = 11
		}
		if got := tail(c.text, most); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// Secrets are hidden by whoever knows them.
func TestAPreviewIsMasked(t *testing.T) {
	l := &liner{part: unfinished(func(s string) string { return strings.ReplaceAll(s, "sesame", "***") })}
	if got := l.part("open sesame now"); got != "open ***" {
		t.Errorf("it shows %q", got)
	}
	if got := l.part("sesame"); got != "" {
		t.Errorf("it shows %q", got)
	}
}
