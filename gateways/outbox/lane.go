package outbox

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// courier carries the parts of one gateway. Its fields belong to the goroutine of run, except the channels.
type courier struct {
	o       *Outbox
	gw      gateways.Gateway
	name    string
	log     *slog.Logger
	lanes   map[string]*lane // by chat; a lane that has nothing to remember is not in it
	busy    int
	nudged  chan struct{}
	renewed atomic.Bool // with the next nudge every wait ends
	ended   chan verdict
}

// lane is what is known of one chat's first part. Its waiting is on the monotonic clock: the wall clock of a vault may be
// set while something waits.
type lane struct {
	busy   bool
	part   int64 // which part the rest speaks of
	tries  int   // failures in a row in this life
	until  time.Time
	asked  bool   // the messenger itself asked to wait until then
	frozen string // the bytes that a repeat under the same id must have
}

// verdict is what came of one attempt.
type verdict struct {
	chat   string
	part   int64
	again  bool          // it is still the first of its lane
	wait   time.Duration // again: how long to wait before the next attempt
	asked  bool          // again: the messenger itself asked for that
	frozen string
}

func newCourier(o *Outbox, g gateways.Gateway) *courier {
	return &courier{
		o: o, gw: g, name: g.Name(), log: o.opt.Log.With("gateway", g.Name()), lanes: map[string]*lane{},
		nudged: make(chan struct{}, 1), ended: make(chan verdict, o.opt.Parallel),
	}
}

// run starts what may be sent and sleeps until something changes.
func (c *courier) run(ctx context.Context) {
	wake, end := c.o.opt.Vault.Subscribe(vault.OutboxChanged)
	defer end()
	for failures := 0; ctx.Err() == nil; {
		sleep, err := c.start(ctx)
		if err != nil && ctx.Err() == nil {
			failures++
			sleep = backoff(failures, c.o.random())
			c.log.Error("read outbox", "err", err)
		} else {
			failures = 0
		}
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-timer.C:
		case <-c.nudged:
			c.forgive()
		case v := <-c.ended:
			c.close(v)
		}
		timer.Stop()
	}
	c.finish()
}

// start hands out every first part whose time has come and tells how long nothing else will be due.
func (c *courier) start(ctx context.Context) (time.Duration, error) {
	heads, err := c.o.opt.Vault.Heads(ctx, c.name)
	if err != nil {
		return 0, err
	}
	sleep := maxSleep
	open := map[string]bool{}
	for _, p := range heads {
		open[p.To.Chat] = true
		l := c.laneOf(p)
		if l.busy {
			continue
		}
		if wait := time.Until(l.until); wait > 0 {
			sleep = min(sleep, wait)
			continue
		}
		if c.busy >= c.o.opt.Parallel {
			continue // the one that ends next wakes the loop
		}
		if who, ok := c.gw.(gateways.Presence); ok && !who.Present(p.To) {
			if err := c.o.hold(ctx, p, outOfReach(c.name)); err != nil {
				return 0, err
			}
			continue
		}
		l.busy = true
		c.busy++
		tries, frozen := l.tries+1, l.frozen
		go func() { c.ended <- c.deliver(ctx, p, tries, frozen) }()
	}
	for chat, l := range c.lanes {
		if !open[chat] && !l.busy {
			delete(c.lanes, chat)
		}
	}
	return sleep, nil
}

// laneOf finds or makes what is known of a part's lane. A part that an earlier life was told to wait with waits on.
func (c *courier) laneOf(p vault.Part) *lane {
	l := c.lanes[p.To.Chat]
	if l == nil {
		l = &lane{}
		c.lanes[p.To.Chat] = l
	}
	if l.part == p.ID || l.busy {
		return l
	}
	before := *l
	*l = lane{part: p.ID}
	if p.State == "waiting" {
		l.until = time.Now().Add(min(max(0, p.NextTry.Sub(c.o.opt.Now())), maxStored))
	}
	if before.asked && before.until.After(l.until) { // the chat is to be left alone, whichever part is the first now
		l.until, l.asked = before.until, true
	}
	return l
}

// close notes what came of an attempt.
func (c *courier) close(v verdict) {
	c.busy--
	if !v.again {
		delete(c.lanes, v.chat)
		return
	}
	l := c.lanes[v.chat]
	*l = lane{part: v.part, tries: l.tries + 1, until: time.Now().Add(v.wait), asked: v.asked, frozen: v.frozen}
}

// forgive ends the waiting that nobody asked for, and all of it when who asked is gone.
func (c *courier) forgive() {
	renewed := c.renewed.Swap(false)
	for _, l := range c.lanes {
		if !l.busy && (renewed || !l.asked) {
			l.until, l.tries, l.asked = time.Time{}, 0, false
		}
	}
}

// finish waits for the sends in hand, a little longer than they are given. What does not end then is found as sending by
// the next life, which treats it as perhaps sent.
func (c *courier) finish() {
	limit := time.NewTimer(grace + time.Second)
	defer limit.Stop()
	for c.busy > 0 {
		select {
		case v := <-c.ended:
			c.close(v)
		case <-limit.C:
			c.log.Warn("a send did not end in time", "sends", c.busy)
			return
		}
	}
}
