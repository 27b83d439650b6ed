package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// NextTask is when queued background work may begin at the earliest; zero when there is none.
func (v *Vault) NextTask(ctx context.Context) (at time.Time, err error) {
	return one(ctx, v.rdb, func(s scanner) (at time.Time, err error) { err = s.Scan(instant{&at}); return at, err }, `SELECT min(ready_at) FROM run WHERE state = 'queued' AND task != ''`)
}

// TaskDone is what background work commits: what the model was paid, if it was asked, and what came of it.
type TaskDone struct {
	Step    *StepDone // nil = no model was asked; only what it took counts of it
	Failed  string    // why nothing came of it, for a listing; "" = it is done
	Summary *Summary
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
		end := Ending{State: Done, Reason: "background work"}
		if d.Failed != "" {
			end = Ending{State: Failed, Reason: d.Failed}
		}
		return t.endRun(r, end)
	})
}

// Summary is what a model made of the older part of a conversation.
type Summary struct {
	ID           int64
	Conversation int64
	From, To     int64 // positions in the history, both included; what an earlier summary told is in the text too
	Text, Model  string
	Created      time.Time
}

const summaryColumns = `id, conversation_id, from_pos, to_pos, text, model, created`

func scanSummary(s scanner) (sum Summary, err error) {
	err = s.Scan(&sum.ID, &sum.Conversation, &sum.From, &sum.To, &sum.Text, &sum.Model, instant{&sum.Created})
	return sum, err
}

// Summary gives the one of a conversation that reaches furthest; what was said before /new is in none. The zero value when
// there is none.
func (v *Vault) Summary(ctx context.Context, c Conversation) (Summary, error) {
	sum, err := one(ctx, v.rdb, scanSummary, `SELECT `+summaryColumns+` FROM summary WHERE conversation_id = ? AND to_pos > ? ORDER BY to_pos DESC, id DESC LIMIT 1`, c.ID, c.SincePos)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return sum, err
}

func (t *Tx) addSummary(s Summary) error {
	if _, err := t.exec(`INSERT INTO summary(conversation_id, from_pos, to_pos, text, model, created) VALUES(?,?,?,?,?,?)`, s.Conversation, s.From, s.To, s.Text, s.Model, t.now.UnixMilli()); err != nil {
		return fmt.Errorf("store summary: %w", err)
	}
	return nil
}

// Note stores a setting that may be made again: it is not flushed. "" removes it.
func (v *Vault) Note(ctx context.Context, name, value string) error {
	return v.write(ctx, "note", relaxed, func(t *Tx) error { return t.Set(name, value) })
}

// maxStanding is more than any prompt takes.
const maxStanding = 400

// Standing gives what stands in every prompt of a scope: the standing rules and what is pinned, oldest first.
func (v *Vault) Standing(ctx context.Context, in Scope) ([]Memory, error) {
	where, args := in.where()
	found, err := collect(ctx, v.rdb, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory m WHERE m.id IN (SELECT id FROM memory WHERE pinned UNION SELECT id FROM memory WHERE kind = 'rule')
		AND m.superseded_by IS NULL AND `+where+` ORDER BY m.id DESC LIMIT ?`, append(args, maxStanding)...)
	slices.Reverse(found)
	return found, err
}

// OpenJobs gives the open jobs that a conversation may be told of, the next one first: in private those of its person, in
// a group its own.
func (v *Vault) OpenJobs(ctx context.Context, c Conversation, limit int) ([]Job, error) {
	if c.Kind == Group {
		return collect(ctx, v.rdb, scanJob, `SELECT `+jobColumns+` FROM job WHERE conversation_id = ? AND state IN ('waiting','firing','paused') ORDER BY next IS NULL, next, id LIMIT ?`, c.ID, limit)
	}
	return v.Jobs(ctx, c.Person, true, limit)
}

// OpenQuestions gives the questions that runs of a conversation wait for, oldest first.
func (v *Vault) OpenQuestions(ctx context.Context, conversation int64, limit int) ([]Approval, error) {
	return collect(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE state = 'open' AND run_id IN (SELECT id FROM run WHERE conversation_id = ? AND state IN ('waiting','running','queued')) ORDER BY id LIMIT ?`, conversation, limit)
}
