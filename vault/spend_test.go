package vault

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// requestOf is a request of a run, at most so dear.
func requestOf(p Progress, usd float64) Spending {
	return Spending{Run: p.Run.ID, Person: p.Run.Person, Job: p.Run.Job, Purpose: "step", Model: "m", Usage: Usage{In: 100, Out: 10}, USD: usd, USDKnown: true}
}

// What becomes of a request: its answer settles it, a refusal takes it out, and one that was cut, by whatever, keeps the most
// that it can have cost.
func TestTheLedger(t *testing.T) {
	h := newHome(t)
	ctx := t.Context()
	begun := h.clock.now()
	p := h.claimed(h.ann, "hello")
	spent := func(what string, want float64) {
		t.Helper()
		equal(t, what, must(h.Spent(ctx, begun))(t), want)
	}
	first := must(h.Reserve(ctx, requestOf(p, 1), nil))(t)
	spent("reserved", 1)
	h.step(p, StepDone{Step: Step{Model: "m", TokensIn: 40, TokensOut: 4, USD: 0.25, USDKnown: true}, Spend: first, CacheRead: 30, CacheWrote: 5, Calls: []Call{{Tool: "jobs", Args: "{}", Effect: "reads"}}})
	spent("settled by its step", 0.25)
	check(t, h.Unspend(ctx, must(h.Reserve(ctx, requestOf(p, 1), nil))(t)))
	spent("refused", 0.25)
	check(t, h.CutOff(ctx, must(h.Reserve(ctx, requestOf(p, 2), nil))(t), time.Second))
	spent("cut", 2.25)
	check(t, h.CutOff(ctx, must(h.Reserve(ctx, requestOf(p, 0), nil))(t), time.Second)) // nobody sends a bill
	answered := must(h.Reserve(ctx, requestOf(p, 1), nil))(t)
	check(t, h.Settle(ctx, Spending{ID: answered, Usage: Usage{In: 9, Out: 1}, USD: 0.5, USDKnown: true}))
	check(t, h.CutOff(ctx, answered, 0))
	check(t, h.Unspend(ctx, answered))
	spent("settled beside a step", 2.75)
	must(h.Reserve(ctx, requestOf(p, 4), nil))(t)
	must(h.Reserve(ctx, requestOf(p, 0), nil))(t)
	h.reopen()
	spent("under way when the program ended", 6.75)
	var states []string
	for _, e := range must(h.Ledger(ctx, p.Run.ID))(t) {
		states = append(states, e.State)
	}
	if diff := cmp.Diff([]string{"settled", "cut", "settled", "cut"}, states); diff != "" {
		t.Error(diff)
	}
	e := must(h.Ledger(ctx, p.Run.ID))(t)[0]
	equal(t, "usage", e.Usage, Usage{In: 40, Out: 4, CacheRead: 30, CacheWrote: 5})
	b := must(h.Bills(ctx, begun, 0))(t)
	equal(t, "requests", b.Total.Requests, 4)
	equal(t, "cut", b.Total.Cut, 2)
	equal(t, "of unknown end", b.Total.CutUSD, 6)
}

// A cap counts what is reserved, a person's is theirs, a run's is its own, and yesterday is over.
func TestCaps(t *testing.T) {
	h := newHome(t)
	ctx := t.Context()
	today := h.clock.now()
	p := h.claimed(h.ann, "hello")
	other := h.claimed(h.bob, "hello")
	must(h.Reserve(ctx, requestOf(p, 0.5), nil))(t)
	for _, tt := range []struct {
		name string
		p    Progress
		usd  float64
		cap  Cap
		over bool
	}{
		{"fits to the last", p, 0.5, Cap{Of: Dollars, Since: today, Max: 1}, false},
		{"a bit too much", p, 0.500001, Cap{Of: Dollars, Since: today, Max: 1}, true},
		{"of somebody else", other, 0.5, Cap{Of: Dollars, Since: today, Person: h.bob.ID, Max: 0.5}, false},
		{"of everybody", other, 0.6, Cap{Of: Dollars, Since: today, Max: 1}, true},
		{"of the run", p, 0.6, Cap{Of: Dollars, Run: p.Run.ID, Max: 1}, true},
		{"of another run", other, 0.6, Cap{Of: Dollars, Run: other.Run.ID, Max: 1}, false},
		{"free, with all used up", p, 0, Cap{Of: Dollars, Since: today, Max: 0.1}, false},
		{"tokens", p, 0, Cap{Of: Tokens, Since: today, Max: 219}, true},
		{"tokens that fit", p, 0, Cap{Of: Tokens, Since: today, Max: 220}, false},
		{"steps", p, 0, Cap{Of: Steps, Since: today, Max: 1}, true},
		{"steps that fit", p, 0, Cap{Of: Steps, Since: today, Max: 2}, false},
		{"yesterday's", p, 1, Cap{Of: Dollars, Since: today.Add(time.Hour), Max: 1}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := h.Fits(ctx, requestOf(tt.p, tt.usd), []Cap{tt.cap})
			var over *OverError
			if errors.As(err, &over) != tt.over || over != nil && over.Cap != tt.cap {
				t.Errorf("error %v, want over %v", err, tt.over)
			}
		})
	}
	unknown := requestOf(p, 0)
	unknown.USDKnown = false
	if err := h.Fits(ctx, unknown, []Cap{{Of: Dollars, Since: today, Max: 0.6}}); err != nil {
		t.Errorf("of unknown price, with money left: %v", err)
	}
	if err := h.Fits(ctx, unknown, []Cap{{Of: Dollars, Since: today, Max: 0.5}}); err == nil {
		t.Error("of unknown price, with none left: it fits")
	}
	var over *OverError
	_, err := h.Reserve(ctx, requestOf(p, 0.6), []Cap{{Of: Dollars, Since: today, Max: 1}})
	if !errors.As(err, &over) || !over.Crowded() {
		t.Errorf("only what is under way is in the way: %v", err)
	}
	equal(t, "spent", must(h.Spent(ctx, today))(t), 0.5)
}

// The question about a limit parks its run, and is asked once for each limit.
func TestTheQuestionAboutALimit(t *testing.T) {
	h := newHome(t)
	ctx := t.Context()
	begun := h.clock.now()
	q := Question{Text: "May it?", Choices: []string{ChooseMore, ChooseToday, ChooseStop}, Expires: h.clock.now().Add(time.Hour)}
	p := h.claimed(h.ann, "hello")
	number := must(h.AskBudget(ctx, p.Run.ID, q, `{"limit":"usd_per_day"}`))(t)
	equal(t, "kind", must(h.Approval(ctx, number))(t).Kind, "budget")
	equal(t, "state", h.progress(p.Run.ID).Run.State, Waiting)
	other := h.claimed(h.bob, "hello")
	again, err := h.AskBudget(ctx, other.Run.ID, q, `{"limit":"usd_per_day"}`)
	wantErr(t, err, ErrAsked)
	equal(t, "number", again, number)
	must(h.AskBudget(ctx, other.Run.ID, q, `{"limit":"usd_per_day","person":"Bob"}`))(t)
	equal(t, "answers", len(must(h.BudgetAnswers(ctx, begun))(t)), 0)
	h.do(func(tx *Tx) error { _, err := tx.Decide(number, h.ann, ChooseToday); return err })
	equal(t, "state", h.progress(p.Run.ID).Run.State, Queued)
	equal(t, "answers", len(must(h.BudgetAnswers(ctx, begun))(t)), 1)
	equal(t, "answers of the next day", len(must(h.BudgetAnswers(ctx, begun.Add(time.Hour)))(t)), 0)
}
