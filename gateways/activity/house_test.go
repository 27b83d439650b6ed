package activity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// messenger is a gateway that notes what is shown.
type messenger struct {
	name  string
	began time.Time

	mu      sync.Mutex
	typed   map[string][]time.Duration // by chat: when
	settled []string
	edits   []edit
	fail    error // of Typing, Settle and Edit
	hang    bool  // they do, until their context ends
}

func (m *messenger) Name() string { return m.name }

func (m *messenger) Receive(ctx context.Context, _ func(context.Context, vault.Inbound) error) error {
	<-ctx.Done()
	return nil
}

func (m *messenger) Send(context.Context, vault.Part) (string, error) {
	return "", errors.New("nothing is sent here")
}

func (m *messenger) Typing(ctx context.Context, to vault.Address) error {
	m.mu.Lock()
	m.typed[to.Chat] = append(m.typed[to.Chat], time.Since(m.began))
	hang, fail := m.hang, m.fail
	m.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return fail
}

func (m *messenger) Settle(ctx context.Context, to vault.Address, ref, text string) error {
	m.mu.Lock()
	m.settled = append(m.settled, to.Chat+" "+ref+" "+text)
	hang, fail := m.hang, m.fail
	m.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return fail
}

// edit is one change of a message.
type edit struct {
	at   time.Duration
	ref  string
	text string
}

func (m *messenger) Edit(ctx context.Context, _ vault.Address, ref, text string) error {
	m.mu.Lock()
	m.edits = append(m.edits, edit{time.Since(m.began), ref, text})
	hang, fail := m.hang, m.fail
	m.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return fail
}

// edited gives the changes, and forgets them.
func (m *messenger) edited() (out []edit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out, m.edits = m.edits, nil
	return out
}

func (m *messenger) set(hang bool, fail error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hang, m.fail = hang, fail
}

// shown gives the typings of a chat and the settled questions, and forgets them.
func (m *messenger) shown(chat string) (typed []time.Duration, settled []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	typed, settled = m.typed[chat], m.settled
	m.typed, m.settled = map[string][]time.Duration{}, nil
	return typed, settled
}

// plain is a messenger without typing and buttons.
type plain struct{ gateways.Gateway }

// house is a vault with people, two messengers, and the activity of one life.
type house struct {
	*vault.Vault
	t        *testing.T
	ann      vault.Person
	one, two *messenger
	log      *bytes.Buffer
	ids      int
	mu       sync.Mutex
	broken   map[string]error // events that fail
	allowed  map[string]int   // events that fail after so many
	cancel   context.CancelFunc
	ended    chan error
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, log: &bytes.Buffer{}, broken: map[string]error{}, ended: make(chan error, 1)}
	v, err := vault.Open(t.Context(), t.TempDir(), vault.Options{Hooks: vault.Hooks{Before: func(event string) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if left, limited := h.allowed[event]; limited {
			if left == 0 {
				return errors.New("the power is gone")
			}
			h.allowed[event]--
		}
		return h.broken[event]
	}}})
	if err != nil {
		t.Fatal(err)
	}
	h.Vault = v
	h.must(v.SyncPeople(t.Context(), []vault.Person{{Name: "Ann _B_", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "one", Ext: "1"}}}}))
	if h.ann, err = v.PersonNamed(t.Context(), "Ann _B_"); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	h.one = &messenger{name: "one", began: now, typed: map[string][]time.Duration{}}
	h.two = &messenger{name: "two", began: now, typed: map[string][]time.Duration{}}
	t.Cleanup(func() {
		h.stop()
		h.must(v.Close())
	})
	h.start()
	return h
}

// allow has an event fail after the next n of its kind; n < 0: never.
func (h *house) allow(event string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.allowed = map[string]int{}
	if n >= 0 {
		h.allowed[event] = n
	}
}

func (h *house) start() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	h.cancel = cancel
	log := slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	opt := Options{Vault: h.Vault, Gateways: []gateways.Gateway{plain{h.one}, h.one, h.two}, Log: log}
	go func() { h.ended <- Run(ctx, opt) }()
	synctest.Wait()
}

func (h *house) stop() {
	if h.cancel == nil {
		return
	}
	h.cancel()
	h.must(<-h.ended)
	h.cancel = nil
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// run begins a run for a chat of a messenger; each chat is a group, so that several can be at work.
func (h *house) run(gateway, chat string) vault.Progress {
	h.t.Helper()
	h.ids++
	in := vault.Inbound{Gateway: gateway, Account: "bot", Chat: chat, ChatKind: vault.Group, Sender: "1", ID: fmt.Sprint(h.ids), Kind: "text", Text: "hello", Sent: time.Now()}
	_, err := h.Accept(h.t.Context(), in, h.ann, 0)
	h.must(err)
	p, err := h.Claim(h.t.Context())
	h.must(err)
	return p
}

func (h *house) end(p vault.Progress, state vault.RunState) {
	h.t.Helper()
	h.must(h.EndRun(h.t.Context(), p.Run.ID, vault.Ending{State: state, Reply: "done"}))
}
