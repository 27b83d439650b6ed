// Package whatsapp is the gateway to WhatsApp, over go.mau.fi/whatsmeow. The library speaks the protocol and keeps its keys
// in a file of its own; when to connect, what is acknowledged, who is answered and how fast is decided here, because each of
// these is where messages are lost, sent twice or sent to strangers, and where accounts are banned.
//
// The tour: receive.go keeps the line, link.go links an account, state.go says how things are in words, handle.go takes an
// event, content.go and inbound.go say what a message is, ids.go who it is from, send.go and form.go send, courtesy.go is
// read marks and typing, session.go the library's own file.
package whatsapp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"

	"hearth/gateways/whatsapp/turns"
	"hearth/vault"
)

// Name is the gateway's word in addresses, config and tables.
const Name = "whatsapp"

// The modes. In Dedicated the agent has a number of its own and answers who writes to it; in Self it lives in the chat that
// its owner has with their own number, and no other chat is ever answered.
const (
	Dedicated = "dedicated"
	Self      = "self"
)

// When the agent takes part in a group.
const (
	groupsOff     = "off"
	groupsMention = "mention"
	groupsAll     = "all"
)

// Options are what the gateway needs.
type Options struct {
	Vault *vault.Vault
	Path  string // of the session file; its folder exists
	Mode  string // Dedicated or Self; "" = Dedicated
	// Groups says when the agent takes part in a group: off, mention or all. It is asked for each message; nil = mention.
	// In Self it never does.
	Groups func() string
	Log    *slog.Logger // nil = nothing is logged
	Now    func() time.Time
	// Hook is given every client before it connects. It is for tests: in production nothing sets it.
	Hook func(*whatsmeow.Client)
	// Nudge is called when the line is there again; nil = nobody waits for it.
	Nudge func()
}

// Gateway is one WhatsApp account.
type Gateway struct {
	opt    Options
	limits limits
	pace   pace
	links  chan *linking
	latest func(context.Context) (*store.WAVersionContainer, error)

	mu      sync.Mutex
	status  status
	account string // + and digits; "" while nothing is linked
	line    *line  // nil while there is no connection
	changed chan struct{}
}

// line is a connection that is logged in.
type line struct {
	client *whatsmeow.Client
	turns  *turns.Turns
}

// limits are the times that tests shorten.
type limits struct {
	connect    time.Duration // how long a send waits for the line
	login      time.Duration // how long a connection may take until it is logged in
	ack        time.Duration // how long the server may take to confirm a message
	firstPause time.Duration // after the second failure in a row; the first one is tried again at once
	steady     time.Duration // a connection that lasted so long has forgiven what failed before
	gap        time.Duration // between two messages, at least
	patience   time.Duration // how long a message is offered again before the line is begun anew
	outage     time.Duration // how long the line may be away before the owner is told on another messenger
	cold       int           // messages a day to people who have not written first
}

var usual = limits{
	connect: 15 * time.Second, login: time.Minute, ack: 20 * time.Second, firstPause: 2 * time.Second, steady: 30 * time.Second,
	gap: time.Second, patience: time.Minute, outage: 30 * time.Minute, cold: 10,
}

// New makes the gateway. It opens nothing and needs no network.
func New(opt Options) *Gateway {
	if opt.Mode == "" {
		opt.Mode = Dedicated
	}
	if opt.Groups == nil {
		opt.Groups = func() string { return groupsMention }
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	opt.Log = opt.Log.With("gateway", Name)
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Nudge == nil {
		opt.Nudge = func() {}
	}
	return &Gateway{
		opt: opt, limits: usual, links: make(chan *linking), changed: make(chan struct{}), status: starting,
		latest: latestVersion,
	}
}

// Name implements gateways.Gateway.
func (g *Gateway) Name() string { return Name }

// Account is the linked number as + and digits; "" while nothing is linked.
func (g *Gateway) Account() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.account
}

// NewID implements gateways.StableIDs. The prefix is the one that WhatsApp's own web client uses.
func (g *Gateway) NewID() string {
	b := make([]byte, 9)
	_, _ = rand.Read(b) // it never fails
	return whatsmeow.WebMessageIDPrefix + strings.ToUpper(hex.EncodeToString(b))
}

// set notes how things are and wakes who waits for a change.
func (g *Gateway) set(s status, l *line) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status, g.line = s, l
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *Gateway) setAccount(account string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.account = account
}

// now gives the line, which is nil when there is none, and what is closed when that changes.
func (g *Gateway) now() (*line, status, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line, g.status, g.changed
}
