package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hearth/config"
	"hearth/gateways"
	"hearth/gateways/telegram"
	"hearth/vault"
)

// bot is the gateway to Telegram as the rest of the program knows it: behind it the account may change, come and go while
// everything runs. Without an account it reaches nobody and nothing is tried.
type bot struct {
	agent   *agent
	polling sync.Mutex // held as long as an account's poller lives

	mu      sync.Mutex
	gateway *telegram.Gateway // nil = none
	token   string            // that it was made of
	url     string
	changed chan struct{} // closed when the gateway is another one
}

func newBot(a *agent) *bot { return &bot{agent: a, changed: make(chan struct{})} }

// errNoAccount says that there is no bot to do it.
var errNoAccount = errors.New("Telegram is not configured") //nolint:staticcheck // a name

func (b *bot) now() (*telegram.Gateway, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gateway, b.changed
}

func (b *bot) set(g *telegram.Gateway, token, url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gateway, b.token, b.url = g, token, url
	close(b.changed)
	b.changed = make(chan struct{})
}

// begin takes up the account of the configuration, before anything runs. It needs no network.
func (b *bot) begin(ctx context.Context, cfg *config.Config) error {
	token, url := cfg.Gateways.Telegram.Token.Reveal(), cfg.Gateways.Telegram.APIURL.Reveal()
	if token == "" {
		b.set(nil, "", "")
		return nil
	}
	g, err := b.connect(token, url)
	if err != nil {
		return fmt.Errorf("gateways.telegram.token: %w", err)
	}
	if _, err := b.agent.vault.Adopt(ctx, g.Name(), g.Account()); err != nil {
		return fmt.Errorf("take up another Telegram account: %w", err)
	}
	b.set(g, token, url)
	return nil
}

// take changes to the account of new settings. The old one has ended before the new one begins; with the same bot, whose
// token was issued again, what is still to be sent goes on.
func (b *bot) take(ctx context.Context, cfg *config.Config) {
	if b == nil {
		return
	}
	b.mu.Lock()
	same := b.token == cfg.Gateways.Telegram.Token.Reveal() && b.url == cfg.Gateways.Telegram.APIURL.Reveal()
	b.mu.Unlock()
	if same {
		return
	}
	a := b.agent
	b.set(nil, "", "")
	b.polling.Lock()   // the old poller has ended
	b.polling.Unlock() //nolint:staticcheck // that was all
	a.vault.Carry(gatewayNames(cfg))
	if err := b.begin(ctx, cfg); err != nil && ctx.Err() == nil {
		a.log.Error("cannot take up the Telegram account", "gateway", b.Name(), "error", err)
		words := "The Telegram account of the configuration cannot be taken up, so nobody is reached there: " + a.redact(err.Error())
		if err := b.tell(ctx, words); err != nil {
			a.log.Error("cannot tell the owner about the Telegram account", "error", err)
		}
	}
	a.outbox.Renew(b.Name())
}

// tell reaches the owner, and not by Telegram while nobody is reached there.
func (b *bot) tell(ctx context.Context, words string) error {
	if g, _ := b.now(); g == nil || g.Barred() {
		return b.agent.vault.TellBeside(ctx, b.Name(), "", words)
	}
	return b.agent.vault.Tell(ctx, "", words)
}

// connect makes the gateway of one account.
func (b *bot) connect(token, url string) (*telegram.Gateway, error) {
	a := b.agent
	return telegram.New(telegram.Options{
		Token: token, APIURL: url, Log: a.log.Logger, Now: a.clock.now,
		Groups: func() string { return a.cfg.Load().Gateways.Telegram.Groups },
		Quarantine: func(ctx context.Context, account, reason string, raw []byte) error {
			return a.vault.Quarantine(ctx, b.Name(), account, reason, raw)
		},
		Migrate: func(ctx context.Context, from, to string) error { return a.vault.MoveChat(ctx, b.Name(), from, to) },
		Tell:    a.vault.Tell,
		TellBeside: func(ctx context.Context, key, words string) error {
			return a.vault.TellBeside(ctx, b.Name(), key, words)
		},
	})
}

// row tells how Telegram is; on is false without an account.
func (b *bot) row() (row gatewayRow, on bool) {
	if b == nil {
		return row, false
	}
	g, _ := b.now()
	if g == nil {
		return row, false
	}
	row.Name = g.Name()
	words, ok := g.State()
	if ok {
		row.State = words
	} else {
		row.State, row.Error = "not connected", text(words)
	}
	return row, true
}

// Name implements gateways.Gateway.
func (b *bot) Name() string { return "telegram" }

// Receive implements gateways.Gateway: one account after the other.
func (b *bot) Receive(ctx context.Context, accept func(context.Context, vault.Inbound) error) error {
	for ctx.Err() == nil {
		changed, err := b.receive(ctx, accept)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return nil
}

// receive takes in what comes for the account that is there now, until it is another one.
func (b *bot) receive(ctx context.Context, accept func(context.Context, vault.Inbound) error) (<-chan struct{}, error) {
	b.polling.Lock()
	defer b.polling.Unlock()
	g, changed := b.now()
	if g == nil {
		return changed, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return changed, g.Receive(ctx, accept)
}

// Send implements gateways.Gateway.
func (b *bot) Send(ctx context.Context, out vault.Part) (string, error) {
	g, _ := b.now()
	if g == nil {
		return "", &gateways.SendError{Outcome: vault.NotSent, Wait: time.Second, Human: errNoAccount.Error(), Err: errNoAccount}
	}
	return g.Send(ctx, out)
}

// Present implements gateways.Presence: without an account nothing is tried.
func (b *bot) Present(vault.Address) bool {
	g, _ := b.now()
	return g != nil
}

// Split implements gateways.Splitter. It is the same for every account.
func (b *bot) Split(part vault.Part) []vault.Piece { return new(telegram.Gateway).Split(part) }

// Typing implements gateways.Typer.
func (b *bot) Typing(ctx context.Context, to vault.Address) error {
	g, _ := b.now()
	if g == nil {
		return errNoAccount
	}
	return g.Typing(ctx, to)
}

// Edit implements gateways.Editor.
func (b *bot) Edit(ctx context.Context, to vault.Address, ref, words string) error {
	g, _ := b.now()
	if g == nil {
		return &gateways.SendError{Outcome: vault.NotSent, Human: errNoAccount.Error(), Err: errNoAccount}
	}
	return g.Edit(ctx, to, ref, words)
}

// Settle implements gateways.Asker.
func (b *bot) Settle(ctx context.Context, to vault.Address, ref, words string) error {
	g, _ := b.now()
	if g == nil {
		return errNoAccount
	}
	return g.Settle(ctx, to, ref, words)
}
