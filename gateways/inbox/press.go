package inbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

const unknownButton = "I do not know that button any more."

// press takes a button for the answer that it is.
func (i *Inbox) press(ctx context.Context, in vault.Inbound, from vault.Person) error {
	in.Raw = nil
	r := &request{i: i, ctx: ctx, in: in, from: from, zone: i.zone(from)}
	r.now = i.opt.Now().In(r.zone)
	do := func(*request) ([]string, error) { return say(unknownButton) }
	if n, choice, ok := pressed(in.Text); ok {
		do = func(r *request) ([]string, error) { return r.decide(n, choice) }
	} else if p, ok := pressedReminder(in.Text); ok {
		r.in.Text = fmt.Sprintf("(pressed %s under reminder %d)", p.choice, p.job) // as the history shows it
		do = func(r *request) ([]string, error) { return r.heed(p) }
	} else if question, move, ok := pressedTravel(in.Text); ok {
		r.in.Text = "(pressed a button under the question about the time zone)"
		do = func(r *request) ([]string, error) { return r.travelPressed(question, move) }
	}
	return i.carryOut(r, do)
}

// The buttons under a reminder, as their data names them.
const (
	pressDone     = "done"
	pressTenMin   = "10min"
	pressTomorrow = "tomorrow"
)

// reminderPress is a button under a reminder.
type reminderPress struct {
	job    int64
	due    time.Time
	choice string
}

// pressedReminder reads the data of a reminder's button: "j:7@1796374800000:done".
func pressedReminder(data string) (p reminderPress, ok bool) {
	rest, ok := strings.CutPrefix(data, "j:")
	number, rest, at := strings.Cut(rest, "@")
	due, choice, colon := strings.Cut(rest, ":")
	job, errJob := strconv.ParseInt(number, 10, 64)
	millis, errDue := strconv.ParseInt(due, 10, 64)
	if !ok || !at || !colon || errJob != nil || errDue != nil || job <= 0 || choice != pressDone && choice != pressTenMin && choice != pressTomorrow {
		return p, false
	}
	return reminderPress{job, time.UnixMilli(millis), choice}, true
}

// heed carries out a button under a reminder: of the person whose reminder it is, and once.
func (r *request) heed(p reminderPress) ([]string, error) {
	j, err := r.i.opt.Vault.Job(r.ctx, p.job)
	if err == nil && (!r.sees(j) || j.Person != r.from.ID && j.Conversation != r.c.ID) {
		err = vault.ErrNotFound
	}
	part := vault.Part{}
	if err == nil {
		part, err = r.tx.Asked(vault.FiringKey(p.job, p.due))
	}
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return say(unknownButton)
	case err != nil:
		return nil, err
	case j.Person != r.from.ID:
		return say("Reminder %d is not yours: its buttons are for the person who made it.", j.ID)
	case part.Outcome != "":
		return say("Reminder %d is answered already: %s.", j.ID, strings.TrimSuffix(part.Outcome, "."))
	case p.choice == pressDone:
		if _, err := r.tx.Answer(part.Key, "✓ done"); err != nil {
			return nil, err
		}
		return nil, r.tx.JobHeeded(j.ID, p.due) // the outcome under the reminder says it
	}
	at, words, err := r.later(j, p)
	if err != nil {
		return nil, err
	}
	again, err := r.tx.SnoozeJob(j.ID, r.from, at, words, r.key())
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return say("Reminder %d was cancelled. /remind WHEN, TEXT makes a new one.", j.ID)
	case errors.Is(err, vault.ErrTooManyJobs):
		return say("%s Nothing was changed.", sentence(err.Error()))
	case err != nil:
		return nil, err
	}
	receipt := r.receipt(again)
	if _, err := r.tx.Answer(part.Key, r.saidAgain(again)); err != nil {
		return nil, err
	}
	return []string{receipt}, nil
}

// later is when a reminder is said again. Tomorrow is the day after the press, at the time of day it was due.
func (r *request) later(j vault.Job, p reminderPress) (at time.Time, words string, err error) {
	zone := zoneOf(j, r.zone)
	words = "in 10 minutes"
	if p.choice == pressTomorrow {
		words = "tomorrow at " + p.due.In(zone).Format("15:04")
	}
	res, err := when.Parse(words, r.now.In(zone))
	return res.At, words, err
}

// saidAgain is the outcome of a reminder that comes once more.
func (r *request) saidAgain(j vault.Job) string {
	return "⏰ again " + when.Format(j.Next.In(zoneOf(j, r.zone)))
}

// settle takes the buttons from what a job said last, when it was answered by typing.
func (r *request) settle(j vault.Job, outcome string) error {
	if j.LastDue.IsZero() {
		return nil
	}
	_, err := r.tx.Answer(vault.FiringKey(j.ID, j.LastDue), outcome)
	return err
}
