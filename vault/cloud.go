package vault

import (
	"context"
	"errors"
	"fmt"
)

// The choices of an approval of kind cloud, beside ChooseAlways.
const (
	ChooseYes = "yes"
	ChooseNo  = "no"
)

// CloudRule stands in the place of a tool's name where the cloud is asked about, and where "always" is kept.
const CloudRule = "cloud_fallback"

// ErrAsked says that the same is asked already, and is still open.
var ErrAsked = errors.New("this is asked already")

// AskCloud asks the owner whether a run that began at home may go on with a model that is not, and parks the run. What is
// asked about stands in arguments. While such a question of the same conversation is open there is no second one: ErrAsked,
// with the number of the open one. Others: ErrNotRunning; ErrNotFound when there is no owner.
func (v *Vault) AskCloud(ctx context.Context, run int64, q Question, arguments string) (number int64, err error) {
	err = v.write(ctx, "ask-cloud", durable, func(t *Tx) error {
		r, err := t.running(run)
		if err != nil {
			return err
		}
		number, err = one(t.ctx, t.tx, scanInt, `SELECT a.id FROM approval a JOIN run r ON r.id = a.run_id WHERE a.kind = 'cloud' AND a.state = 'open' AND r.conversation_id = ? ORDER BY a.id LIMIT 1`, r.Conversation)
		if err == nil {
			return fmt.Errorf("%w in question %d", ErrAsked, number)
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		a := Approval{Run: r.ID, Kind: "cloud", Tool: CloudRule, Arguments: arguments, Hash: CallHash(CloudRule, arguments), Choices: q.Choices, Question: q.Text, Expires: q.Expires}
		if number, err = t.ask(a, r); err != nil {
			return err
		}
		return t.park(r.ID)
	})
	return number, err
}
