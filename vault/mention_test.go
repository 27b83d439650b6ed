package vault

import (
	"strings"
	"testing"
	"time"
)

// Telegram forgets a press after 150 s, so a question that is open after an absence is put again; daily at most, and never
// once it is decided.
func TestOpenQuestionsAreMentionedAfterAnAbsence(t *testing.T) {
	h := newHome(t)
	asking(h, h.says(h.bob, "write"), h.bob, h.clock.now().Add(72*time.Hour))
	equal(t, "asked", len(h.send()), 1)
	away := func(d time.Duration) []Part {
		check(t, h.Tell(t.Context(), "x"+h.clock.now().String(), "the clock is noted")) // as long as it lives it commits
		h.send()
		h.clock.add(d)
		h.reopen()
		return h.send()
	}
	equal(t, "after two minutes", len(away(2*time.Minute)), 0)
	again := away(10 * time.Minute)
	equal(t, "after ten minutes", len(again), 1)
	if p := again[0]; !strings.HasPrefix(p.Text, "Still open since I was away. Question 1: Send this to Bob?\nAnswer with /approve 1") || len(p.Buttons) != 3 || p.Approval != 1 || p.Class != Asks || p.To.Chat != "1" {
		t.Errorf("mentioned as %+v", p)
	}
	equal(t, "an hour later", len(away(time.Hour)), 0)
	equal(t, "the day after", len(away(24*time.Hour)), 1)
	must(h.decide(1, h.ann, "approve"))(t)
	equal(t, "decided", len(away(48*time.Hour)), 0)
}

func TestExpiredQuestionsAreNotMentioned(t *testing.T) {
	h := newHome(t)
	asking(h, h.says(h.bob, "write"), h.bob, h.clock.now().Add(time.Hour))
	h.send()
	h.clock.add(2 * time.Hour)
	h.reopen()
	equal(t, "mentioned", len(h.send()), 0)
	equal(t, "mentioned by hand", must(h.MentionOpen(t.Context()))(t), 0)
}
