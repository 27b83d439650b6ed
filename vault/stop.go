package vault

// Halted is what a stop found.
type Halted struct {
	Stopped []Run  // were running or waiting for an answer
	Kept    []Run  // queued: they are answered next
	Unsure  []Call // Acts calls that had begun: nobody knows whether they had their effect
}

// Stop ends a conversation's active and waiting runs: their open questions are closed, their unsent parts dropped. What is
// only queued is kept. Everything of the runs that comes later is refused with ErrNotRunning.
func (t *Tx) Stop(conversation int64) (h Halted, err error) {
	if h.Stopped, err = collect(t.ctx, t.tx, scanRun, `SELECT `+runColumns+` FROM run WHERE conversation_id = ? AND state IN ('queued','running','waiting') AND task = '' AND (state != 'queued' OR started IS NOT NULL) ORDER BY +id`, conversation); err != nil {
		return h, err
	}
	for _, r := range h.Stopped {
		unsure, err := t.stopRun(r, "stopped by a person")
		if err != nil {
			return h, err
		}
		h.Unsure = append(h.Unsure, unsure...)
	}
	h.Kept, err = collect(t.ctx, t.tx, scanRun, `SELECT `+runColumns+` FROM run WHERE conversation_id = ? AND state = 'queued' AND task = '' ORDER BY id`, conversation)
	return h, err
}

// StopRun ends one run, also one that is only queued. ErrNotFound when it has ended or does not exist.
func (t *Tx) StopRun(number int64) (Run, error) {
	r, err := one(t.ctx, t.tx, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ? AND state IN ('queued','running','waiting')`, number)
	if err != nil {
		return r, err
	}
	_, err = t.stopRun(r, "stopped by a person")
	return r, err
}

func (t *Tx) stopRun(r Run, reason string) ([]Call, error) {
	now := t.now.UnixMilli()
	if _, err := t.exec(`UPDATE run SET state = 'stopped', reason = ?, ended = ?, worked = worked + max(0, ? - coalesce(claimed, ?)), claimed = NULL WHERE id = ?`, reason, now, now, now, r.ID); err != nil {
		return nil, err
	}
	if _, err := t.exec(`UPDATE approval SET state = 'expired', decided = ? WHERE run_id = ? AND state = 'open' AND part_id IS NULL`, now, r.ID); err != nil {
		return nil, err
	}
	// One that is sending without an attempt was not handed to the messenger yet, and is refused to it from here on.
	if _, err := t.exec(`UPDATE outbox SET state = 'dropped', live = 0, error = ? WHERE run_id = ? AND (state = 'waiting' OR state = 'sending' AND attempts = 0)`, reason, r.ID); err != nil {
		return nil, err
	}
	unsure, err := collect(t.ctx, t.tx, scanCall, `SELECT `+callColumns+` FROM call WHERE run_id = ? AND (state = 'started' AND effect = 'acts' OR state = 'unknown') ORDER BY id`, r.ID)
	if err != nil {
		return nil, err
	}
	if _, err := t.exec(`UPDATE call SET state = CASE WHEN state = 'started' AND effect = 'acts' OR state = 'unknown' THEN 'unknown' ELSE 'dropped' END, result = ?
		WHERE run_id = ? AND state IN ('proposed','waiting','approved','started','unknown')`, reason, r.ID); err != nil {
		return nil, err
	}
	if _, err := t.exec(`UPDATE message SET raw = NULL WHERE run_id = ? AND raw IS NOT NULL`, r.ID); err != nil {
		return nil, err
	}
	if r.Job != 0 {
		return unsure, t.jobEnded(r, Ending{State: Stopped, Reason: reason})
	}
	return unsure, nil
}
