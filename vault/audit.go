package vault

import (
	"context"
	"fmt"
	"time"
)

// Astray is a run that stands or ended as no run should, and what was done about it.
type Astray struct {
	Run   int64
	Fault string
}

// stayedSilent is the reason of a run that ended without a word because that was decided.
const stayedSilent = "stayed silent"

// ToldBefore is the reason of a run that nobody asked for and that could only have said again that no model answers.
const ToldBefore = "no model answers, which was told before"

// settling is how long after a commit a run is left alone by Audit: whoever made it may still be at work.
const settling = time.Minute

// Audit proves that every run ends in words, in a silence that was decided, or in a told failure, and repairs what does not.
// By construction it finds nothing; what it finds is a fault of the program, for the log. inHand says which runs the brain
// has in hand. Ended runs up to after were looked at before; upTo is where the next audit goes on.
func (v *Vault) Audit(ctx context.Context, after int64, inHand func(run int64) bool) (found []Astray, upTo int64, err error) {
	before := v.now().Add(-settling).UnixMilli()
	suspects, err := collect(ctx, v.rdb.slowly(), scanAstray, astraySQL, after, before)
	if err != nil {
		return nil, after, err
	}
	upTo, err = one(ctx, v.rdb, scanInt, `SELECT coalesce(max(id), 0) FROM run WHERE id < coalesce((SELECT min(id) FROM run WHERE state IN ('queued','running','waiting') OR ended > ?), 9e15)`, before)
	if err != nil || len(suspects) == 0 {
		return nil, upTo, err
	}
	err = v.write(ctx, "audit", durable, func(t *Tx) error {
		found = nil
		again, err := collect(t.ctx, t.tx, scanAstray, astraySQL, after, before)
		if err != nil {
			return err
		}
		for _, s := range again {
			if s.state == Running && inHand(s.Run) {
				continue
			}
			if err := t.mend(s); err != nil {
				return err
			}
			found = append(found, s.Astray)
		}
		return nil
	})
	return found, upTo, err
}

type suspect struct {
	Astray
	state RunState
}

func scanAstray(s scanner) (a suspect, err error) {
	err = s.Scan(&a.Run, &a.state, &a.Fault)
	return a, err
}

// A run that is paused by /pause is queued, one that was stopped by a person was told by that command, and one that joined
// another is answered there.
const astraySQL = `SELECT id, state, 'it was running and nobody had it in hand' FROM run WHERE state = 'running' AND claimed <= ?2
	UNION ALL SELECT id, state, 'it waited and no question was open' FROM run WHERE state = 'waiting' AND NOT EXISTS (SELECT 1 FROM approval a WHERE a.run_id = run.id AND a.state = 'open')
	UNION ALL SELECT id, state, 'it ended without a word' FROM run WHERE id > ?1 AND task = '' AND state IN ('done','failed') AND ended <= ?2
		AND NOT (state = 'done' AND (reason = '` + stayedSilent + `' OR reason LIKE 'joined run %'))
		AND NOT (state = 'failed' AND trigger != 'message' AND reason = '` + ToldBefore + `')
		AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.run_id = run.id)`

func (t *Tx) mend(s suspect) error {
	if !s.ended() {
		_, err := t.exec(`UPDATE run SET state = 'queued', claimed = NULL, ready_at = ? WHERE id = ?`, t.now.UnixMilli(), s.Run)
		return err
	}
	r, err := one(t.ctx, t.tx, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ?`, s.Run)
	if err != nil {
		return err
	}
	to := r.To
	if local(to.Gateway) && r.Trigger != "message" {
		if to, err = t.v.privateAddress(t.ctx, t.tx, r.Person); err != nil {
			return err
		}
	}
	_, err = t.Post(Part{
		Key: fmt.Sprintf("astray:%d", r.ID), Run: r.ID, Job: r.Job, Conversation: r.Conversation, To: to, Class: Notice,
		Text: fmt.Sprintf("Run %d ended without an answer, which is a fault of mine. Please say it again; `hearth runs show %d` has what I did.", r.ID, r.ID),
	})
	return err
}

func (s suspect) ended() bool { return s.state == Done || s.state == Failed }
