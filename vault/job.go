package vault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// JobState is where a job stands.
type JobState string

// The states of a job.
const (
	JobWaiting   JobState = "waiting"
	JobFiring    JobState = "firing" // a one-off whose run or message is not through yet
	JobPaused    JobState = "paused"
	JobDone      JobState = "done"
	JobCancelled JobState = "cancelled"
	JobFailed    JobState = "failed"
)

// The kinds of job: one speaks its text, the other wakes the agent with a goal.
const (
	Say = "say"
	Do  = "do"
)

// Job is a stored wake-up. People call one that speaks a reminder.
type Job struct {
	ID               int64
	Key              string // the call or command that made it: the same key makes one job
	Kind             string // Say or Do
	Person           int64
	Conversation     int64
	To               Address
	Text             string
	Spec             string    // recurrence as scheduler/when writes it; "" = once
	Words            string    // when, as the person said it
	Zone             string    // IANA; its wall clock decides
	Missed           string    // once, skip or all
	Next             time.Time // zero = nothing more to come
	Held             time.Time // it is due, and waits until this for the end of its person's quiet hours; zero = it does not
	State            JobState
	LastDue          time.Time
	LastResult       string
	Fired, Chain     int
	CreatedByRun     int64
	Created, Changed time.Time
}

const jobColumns = `id, coalesce(key, ''), kind, person_id, conversation_id, gateway, account, chat, thread, text, spec, words, zone, missed, next, held, state, last_due, last_result, fired, chain,
	created_by_run, created, changed`

func scanJob(s scanner) (j Job, err error) {
	err = s.Scan(&j.ID, &j.Key, &j.Kind, null[int64]{&j.Person}, &j.Conversation, &j.To.Gateway, &j.To.Account, &j.To.Chat, &j.To.Thread, &j.Text, &j.Spec, &j.Words, &j.Zone, &j.Missed,
		instant{&j.Next}, instant{&j.Held}, &j.State, instant{&j.LastDue}, &j.LastResult, &j.Fired, &j.Chain, null[int64]{&j.CreatedByRun}, instant{&j.Created}, instant{&j.Changed})
	return j, err
}

// maxJobs bounds how many open jobs one person can have: a model that schedules without end is told so.
const maxJobs = 500

// MissedPolicy says what new jobs do about instants that passed while the program was off: once, skip or all. It is once
// until it is called.
func (v *Vault) MissedPolicy(policy string) { v.missed.Store(&policy) }

// ErrTooManyJobs says that a person has as many open jobs as are allowed.
var ErrTooManyJobs = fmt.Errorf("there are %d open reminders already; cancel some first", maxJobs)

// AddJob stores a wake-up. A repeat with the same key gives the job that is there. Errors: ErrTooManyJobs.
func (t *Tx) AddJob(j Job) (Job, error) {
	if j.Key != "" {
		old, err := one(t.ctx, t.tx, scanJob, `SELECT `+jobColumns+` FROM job WHERE key = ?`, j.Key)
		if !errors.Is(err, ErrNotFound) {
			return old, err
		}
	}
	open, err := one(t.ctx, t.tx, scanInt, `SELECT count(*) FROM job WHERE person_id = ? AND state IN ('waiting','firing','paused')`, j.Person)
	if err != nil {
		return j, err
	}
	if open >= maxJobs {
		return j, ErrTooManyJobs
	}
	j.asBrief()
	if j.Missed == "" {
		j.Missed = *t.v.missed.Load()
	}
	return one(t.ctx, t.tx, scanJob, `INSERT INTO job(key, kind, person_id, conversation_id, gateway, account, chat, thread, text, spec, words, zone, missed, next, state, chain, created_by_run, created, changed)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,'waiting',?,?,?,?) RETURNING `+jobColumns,
		text(j.Key), j.Kind, id(j.Person), j.Conversation, j.To.Gateway, j.To.Account, j.To.Chat, j.To.Thread, j.Text, j.Spec, j.Words, j.Zone, j.Missed, millis(j.Next), j.Chain, id(j.CreatedByRun),
		t.now.UnixMilli(), t.now.UnixMilli())
}

// AddJob stores a wake-up in an event of its own.
func (v *Vault) AddJob(ctx context.Context, j Job) (out Job, err error) {
	err = v.write(ctx, "add-job", durable, func(t *Tx) error {
		out, err = t.AddJob(j)
		return err
	})
	return out, err
}

// ownJob finds an open job that the person may touch: owners any, members their own. For others it does not exist.
func (t *Tx) ownJob(number int64, by Person) (Job, error) {
	return one(t.ctx, t.tx, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = ? AND (person_id = ? OR ?) AND state IN ('waiting','firing','paused')`, number, by.ID, by.IsOwner())
}

// Reschedule is a new time for a job.
type Reschedule struct {
	Next              time.Time
	Spec, Words, Zone string
}

// ChangeJob gives an open job another time, another text, or both. ErrNotFound: it is none of this person's, or ended.
func (t *Tx) ChangeJob(number int64, by Person, when *Reschedule, words string) (Job, error) {
	j, err := t.ownJob(number, by)
	if err != nil {
		return j, err
	}
	if when != nil {
		j.Next, j.Spec, j.Words, j.Zone, j.State = when.Next, when.Spec, when.Words, when.Zone, JobWaiting
	}
	if words != "" {
		j.Text = words
		j.asBrief()
	}
	return one(t.ctx, t.tx, scanJob, `UPDATE job SET next = ?, held = NULL, kind = ?, spec = ?, words = ?, zone = ?, text = ?, state = ?, changed = ? WHERE id = ? RETURNING `+jobColumns,
		millis(j.Next), j.Kind, j.Spec, j.Words, j.Zone, j.Text, j.State, t.now.UnixMilli(), number)
}

// CancelJob ends an open job. ErrNotFound: it is none of this person's, or ended.
func (t *Tx) CancelJob(number int64, by Person) (Job, error) {
	j, err := t.ownJob(number, by)
	if err != nil {
		return j, err
	}
	return one(t.ctx, t.tx, scanJob, `UPDATE job SET next = NULL, held = NULL, state = 'cancelled', last_result = ?, changed = ? WHERE id = ? RETURNING `+jobColumns, "cancelled by "+by.Name, t.now.UnixMilli(), j.ID)
}

// SnoozeJob says a job once more at an instant, which words stand for. A recurring one keeps its rhythm: a one-off copy is
// made. Errors: ErrNotFound.
func (t *Tx) SnoozeJob(number int64, by Person, at time.Time, words, key string) (Job, error) {
	j, err := one(t.ctx, t.tx, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = ? AND (person_id = ? OR ?) AND state != 'cancelled'`, number, by.ID, by.IsOwner())
	if err != nil {
		return j, err
	}
	if j.Spec == "" {
		return one(t.ctx, t.tx, scanJob, `UPDATE job SET next = ?, held = NULL, words = ?, state = 'waiting', changed = ? WHERE id = ? RETURNING `+jobColumns, at.UnixMilli(), words, t.now.UnixMilli(), number)
	}
	j.Key, j.Spec, j.Next, j.Words = key, "", at, words
	return t.AddJob(j)
}

// MoveJob lets a person's job go by the clock of another zone, where next is its time. ErrNotFound: it has fired, was changed
// or ended since it was read.
func (t *Tx) MoveJob(j Job, zone string, next time.Time) (Job, error) {
	return one(t.ctx, t.tx, scanJob, `UPDATE job SET zone = ?, next = ?, changed = ? WHERE id = ? AND person_id = ? AND next = ? AND state IN ('waiting','paused') RETURNING `+jobColumns,
		zone, next.UnixMilli(), t.now.UnixMilli(), j.ID, id(j.Person), j.Next.UnixMilli())
}

// Do runs f as one event. It is for commands of the command line, which no message stands behind.
func (v *Vault) Do(ctx context.Context, event string, f func(*Tx) error) error {
	return v.write(ctx, event, durable, f)
}

// Jobs lists jobs, next first, then the ended ones, newest first. person 0 = everybody's; open = only those to come.
func (v *Vault) Jobs(ctx context.Context, person int64, open bool, limit int) ([]Job, error) {
	which, args := `TRUE`, []any{}
	if person != 0 { // a query of its own, so that it finds the person's by their index
		which, args = `person_id = ?`, []any{person}
	}
	if open {
		which += ` AND state IN ('waiting','firing','paused')`
	}
	return collect(ctx, v.rdb, scanJob, `SELECT `+jobColumns+` FROM job WHERE `+which+` ORDER BY next IS NULL, next, changed DESC LIMIT ?`, append(args, limit)...)
}

// CountJobs counts the open jobs of the household.
func (v *Vault) CountJobs(ctx context.Context) (int64, error) {
	return one(ctx, v.rdb, scanInt, `SELECT count(*) FROM job WHERE state IN ('waiting','firing','paused')`)
}

// Job gives one. ErrNotFound.
func (v *Vault) Job(ctx context.Context, number int64) (Job, error) {
	return one(ctx, v.rdb, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = ?`, number)
}

// DueJobs gives the jobs whose time has come, earliest first, without those that are held.
func (v *Vault) DueJobs(ctx context.Context, limit int) ([]Job, error) {
	due, err := collect(ctx, v.rdb, scanJob, `SELECT `+jobColumns+` FROM job WHERE next IS NOT NULL AND held IS NULL AND state IN ('waiting','firing') AND next <= ? ORDER BY next LIMIT ? + 0`, v.now().UnixMilli(), limit)
	if err != nil || len(due) == limit {
		return due, err
	}
	held, err := collect(ctx, v.rdb, scanJob, `SELECT `+jobColumns+` FROM job WHERE held IS NOT NULL AND held <= ? AND next IS NOT NULL AND state IN ('waiting','firing') ORDER BY held LIMIT ? + 0`, v.now().UnixMilli(), limit-len(due))
	return append(due, held...), err
}

// NextDue is when the next job is due, or held until; zero when none is.
func (v *Vault) NextDue(ctx context.Context) (at time.Time, err error) {
	scan := func(s scanner) (at time.Time, err error) { err = s.Scan(instant{&at}); return at, err }
	due, err := one(ctx, v.rdb, scan, `SELECT min(next) FROM job WHERE next IS NOT NULL AND held IS NULL AND state IN ('waiting','firing')`)
	if err != nil {
		return due, err
	}
	held, err := one(ctx, v.rdb, scan, `SELECT min(held) FROM job WHERE held IS NOT NULL AND next IS NOT NULL AND state IN ('waiting','firing')`)
	return earlier(due, held), err
}

// earlier gives the earlier of two instants, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Firing is what becomes of a due job.
type Firing struct {
	Due    time.Time   // the instant it fires for
	Next   time.Time   // the one after; zero = it has ended
	Missed []time.Time // earlier instants that passed unseen and are only recorded
	Skip   string      // set: it does not fire, for this reason; only recorded
	Words  string      // what is sent, when it only speaks
	Spoken bool        // it only speaks, though its kind is Do: no model is asked
	Late   string      // why it comes late, when that is known
	// Buttons stand under what is said, where the messenger has them.
	Buttons []Button
}

// Fire commits that a job's time has come: its run, its next instant and, when it only speaks, its message, together. A
// job fires once for a due instant. ErrNotFound: it was changed or cancelled since it was read.
func (v *Vault) Fire(ctx context.Context, j Job, f Firing) error {
	return v.write(ctx, "fire", durable, func(t *Tx) error {
		now, err := one(t.ctx, t.tx, scanJob, `SELECT `+jobColumns+` FROM job WHERE id = ? AND next = ? AND changed = ? AND state IN ('waiting','firing')`, j.ID, j.Next.UnixMilli(), j.Changed.UnixMilli())
		if err != nil {
			return err
		}
		j = now
		for _, at := range f.Missed {
			if err := t.fired(j.ID, at, 0, "missed"); err != nil {
				return err
			}
		}
		if f.Skip != "" {
			if err := t.fired(j.ID, f.Due, 0, f.Skip); err != nil {
				return err
			}
			state := j.State
			if f.Next.IsZero() && j.State == JobWaiting {
				state = JobDone
			}
			_, err := t.exec(`UPDATE job SET next = ?, held = NULL, state = ?, last_due = ?, last_result = ? WHERE id = ?`, millis(f.Next), state, f.Due.UnixMilli(), f.Skip, j.ID)
			return err
		}
		run, fresh, err := t.fireRun(j, f)
		if err != nil {
			return err
		}
		state := JobWaiting
		if f.Next.IsZero() {
			state = JobFiring
		}
		if !fresh { // it has fired for this instant before: only the clock of the job moves on
			_, err := t.exec(`UPDATE job SET next = ?, held = NULL, state = CASE WHEN ? THEN 'done' ELSE state END WHERE id = ?`, millis(f.Next), f.Next.IsZero(), j.ID)
			return err
		}
		if _, err := t.exec(`UPDATE job SET next = ?, held = NULL, state = ?, last_due = ?, last_result = 'on its way', fired = fired + 1 WHERE id = ?`, millis(f.Next), state, f.Due.UnixMilli(), j.ID); err != nil {
			return err
		}
		return t.fired(j.ID, f.Due, run, "fired")
	})
}

func (t *Tx) fired(job int64, due time.Time, run int64, result string) error {
	_, err := t.exec(`INSERT INTO fire(job_id, due, at, run_id, result) VALUES(?,?,?,?,?) ON CONFLICT DO UPDATE SET result = excluded.result, run_id = excluded.run_id WHERE fire.result = 'missed'`,
		job, due.UnixMilli(), t.now.UnixMilli(), id(run), result)
	return err
}

// fireRun makes the run of a due instant; fresh is false when there was one already.
func (t *Tx) fireRun(j Job, f Firing) (run int64, fresh bool, err error) {
	state, ended := Queued, any(nil)
	if j.Kind == Say || f.Spoken {
		state, ended = Done, t.now.UnixMilli()
	}
	pos, err := t.nextPos()
	if err != nil {
		return 0, false, err
	}
	if state == Queued {
		pos = 0 // given when it is taken up
	}
	run, err = one(t.ctx, t.tx, scanInt, `INSERT INTO run(conversation_id, person_id, trigger, key, gateway, account, chat, thread, job_id, due, input, state, priority, pos, ready_at, queued, started, ended)
		VALUES(?,?,'job',?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(key) DO NOTHING RETURNING id`,
		j.Conversation, id(j.Person), FiringKey(j.ID, f.Due), j.To.Gateway, j.To.Account, j.To.Chat, j.To.Thread, j.ID, f.Due.UnixMilli(), j.Text,
		state, priorityJob, pos, t.now.UnixMilli(), t.now.UnixMilli(), ended, ended)
	if errors.Is(err, ErrNotFound) {
		return 0, false, nil
	}
	if err != nil || state == Queued {
		return run, err == nil, err
	}
	to := j.To
	if local(to.Gateway) {
		if to, err = t.v.privateAddress(t.ctx, t.tx, j.Person); err != nil {
			return 0, false, err
		}
	}
	p := Part{Key: FiringKey(j.ID, f.Due), Run: run, Job: j.ID, Conversation: j.Conversation, To: to, Class: Reminder, Text: f.Words, Due: f.Due, Late: f.Late, Buttons: f.Buttons}
	if j.Kind == Say {
		_, err = t.Post(p)
	} else {
		p.Class = Notice
		err = t.postFirst(j.Person, p)
	}
	if err != nil {
		return 0, false, err
	}
	return run, true, t.said(j.Conversation, run, to, f.Words)
}

// OpenRunOf gives the run of a job that has not ended; 0 when there is none.
func (v *Vault) OpenRunOf(ctx context.Context, job int64) (int64, error) {
	return one(ctx, v.rdb, scanInt, `SELECT coalesce(max(id), 0) FROM run WHERE job_id = ? AND state IN ('queued','running','waiting')`, job)
}

// Unanswered counts the wake-ups that led to a job, with itself, which have spoken since a person last wrote in its
// conversation. The run is one that has not spoken yet: it is not counted.
func (v *Vault) Unanswered(ctx context.Context, job, run int64) (int, error) {
	n, err := one(ctx, v.rdb, scanInt, `WITH RECURSIVE link(job, run, conversation, n) AS (
			SELECT id, created_by_run, conversation_id, 0 FROM job WHERE id = ?1
			UNION ALL SELECT j.id, j.created_by_run, l.conversation, l.n + 1 FROM link l JOIN run r ON r.id = l.run AND r.trigger = 'job' JOIN job j ON j.id = r.job_id WHERE l.n < 100)
		SELECT count(DISTINCT o.run_id) FROM link l JOIN outbox o ON o.job_id = l.job AND o.class = 'answer' AND o.run_id != ?2
		WHERE o.created > coalesce((SELECT m.received FROM message m WHERE m.conversation_id = l.conversation AND m.role = 'user' ORDER BY m.pos DESC LIMIT 1), 0)`, job, run)
	return int(n), err
}

// Fires lists when a job fired or was missed, newest first.
func (v *Vault) Fires(ctx context.Context, job int64, limit int) (due []time.Time, results []string, err error) {
	_, err = collect(ctx, v.rdb, func(s scanner) (struct{}, error) {
		var at time.Time
		var result string
		err := s.Scan(instant{&at}, &result)
		due, results = append(due, at), append(results, result)
		return struct{}{}, err
	}, `SELECT due, result FROM fire WHERE job_id = ? ORDER BY due DESC LIMIT ?`, job, limit)
	return due, results, err
}

// jobEnded notes how the run of a job ended. A one-off that is not to be delivered has ended with it.
func (t *Tx) jobEnded(r Run, end Ending) error {
	result, state := string(end.State), JobFailed
	if end.Reason != "" {
		result += ": " + end.Reason
	}
	switch {
	case end.State == Done && end.Reply != "":
		state = JobFiring // until the messenger has taken the words
	case end.State == Done:
		state = JobDone
	case end.State == Stopped:
		state = JobCancelled
	}
	_, err := t.exec(`UPDATE job SET last_result = ?, state = CASE WHEN next IS NULL AND state = 'firing' THEN ? ELSE state END WHERE id = ?`, result, state, r.Job)
	return err
}

// jobDelivered notes that the words of a job have arrived, all pieces of them: only the messenger's yes counts.
func (t *Tx) jobDelivered(p Part) error {
	if p.Job == 0 {
		return nil
	}
	_, err := t.exec(`UPDATE job SET last_result = CASE WHEN last_result LIKE 'failed%' THEN last_result ELSE 'delivered' END,
		state = CASE WHEN next IS NULL AND (state = 'firing' OR state = 'failed' AND last_result LIKE 'not delivered%') THEN 'done' ELSE state END
		WHERE id = ? AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.job_id = job.id AND o.run_id = ? AND o.state IN ('waiting','sending'))`, p.Job, p.Run)
	return err
}

func (t *Tx) jobUndeliverable(p Part, reason string) error {
	if p.Job == 0 {
		return nil
	}
	_, err := t.exec(`UPDATE job SET last_result = ?, state = CASE WHEN next IS NULL AND state = 'firing' THEN 'failed' ELSE state END WHERE id = ?`, "not delivered: "+reason, p.Job)
	return err
}
