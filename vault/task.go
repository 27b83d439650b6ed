package vault

import (
	"context"
	"errors"
	"time"
)

// TaskSummary sums up the older part of a conversation. Background work is a run like any other, so that a crash loses none
// of it and its cost is booked, with a task. It says nothing, is no part of the talk, and begins only when nothing else is
// being worked on and nobody's message waits.
const TaskSummary = "summary"

// A task that failed rests before the next of its kind and conversation: longer each time.
const (
	taskRest        = 10 * time.Minute
	longestTaskRest = 6 * time.Hour
)

// QueueTask asks for background work on a conversation, to begin in wait at the earliest, unless it is asked for already.
// It is not flushed: what a power cut takes back is asked for again.
func (v *Vault) QueueTask(ctx context.Context, conversation int64, task string, wait time.Duration) error {
	if there, err := v.taskOpen(ctx, v.rdb, conversation, task); err != nil || there {
		return err
	}
	return v.write(ctx, "task", relaxed, func(t *Tx) error {
		if there, err := v.taskOpen(t.ctx, t.tx, conversation, task); err != nil || there {
			return err
		}
		ready := t.now.Add(wait)
		failed, err := one(t.ctx, t.tx, func(s scanner) (f failures, err error) { err = s.Scan(&f.times, instant{&f.last}); return f, err },
			`SELECT count(*), max(ended) FROM run WHERE conversation_id = ?1 AND task = ?2 AND state = 'failed'
			AND id > coalesce((SELECT max(id) FROM run WHERE conversation_id = ?1 AND task = ?2 AND state = 'done'), 0)`, conversation, task)
		if err != nil {
			return err
		}
		if failed.times > 0 {
			rest := min(taskRest<<min(failed.times-1, 10), longestTaskRest)
			if until := failed.last.Add(rest); until.After(ready) && until.Before(t.now.Add(longestTaskRest)) {
				ready = until
			}
		}
		_, err = t.exec(`INSERT INTO run(conversation_id, person_id, trigger, task, gateway, account, chat, thread, state, ready_at, queued)
			VALUES(?1,(SELECT person_id FROM conversation WHERE id = ?1),'system',?2,'','','','','queued',?3,?4)`,
			conversation, task, ready.UnixMilli(), t.now.UnixMilli())
		return err
	})
}

type failures struct {
	times int
	last  time.Time
}

func (v *Vault) taskOpen(ctx context.Context, q querier, conversation int64, task string) (bool, error) {
	n, err := one(ctx, q, scanInt, `SELECT EXISTS (SELECT 1 FROM run WHERE conversation_id = ? AND task = ? AND task != '' AND state IN ('queued','running'))`, conversation, task)
	return n != 0, err
}

// Unended lists the runs that have not ended, background work too, oldest first.
func (v *Vault) Unended(ctx context.Context) ([]Run, error) {
	return collect(ctx, v.rdb, scanRun, `SELECT `+runColumns+` FROM run WHERE state IN ('queued','running','waiting') ORDER BY +id`)
}

// TaskDone is what background work commits: what the model was paid, if it was asked, and what came of it.
type TaskDone struct {
	Step    *StepDone // nil = no model was asked; only what it took counts of it
	Failed  string    // why nothing came of it, for a listing; "" = it is done
	Summary *Summary
	Learned *Learned // kept also when it failed: no line is read twice
}

// EndTask ends background work, with all that came of it, in one commit. ErrNotRunning: it was stopped meanwhile; nothing
// of it is kept.
func (v *Vault) EndTask(ctx context.Context, run int64, d TaskDone) error {
	return v.write(ctx, "end-task", durable, func(t *Tx) error {
		r, err := t.running(run)
		if err != nil {
			return err
		}
		if d.Step != nil {
			if err := t.insertStep(run, d.Step.Step); err != nil {
				return err
			}
			if err := errors.Join(t.bookStep(r, *d.Step), t.countStep(run, d.Step.Step, 0)); err != nil {
				return err
			}
		}
		if d.Summary != nil && d.Failed == "" {
			if err := t.addSummary(*d.Summary); err != nil {
				return err
			}
		}
		if d.Learned != nil {
			if err := t.learn(*d.Learned); err != nil {
				return err
			}
		}
		end := Ending{State: Done, Reason: "background work"}
		if d.Failed != "" {
			end = Ending{State: Failed, Reason: d.Failed}
		}
		return t.endRun(r, end)
	})
}
