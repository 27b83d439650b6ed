package brain

import (
	"context"
	"errors"
	"time"
)

// inHand counts the runs that are in hand, and those of them that nobody waits for.
func (b *Brain) inHand() (all, background int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.active {
		if w.background {
			background++
		}
	}
	return len(b.active), background
}

// makeRoom has background work give way to the people whose conversation it holds, tells those who have to wait all the
// same, and says when it is to look again. People who wait for a backend alone are served by its lane.
func (b *Brain) makeRoom(ctx context.Context) time.Duration {
	blocked, err := b.vault.Blocked(ctx)
	again := longestSleep
	for _, r := range blocked {
		if r.Background {
			b.lanes.giveWay(r.By)
		}
		if wait := waitNotice - b.now().Sub(r.Since); wait > 0 {
			again = min(again, wait)
		} else if words := inLine(2); r.Waits != words {
			err = errors.Join(err, b.vault.NoticeWaiting(ctx, r.Run, words))
		}
	}
	if err != nil && ctx.Err() == nil {
		b.log.Error("cannot make room for who waits", "error", err)
	}
	return again
}
