package skills

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hearth/scheduler/when"
	"hearth/vault"
)

type changeJobArgs struct {
	ID   int64  `json:"id"`
	When string `json:"when"`
	Text string `json:"text"`
}

func (b builtin) changeJob(ctx context.Context, c Call, a changeJobArgs) (Result, error) {
	words, text := strings.TrimSpace(a.When), strings.TrimSpace(a.Text)
	if words == "" && text == "" {
		return Result{}, fmt.Errorf("nothing to change was given; pass when, text or both for reminder %d", a.ID)
	}
	j, err := b.openJob(ctx, c, a.ID)
	if err != nil {
		return Result{}, err
	}
	var move *vault.Reschedule
	var note string
	if text != "" {
		if text, err = jobText(text); err != nil {
			return Result{}, err
		}
	}
	if words != "" {
		res, err := c.reschedule(j, words)
		if err != nil {
			return Result{}, err
		}
		move, note = &vault.Reschedule{Next: res.At, Spec: res.Spec, Words: words, Zone: c.zoneOf(j).String()}, res.Note
	} else if j.Next.IsZero() {
		return Result{}, fmt.Errorf("reminder %d is on its way to the person at this moment; pass a new when too", a.ID)
	}
	err = b.vault.Do(ctx, "change-job", func(t *vault.Tx) (err error) {
		j, err = t.ChangeJob(a.ID, c.asMember(), move, text)
		return err
	})
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return Result{}, errNoJob(a.ID)
	case err != nil:
		return Result{}, fmt.Errorf("change reminder %d: %w", a.ID, err)
	}
	head := fmt.Sprintf("%s %d", label(j.Kind), j.ID)
	return confirm(head+" is now"+strings.TrimPrefix(c.receipt(j), head), note), nil
}

// openJob gives a job that the call may change.
func (b builtin) openJob(ctx context.Context, c Call, number int64) (vault.Job, error) {
	j, err := b.vault.Job(ctx, number)
	switch {
	case errors.Is(err, vault.ErrNotFound) || err == nil && !c.reaches(j):
		return j, errNoJob(number)
	case err != nil:
		return j, fmt.Errorf("read reminder %d: %w", number, err)
	case j.State != vault.JobWaiting && j.State != vault.JobFiring && j.State != vault.JobPaused:
		return j, fmt.Errorf("reminder %d has ended already; a new one is made with remind", number)
	}
	return j, nil
}

// reschedule reads the new time of a job. What the words leave out stays as it was: "friday" keeps the time of day, "at
// 10" keeps the day. A recurring job never turns into a single one by the way.
func (c Call) reschedule(j vault.Job, words string) (when.Result, error) {
	zone := c.zoneOf(j)
	if j.Spec == "" && !j.Next.IsZero() {
		if res, ok := c.timeOnly(j, words, zone); ok {
			return res, nil
		}
	}
	res, err := c.resolve(words, zone)
	if err != nil {
		return res, err
	}
	if j.Spec != "" && res.Spec == "" {
		return res, errors.New(AskPrefix + fmt.Sprintf("Reminder %d comes %s. What shall its new rhythm be, for instance \"every weekday at 9\"? For a single time, cancel it and make a new one.", j.ID, when.Describe(j.Spec)))
	}
	if res.DateOnly && res.Spec == "" && j.Spec == "" && !j.Next.IsZero() {
		return c.keepClock(j, res, zone)
	}
	return res, nil
}
