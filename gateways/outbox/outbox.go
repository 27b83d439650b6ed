// Package outbox delivers what the vault's outbox holds: in order within a chat, the chats beside each other. Every attempt
// is committed before it is made and its outcome after, so that a crash at any moment loses nothing, and what may have
// arrived is not sent again without saying so.
//
// outbox.go starts a courier for each gateway, lane.go is the courier's loop, deliver.go one attempt, marks.go the words
// that are added to a part, backoff.go the waiting.
package outbox

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// Options say what is delivered by whom.
type Options struct {
	Vault    *vault.Vault
	Gateways []gateways.Gateway  // their names differ
	Now      func() time.Time    // the clock that people see; nil = time.Now. Waiting is done on the monotonic one
	Log      *slog.Logger        // nil = nothing is logged
	Mask     func(string) string // hides known secrets in what is sent; nil = nothing is hidden
	Parallel int                 // sends at a time for each gateway; 0 = 8
}

// The bounds of one attempt.
const (
	defaultParallel = 8
	sendLimit       = 2 * time.Minute // a gateway's own limit is shorter; this one is for a gateway that forgot it
	lineLimit       = 5 * time.Second // for a progress line, which must not hold up the answer behind it
	grace           = 5 * time.Second // what a send in hand gets when the program ends
	maxSleep        = time.Minute     // the loop looks at least this often, whatever it was told
)

// Outbox is the delivery. Run it once.
type Outbox struct {
	opt      Options
	random   func() float64
	couriers []*courier
}

// New makes a delivery for the gateways. Nothing is sent before Run.
func New(opt Options) *Outbox {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Parallel <= 0 {
		opt.Parallel = defaultParallel
	}
	o := &Outbox{opt: opt, random: rand.Float64}
	for _, g := range opt.Gateways {
		o.couriers = append(o.couriers, newCourier(o, g))
	}
	return o
}

// Run delivers until ctx ends. A send in hand then has five seconds to come to its end; its outcome is committed. Parts
// for a gateway that is not among Options.Gateways wait, to be seen in the listing.
func (o *Outbox) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, c := range o.couriers {
		all.Go(func() { c.run(ctx) })
	}
	all.Go(func() { o.keepOrphans(ctx) })
	all.Wait()
	return nil
}

// Nudge has the waiting parts of a gateway tried at once: a client has come, the network is back. A wait that the
// messenger asked for is kept.
func (o *Outbox) Nudge(gateway string) {
	for _, c := range o.couriers {
		if c.name == gateway {
			select {
			case c.nudged <- struct{}{}:
			default: // one is waiting already
			}
		}
	}
}

// Renew is Nudge for a gateway that has another account or token: what the messenger asked of the one before is over, too.
func (o *Outbox) Renew(gateway string) {
	for _, c := range o.couriers {
		if c.name == gateway {
			c.renewed.Store(true)
		}
	}
	o.Nudge(gateway)
}

// keepOrphans has the parts wait that no gateway of this process carries, and names such a gateway once in the log.
func (o *Outbox) keepOrphans(ctx context.Context) {
	told := map[string]bool{}
	tick := time.NewTicker(maxSleep)
	defer tick.Stop()
	for {
		names, err := o.opt.Vault.Lanes(ctx)
		for _, name := range names {
			if slices.ContainsFunc(o.couriers, func(c *courier) bool { return c.name == name }) {
				continue
			}
			if !told[name] {
				told[name] = true
				o.opt.Log.Warn("parts wait for a gateway that is not configured", "gateway", name)
			}
			err = errors.Join(err, o.holdAll(ctx, name))
		}
		if err != nil && ctx.Err() == nil {
			o.opt.Log.Error("look for parts without a gateway", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (o *Outbox) holdAll(ctx context.Context, gateway string) error {
	heads, err := o.opt.Vault.Heads(ctx, gateway)
	if err != nil {
		return err
	}
	for _, p := range heads {
		if err := o.hold(ctx, p, gateways.Title(gateway)+" is not configured"); err != nil {
			return err
		}
	}
	return nil
}

// hold puts a part that was queued as sending, because nothing stood before it, back to waiting: nobody can send it now,
// and after a power cut it would be taken for one that may have been sent.
func (o *Outbox) hold(ctx context.Context, p vault.Part, why string) error {
	if p.State != "sending" {
		return nil
	}
	return o.opt.Vault.Undelivered(ctx, p, vault.NotSent, why, o.opt.Now())
}
