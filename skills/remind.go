package skills

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"hearth/vault"
)

// maxJobText bounds what a job says or wakes the agent with, in characters.
const maxJobText = 2000

type remindArgs struct {
	When string `json:"when"`
	Text string `json:"text"`
}

func (b builtin) remind(ctx context.Context, c Call, a remindArgs) (Result, error) {
	return b.wakeUp(ctx, c, a.When, a.Text, vault.Job{Kind: vault.Say})
}

// wakeUp stores a job that speaks or wakes the agent, and confirms it from the stored row.
func (b builtin) wakeUp(ctx context.Context, c Call, words, text string, j vault.Job) (Result, error) {
	text, err := jobText(text)
	if err != nil {
		return Result{}, err
	}
	res, err := c.resolve(words, c.Zone)
	if err != nil {
		return Result{}, err
	}
	j.Key, j.Person, j.Conversation, j.To, j.CreatedByRun = c.Key, c.Person.ID, c.Conversation.ID, c.To, c.Run
	j.Text, j.Next, j.Spec, j.Words, j.Zone = text, res.At, res.Spec, strings.TrimSpace(words), c.Zone.String()
	stored, err := b.vault.AddJob(ctx, j)
	switch {
	case errors.Is(err, vault.ErrTooManyJobs):
		return Result{}, err
	case err != nil:
		return Result{}, fmt.Errorf("store the %s: %w", strings.ToLower(label(j.Kind)), err)
	}
	return confirm(c.receipt(stored), res.Note), nil
}

func jobText(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", errors.New(AskPrefix + "What shall it say?")
	}
	if n := utf8.RuneCountInString(text); n > maxJobText {
		return "", fmt.Errorf("the text has %s characters and may have %s; put it shorter", thousands(n), thousands(maxJobText))
	}
	return text, nil
}
