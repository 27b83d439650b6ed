package skills

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hearth/vault"
)

// maxChain bounds how many wake-ups in a row can lead to one another without a person in between.
const maxChain = 10

// maxUnanswered is how many wake-ups of one chain may speak without an answer. The last of them says that it is the last.
const maxUnanswered = 3

// noTime is what a silent wake-up gives as when to plan nothing.
var noTime = []string{"never", "none", "no", "-"}

type followUpArgs struct {
	When   string `json:"when"`
	Goal   string `json:"goal"`
	Silent bool   `json:"silent"`
}

func (b builtin) followUp(ctx context.Context, c Call, a followUpArgs) (Result, error) {
	if a.Silent && !c.Unasked {
		return Result{}, errors.New("a person wrote and waits for an answer, so silent cannot be used; nothing is stored")
	}
	if a.Silent && slices.Contains(noTime, strings.ToLower(strings.TrimSpace(a.When))) {
		return Result{Text: "Nothing is said and nothing more is planned.", Silent: true}, nil
	}
	if c.Chain+1 > maxChain {
		return Result{}, fmt.Errorf("%d wake-ups in a row have led here, which is the limit; nothing is stored: tell the person how far you came and let them decide", c.Chain)
	}
	if c.Unasked {
		if res, err := c.resolve(a.When, c.Zone); err == nil && res.Spec != "" {
			return Result{}, errors.New("a wake-up can plan one next time and no rhythm; nothing is stored: give one time")
		}
	}
	if c.Job != 0 && !a.Silent {
		before, err := b.vault.Unanswered(ctx, c.Job, c.Run)
		if err != nil {
			return Result{}, fmt.Errorf("count what was not answered: %w", err)
		}
		if before+1 >= maxUnanswered {
			words := fmt.Sprintf("This is time %d without an answer, so I do not come back to it by myself. Write to me when it matters again.", before+1)
			return Result{Text: "Nothing is planned: nobody has answered. The person is told so with your answer:\n" + words, Receipt: words}, nil
		}
	}
	res, err := b.wakeUp(ctx, c, a.When, a.Goal, vault.Job{Kind: vault.Do, Chain: c.Chain + 1})
	if err == nil && a.Silent {
		res.Receipt, res.Silent = "", true // the next time stands in the list of jobs
	}
	return res, err
}
