package skills

import (
	"context"
	"fmt"
	"strings"

	"hearth/vault"
)

// maxRecalled is how many memories one search shows.
const maxRecalled = 12

type recallArgs struct {
	Query string `json:"query"`
}

func (b builtin) recall(ctx context.Context, c Call, a recallArgs) (Result, error) {
	found, err := b.vault.Recall(ctx, c.Scope(), a.Query, maxRecalled+1)
	if err != nil {
		return Result{}, fmt.Errorf("search the memory: %w", err)
	}
	if len(found) == 0 {
		return Result{Text: "Nothing is remembered about this."}, nil
	}
	var lines []string
	for _, m := range found[:min(len(found), maxRecalled)] {
		lines = append(lines, c.memoryLine(m))
	}
	if len(found) > maxRecalled {
		lines = append(lines, "and more; search with more exact words to see it")
	}
	return Result{Text: strings.Join(lines, "\n")}, nil
}

// memoryLine shows a memory to the model. Somebody else's words are marked as such, so that they stay data.
func (c Call) memoryLine(m vault.Memory) string {
	about := "since " + m.Created.In(c.Zone).Format("2 Jan 2006")
	if m.Origin != "" {
		about += "; " + m.Origin + ", not the person's own words"
	}
	return fmt.Sprintf("#%d (%s): %s", m.ID, about, m.Text)
}
