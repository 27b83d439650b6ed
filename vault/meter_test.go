package vault

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// figures reads a meter into a map: series and labels, joined by blanks.
func figures(t testing.TB, m *Meter) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for _, s := range must(m.Read(t.Context()))(t) {
		found[strings.Join(append([]string{s.Series}, s.Labels...), " ")] = s.Value
	}
	return found
}

func wantFigures(t testing.TB, m *Meter, want map[string]float64) {
	t.Helper()
	got := figures(t, m)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
}

func knownTool(name string) bool { return name == "jobs" || name == "send" }

func TestMeterCountsFromTheMomentItIsMade(t *testing.T) {
	h := newHome(t)
	live(h, h.bob, "bobword") // before: not counted
	waiting := h.accept(h.bob, "before, and answered after")
	m := must(h.Meter(t.Context(), knownTool))(t)
	wantFigures(t, m, map[string]float64{"runs message done": 0, "sends telegram answer sent": 0, "runs_open queued": 1, "messages telegram": 0, "outbox telegram waiting": 3, "outbox telegram sending": 3})

	h.clock.add(3 * time.Second)
	wantFigures(t, m, map[string]float64{"queue_oldest": 3, "outbox_oldest": 3})
	p := h.claim()
	equal(t, "the run", p.Run.ID, waiting)
	h.clock.add(2 * time.Second)
	h.step(p, StepDone{
		Step:  Step{Text: "x", Model: "home", TokensIn: 100, TokensOut: 20, USD: 0.5, USDKnown: true},
		Calls: []Call{{Tool: "jobs", Args: "{}", Effect: "reads"}, {Tool: "made up", Args: "{}", Effect: "reads", State: Broken}, {Tool: "made up too", Args: "{}", Effect: "reads", State: Broken}},
	})
	wantFigures(t, m, map[string]float64{"tokens_in home": 100, "runs message done": 0, "runs_open running": 1, "runs_open queued": 0, "queue_oldest": 0})
	p = h.progress(p.Run.ID)
	done := p.Calls[0]
	done.State = Finished
	check(t, h.FinishCall(t.Context(), done))
	h.step(p, StepDone{Step: Step{Text: "y", Model: "home", TokensIn: 150, TokensOut: 5}, End: &Ending{State: Done, Reply: "an answer"}})
	for range 8 {
		h.send()
	}
	after := map[string]float64{
		"runs message done": 1, "run_wait": 3, "run_work": 2, "steps home": 2, "tokens_in home": 250, "tokens_out home": 25, "usd home": 0.5, "calls jobs done": 1, "calls other failed": 2, "runs_open running": 0,
		"sends telegram answer sent": 3, "sends telegram question sent": 2, "outbox telegram waiting": 0, "messages telegram": 0,
	}
	wantFigures(t, m, after)
	wantFigures(t, m, after) // a second look counts nothing twice

	h.accept(h.bob, "more")
	after["messages telegram"], after["runs_open queued"] = 1, 1
	wantFigures(t, m, after)
	if got := figures(t, m); got["bytes vault.db"] < 4096 || got["flushes"] < 10 {
		t.Errorf("%v bytes, %v flushes", got["bytes vault.db"], got["flushes"])
	}
}

// What is taken up again, or sent again, does not let a counter fall.
func TestMeterNeverFalls(t *testing.T) {
	h := newHome(t)
	m := must(h.Meter(t.Context(), knownTool))(t)
	held := h.accept(h.cem, "waits all along") // holds the mark back
	p := h.claim()
	equal(t, "the run", p.Run.ID, held)
	failed := h.claimed(h.bob, "fails")
	check(t, h.EndRun(t.Context(), failed.Run.ID, Ending{State: Failed, Reply: "It did not work."}))
	part := must(h.Heads(t.Context(), "telegram"))(t)[0]
	check(t, h.Undelivered(t.Context(), part, Refused, "no", h.clock.now()))
	wantFigures(t, m, map[string]float64{"runs message failed": 1, "sends telegram answer failed": 1, "outbox telegram failed": 1})
	must(h.ResumeRun(t.Context(), failed.Run.ID))(t)
	check(t, h.RetryPart(t.Context(), part.ID))
	wantFigures(t, m, map[string]float64{"runs message failed": 1, "runs_open queued": 1, "sends telegram answer failed": 1, "outbox telegram failed": 0, "outbox telegram waiting": 1})
}

// A reading goes through indexes of what is open and what is new, never through a table.
func TestMeterReadsNoTableFromEndToEnd(t *testing.T) {
	h := newHome(t)
	fill(h)
	p := watched(h)
	m := must(h.Meter(t.Context(), knownTool))(t)
	figures(t, m)
	if len(p.plans) < len(counts)+len(marks)+7 {
		t.Errorf("only %d statements were seen", len(p.plans))
	}
	for query, plan := range p.plans {
		for _, line := range plan {
			fields := strings.Fields(line)
			if fields[0] != "SCAN" || strings.Contains(line, "CONSTANT") {
				continue
			}
			if !slices.Contains(append(slices.Clone(openOnly), "outbox_dead"), fields[len(fields)-1]) {
				t.Errorf("%s\n%s", query, strings.Join(plan, "\n"))
			}
		}
	}
}

// A vault whose writer is stuck is not alive, though it can still be read.
func TestTouchWaitsForTheWriter(t *testing.T) {
	h := newHome(t)
	check(t, h.Touch(t.Context()))
	flushes := h.flushed.Load()
	stuck, release := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- h.Do(context.WithoutCancel(t.Context()), "stuck", func(*Tx) error {
			close(stuck)
			<-release
			return nil
		})
	}()
	<-stuck
	touched := make(chan error, 1)
	go func() { touched <- h.Touch(context.WithoutCancel(t.Context())) }()
	must(h.Paused(t.Context()))(t) // a reader gets by
	soon := time.NewTimer(50 * time.Millisecond)
	select {
	case err := <-touched:
		t.Errorf("it comes back beside an event: %v", err)
	case <-soon.C:
	}
	close(release)
	check(t, <-ended)
	check(t, <-touched)
	equal(t, "flushes", h.flushed.Load(), flushes+1)
	check(t, h.Close())
	if h.Touch(t.Context()) == nil {
		t.Error("a closed vault is touched")
	}
}
