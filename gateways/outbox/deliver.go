package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// deliver makes one attempt with the first part of a lane: commit that it begins, send, commit what came of it. tries
// counts this one.
func (c *courier) deliver(ctx context.Context, p vault.Part, tries int, frozen string) verdict {
	v := verdict{chat: p.To.Chat, part: p.ID, frozen: frozen}
	log := c.log.With("part", p.ID)
	if p.Run != 0 {
		log = log.With("run", p.Run)
	}
	ids, stable := c.gw.(gateways.StableIDs)
	if stable && p.Stable == "" {
		p.Stable = ids.NewID()
	}
	p, ready, err := c.prepare(ctx, p)
	if err == nil && ready {
		err = c.o.opt.Vault.Sending(ctx, p)
	}
	switch {
	case errors.Is(err, vault.ErrNotFound): // a person stopped or dropped it meanwhile
		return v
	case err != nil:
		if ctx.Err() == nil {
			log.Error("begin a send", "err", err)
		}
		v.again, v.wait = true, backoff(tries, c.o.random())
		return v
	case !ready:
		return v
	}

	text := frozen
	if text == "" {
		text = c.words(ctx, p, stable)
	}
	out := p
	out.Text, out.Entities = text, styles(p, text)
	ref, fault := c.send(ctx, out)
	if fault == nil {
		c.record(ctx, func(ctx context.Context) error { return c.o.opt.Vault.Delivered(ctx, p, ref) })
		return v
	}

	outcome := fault.Outcome
	if outcome == vault.MayHaveSent && stable {
		outcome, v.frozen = vault.NotSent, text // the same bytes under the same id do no harm, whoever they are for
	}
	v.wait, v.asked = fault.Wait, fault.Wait > 0
	switch {
	case v.asked:
	case outcome == vault.MayHaveSent && p.Marked: // a repeat too: more of them must not pile up in somebody's chat
		v.wait = maxWait
	default:
		v.wait = backoff(tries, c.o.random())
	}
	v.again = outcome != vault.Refused
	level := slog.LevelWarn
	if outcome == vault.NotSent && tries > 1 {
		level = slog.LevelDebug // a line that stays down is told once
	}
	log.Log(ctx, level, "send a part", "outcome", fault.Outcome, "attempt", p.Attempts+1, "wait", v.wait, "err", fault)
	again := c.o.opt.Now().Add(v.wait + time.Millisecond) // which the vault cuts off below the millisecond
	c.record(ctx, func(ctx context.Context) error {
		return c.o.opt.Vault.Undelivered(ctx, p, outcome, fault.Reason(), again)
	})
	return v
}

// prepare cuts a part that is too long, before its first attempt only: later its pieces would not be those that may have
// arrived. ready is false when nothing is left to be sent.
func (c *courier) prepare(ctx context.Context, p vault.Part) (out vault.Part, ready bool, err error) {
	if p.Attempts > 0 {
		return p, true, nil
	}
	if strings.TrimSpace(p.Text) == "" {
		return p, false, c.refuse(ctx, p, "there are no words in it")
	}
	splitter, ok := c.gw.(gateways.Splitter)
	if !ok {
		return p, true, nil
	}
	pieces := splitter.Split(p)
	switch {
	case len(pieces) == 0:
		return p, false, c.refuse(ctx, p, "the messenger can show nothing of it")
	case len(pieces) == 1:
		return p, true, nil
	}
	if err := c.o.opt.Vault.Split(ctx, p, pieces); err != nil {
		return p, false, err
	}
	p.Text, p.Entities, p.Buttons = pieces[0].Text, pieces[0].Entities, nil // the last piece has the buttons
	return p, true, nil
}

// refuse ends a part that no attempt is made with.
func (c *courier) refuse(ctx context.Context, p vault.Part, why string) error {
	return c.o.opt.Vault.Undelivered(ctx, p, vault.Refused, why, time.Time{})
}

// words gives the text as it is delivered now.
func (c *courier) words(ctx context.Context, p vault.Part, stable bool) string {
	text := p.Text
	if c.o.opt.Mask != nil {
		text = c.o.opt.Mask(text)
	}
	return marked(text, p.Marked && !stable, c.lateness(ctx, p))
}

// lateness finds out whether and why a part comes after its time.
func (c *courier) lateness(ctx context.Context, p vault.Part) string {
	now := c.o.opt.Now()
	if p.Due.IsZero() || p.Late == "" && now.Sub(p.Due) <= lateAfter {
		return ""
	}
	due := p.Due.In(now.Location())
	if j, err := c.o.opt.Vault.Job(ctx, p.Job); err == nil {
		if zone, err := time.LoadLocation(j.Zone); err == nil {
			due = p.Due.In(zone)
		}
	}
	if p.Late != "" {
		return lateness(due, now, p.Late)
	}
	if now.Sub(p.Created) > lateAfter {
		return lateness(due, now, outOfReach(c.name))
	}
	progress, err := c.o.opt.Vault.Progress(ctx, p.Run)
	if err != nil {
		return lateness(due, now, "I do not know why")
	}
	return lateness(due, now, whyLate(p, progress.Run))
}

// send hands a part to the gateway. The end of ctx does not cut it off at once: half a send is worse than a late exit.
func (c *courier) send(ctx context.Context, out vault.Part) (ref string, fault *gateways.SendError) {
	limit := sendLimit
	if out.Class == vault.Status {
		limit = lineLimit
	}
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(sending, func() { timer.Stop() })
	})
	defer stop()
	defer func() {
		if broken := recover(); broken != nil {
			fault = &gateways.SendError{Outcome: vault.MayHaveSent, Human: "the program broke while it was being sent", Err: fmt.Errorf("send panicked: %v", broken)}
		}
	}()
	ref, err := c.gw.Send(sending, out)
	if err == nil {
		return ref, nil
	}
	fault = &gateways.SendError{Outcome: vault.MayHaveSent, Err: err}
	var known *gateways.SendError
	if errors.As(err, &known) && known != nil && known.Outcome != "" {
		fault = known
	}
	return "", fault
}

// record commits an outcome, however often the disk refuses: a part that was sent and is not known to be would be sent
// again. Only the end of the program ends it; the next life then finds the part as sending.
func (c *courier) record(ctx context.Context, commit func(context.Context) error) {
	for n := 1; ; n++ {
		err := commit(context.WithoutCancel(ctx))
		if err == nil {
			return
		}
		c.log.Error("commit what came of a send", "err", err)
		timer := time.NewTimer(backoff(n, c.o.random()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
