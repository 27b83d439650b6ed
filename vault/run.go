package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// RunState is where a run stands.
type RunState string

// The states of a run.
const (
	Queued  RunState = "queued"
	Running RunState = "running"
	Waiting RunState = "waiting" // for a person's answer
	Done    RunState = "done"
	Failed  RunState = "failed"
	Stopped RunState = "stopped"
)

// Priorities: who waits for an answer goes before what the clock began, and that before what has no time of its own. What
// has waited for Patience stands with the first.
const (
	priorityMessage = 10
	priorityJob     = 5
	priorityIdle    = 1
)

// Run is everything from a trigger to its end.
type Run struct {
	ID, Conversation, Person               int64
	Trigger                                string // message, job or system
	Task                                   string // TaskSummary: background work; "" = a run that answers
	To                                     Address
	Sender                                 string
	Job                                    int64
	Due                                    time.Time
	Input                                  string // what a job's goal is; "" for a run that messages began
	State                                  RunState
	Reason                                 string
	Pos                                    int64
	Retries                                int
	Waits                                  string // what it waits for while it runs, in words for its person; "" = it works
	Context                                string // the changing block of the prompt; "" before it is written
	Model                                  string
	Steps, Calls                           int
	TokensIn, TokensOut                    int
	USD                                    float64
	USDKnown                               bool
	Worked                                 time.Duration // in lives before the present one
	Queued, Ready, Claimed, Started, Ended time.Time     // Claimed: in the present life; Started: the first time
}

const runColumns = `id, conversation_id, person_id, trigger, task, gateway, account, chat, thread, sender, job_id, due, input, state, reason, pos, retries, waits, context, model,
	steps, calls, tokens_in, tokens_out, usd, worked, queued, ready_at, claimed, started, ended`

func scanRun(s scanner) (r Run, err error) {
	var usd sql.NullFloat64
	var worked int64
	err = s.Scan(&r.ID, &r.Conversation, null[int64]{&r.Person}, &r.Trigger, &r.Task, &r.To.Gateway, &r.To.Account, &r.To.Chat, &r.To.Thread, &r.Sender, null[int64]{&r.Job},
		instant{&r.Due}, &r.Input, &r.State, &r.Reason, &r.Pos, &r.Retries, &r.Waits, &r.Context, &r.Model, &r.Steps, &r.Calls, &r.TokensIn, &r.TokensOut, &usd, &worked,
		instant{&r.Queued}, instant{&r.Ready}, instant{&r.Claimed}, instant{&r.Started}, instant{&r.Ended})
	r.USD, r.USDKnown, r.Worked = usd.Float64, usd.Valid, time.Duration(worked)*time.Millisecond
	return r, err
}

// Progress is all that is known of a run: enough to decide its next move.
type Progress struct {
	Run          Run
	Person       Person
	Conversation Conversation
	Messages     []Message
	Steps        []Step
	Calls        []Call
	Approvals    []Approval
}

// Claim takes up the oldest ready run of the highest priority. A conversation has at most one active run, and its
// messages keep their order. ErrIdle: nothing is ready, or runs are held.
func (v *Vault) Claim(ctx context.Context) (Progress, error) { return v.claim(ctx, false) }

// ClaimMessage is Claim for runs that a person's message began, for when enough of the others are in hand.
func (v *Vault) ClaimMessage(ctx context.Context) (Progress, error) { return v.claim(ctx, true) }

func (v *Vault) claim(ctx context.Context, messages bool) (p Progress, err error) {
	if v.strain.Load() != nil {
		return p, ErrIdle // what is queued waits for room
	}
	if number, err := v.nextRun(ctx, v.rdb, messages); err != nil || number == 0 {
		if err == nil {
			err = ErrIdle
		}
		return p, err
	}
	var number int64
	err = v.write(ctx, "claim", relaxed, func(t *Tx) error {
		if number, err = v.nextRun(ctx, t.tx, messages); err != nil {
			return err
		}
		if number == 0 {
			return ErrIdle
		}
		pos, err := t.nextPos()
		if err != nil {
			return err
		}
		_, err = t.note(ClaimsChanged, `UPDATE run SET state = 'running', waits = '', claimed = ?, started = coalesce(started, ?), pos = CASE pos WHEN 0 THEN ? ELSE pos END WHERE id = ?`,
			t.now.UnixMilli(), t.now.UnixMilli(), pos, number)
		return err
	})
	if err != nil {
		return p, err
	}
	if p, err = v.Progress(ctx, number); err != nil {
		// Nobody has it in hand, so nobody would give it back.
		err = errors.Join(err, v.Requeue(context.WithoutCancel(ctx), number, v.now(), false))
	}
	return p, err
}

// longestWait is more than any run is told to wait: one that should wait longer was queued by a clock that stood in the
// future and was set right since.
const longestWait = time.Hour

// idle is when background work may begin: nothing is being worked on, and nobody's message waits.
const idle = `NOT EXISTS (SELECT 1 FROM run a WHERE a.state = 'running') AND NOT EXISTS (SELECT 1 FROM run b WHERE b.state = 'queued' AND b.trigger = 'message' AND b.ready_at <= ?1)`

func (v *Vault) nextRun(ctx context.Context, q querier, messages bool) (int64, error) {
	asleep, err := v.asleep(ctx, q)
	if err != nil {
		return 0, err
	}
	number, err := one(ctx, q, scanInt, `SELECT r.id FROM run r WHERE r.state = 'queued' AND (r.ready_at <= ?1 OR r.ready_at > ?1 + ?2)
		AND NOT (r.task = '' AND r.trigger != 'message' AND r.steps = 0 AND r.person_id IN (SELECT value FROM json_each(?4)))
		AND CASE r.task WHEN '' THEN NOT EXISTS (SELECT 1 FROM run a WHERE a.conversation_id = r.conversation_id AND a.state = 'running' AND a.task = '')
			AND NOT EXISTS (SELECT 1 FROM run b WHERE b.conversation_id = r.conversation_id AND b.state = 'queued' AND b.priority = r.priority AND b.id < r.id)
		ELSE `+idle+` END
		AND NOT EXISTS (SELECT 1 FROM setting WHERE name = ?3) AND (r.trigger = 'message' OR NOT ?5)
		ORDER BY CASE WHEN r.task = '' AND r.queued + r.worked <= ?1 - ?6 THEN max(r.priority, ?7) ELSE r.priority END DESC, r.id LIMIT 1`,
		v.now().UnixMilli(), longestWait.Milliseconds(), settingPaused, asleep, messages, Patience.Milliseconds(), priorityMessage)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return number, err
}

// NextReady is the earliest instant at which a queued run may begin; zero when none is queued.
func (v *Vault) NextReady(ctx context.Context) (at time.Time, err error) {
	return one(ctx, v.rdb, func(s scanner) (at time.Time, err error) { err = s.Scan(instant{&at}); return at, err }, `SELECT min(ready_at) FROM run WHERE state = 'queued'`)
}

// Progress loads a run whatever its state. ErrNotFound.
func (v *Vault) Progress(ctx context.Context, number int64) (p Progress, err error) {
	if p.Run, err = one(ctx, v.rdb, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ?`, number); err != nil {
		return p, err
	}
	if p.Run.Person != 0 {
		if p.Person, err = v.Person(ctx, p.Run.Person); err != nil {
			return p, err
		}
	}
	if p.Conversation, err = v.Conversation(ctx, p.Run.Conversation); err != nil {
		return p, err
	}
	if p.Messages, err = collect(ctx, v.rdb, scanMessage, `SELECT `+messageColumns+` FROM message WHERE run_id = ? AND role = 'user' ORDER BY id`, number); err != nil {
		return p, err
	}
	if p.Steps, err = collect(ctx, v.rdb, scanStep, `SELECT `+stepColumns+` FROM step WHERE run_id = ? ORDER BY n`, number); err != nil {
		return p, err
	}
	if p.Calls, err = collect(ctx, v.rdb, scanCall, `SELECT `+callColumns+` FROM call WHERE run_id = ? ORDER BY step, i`, number); err != nil {
		return p, err
	}
	p.Approvals, err = collect(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE run_id = ? ORDER BY id`, number)
	return p, err
}

// StillRunning gives those of the runs that are running: what a person stopped is missing.
func (v *Vault) StillRunning(ctx context.Context, runs []int64) (map[int64]bool, error) {
	still := map[int64]bool{}
	for _, number := range runs {
		state, err := one(ctx, v.rdb, scanString, `SELECT state FROM run WHERE id = ?`, number)
		if err != nil {
			return nil, err
		}
		if RunState(state) == Running {
			still[number] = true
		}
	}
	return still, nil
}

// running fails with ErrNotRunning when a person stopped the run meanwhile: nothing of it is committed any more.
func (t *Tx) running(run int64) (Run, error) {
	r, err := one(t.ctx, t.tx, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ?`, run)
	if err == nil && r.State != Running {
		err = ErrNotRunning
	}
	return r, err
}

// SaveContext writes the changing block of a run's prompt, once: a repeat gives what stands there.
func (v *Vault) SaveContext(ctx context.Context, run int64, block string) (string, error) {
	err := v.write(ctx, "context", relaxed, func(t *Tx) error {
		r, err := t.running(run)
		if err != nil {
			return err
		}
		if r.Context != "" {
			block = r.Context
			return nil
		}
		_, err = t.note(DraftsChanged, `UPDATE run SET context = ? WHERE id = ?`, block, run)
		return err
	})
	return block, err
}

// Ending is how a run ends: what is said, and where.
type Ending struct {
	State  RunState // Done or Failed
	Reason string   // for a listing
	Reply  string   // "" only for a silence that was asked for
	Class  Class    // "" = answer
}

// EndRun ends a run beside any step: the reply into the outbox and the end, in one commit.
// ErrNotRunning: it was stopped meanwhile.
func (v *Vault) EndRun(ctx context.Context, run int64, end Ending) error {
	return v.write(ctx, "end", durable, func(t *Tx) error {
		r, err := t.running(run)
		if err != nil {
			return err
		}
		return t.endRun(r, end)
	})
}

func (t *Tx) endRun(r Run, end Ending) error {
	if end.Reply != "" && r.Task == "" {
		class := end.Class
		if class == "" {
			class = Answer
		}
		to := r.To
		if local(to.Gateway) && r.Trigger != "message" {
			var err error
			if to, err = t.v.privateAddress(t.ctx, t.tx, r.Person); err != nil {
				return err
			}
		}
		if err := t.postReply(r, Part{Key: fmt.Sprintf("reply:%d", r.ID), Run: r.ID, Job: r.Job, Conversation: r.Conversation, To: to, Class: class, Text: end.Reply, Due: r.Due}); err != nil {
			return err
		}
		if err := t.said(r.Conversation, r.ID, to, end.Reply); err != nil {
			return err
		}
	}
	if end.Reply == "" && end.State == Done && end.Reason == "" {
		end.Reason = stayedSilent
	}
	if _, err := t.exec(`UPDATE run SET state = ?, reason = ?, ended = ?, claimed = NULL, worked = worked + max(0, ? - coalesce(claimed, ?)) WHERE id = ?`,
		end.State, end.Reason, t.now.UnixMilli(), t.now.UnixMilli(), t.now.UnixMilli(), r.ID); err != nil {
		return err
	}
	if r.Job != 0 {
		if err := t.jobEnded(r, end); err != nil {
			return err
		}
	}
	_, err := t.exec(`UPDATE message SET raw = NULL WHERE run_id = ? AND raw IS NOT NULL`, r.ID)
	return err
}

// Requeue gives a run back, to be taken up at an instant: a model that is out of reach is asked again later, a run in
// hand is parked by a shutdown. failed counts towards Retries.
func (v *Vault) Requeue(ctx context.Context, run int64, at time.Time, failed bool) error {
	return v.write(ctx, "requeue", relaxed, func(t *Tx) error {
		if _, err := t.running(run); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE run SET state = 'queued', ready_at = ?, retries = CASE WHEN ? THEN retries + 1 ELSE retries END,
			worked = worked + max(0, ? - coalesce(claimed, ?)), claimed = NULL WHERE id = ?`,
			at.UnixMilli(), failed, t.now.UnixMilli(), t.now.UnixMilli(), run)
		return err
	})
}

// NoticeWaiting notes what a run waits for, in words for its person; "" = it goes on. The first such words are said in the
// chat that it came from, as the run's progress line; later ones are seen where a messenger can change it. A run that is
// not open is left as it is.
func (v *Vault) NoticeWaiting(ctx context.Context, run int64, words string) error {
	return v.write(ctx, "notice-waiting", relaxed, func(t *Tx) error {
		r, err := one(t.ctx, t.tx, scanRun, `UPDATE run SET waits = ?, noticed = coalesce(noticed, ?) WHERE id = ? AND waits != ? AND state IN ('queued','running') RETURNING `+runColumns,
			words, t.now.UnixMilli(), run, words)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil || words == "" {
			return err
		}
		_, err = t.postLine(Part{Key: LineKey(run), Run: run, Conversation: r.Conversation, To: r.To, Text: words})
		return err
	})
}

// Runs lists runs, newest first. person 0 = everybody's.
func (v *Vault) Runs(ctx context.Context, person int64, limit int) ([]Run, error) {
	return collect(ctx, v.rdb, scanRun, `SELECT `+runColumns+` FROM run WHERE (? = 0 OR person_id = ?) ORDER BY id DESC LIMIT ?`, person, person, limit)
}

// OpenRuns lists the runs that have not ended, oldest first, background work left out. conversation 0 = all.
func (v *Vault) OpenRuns(ctx context.Context, conversation int64) ([]Run, error) {
	return collect(ctx, v.rdb, scanRun, `SELECT `+runColumns+` FROM run WHERE state IN ('queued','running','waiting') AND task = '' AND (? = 0 OR conversation_id = ?) ORDER BY +id`, conversation, conversation)
}

// StoppedAmong gives those of the runs that are no longer running: a person stopped them.
func (v *Vault) StoppedAmong(ctx context.Context, runs []int64) ([]int64, error) {
	still, err := v.StillRunning(ctx, runs)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, number := range runs {
		if !still[number] {
			out = append(out, number)
		}
	}
	return out, nil
}
