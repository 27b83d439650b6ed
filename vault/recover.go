package vault

import (
	"context"
	"time"
)

// recover settles what the last life left in the middle: runs that were running are queued again, parts that were being
// sent are judged by their class, and the clock is held against the last commit.
func (v *Vault) recover(ctx context.Context) error {
	clock, err := v.Setting(ctx, settingClock)
	if err != nil {
		return err
	}
	away := time.Duration(0)
	if last, err := time.Parse(time.RFC3339, clock); err == nil {
		away = v.now().Sub(last)
		if behind := last.Sub(v.now()); behind > 0 {
			v.behind = behind
			v.stamp = last // a clock in the past must not overwrite what was seen
		}
	}
	if err := v.readCopies(ctx); err != nil {
		return err
	}
	_ = v.sweepLeft(ctx) // with a full disk the vault must open all the same; the next start tries again
	return v.write(ctx, "recover", durable, func(t *Tx) error {
		if _, err := t.exec(`UPDATE run SET state = 'queued', claimed = NULL WHERE state = 'running'`); err != nil {
			return err
		}
		if err := t.cutOpen(); err != nil {
			return err
		}
		sending, err := collect(t.ctx, t.tx, func(s scanner) (struct {
			Part
			boot string
		}, error,
		) {
			var row struct {
				Part
				boot string
			}
			err := s.Scan(&row.ID, null[int64]{&row.Job}, null[int64]{&row.Run}, &row.Class, &row.Text, &row.Attempts, &row.boot)
			return row, err
		}, `SELECT id, job_id, run_id, class, text, attempts, boot FROM outbox WHERE state IN ('waiting','sending') AND state = 'sending' ORDER BY +id`)
		if err != nil {
			return err
		}
		for _, p := range sending {
			// The attempt counter is not flushed, but it outlives the process as long as the machine stays up: then
			// zero means that the part was never handed to the messenger.
			if p.Attempts == 0 && p.boot != "" && p.boot == v.boot {
				if _, err := t.exec(`UPDATE outbox SET state = 'waiting', next_try = 0 WHERE id = ?`, p.ID); err != nil {
					return err
				}
				continue
			}
			if err := t.ambiguous(p.Part, "the program ended while this was being sent", time.UnixMilli(0)); err != nil {
				return err
			}
		}
		if away > pressLife {
			if _, err := t.mentionOpen(); err != nil {
				return err
			}
		}
		return t.sweepQuarantine()
	})
}
