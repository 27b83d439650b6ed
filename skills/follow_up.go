package skills

import (
	"context"
	"fmt"

	"hearth/vault"
)

// maxChain bounds how many wake-ups in a row can lead to one another without a person in between.
const maxChain = 10

type followUpArgs struct {
	When string `json:"when"`
	Goal string `json:"goal"`
}

func (b builtin) followUp(ctx context.Context, c Call, a followUpArgs) (Result, error) {
	if c.Chain+1 > maxChain {
		return Result{}, fmt.Errorf("%d wake-ups in a row have led here, which is the limit; nothing is stored: tell the person how far you came and let them decide", c.Chain)
	}
	return b.wakeUp(ctx, c, a.When, a.Goal, vault.Job{Kind: vault.Do, Chain: c.Chain + 1})
}
