package skills

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hearth/vault"
)

// maxLetter bounds a message to another person, in bytes.
const maxLetter = 4000

type sendArgs struct {
	Person string `json:"person"`
	Text   string `json:"text"`
}

func (b builtin) send(ctx context.Context, c Call, a sendArgs) (Result, error) {
	words := strings.TrimSpace(a.Text)
	if words == "" {
		return Result{}, errors.New("there are no words to send")
	}
	if len(words) > maxLetter {
		return Result{}, fmt.Errorf("the message has %d characters and may have %d; shorten it", len(words), maxLetter)
	}
	to, err := b.vault.PersonNamed(ctx, a.Person)
	if errors.Is(err, vault.ErrNotFound) {
		return Result{}, b.unknownPerson(ctx, a.Person)
	}
	if err != nil {
		return Result{}, err
	}
	reach, err := b.vault.PrivateAddress(ctx, to.ID)
	if err != nil {
		return Result{}, err
	}
	if reach.Gateway == "terminal" {
		return Result{}, fmt.Errorf("%s has no messenger that reaches them", to.Name)
	}
	if _, err := b.vault.Letter(ctx, c.Key, c.Run, c.Person, to, words); err != nil {
		return Result{}, fmt.Errorf("queue the message: %w", err)
	}
	receipt := fmt.Sprintf("On its way to %s: %s", to.Name, words)
	return Result{Text: Done + "The person has been shown this confirmation, so do not repeat it:\n" + receipt, Receipt: receipt}, nil
}

func (b builtin) unknownPerson(ctx context.Context, name string) error {
	people, err := b.vault.People(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, p := range people {
		names = append(names, p.Name)
	}
	return fmt.Errorf("nobody here is called %q; the people are: %s", name, strings.Join(names, ", "))
}
