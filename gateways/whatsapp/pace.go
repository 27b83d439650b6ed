package whatsapp

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// pace keeps messages apart as a person's are: bursts are what numbers are banned for.
type pace struct {
	mu   sync.Mutex
	next time.Time
}

// wait gives each caller a moment of its own, at least gap and at most one and a half of it apart.
func (p *pace) wait(ctx context.Context, gap time.Duration) error {
	p.mu.Lock()
	now := time.Now()
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(gap + rand.N(gap/2+1))
	p.mu.Unlock()
	if !at.After(now) {
		return ctx.Err()
	}
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
