package scheduler

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

// world is a scheduler on a real vault inside a synctest bubble. Its clock is the bubble's, moved by skew.
type world struct {
	t     *testing.T
	dir   string
	vault *vault.Vault
	hooks vault.Hooks
	me    vault.Person
	talk  vault.Conversation
	skew  atomic.Int64
	reads atomic.Int64 // of the clock, by the scheduler
	stop  func()

	heartbeat time.Duration
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) }

// set moves the clock, as a network time server or a waking laptop does, and tells nobody.
func (w *world) set(to time.Time) { w.skew.Store(int64(time.Until(to))) }

func inBubble(t *testing.T, start string, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: t.TempDir()}
		w.set(at(t, start))
		w.open()
		w.must(w.vault.SyncPeople(t.Context(), []vault.Person{{Name: "Me", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}}}))
		var err error
		w.me, err = w.vault.FirstOwner(t.Context())
		w.must(err)
		w.talk, err = w.vault.PrivateConversation(t.Context(), w.me.ID)
		w.must(err)
		defer w.halt() // also when f gives up
		f(w)
	})
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open() {
	w.t.Helper()
	v, err := vault.Open(w.t.Context(), w.dir, vault.Options{Now: w.now, Hooks: w.hooks})
	w.must(err)
	w.vault = v
}

func (w *world) start() {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	s := New(Options{Vault: w.vault, Now: func() time.Time { w.reads.Add(1); return w.now() }, Log: slog.New(slog.DiscardHandler), Heartbeat: func() time.Duration { return w.heartbeat }})
	go func() {
		defer close(done)
		if err := s.Run(ctx); err != nil {
			w.t.Errorf("the scheduler ended with %v", err)
		}
	}()
	w.stop = func() { cancel(); <-done }
	synctest.Wait()
}

func (w *world) halt() {
	w.t.Helper()
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	w.must(w.vault.Close())
}

// sleep lets bubble time pass.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// until sleeps to an instant of the clock.
func (w *world) until(s string) { w.t.Helper(); sleep(at(w.t, s).Sub(w.now())) }

// add stores a job. next is RFC 3339.
func (w *world) add(kind, text, spec, zone, next string) vault.Job {
	w.t.Helper()
	return w.addJob(vault.Job{Kind: kind, Text: text, Spec: spec, Zone: zone, Next: at(w.t, next)})
}

func (w *world) addJob(j vault.Job) vault.Job {
	w.t.Helper()
	j.Person, j.Conversation, j.To = w.me.ID, w.talk.ID, vault.Address{Gateway: "telegram", Account: "bot", Chat: "1"}
	out, err := w.vault.AddJob(w.t.Context(), j)
	w.must(err)
	synctest.Wait()
	return out
}

// said gives what was spoken, oldest first, as "text (late)" with the lateness only if there is one.
func (w *world) said() []string {
	w.t.Helper()
	parts, err := w.vault.Parts(w.t.Context(), false, 10_000)
	w.must(err)
	slices.Reverse(parts)
	out := []string{}
	for _, p := range parts {
		if p.Class != vault.Reminder {
			continue
		}
		text := p.Text
		if p.Late != "" {
			text += " (due " + p.Due.UTC().Format("2 Jan 15:04") + ", " + p.Late + ")"
		}
		out = append(out, text)
	}
	return out
}

func (w *world) notices() []string {
	w.t.Helper()
	parts, err := w.vault.Parts(w.t.Context(), false, 10_000)
	w.must(err)
	var out []string
	for _, p := range parts {
		if p.Class == vault.Notice {
			out = append(out, p.Text)
		}
	}
	return out
}

func (w *world) job(number int64) vault.Job {
	w.t.Helper()
	j, err := w.vault.Job(w.t.Context(), number)
	w.must(err)
	return j
}

// runs gives the runs of a job, oldest first.
func (w *world) runs(number int64) []vault.Run {
	w.t.Helper()
	all, err := w.vault.Runs(w.t.Context(), 0, 10_000)
	w.must(err)
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(r vault.Run) bool { return r.Job != number })
}

func (w *world) wantSaid(want ...string) {
	w.t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, w.said()); diff != "" {
		w.t.Errorf("said: %s", diff)
	}
}
