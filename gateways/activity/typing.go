package activity

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// When "is writing" is shown: messengers show it for about five seconds.
const (
	patience  = 250 * time.Millisecond // an answer that comes sooner needs none, and would be followed by it
	every     = 4 * time.Second
	afterFail = 20 * time.Second // a chat where it failed is left alone so long
	maxSleep  = time.Minute
)

// typist shows for one gateway who is at work. Its fields belong to the goroutine of run, except the channel.
type typist struct {
	vault *vault.Vault
	typer gateways.Typer
	name  string
	log   *slog.Logger

	next   map[vault.Address]time.Time // of the chats at work: when to show it; monotonic
	busy   map[vault.Address]bool      // it is being shown just now
	failed map[vault.Address]bool      // it was logged
	ended  chan shown
	all    sync.WaitGroup
}

type shown struct {
	to  vault.Address
	err error
}

func newTypist(opt Options, name string, typer gateways.Typer) *typist {
	return &typist{
		vault: opt.Vault, typer: typer, name: name, log: opt.Log.With("gateway", name),
		next: map[vault.Address]time.Time{}, busy: map[vault.Address]bool{}, failed: map[vault.Address]bool{}, ended: make(chan shown),
	}
}

func (t *typist) run(ctx context.Context) {
	defer t.all.Wait()
	woken, cancel := t.vault.SubscribeLater(vault.RunsChanged, vault.ClaimsChanged)
	defer cancel()
	for ctx.Err() == nil {
		sleep, err := t.pass(ctx)
		if err != nil {
			if ctx.Err() == nil {
				t.log.Debug("cannot see who is at work", "error", err)
			}
			sleep = every
		}
		timer := time.NewTimer(sleep)
		select {
		case <-ctx.Done():
		case <-woken:
		case <-timer.C:
		case s := <-t.ended:
			t.close(s)
		}
		timer.Stop()
	}
}

// pass shows it wherever its time has come and tells how long nothing else is due.
func (t *typist) pass(ctx context.Context) (time.Duration, error) {
	runs, err := t.vault.AtWork(ctx, t.name)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	sleep := maxSleep
	working := map[vault.Address]bool{}
	for _, r := range runs {
		if working[r.To] {
			continue
		}
		working[r.To] = true
		at, known := t.next[r.To]
		if !known {
			at = now.Add(patience)
		}
		if wait := at.Sub(now); wait > 0 {
			t.next[r.To] = at
			sleep = min(sleep, wait)
			continue
		}
		if t.busy[r.To] {
			continue // its end wakes the loop
		}
		t.next[r.To], t.busy[r.To] = now.Add(every), true
		sleep = min(sleep, every)
		t.all.Go(func() { t.show(ctx, r.To) })
	}
	for to := range t.next {
		if !working[to] {
			delete(t.next, to)
		}
	}
	return sleep, nil
}

// show has its end noted unless nobody listens any more.
func (t *typist) show(ctx context.Context, to vault.Address) {
	limited, cancel := context.WithTimeout(ctx, every)
	defer cancel()
	s := shown{to, t.typer.Typing(limited, to)}
	select {
	case t.ended <- s:
	case <-ctx.Done():
	}
}

func (t *typist) close(s shown) {
	delete(t.busy, s.to)
	if s.err == nil {
		delete(t.failed, s.to)
		return
	}
	if _, working := t.next[s.to]; working {
		t.next[s.to] = time.Now().Add(afterFail)
	}
	if !t.failed[s.to] {
		t.failed[s.to] = true
		t.log.Debug("cannot show that I write", "error", s.err)
	}
}
