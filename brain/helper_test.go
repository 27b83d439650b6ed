package brain

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hearth/skills"
	"hearth/vault"
)

// world is a brain on a real vault, inside a synctest bubble: its clock is the bubble's.
type world struct {
	t        *testing.T
	dir      string
	vault    *vault.Vault
	hooks    vault.Hooks
	brain    *Brain
	tools    *toolbox
	settings Settings
	log      io.Writer
	point    func(string) // Options.Hook
	dead     atomic.Bool  // no commit succeeds any more, as if the power had gone
	me, ben  vault.Person
	stop     func()
	said     int
	skew     atomic.Int64 // how far the clock of the wall is from the bubble's
	looked   atomic.Int64 // how often the brain looked at the clock
}

// now is the clock on the wall: unlike the bubble's, which only moves on, it can be set.
func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) }

// inBubble runs f with a world whose brain is not started yet.
func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close() // also when f gives up: a bubble must not be left with work in it
		f(w)
	})
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), tools: &toolbox{}, log: t.Output()}
	w.hooks.Before = func(string) error {
		if w.dead.Load() {
			return errDead
		}
		return nil
	}
	w.open()
	err := w.vault.SyncPeople(t.Context(), []vault.Person{
		{Name: "Me", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}},
		{Name: "Ben", Role: vault.Member, Identities: []vault.Identity{{Gateway: "telegram", Ext: "2"}}},
	})
	w.must(err)
	w.me, err = w.vault.PersonNamed(t.Context(), "Me")
	w.must(err)
	w.ben, err = w.vault.PersonNamed(t.Context(), "Ben")
	w.must(err)
	return w
}

func (w *world) open() {
	w.t.Helper()
	v, err := vault.Open(w.t.Context(), w.dir, vault.Options{Now: w.now, Hooks: w.hooks})
	w.must(err)
	w.vault = v
}

// use makes a script the only model.
func (w *world) use(m Model) {
	w.settings.Model = "home"
	w.settings.Backends = map[string]Backend{"home": {Name: "home", Model: m, Price: &Price{}, Parallel: 4}}
}

// start starts the brain.
func (w *world) start() {
	w.t.Helper()
	set, err := skills.NewSet(w.tools.all()...)
	w.must(err)
	now := func() time.Time { w.looked.Add(1); return w.now() }
	w.brain = New(Options{Vault: w.vault, Tools: set, Now: now, Log: slog.New(slog.NewTextHandler(w.log, nil)), Hook: w.point}, w.settings)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.brain.Run(ctx); err != nil {
			w.t.Errorf("the brain ended with %v", err)
		}
	}()
	w.stop = func() { cancel(); <-done }
	synctest.Wait()
}

// halt ends the brain and closes the vault, as a shutdown does.
func (w *world) halt() {
	w.t.Helper()
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	w.must(w.vault.Close())
}

func (w *world) close() {
	if w.stop != nil {
		w.stop()
	}
	if err := w.vault.Close(); err != nil {
		w.t.Errorf("close the vault: %v", err)
	}
}

var errDead = errors.New("the power is gone")

// crash ends the brain as a power cut does: from now on nothing is committed any more.
func (w *world) crash() {
	w.t.Helper()
	w.dead.Store(true)
	w.halt()
	w.dead.Store(false)
}

// restart is halt and start: another life on the same vault.
func (w *world) restart() {
	w.t.Helper()
	w.halt()
	w.open()
	w.start()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// inbound is the next message of a person in their private chat.
func (w *world) inbound(p vault.Person, text string) vault.Inbound {
	w.said++
	ext := strconv.FormatInt(p.ID, 10)
	return vault.Inbound{
		Gateway: "telegram", Account: "bot", Chat: ext, ChatKind: vault.Private, Sender: ext, ID: strconv.Itoa(w.said), Kind: "text", Text: text, Sent: w.now(),
	}
}

// inGroup is the next message of a person in a group.
func (w *world) inGroup(p vault.Person, text string) vault.Inbound {
	in := w.inbound(p, text)
	in.Chat, in.ChatKind = "-100", vault.Group
	return in
}

func (w *world) accept(in vault.Inbound, from vault.Person, burst time.Duration) int64 {
	w.t.Helper()
	acc, err := w.vault.Accept(w.t.Context(), in, from, burst)
	w.must(err)
	return acc.Run
}

// say accepts a message and waits until nothing moves any more. It gives the run.
func (w *world) say(text string) int64 {
	w.t.Helper()
	run := w.accept(w.inbound(w.me, text), w.me, 0)
	synctest.Wait()
	return run
}

// sleep lets bubble time pass.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (w *world) progress(run int64) vault.Progress {
	w.t.Helper()
	p, err := w.vault.Progress(w.t.Context(), run)
	w.must(err)
	return p
}

func (w *world) state(run int64) vault.RunState { w.t.Helper(); return w.progress(run).Run.State }

// sent gives the texts of one class that a run put into the outbox, oldest first; dropped ones are left out.
func (w *world) sent(run int64, class vault.Class) []string {
	w.t.Helper()
	parts, err := w.vault.PartsOf(w.t.Context(), run)
	w.must(err)
	var out []string
	for _, p := range parts {
		if p.Class == class && p.State != "dropped" {
			out = append(out, p.Text)
		}
	}
	return out
}

// answer gives the one answer of a run.
func (w *world) answer(run int64) string {
	w.t.Helper()
	texts := w.sent(run, vault.Answer)
	if len(texts) != 1 {
		w.t.Fatalf("run %d (%s, %q) has %d answers: %q", run, w.state(run), w.progress(run).Run.Reason, len(texts), texts)
	}
	return texts[0]
}

// decide answers a question as an owner does in the chat.
func (w *world) decide(number int64, choice string) error {
	w.t.Helper()
	err := w.vault.Command(w.t.Context(), w.inbound(w.me, "/answer"), w.me, func(t *vault.Tx, _ vault.Conversation) ([]vault.Part, error) {
		_, err := t.Decide(number, w.me, choice)
		return nil, err
	})
	synctest.Wait()
	return err
}

// open gives the one open question.
func (w *world) openQuestion() vault.Approval {
	w.t.Helper()
	open, err := w.vault.Approvals(w.t.Context(), true, 10)
	w.must(err)
	if len(open) != 1 {
		w.t.Fatalf("%d questions are open, not 1", len(open))
	}
	return open[0]
}

// stopTalk is /stop in the owner's private chat.
func (w *world) stopTalk() vault.Halted {
	w.t.Helper()
	var halted vault.Halted
	err := w.vault.Command(w.t.Context(), w.inbound(w.me, "/stop"), w.me, func(t *vault.Tx, c vault.Conversation) (_ []vault.Part, err error) {
		halted, err = t.Stop(c.ID)
		return nil, err
	})
	w.must(err)
	synctest.Wait()
	return halted
}
