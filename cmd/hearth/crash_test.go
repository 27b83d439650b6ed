package main

import (
	"testing"
	"time"

	"hearth/vault"
)

// A power cut at each point on the way of a message. In the second life the message is answered, once or again with a
// mark, and what it asked for has happened once.
func TestKilledAtEveryPointAMessageIsAnsweredOnce(t *testing.T) {
	points := []string{
		"before:accept", "after:accept", // message accepted
		"before:claim", "after:claim", // run started
		"after:context", "ask-model", // model asked
		"model-answered", "before:step", "after:step", // model answered, its step saved
		"before:start-call", "after:start-call", "tool-start", // call started
		"before:EFFECT", "after:EFFECT", // the effect itself
		"tool-end", "before:finish-call", "after:finish-call", // call finished
		"ask-model:2", "model-answered:2",
		"before:step:2", "after:step:2", // reply queued
		"before:sending", "after:sending", "send", // about to be sent
		"sent", "before:sent", "after:sent", // reply sent
	}
	for _, deed := range []struct{ name, words, effect, reply string }{
		{"remember", "remember that the gate code is blue", "remember", "Noted (memory 1): the gate code is blue"},
		{"remind", "remind me tomorrow at 9 to open the gate", "add-job", "open the gate"},
		{"write", "save gate open to gate.txt", "", "gate.txt"},
	} {
		for _, point := range points {
			if point == "before:EFFECT" || point == "after:EFFECT" {
				if deed.effect == "" {
					continue
				}
				point = point[:len(point)-len("EFFECT")] + deed.effect
			}
			t.Run(deed.name+"/"+point, func(t *testing.T) {
				t.Parallel()
				h := newHome(t, "crashpoints", "")
				killed := h.daemon(crashVariable + "=" + point)
				ana := h.open("Ana")
				_ = ana.say(deed.words, "one") // the daemon may die under it
				if code := killed.wait(20 * time.Second); code != -1 {
					t.Fatalf("the daemon was not killed at %s but exits %d:\n%s", point, code, killed.log)
				}
				<-ana.gone

				h.daemon()
				ana.reopen()
				if err := ana.say(deed.words, "one"); err != nil { // a client that got no answer says it again
					t.Fatal(err)
				}
				ana.await("one")
				all, marked := ana.copies(deed.reply)
				if all == 0 || all-marked > 1 {
					t.Errorf("%d answers, %d of them marked: %q", all, marked, ana.all())
				}
				judge(t, h, deed.name)
			})
		}
	}
}

// judge looks whether what a message asked for has happened exactly once, and nothing else.
func judge(t *testing.T, h *home, deed string) {
	t.Helper()
	memories, jobs := ask(h, viewMemory, query{}), ask(h, viewJobs, query{All: true})
	want := map[string][2]int{"remember": {1, 0}, "remind": {0, 1}, "write": {0, 0}}[deed]
	if got := [2]int{len(memories), len(jobs)}; got != want {
		t.Errorf("memories and jobs: %v, not %v", got, want)
	}
	if deed == "write" && h.read("ws/gate.txt") != "gate open" {
		t.Errorf("gate.txt holds %q", h.read("ws/gate.txt"))
	}
	for _, r := range ask(h, viewRuns, query{}) {
		if r.State != string(vault.Done) {
			t.Errorf("run %d is %s (%s)", r.ID, r.State, r.Reason)
		}
	}
	if open := ask(h, viewOutbox, query{}); len(open) != 0 {
		t.Errorf("not delivered: %+v", open)
	}
	if asked := ask(h, viewApprovals, query{}); len(asked) != 0 {
		t.Errorf("somebody is asked something: %+v", asked)
	}
}
