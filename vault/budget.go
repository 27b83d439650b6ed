package vault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The choices of an approval of kind budget.
const (
	ChooseMore  = "more"  // this run may go on, as far as the question says
	ChooseToday = "today" // everything may, until the day ends
	ChooseStop  = "stop"
)

// AskBudget asks the owner whether a run may go on beyond a limit, and parks it. What is asked about stands in arguments, a
// JSON object whose limit and person say which limit it is. While a question about the same one is open there is no second:
// ErrAsked, with the number of the open one. Others: ErrNotRunning; ErrNotFound when there is no owner.
func (v *Vault) AskBudget(ctx context.Context, run int64, q Question, arguments string) (number int64, err error) {
	err = v.write(ctx, "ask-budget", durable, func(t *Tx) error {
		r, err := t.running(run)
		if err != nil {
			return err
		}
		number, err = one(t.ctx, t.tx, scanInt, `SELECT id FROM approval WHERE kind = 'budget' AND state = 'open' AND (run_id = ?1 OR choices LIKE '%"`+ChooseToday+`"%')
			AND json_extract(arguments, '$.limit') = json_extract(?2, '$.limit') AND json_extract(arguments, '$.person') IS json_extract(?2, '$.person') ORDER BY id LIMIT 1`, r.ID, arguments)
		if err == nil {
			return fmt.Errorf("%w in question %d", ErrAsked, number)
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		a := Approval{Run: r.ID, Kind: "budget", Arguments: arguments, Hash: CallHash("budget", arguments), Choices: q.Choices, Question: q.Text, Expires: q.Expires}
		if number, err = t.ask(a, r); err != nil {
			return err
		}
		return t.park(r.ID)
	})
	return number, err
}

// BudgetAnswers gives what was answered to questions of kind budget that were asked since an instant, oldest first.
func (v *Vault) BudgetAnswers(ctx context.Context, since time.Time) ([]Approval, error) {
	return collect(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE kind = 'budget' AND asked >= ? AND state = 'answered' ORDER BY asked, id`, since.UnixMilli())
}
