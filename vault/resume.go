package vault

import (
	"context"
	"fmt"
)

// ResumeRun queues a run again that was stopped or has failed. Its journal stays: no step is thought and no call made a
// second time. An Acts call of which nobody knows whether it had its effect is asked about again. What the run said at its
// end was said; what it says at its next end is said too. ErrNotFound: it does not exist, is open, or is done.
func (v *Vault) ResumeRun(ctx context.Context, number int64) (r Run, err error) {
	err = v.write(ctx, "resume-run", durable, func(t *Tx) error {
		r, err = one(t.ctx, t.tx, scanRun, `UPDATE run SET state = 'queued', reason = '', ready_at = ?, ended = NULL, claimed = NULL, retries = 0, noticed = NULL, worked = 0, waits = ''
			WHERE id = ? AND state IN ('stopped','failed') RETURNING `+runColumns, t.now.UnixMilli(), number)
		if err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE call SET state = 'started' WHERE run_id = ? AND state = 'unknown'`, number); err != nil {
			return err
		}
		// The keys say "once for this run"; the next end is another one.
		if _, err := t.exec(`UPDATE outbox SET live = 0 WHERE run_id = ? AND live != 0`, number); err != nil {
			return err
		}
		_, err = t.exec(`UPDATE outbox SET key = key || ? WHERE run_id = ? AND (key = ? OR key LIKE ? OR key = ?)`,
			fmt.Sprintf(" until %d", t.now.UnixMilli()), number, fmt.Sprintf("reply:%d", number), fmt.Sprintf("reply:%d/%%", number), LineKey(number))
		return err
	})
	return r, err
}
