package inbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// finish has Ana or Ben write, and a model answer for a price; unknown < 0.
func (w *world) finish(who, text, model string, in, out int, usd float64) {
	w.t.Helper()
	p := w.run(who, text)
	_, err := w.v.SaveStep(w.t.Context(), p.Run.ID, vault.StepDone{
		Step: vault.Step{N: 1, Model: model, TokensIn: in, TokensOut: out, USD: usd, USDKnown: usd >= 0, Started: w.now},
		End:  &vault.Ending{State: vault.Done, Reply: "done"},
	})
	w.check(err)
}

func TestCost(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/cost", "Today: $0.00, 0 tokens in, 0 out\nThis month: $0.00, 0 tokens in, 0 out")
	w.now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w.finish(ana, "last month", "cloud-model", 1000, 1, 5)
	w.now = time.Date(2026, 12, 3, 12, 0, 0, 0, time.UTC)
	w.finish(ana, "yesterday", "cloud-model", 1_000_000, 2000, 1.25)
	w.now = time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC)
	w.finish(ana, "today", "cloud-model", 1200, 34, 0.0042)
	w.finish(ben, "of Ben", "qwen3:4b", 800, 10, -1)
	w.finish(ana, "local", "qwen3:4b", 100, 5, -1)
	p := w.run(ana, "cut off")
	number, err := w.v.Reserve(t.Context(), vault.Spending{Run: p.Run.ID, Person: p.Run.Person, Job: 7, Purpose: "step", Model: "cloud-model", Usage: vault.Usage{In: 100, Out: 50}, USD: 0.02, USDKnown: true}, nil)
	w.check(err)
	w.check(w.v.CutOff(t.Context(), number, 0))
	w.want(ana, "/cost", strings.Join([]string{
		"Today: $0.02, 2,200 tokens in, 99 out; 1 request cut off or under way, at most $0.02 of it; unknown price for 2 requests",
		"This month: $1.27, 1,002,200 tokens in, 2,099 out; 1 request cut off or under way, at most $0.02 of it; unknown price for 2 requests",
		"This month by model:",
		"· cloud-model: $1.27, 1,001,300 tokens in, 2,084 out; 1 request cut off or under way, at most $0.02 of it",
		"· qwen3:4b: $0.00, 900 tokens in, 15 out; unknown price for 2 requests",
		"By person:",
		"· Ana: $1.27, 1,001,400 tokens in, 2,089 out; 1 request cut off or under way, at most $0.02 of it; unknown price for 1 request",
		"· Ben: $0.00, 800 tokens in, 10 out; unknown price for 1 request",
		"By job:",
		"· 7 (): $0.02, 100 tokens in, 50 out; 1 request cut off or under way, at most $0.02 of it",
	}, "\n"))
	w.want(ben, "/cost", strings.Join([]string{
		"Yours. Today: $0.00, 800 tokens in, 10 out; unknown price for 1 request",
		"This month: $0.00, 800 tokens in, 10 out; unknown price for 1 request",
		"This month by model:",
		"· qwen3:4b: $0.00, 800 tokens in, 10 out; unknown price for 1 request",
	}, "\n"))
	if got := said(w.hand(w.inGroup(ana, "/cost"))); strings.Contains(got, "Ben") || strings.Contains(got, "job") {
		t.Errorf("a group reads %q", got)
	}
}

func TestRuns(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/runs", "Nothing has run here yet.")
	w.finish(ana, "first\nquestion", "m", 1000, 200, 0.5)
	w.finish(ben, "of Ben", "m", 1, 1, 0)
	w.finish(ana, "second", "m", 1, 1, -1)
	w.now = w.now.Add(time.Hour)
	w.run(ana, "third")
	w.want(ana, "/runs", strings.Join([]string{
		"4 · Fri 4 Dec, 10:00 · “third” · running",
		"3 · Fri 4 Dec, 09:00 · “second” · done · 1 step, 2 tokens, unknown price",
		"1 · Fri 4 Dec, 09:00 · “first question” · done · 1 step, 1,200 tokens, $0.50",
	}, "\n"))
	w.want(ben, "/runs", "2 · Fri 4 Dec, 10:00 · “of Ben” · done · 1 step, 2 tokens, $0.00")
	if got := said(w.hand(w.inGroup(ana, "/runs"))); got != "Nothing has run here yet." {
		t.Errorf("in the group: %q", got)
	}
	w.ask(ana, "/stop")
	if got := w.ask(ana, "/runs"); !strings.HasPrefix(got, "4 · Fri 4 Dec, 10:00 · “third” · stopped: stopped by a person\n") {
		t.Errorf("after /stop: %q", got)
	}
	for range 20 {
		w.finish(ana, "more", "m", 1, 1, 0)
	}
	if got := strings.Count(w.ask(ana, "/runs"), "\n") + 1; got != shownRuns {
		t.Errorf("%d rows", got)
	}
}

func TestStatus(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/status", "Work: 0 running, 0 waiting for an answer, 0 queued\nReminders: none\nToday: $0.00, 0 tokens in, 0 out")
	w.opt.Models = func(context.Context) ModelSet {
		return ModelSet{Names: []string{"home"}, InUse: "home", YAML: "home"}
	}
	w.opt.Gateways = func() []GatewayStatus {
		return []GatewayStatus{{Name: "telegram", OK: true}, {Name: "whatsapp", Detail: "not linked\nyet"}, {Name: "terminal", OK: true, Detail: "connected as nobody"}}
	}
	w.box = New(w.opt)
	w.finish(ana, "before", "m", 1200, 34, 0.0042)
	question := w.question("call")
	w.run(ana, "a long task")
	w.accept(w.message(ana, "and this"))
	w.accept(w.message(ben, "CANARY of Ben"))
	w.ask(ana, "/remind in 1 hour, water the fern")
	w.ask(ana, "/remind every day at 8, pills")
	w.ask(ben, "/remind in 1 hour, CANARY too")
	w.ask(ana, "/pause")
	failed, err := w.v.Post(t.Context(), vault.Part{To: vault.Address{Gateway: "telegram", Chat: ana}, Class: vault.Answer, Text: "x"})
	w.check(err)
	part := w.parts()[failed-1]
	w.check(w.v.Sending(t.Context(), part))
	w.check(w.v.Undelivered(t.Context(), part, vault.Refused, "the bot was blocked", w.now))
	waiting, err := w.v.Post(t.Context(), vault.Part{To: vault.Address{Gateway: "telegram", Chat: "x"}, Class: vault.Answer, Text: "x"})
	w.check(err)
	part = w.parts()[waiting-1]
	w.check(w.v.Sending(t.Context(), part))
	w.check(w.v.Undelivered(t.Context(), part, vault.NotSent, "the messenger is out of reach", w.now))
	if question != 1 {
		t.Fatalf("question %d", question)
	}
	w.want(ana, "/status", strings.Join([]string{
		"Telegram: connected",
		"WhatsApp: not connected (not linked yet)",
		"The terminal: connected as nobody",
		"Model: home",
		"Paused: /resume lets me go on",
		"Work: 1 running, 1 waiting for an answer, 2 queued; here: “a long task”",
		"Reminders: 2, next:",
		"1 · Fri 4 Dec 2026, 10:00 (Europe/Lisbon): water the fern",
		"2 · every day at 08:00, next Sat 5 Dec 2026, 08:00 (Europe/Lisbon): pills",
		"Today: $0.0042, 2,400 tokens in, 68 out; unknown price for 1 request",
		"Outbox: 1 waiting to be sent (the messenger is out of reach), 1 not delivered (the bot was blocked). hearth outbox list shows them",
		"Open questions: 1 (run_command)",
	}, "\n"))
	for _, got := range []string{said(w.hand(w.inGroup(ana, "/status"))), w.ask(ben, "/status")} {
		for _, private := range []string{"fern", "long task", "question", "Outbox", "run_command"} {
			if strings.Contains(got, private) {
				t.Errorf("%q shows %q", got, private)
			}
		}
	}
	if got := w.ask(ben, "/status"); !strings.Contains(got, "Work: 0 running, 0 waiting for an answer, 1 queued\n") || !strings.Contains(got, "CANARY too") || !strings.Contains(got, "Today: $0.00, 0 tokens in, 0 out") {
		t.Errorf("Ben: %q", got)
	}
	if got := w.ask(ana, "/status"); strings.Contains(got, "CANARY") {
		t.Errorf("Ana reads what is Ben's: %q", got)
	}
}

func TestThousandsAndDollars(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123", 100000: "100,000"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q", n, got)
		}
	}
	for usd, want := range map[float64]string{0: "$0.00", 0.0042: "$0.0042", 0.01: "$0.01", 12.345: "$12.35", 0.00999: "$0.0100"} {
		if got := dollars(usd); got != want {
			t.Errorf("dollars(%v) = %q, want %q", usd, got, want)
		}
	}
}
