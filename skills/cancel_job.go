package skills

import (
	"context"
	"errors"
	"fmt"

	"hearth/vault"
)

type cancelJobArgs struct {
	ID int64 `json:"id"`
}

func (b builtin) cancelJob(ctx context.Context, c Call, a cancelJobArgs) (Result, error) {
	var j vault.Job
	err := b.vault.Do(ctx, "cancel-job", func(t *vault.Tx) (err error) {
		if j, err = t.CancelJob(a.ID, c.asMember()); err == nil && !c.reaches(j) {
			err = vault.ErrNotFound
		}
		return err
	})
	if errors.Is(err, vault.ErrNotFound) {
		j, err = b.ended(ctx, c, a.ID)
	}
	if err != nil {
		return Result{}, err
	}
	receipt := fmt.Sprintf("Cancelled: %s %d (%s).", label(j.Kind), j.ID, j.Text)
	return confirm(receipt, ""), nil
}

// asMember is the person with no rights over others' things.
func (c Call) asMember() vault.Person {
	p := c.Person
	p.Role = vault.Member
	return p
}

// ended gives the caller's own job that is cancelled already, so that a repeated cancellation ends as the first one did.
// For a job that has come, and for none at all, it gives the reason.
func (b builtin) ended(ctx context.Context, c Call, number int64) (vault.Job, error) {
	j, err := b.vault.Job(ctx, number)
	switch {
	case errors.Is(err, vault.ErrNotFound) || err == nil && !c.reaches(j):
		return j, errNoJob(number)
	case err != nil:
		return j, fmt.Errorf("read reminder %d: %w", number, err)
	case j.State == vault.JobCancelled:
		return j, nil
	}
	return j, fmt.Errorf("reminder %d has ended already; a new one is made with remind", number)
}
