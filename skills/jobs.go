package skills

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hearth/vault"
)

// maxJobsShown bounds the list that a model reads.
const maxJobsShown = 40

// jobsLimit is more than one person can have open.
const jobsLimit = 1000

func (b builtin) jobs(ctx context.Context, c Call, _ struct{}) (Result, error) {
	open, err := b.vault.Jobs(ctx, c.Person.ID, true, jobsLimit)
	if err != nil {
		return Result{}, fmt.Errorf("list the reminders: %w", err)
	}
	open = slices.DeleteFunc(open, func(j vault.Job) bool { return !c.reaches(j) })
	if len(open) == 0 {
		return Result{Text: "There are no reminders."}, nil
	}
	var lines []string
	for _, j := range open[:min(len(open), maxJobsShown)] {
		line := oneLine(c.receipt(j))
		if j.State == vault.JobPaused {
			line += " (paused)"
		}
		lines = append(lines, line)
	}
	if more := len(open) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more, later ones", more))
	}
	return Result{Text: strings.Join(lines, "\n")}, nil
}

// reaches reports whether a job is one that this call may see and touch: the person's own, and in a group only what was
// made there. An owner's other rights are for the command line, where no model stands between.
func (c Call) reaches(j vault.Job) bool {
	return j.Person == c.Person.ID && (c.Conversation.Kind != vault.Group || j.Conversation == c.Conversation.ID)
}

// errNoJob is for a number that does not exist and for one of somebody else: a member cannot tell the two apart.
func errNoJob(number int64) error {
	return fmt.Errorf("there is no reminder %d; jobs lists those there are", number)
}
