// Package scheduler turns due jobs into runs and reminders. The jobs are rows of the vault; here is only the waiting and
// the decision what a due instant means after a restart, a sleep or a jump of the clock. scheduler/when knows the words
// and the recurrences.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// Options are what a scheduler needs.
type Options struct {
	Vault *vault.Vault
	Now   func() time.Time
	Log   *slog.Logger
	// Heartbeat is how often the owners' rules are looked at unasked; nil or 0 = never.
	Heartbeat func() time.Duration
}

// Scheduler fires jobs.
type Scheduler struct {
	vault     *vault.Vault
	now       func() time.Time
	log       *slog.Logger
	heartbeat func() time.Duration
	started   time.Time // what was due before was missed because the program was not there
	held      bool
	told      bool // that it is held
}

// longestSleep bounds each wait: clocks jump and machines sleep without telling.
const longestSleep = time.Minute

// late is how much later than its due time a job may fire without a word about it.
const late = time.Minute

// tolerated is how far a clock may stand before the last commit without being taken for one that lost its time.
const tolerated = 24 * time.Hour

// New makes a scheduler. It counts as started now: what was due earlier was missed while the program was off.
func New(opt Options) *Scheduler {
	return &Scheduler{vault: opt.Vault, now: opt.Now, log: opt.Log, heartbeat: opt.Heartbeat, started: opt.Now(), held: opt.Vault.Behind() > tolerated}
}

// Run fires jobs until ctx ends.
func (s *Scheduler) Run(ctx context.Context) error {
	woken, cancel := s.vault.SubscribeLater(vault.JobsChanged, vault.ApprovalsChanged, vault.SettingsChanged, vault.PeopleChanged, vault.OutboxChanged, vault.MemoriesChanged)
	defer cancel()
	for ctx.Err() == nil {
		next, err := s.pass(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.Error("cannot fire jobs", "error", err)
		}
		timer := time.NewTimer(s.sleep(next))
		select {
		case <-ctx.Done():
		case <-woken:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

func (s *Scheduler) sleep(next time.Time) time.Duration {
	if next.IsZero() {
		return longestSleep
	}
	return max(0, min(longestSleep, next.Sub(s.now())))
}

// pass fires all that is due and gives the next due instant; zero when there is none, or nothing can be done about it now.
func (s *Scheduler) pass(ctx context.Context) (time.Time, error) {
	if held, err := s.hold(ctx); held || err != nil {
		return time.Time{}, err
	}
	if _, err := s.vault.ExpireApprovals(ctx); err != nil {
		return time.Time{}, err
	}
	failed := s.fireDue(ctx)
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	next, err := s.vault.NextDue(ctx)
	if err != nil {
		return next, err
	}
	expiry, err := s.vault.NextExpiry(ctx)
	if err == nil && !expiry.IsZero() && (next.IsZero() || expiry.Before(next)) {
		next = expiry
	}
	for _, more := range []func(context.Context) (time.Time, error){s.beat, s.vault.Release} {
		at, broken := more(ctx)
		if err = errors.Join(err, broken); broken == nil && !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if failed != nil {
		next = time.Time{} // it is due already, and trying again at once would help nothing
	}
	return next, errors.Join(failed, err)
}

// fireDue fires jobs as long as some are due. One that fails does not stop the others.
func (s *Scheduler) fireDue(ctx context.Context) error {
	for ctx.Err() == nil {
		due, err := s.vault.DueJobs(ctx, 100)
		if err != nil {
			return err
		}
		var errs []error
		for _, j := range due {
			if err := s.fire(ctx, j); err != nil {
				errs = append(errs, fmt.Errorf("fire job %d: %w", j.ID, err))
			}
		}
		if len(errs) == len(due) {
			return errors.Join(errs...)
		}
	}
	return nil
}

// hold reports whether the clock woke up in the past and is still there: a computer without a clock chip believes in a
// date of months ago until the network tells it better, and what fired then would fire on a wrong date.
func (s *Scheduler) hold(ctx context.Context) (bool, error) {
	if !s.held {
		return false, nil
	}
	seen, err := s.vault.LastClock(ctx)
	if err != nil {
		return true, err
	}
	if s.now().Before(seen.Add(-tolerated)) {
		if s.told {
			return true, nil // telling is a commit, and each commit wakes us
		}
		s.told = true
		key := "clock-held:" + seen.Format(time.RFC3339)
		return true, s.vault.Tell(ctx, key, fmt.Sprintf("My clock says %s, but I have seen %s already. Reminders wait until it is right; if it is right now, run `hearth doctor --accept-clock`.",
			s.now().Format("Mon 2 Jan 2006, 15:04"), seen.In(s.now().Location()).Format("Mon 2 Jan 2006, 15:04")))
	}
	s.held, s.started = false, s.now() // until now nobody could have been on time
	s.log.Info("the clock is right again, jobs go on")
	return false, nil
}

// fire decides what a due job does and commits it.
func (s *Scheduler) fire(ctx context.Context, j vault.Job) error {
	if j.Kind == vault.Do {
		until, err := s.vault.QuietUntil(ctx, j.Person)
		if err != nil {
			return err
		}
		if !until.IsZero() {
			err := s.vault.HoldJob(ctx, j, until)
			if errors.Is(err, vault.ErrNotFound) {
				return nil
			}
			return err
		}
	}
	f, broken := s.plan(j, s.now())
	if f.Skip == "" && j.Kind == vault.Do {
		open, err := s.vault.OpenRunOf(ctx, j.ID)
		if err != nil {
			return err
		}
		if open != 0 {
			f.Skip = fmt.Sprintf("skipped: run %d of it was still at work", open)
		}
	}
	f.Words = fmt.Sprintf("Reminder %d: %s", j.ID, j.Text)
	f.Buttons = buttons(j.ID, f.Due)
	if f.Skip == "" && j.IsBrief() {
		f.Spoken, f.Buttons = true, nil
		var err error
		if f.Words, err = s.brief(ctx, j); err != nil {
			return err
		}
		if f.Words == "" {
			f.Skip = nothingToTell
		}
	}
	err := s.vault.Fire(ctx, j, f)
	if errors.Is(err, vault.ErrNotFound) {
		return nil // changed or cancelled meanwhile: the next pass sees what it is now
	}
	if err == nil && broken != nil {
		s.log.Error("cannot read a job's recurrence", "job", j.ID, "error", broken)
		err = s.vault.TellLater(ctx, fmt.Sprintf("job-ends:%d@%d", j.ID, f.Due.UnixMilli()),
			fmt.Sprintf("I cannot read any more when number %d (%s) is to come again, so this was its last time. Please set it again.", j.ID, j.Text))
	}
	return err
}

// keepMissed bounds how many missed instants are recorded for one firing.
const keepMissed = 200

// plan says which of a job's passed instants fires. With an error its recurrence cannot be read, and what is planned is
// its last time.
func (s *Scheduler) plan(j vault.Job, now time.Time) (f vault.Firing, err error) {
	f.Due = j.Next
	if !j.Held.IsZero() {
		j.Missed = "once" // the night was no fault of the job's, and one morning needs one run of it
	}
	if j.Spec != "" {
		f, err = passed(j, now)
	}
	if now.Sub(f.Due) <= late {
		return f, err
	}
	if j.Missed == "skip" && j.Spec != "" { // what comes once is said in any case
		f.Skip = "missed: " + s.reason(f.Due)
		return f, err
	}
	f.Late = s.reason(f.Due)
	return f, err
}

// passed finds the newest instant of a recurring job that has passed, those before it, and the one to come. A job that is
// to make up for everything stays at its first.
func passed(j vault.Job, now time.Time) (f vault.Firing, err error) {
	f.Due = j.Next
	zone, err := time.LoadLocation(j.Zone)
	if err != nil {
		return f, err
	}
	for leapt := false; ; {
		from := f.Due
		if len(f.Missed) == keepMissed && !leapt {
			leapt = true
			// Every minute for a year is half a million instants: most of them are passed over.
			if far := now.Add(-f.Due.Sub(j.Next)); far.After(from) {
				if at, ok, err := when.Next(j.Spec, zone, far.In(zone)); err == nil && ok && !at.After(now) {
					from = far
				}
			}
		}
		at, ok, err := when.Next(j.Spec, zone, from.In(zone))
		if err != nil || !ok {
			return f, err
		}
		if at.After(now) || j.Missed == "all" {
			f.Next = at
			return f, nil
		}
		f.Missed = append(f.Missed, f.Due)
		if len(f.Missed) > keepMissed {
			f.Missed = f.Missed[1:]
		}
		f.Due = at
	}
}

// reason says why a job comes late, as a person would be told.
func (s *Scheduler) reason(due time.Time) string {
	if due.Before(s.started) {
		return "I was off"
	}
	return "I was asleep"
}

// buttons stand under a reminder. Their data is what gateways/inbox reads.
func buttons(job int64, due time.Time) []vault.Button {
	data := fmt.Sprintf("j:%d@%d:", job, due.UnixMilli())
	return []vault.Button{{Label: "Done", Data: data + "done"}, {Label: "10 min", Data: data + "10min"}, {Label: "Tomorrow", Data: data + "tomorrow"}}
}
