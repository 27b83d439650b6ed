// Package terminal is the gateway of the machine itself: whoever sits at it types, and reads what the agent says. It is the
// plainest gateway there is, and a reference for the others.
//
// The gateway has no line of its own. Clients attach to it, one for each open chat: the chat command in the same process,
// or the daemon's socket for a chat in another. Parts wait in the vault until somebody is there.
package terminal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// Name is the gateway's name in addresses.
const Name = "terminal"

// Options say what the terminal stands on.
type Options struct {
	Now      func() time.Time // nil = time.Now
	Attached func()           // called when a client has come: parts may be waiting for it; nil = nobody is told
}

// Terminal is the gateway. It is safe for use by several goroutines.
type Terminal struct {
	opt    Options
	inward chan said

	mu      sync.Mutex
	clients map[int64][]*Client // by person
	offers  map[int64]*offer    // by part: what a Send waits for
}

// said is a message on its way to accept.
type said struct {
	in   vault.Inbound
	done chan error // holds one
}

// New makes a terminal that nobody sits at yet.
func New(opt Options) *Terminal {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Terminal{opt: opt, inward: make(chan said), clients: map[int64][]*Client{}, offers: map[int64]*offer{}}
}

// Name implements gateways.Gateway.
func (t *Terminal) Name() string { return Name }

// Receive implements gateways.Gateway: it takes what Say brings, one message after the other.
func (t *Terminal) Receive(ctx context.Context, accept func(context.Context, vault.Inbound) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-t.inward:
			s.done <- accept(ctx, s.in)
		}
	}
}

// NewID makes an id for Say.
func NewID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	return hex.EncodeToString(id)
}

// maxID bounds what a client may call a message.
const maxID = 128

// Say brings in what a person typed. id is the client's own, new for each message: said again with the same id, after an
// error or a lost answer, it counts once. Nil means that the message is safe. While nobody receives, Say waits for ctx.
func (t *Terminal) Say(ctx context.Context, person vault.Person, text, id string) error {
	if person.ID <= 0 {
		return errors.New("say: nobody said who is speaking")
	}
	if id == "" || len(id) > maxID {
		return fmt.Errorf("say: a message needs an id of 1 to %d bytes", maxID)
	}
	to := vault.TerminalAddress(person.ID)
	s := said{done: make(chan error, 1), in: vault.Inbound{
		Gateway: to.Gateway, Account: to.Account, Chat: to.Chat, ChatKind: vault.Private,
		Sender: to.Chat, SenderName: person.Name, ID: id, Kind: "text",
		Text: strings.ToValidUTF8(text, "\uFFFD"), Sent: t.opt.Now(),
	}}
	select {
	case t.inward <- s:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-s.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Present implements gateways.Presence.
func (t *Terminal) Present(to vault.Address) bool {
	person, err := strconv.ParseInt(to.Chat, 10, 64)
	if err != nil {
		return true // Send says what is wrong with it
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.clients[person]) > 0
}

// Send implements gateways.Gateway. It shows a part to all clients of a person and succeeds when the first of them says
// that it has printed it. With no client, or none that read it before it left, it is vault.NotSent; when one had read it
// and left without a word, it may have been shown.
func (t *Terminal) Send(ctx context.Context, out vault.Part) (string, error) {
	person, err := strconv.ParseInt(out.To.Chat, 10, 64)
	if err != nil {
		return "", &gateways.SendError{Outcome: vault.Refused, Human: "there is no such terminal", Err: err}
	}
	o := &offer{part: out, person: person, acked: make(chan struct{}), lost: make(chan struct{})}
	t.mu.Lock()
	t.offers[out.ID] = o
	for _, c := range slices.Clone(t.clients[person]) {
		c.take(o)
	}
	if o.holders == 0 {
		o.lose()
	}
	t.mu.Unlock()
	defer t.forget(o)

	select {
	case <-o.acked:
	case <-o.lost:
	case <-ctx.Done():
		t.dismiss(o)
	}
	return t.outcome(o)
}

// outcome tells how an offer ended.
func (t *Terminal) outcome(o *offer) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case o.shown:
		return strconv.FormatInt(o.part.ID, 10), nil
	case o.read:
		return "", &gateways.SendError{Outcome: vault.MayHaveSent, Human: "the terminal was closed while it was being shown"}
	}
	return "", &gateways.SendError{Outcome: vault.NotSent, Human: "nobody was at the terminal"}
}

// forget ends an offer; who has it in its channel may still show it.
func (t *Terminal) forget(o *offer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.offers[o.part.ID] == o {
		delete(t.offers, o.part.ID)
	}
}

// dismiss closes the clients that have not shown a part in all the time there was: they are asleep, and would show it when
// they wake, beside the copy that is sent then.
func (t *Terminal) dismiss(o *offer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range slices.Clone(t.clients[o.person]) {
		if c.offered[o.part.ID] == o {
			c.close()
		}
	}
}
