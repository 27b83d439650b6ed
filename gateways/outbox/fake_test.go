package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// fake is a messenger: what it takes it shows in its chats. answer is asked before and may refuse.
type fake struct {
	name   string
	answer func(ctx context.Context, out vault.Part, attempt int) error
	after  func(ctx context.Context, out vault.Part, attempt int) error // the message is there already

	mu       sync.Mutex
	shown    []arrived
	attempts []arrived
	inHand   int
	most     int
}

type arrived struct {
	part               int64
	chat, text, stable string
	buttons            int
	at                 time.Time
}

func (f *fake) Name() string { return f.name }

func (f *fake) Receive(ctx context.Context, _ func(context.Context, vault.Inbound) error) error {
	<-ctx.Done()
	return nil
}

func (f *fake) Send(ctx context.Context, out vault.Part) (string, error) {
	entry := arrived{out.ID, out.To.Chat, out.Text, out.Stable, len(out.Buttons), time.Now()}
	f.mu.Lock()
	f.attempts = append(f.attempts, entry)
	n := 0
	for _, a := range f.attempts {
		if a.part == out.ID {
			n++
		}
	}
	f.inHand++
	f.most = max(f.most, f.inHand)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.inHand--
		f.mu.Unlock()
	}()
	if f.answer != nil {
		if err := f.answer(ctx, out, n); err != nil {
			return "", err
		}
	}
	f.mu.Lock()
	f.shown = append(f.shown, entry)
	ref := fmt.Sprintf("m%d", len(f.shown))
	f.mu.Unlock()
	if f.after != nil {
		if err := f.after(ctx, out, n); err != nil {
			return "", err
		}
	}
	return ref, nil
}

func (f *fake) texts(chat string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, a := range f.shown {
		if chat == "" || a.chat == chat {
			out = append(out, a.text)
		}
	}
	return out
}

func (f *fake) tried() []arrived {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]arrived(nil), f.attempts...)
}

// short is a messenger that takes limit letters.
type short struct {
	*fake
	limit int
}

func (s short) Split(p vault.Part) []vault.Piece {
	var out []vault.Piece
	text := p.Text
	for room := s.limit - gateways.Room; len(text) > room; {
		at := strings.LastIndexByte(text[:room], ' ')
		if at <= 0 {
			at = room
		}
		out, text = append(out, vault.Piece{Text: text[:at]}), strings.TrimLeft(text[at:], " ")
	}
	return append(out, vault.Piece{Text: text})
}

// stable is a messenger that shows what comes under the same id once.
type stable struct {
	*fake
	made int
}

func (s *stable) NewID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return fmt.Sprintf("id-%d", s.made)
}

// away is a messenger that knows who is there.
type away struct {
	*fake
	here bool
}

func (a *away) Present(vault.Address) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.here
}

func (a *away) come() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.here = true
}

var (
	lineDown = &gateways.SendError{Outcome: vault.NotSent, Err: errors.New("dial: connection refused")}
	noAnswer = &gateways.SendError{Outcome: vault.MayHaveSent, Err: errors.New("read: connection reset")}
	blocked  = &gateways.SendError{Outcome: vault.Refused, Human: "the bot was blocked", Err: errors.New("403")}
)

// world is a vault with one delivery beside it, in a bubble where time is free.
type world struct {
	t     *testing.T
	dir   string
	v     *vault.Vault
	hooks vault.Hooks
	now   func() time.Time
	opt   Options
	box   *Outbox
	end   context.CancelFunc
	ended chan struct{}
}

// bubble runs f with a fresh vault. What f started is ended for it.
func bubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: t.TempDir()}
		w.open()
		f(w)
		w.stop()
		w.close()
	})
}

func (w *world) open() {
	w.t.Helper()
	v, err := vault.Open(w.t.Context(), w.dir, vault.Options{Now: w.now, Hooks: w.hooks})
	if err != nil {
		w.t.Fatal(err)
	}
	w.v = v
}

func (w *world) close() {
	w.t.Helper()
	if err := w.v.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// start runs a delivery for the gateways.
func (w *world) start(gws ...gateways.Gateway) {
	opt := w.opt
	opt.Vault, opt.Gateways = w.v, gws
	if opt.Now == nil {
		opt.Now = w.now
	}
	w.box = New(opt)
	ctx, cancel := context.WithCancel(w.t.Context())
	w.end, w.ended = cancel, make(chan struct{})
	go func(box *Outbox, ended chan struct{}) {
		defer close(ended)
		if err := box.Run(ctx); err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}(w.box, w.ended)
}

func (w *world) stop() {
	if w.end != nil {
		w.end()
		<-w.ended
		w.end = nil
	}
}

// people makes an owner who is reached on the first chat of a messenger.
func (w *world) people(gateway string) vault.Person {
	w.t.Helper()
	err := w.v.SyncPeople(w.t.Context(), []vault.Person{{Name: "Ana", Role: vault.Owner, Zone: "Europe/Lisbon", Identities: []vault.Identity{{Gateway: gateway, Ext: "owner"}}}})
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := w.v.FirstOwner(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func to(gateway, chat string) vault.Address { return vault.Address{Gateway: gateway, Chat: chat} }

func (w *world) post(p vault.Part) int64 {
	w.t.Helper()
	if p.Class == "" {
		p.Class = vault.Answer
	}
	number, err := w.v.Post(w.t.Context(), p)
	if err != nil {
		w.t.Fatal(err)
	}
	return number
}

func (w *world) say(gateway, chat, text string) int64 {
	w.t.Helper()
	return w.post(vault.Part{To: to(gateway, chat), Text: text})
}

func (w *world) part(number int64) vault.Part {
	w.t.Helper()
	parts, err := w.v.Parts(w.t.Context(), false, 10_000)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range parts {
		if p.ID == number {
			return p
		}
	}
	w.t.Fatalf("there is no part %d", number)
	return vault.Part{}
}

// pass lets time go by until everything that is due in it has happened.
func pass(d time.Duration) {
	if d > 0 {
		time.Sleep(d)
	}
	synctest.Wait()
}
