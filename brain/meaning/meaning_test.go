package meaning

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hearth/brain"
	"hearth/vault"
)

// scripted is an embedding model of which a test says what it does. What it was asked stands in texts.
type scripted struct {
	mu    sync.Mutex
	texts [][]string
	do    func(ctx context.Context, n int, texts []string) ([][]float32, error) // n: the requests before this one; nil = works
}

func (s *scripted) Embed(ctx context.Context, texts []string) ([][]float32, int, error) {
	s.mu.Lock()
	n, do := len(s.texts), s.do
	s.texts = append(s.texts, slices.Clone(texts))
	s.mu.Unlock()
	if do != nil {
		out, err := do(ctx, n, texts)
		return out, 7, err
	}
	return some(texts), 7, nil
}

// does has it do something else from now on.
func (s *scripted) does(do func(ctx context.Context, n int, texts []string) ([][]float32, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do = do
}

// some gives vectors of which only the length and the first letter say something: enough to tell them apart.
func some(texts []string) (out [][]float32) {
	for _, t := range texts {
		out = append(out, []float32{1, float32(len(t)), float32(t[0]), -1})
	}
	return out
}

func (s *scripted) asked() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.texts {
		out = append(out, t...)
	}
	return out
}

func (s *scripted) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.texts)
}

type home struct {
	t   *testing.T
	v   *vault.Vault
	f   *Finder
	ann vault.Person
	n   int
}

func newHome(t *testing.T) *home {
	t.Helper()
	v, err := vault.Open(context.WithoutCancel(t.Context()), t.TempDir(), vault.Options{Burst: 10 * time.Millisecond})
	check(t, err)
	t.Cleanup(func() { check(t, v.Close()) })
	check(t, v.SyncPeople(t.Context(), []vault.Person{{Name: "Ann", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}}}))
	h := &home{t: t, v: v, f: New(Options{Vault: v, Now: time.Now, Log: slog.New(slog.DiscardHandler)})}
	h.ann, err = v.PersonNamed(t.Context(), "Ann")
	check(t, err)
	return h
}

// says has Ann write, and gives the run that waits for an answer.
func (h *home) says(words string) int64 {
	h.t.Helper()
	h.n++
	acc, err := h.v.Accept(h.t.Context(), vault.Inbound{
		Gateway: "telegram", Account: "bot", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: strconv.Itoa(h.n), Kind: "text", Text: words, Sent: time.Now(),
	}, h.ann, 0)
	check(h.t, err)
	return acc.Run
}

// told has Ann write and be answered.
func (h *home) told(words string) {
	h.t.Helper()
	h.says(words)
	h.answers()
}

func (h *home) answers() {
	h.t.Helper()
	p, err := h.v.Claim(h.t.Context())
	check(h.t, err)
	check(h.t, h.v.EndRun(h.t.Context(), p.Run.ID, vault.Ending{State: vault.Done, Reply: "ok"}))
}

func (h *home) remember(words string) {
	h.t.Helper()
	c, err := h.v.PrivateConversation(h.t.Context(), h.ann.ID)
	check(h.t, err)
	_, _, err = h.v.Remember(h.t.Context(), vault.Memory{Text: words, Source: "command"}, vault.ScopeOf(c, h.ann.ID))
	check(h.t, err)
}

// run starts the background and gives what ends it.
func (h *home) run() (end func()) {
	ctx, cancel := context.WithCancel(h.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := h.f.Run(ctx); err != nil {
			h.t.Error(err)
		}
	})
	return func() { cancel(); running.Wait() }
}

func (h *home) state() State {
	h.t.Helper()
	s, err := h.f.State(h.t.Context())
	check(h.t, err)
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// settled waits until nothing moves, for at most so long.
func settled(d time.Duration) {
	time.Sleep(d) // of the bubble
	synctest.Wait()
}

func fault(kind brain.FaultKind, told bool) error {
	err := errors.New("no")
	if told {
		err = refusal{}
	}
	return &brain.ModelError{Kind: kind, Human: "It says no.", Err: err}
}

type refusal struct{}

func (refusal) Error() string { return "told no" }
func (refusal) Refused() bool { return true }

func TestWhatIsSaidIsEmbeddedAndNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		for i := range 40 {
			h.told(fmt.Sprintf("old line %d", i))
		}
		model := &scripted{}
		h.f.Configure(Settings{Embedder: model, Model: "m", Local: true})
		end := h.run()
		settled(time.Minute)
		if got := model.asked(); len(got) != 40 || got[0] != "old line 39" || got[39] != "old line 0" {
			t.Errorf("asked %d: %q", len(got), got)
		}
		h.remember("a new fact")
		h.told("a new line")
		settled(time.Minute)
		if got := model.asked(); len(got) != 42 || !slices.Contains(got, "a new fact") || !slices.Contains(got, "a new line") {
			t.Errorf("then asked %q", got[40:])
		}
		end()
		end = h.run() // the next life
		settled(time.Minute)
		if n := len(model.asked()); n != 42 {
			t.Errorf("%d texts were embedded after a restart", n-42)
		}
		if s := h.state(); !s.On || s.Done != 42 || s.Left != 0 || s.Trouble != "" {
			t.Errorf("state %+v", s)
		}
		h.f.Configure(Settings{Embedder: model, Model: "another", Local: true})
		settled(time.Minute)
		if n := len(model.asked()); n != 84 {
			t.Errorf("another model was asked %d texts", n-42)
		}
		end()
	})
}

// Without a model nothing happens, and with one nothing while nothing is new: a day of waiting takes no wake-up.
func TestIdleCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		h.told("a line of words")
		end := h.run()
		settled(time.Hour)
		if v := h.f.Vector(t.Context(), "words"); v.Values != nil {
			t.Errorf("a vector without a model: %v", v)
		}
		model := &scripted{}
		h.f.Configure(Settings{Embedder: model, Model: "m"})
		settled(time.Hour)
		committed, cancel := h.v.Subscribe()
		settled(24 * time.Hour)
		if model.requests() != 1 || len(committed) > 0 {
			t.Errorf("%d requests, %d commits in a day without news", model.requests(), len(committed))
		}
		cancel()
		h.f.Configure(Settings{})
		h.told("another line of words")
		settled(time.Hour)
		if model.requests() != 1 {
			t.Error("a model that is not configured any more was asked")
		}
		end()
	})
}

func TestItGivesWayToPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		h.told("an old line")
		var cut []error
		model := &scripted{}
		model.do = func(ctx context.Context, n int, texts []string) ([][]float32, error) {
			select {
			case <-ctx.Done():
				cut = append(cut, context.Cause(ctx))
				return nil, context.Cause(ctx)
			case <-time.After(time.Second):
				return some(texts), nil
			}
		}
		h.f.Configure(Settings{Embedder: model, Model: "m", Local: true})
		end := h.run()
		settled(500 * time.Millisecond)
		h.says("are you there?") // in the middle of a request
		settled(10 * time.Second)
		if len(cut) != 1 || !errors.Is(cut[0], errGaveWay) || model.requests() != 1 {
			t.Fatalf("cut off %v, %d requests while somebody waits", cut, model.requests())
		}
		h.answers()
		settled(10 * time.Second)
		if s := h.state(); s.Left != 0 || s.Trouble != "" {
			t.Errorf("afterwards %+v", s)
		}
		// A query ends what is in hand as well.
		h.told("one more line")
		settled(200 * time.Millisecond)
		requests := model.requests()
		if v := h.f.Vector(t.Context(), "one more"); v.Model != "m" || len(v.Values) != 4 {
			t.Errorf("the query is %v", v)
		}
		if len(cut) != 2 || model.requests() < requests+1 {
			t.Errorf("%d cut off", len(cut))
		}
		settled(10 * time.Second)
		if s := h.state(); s.Left != 0 {
			t.Errorf("it does not go on after a query: %+v", s)
		}
		// Somebody who waits without end, e.g. since all is paused, holds it up for five minutes.
		h.says("a line that nobody answers")
		settled(4 * time.Minute)
		if h.state().Left == 0 {
			t.Error("it did not wait")
		}
		settled(2 * time.Minute)
		if s := h.state(); s.Left != 0 {
			t.Errorf("it waits for ever: %+v", s)
		}
		end()
	})
}

func TestFailuresAreRestedFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		h.told("a line of words")
		model := &scripted{}
		var well, refuses atomic.Bool
		model.do = func(_ context.Context, _ int, texts []string) ([][]float32, error) {
			if well.Load() {
				return some(texts), nil
			}
			if refuses.Load() {
				return nil, fault(brain.Permanent, false)
			}
			return nil, fault(brain.Transient, false)
		}
		h.f.Configure(Settings{Embedder: model, Model: "m", Local: true})
		end := h.run()
		settled(24 * time.Hour)
		if n := model.requests(); n < 100 || n > 160 {
			t.Errorf("%d requests in a day without a server", n)
		}
		if s := h.state(); s.Trouble != "It says no." || s.Left == 0 {
			t.Errorf("state %+v", s)
		}
		well.Store(true)
		settled(lastRest)
		if s := h.state(); s.Trouble != "" || s.Left != 0 {
			t.Errorf("well again: %+v", s)
		}
		// What a person must mend is not tried every few seconds, but at once when they have.
		well.Store(false)
		refuses.Store(true)
		h.told("another line of words")
		settled(9 * time.Minute)
		before := model.requests()
		settled(30 * time.Second)
		well.Store(true)
		h.f.Configure(Settings{Embedder: model, Model: "m", Local: true})
		settled(time.Second)
		if s := h.state(); before > 160 || s.Left != 0 {
			t.Errorf("%d requests, then %+v", before, s)
		}
		end()
	})
}

// One text that a server cannot embed keeps none of the others from it, however the server says so.
func TestOneTextHoldsUpNoOthers(t *testing.T) {
	for name, bad := range map[string]error{"too long": fault(brain.TooLong, true), "an odd answer": fault(brain.BadReply, false), "broken off": fault(brain.Transient, true)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHome(t)
				for i := range 20 {
					h.told(fmt.Sprintf("a line %d", i))
				}
				h.told("the poison " + strings.Repeat("x", 900))
				for i := range 20 {
					h.told(fmt.Sprintf("a later line %d", i))
				}
				model := &scripted{do: func(_ context.Context, _ int, texts []string) ([][]float32, error) {
					if slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, "the poison") }) {
						return nil, bad
					}
					return some(texts), nil
				}}
				h.f.Configure(Settings{Embedder: model, Model: "m"})
				end := h.run()
				settled(time.Hour)
				if s := h.state(); s.Left != 0 || s.Done != 40 {
					t.Errorf("state %+v", s)
				}
				end()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		h.told(strings.Repeat("long words ", 100))
		model := &scripted{do: func(_ context.Context, _ int, texts []string) ([][]float32, error) {
			if len(texts[0]) > 300 {
				return nil, fault(brain.TooLong, true)
			}
			return some(texts), nil
		}}
		h.f.Configure(Settings{Embedder: model, Model: "m"})
		end := h.run()
		settled(time.Hour)
		if s := h.state(); s.Done != 1 {
			t.Errorf("the beginning of a long text: %+v", s)
		}
		end()
	})
}

func TestQueryWaitsTwoSecondsAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		model := &scripted{do: func(ctx context.Context, n int, texts []string) ([][]float32, error) {
			if n == 1 {
				return some(texts), nil
			}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}
		h.f.Configure(Settings{Embedder: model, Model: "m", Local: true})
		began := time.Now()
		if v := h.f.Vector(t.Context(), "where is the ladder"); v.Values != nil || time.Since(began) != patience {
			t.Errorf("%v after %s", v, time.Since(began))
		}
		if s := h.state(); !strings.Contains(s.Trouble, "two seconds") {
			t.Errorf("state %+v", s)
		}
		began = time.Now()
		if v := h.f.Vector(t.Context(), "and the hammer"); v.Values != nil || time.Since(began) != 0 || model.requests() != 1 {
			t.Errorf("the next one waited %s", time.Since(began))
		}
		time.Sleep(afterwards)
		if v := h.f.Vector(t.Context(), "and the hammer"); len(v.Values) != 4 || h.state().Trouble != "" {
			t.Errorf("after the rest: %v, %+v", v, h.state())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if v := h.f.Vector(ctx, "nobody waits"); v.Values != nil || h.state().Trouble != "" {
			t.Errorf("who went away leaves %v, %+v", v, h.state())
		}
	})
}

// What somebody sends a bill for stands in the ledger, and the background leaves half of a day's limit.
func TestWhatIsNotAtHomeIsBooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		h.told("a line of words")
		caps := []vault.Cap{{Limit: "tokens_per_day", Of: vault.Tokens, Since: time.Now(), Max: 60}}
		model := &scripted{}
		h.f.Configure(Settings{Embedder: model, Model: "m", Caps: func() []vault.Cap { return slices.Clone(caps) }})
		end := h.run()
		settled(time.Minute)
		if used := h.tokens(); model.requests() != 1 || used != 7 {
			t.Errorf("%d requests took %g tokens", model.requests(), used)
		}
		h.told("a line of many more words than fit")
		settled(time.Minute)
		if s := h.state(); model.requests() != 1 || !strings.Contains(s.Trouble, "tokens_per_day") {
			t.Errorf("%d requests, %+v", model.requests(), s)
		}
		if v := h.f.Vector(t.Context(), "a line of many more words"); v.Values == nil || h.tokens() != 14 {
			t.Errorf("the query: %v, %g tokens", v, h.tokens())
		}
		model.does(func(context.Context, int, []string) ([][]float32, error) { return nil, fault(brain.Transient, true) })
		h.f.Vector(t.Context(), "refused")
		if h.tokens() != 14 {
			t.Errorf("a refused request was booked: %g", h.tokens())
		}
		model.does(func(context.Context, int, []string) ([][]float32, error) { return nil, fault(brain.Transient, false) })
		time.Sleep(afterwards)
		h.f.Vector(t.Context(), "cut off")
		if h.tokens() <= 14 {
			t.Errorf("a request that was cut off was not booked: %g", h.tokens())
		}
		end()
	})
}

// tokens are those of the ledger.
func (h *home) tokens() float64 {
	h.t.Helper()
	var over *vault.OverError
	err := h.v.Fits(h.t.Context(), vault.Spending{Usage: vault.Usage{In: 1}}, []vault.Cap{{Of: vault.Tokens, Max: -1}})
	if !errors.As(err, &over) {
		h.t.Fatalf("asked for the tokens: %v", err)
	}
	return over.Used
}
