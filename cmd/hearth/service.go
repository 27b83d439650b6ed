package main

import (
	"context"
	"errors"
	"time"

	"hearth/vault"
)

// service answers the command line and the API from a vault.
type service struct {
	vault *vault.Vault
	now   func() time.Time
	zone  func() *time.Location // the household's
	model modelRow              // what the configuration says
	mask  func(string) string   // hides the secrets of the configuration
	parts livePart              // nil unless the agent itself runs in this process
}

// livePart tells what only a running agent knows.
type livePart interface {
	// gateways in a fixed order, and how they are.
	gatewayRows() []gatewayRow
	// modelInUse names the model that answers next.
	modelInUse(ctx context.Context) (modelRow, error)
	// embeddingRow tells how much can be found by what it means; on is false where no model for that is configured.
	embeddingRow(ctx context.Context) (row checkRow, on bool, err error)
}

// names looks up people, each once.
type names struct {
	s     *service
	known map[int64]vault.Person
}

func (s *service) names() *names { return &names{s: s, known: map[int64]vault.Person{}} }

func (n *names) person(ctx context.Context, number int64) (vault.Person, error) {
	if number == 0 {
		return vault.Person{}, nil
	}
	if p, ok := n.known[number]; ok {
		return p, nil
	}
	p, err := n.s.vault.Person(ctx, number)
	if err != nil {
		return p, err
	}
	n.known[number] = p
	return p, nil
}

// zoneOf is the zone of a person's rows.
func (s *service) zoneOf(p vault.Person) *time.Location {
	if p.Zone != "" {
		if zone, err := time.LoadLocation(p.Zone); err == nil {
			return zone
		}
	}
	return s.zone()
}

// personNamed finds somebody by name; "" gives fallback's choice.
func (s *service) personNamed(ctx context.Context, name string, fallback func(context.Context) (vault.Person, error)) (vault.Person, error) {
	if name == "" {
		return fallback(ctx)
	}
	p, err := s.vault.PersonNamed(ctx, name)
	if errors.Is(err, vault.ErrNotFound) {
		return p, s.nobody(ctx, name)
	}
	return p, err
}

// everybody is the choice of a listing that names nobody.
func everybody(context.Context) (vault.Person, error) { return vault.Person{}, nil }

// nobody says that no one is called so, and who is known.
func (s *service) nobody(ctx context.Context, name string) error {
	people, err := s.vault.People(ctx)
	if err != nil {
		return err
	}
	var known []string
	for _, p := range people {
		known = append(known, p.Name)
	}
	if len(known) == 0 {
		return failed("Nobody is called %s: nobody is known yet. `hearth pair` makes a code that makes somebody known.", name)
	}
	return failed("Nobody is called %s. Known are: %s.", name, list(known))
}

// owner is who acts when somebody uses this machine's command line: whoever may open the vault is its owner.
func (s *service) owner(ctx context.Context) (vault.Person, error) { return s.vault.TerminalOwner(ctx) }

// missing turns ErrNotFound into a sentence that names what is not there and where to look.
func missing(err error, format string, args ...any) error {
	if errors.Is(err, vault.ErrNotFound) {
		return failed(format, args...)
	}
	return err
}
