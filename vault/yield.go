package vault

import (
	"context"
	"time"
)

// Patience is how long what the clock began stands back behind people. After that it has the same right as they have, so
// that a house where somebody always writes has its follow-ups all the same.
const Patience = 5 * time.Minute

// Waited is how long a run has waited since it was queued: for its turn, for a person's answer, and for what was cut off
// so that a person was served first.
func (r Run) Waited(now time.Time) time.Duration { return max(0, now.Sub(r.Queued)-r.Worked) }

// Blocked is a person's message that waits because its conversation is at work on something that it cannot join.
type Blocked struct {
	Run, By    int64
	Background bool // By is nothing that a person waits for
	Since      time.Time
	Waits      string // what its person was told; see NoticeWaiting
}

// Blocked lists the messages that are ready and wait for another run of their conversation, oldest first. Those that will
// join it at its next step are not among them; nothing is while runs are held.
func (v *Vault) Blocked(ctx context.Context) ([]Blocked, error) {
	return collect(ctx, v.rdb, func(s scanner) (b Blocked, err error) {
		err = s.Scan(&b.Run, &b.By, &b.Background, instant{&b.Since}, &b.Waits)
		return b, err
	}, `SELECT q.id, r.id, r.trigger != 'message', q.ready_at, q.waits FROM run q JOIN run r ON r.conversation_id = q.conversation_id AND r.state = 'running' AND r.task = ''
		WHERE q.state = 'queued' AND q.trigger = 'message' AND q.ready_at <= ? AND NOT (`+joins+`)
		AND NOT EXISTS (SELECT 1 FROM setting WHERE name = ?) ORDER BY +q.id`, v.now().UnixMilli(), settingPaused)
}

// Yield gives a run back so that a person is served first. It goes on where its journal ends, and nothing counts as
// failed. idle is how much of this life was no work: it waited in line, or what it did was cut off. ErrNotRunning.
func (v *Vault) Yield(ctx context.Context, run int64, idle time.Duration) error {
	return v.write(ctx, "yield", relaxed, func(t *Tx) error {
		if _, err := t.running(run); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE run SET state = 'queued', ready_at = ?, worked = worked + max(0, ? - coalesce(claimed, ?) - ?), claimed = NULL WHERE id = ?`,
			t.now.UnixMilli(), t.now.UnixMilli(), t.now.UnixMilli(), idle.Milliseconds(), run)
		return err
	})
}
