package inbox

import (
	"errors"
	"fmt"
	"strings"

	"hearth/gateways"
	"hearth/vault"
)

// maxWhy is the longest message whose words /why shows, in letters. They stand there whole or not at all, as a memory's do:
// when it is forgotten they are looked for.
const maxWhy = 600

// why tells where a memory comes from, and what it took the place of.
func why(r *request) ([]string, error) {
	n, _, ok := number(r.arg)
	if !ok {
		return say("Which one? Write it as /why N, for example /why 3. /memory lists the numbers.")
	}
	m, err := r.i.opt.Vault.Memory(r.ctx, r.scope(), n)
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return noMemory(r, n)
	case err != nil:
		return nil, err
	}
	lines := []string{fmt.Sprintf("Memory %d: %s", n, m.Text)}
	source, err := r.source(m)
	if err != nil {
		return nil, err
	}
	lines = append(lines, source...)
	if m.Origin != "" {
		lines = append(lines, fmt.Sprintf("The words came from elsewhere: %s.", m.Origin))
	}
	if m.Updated.After(m.Created) {
		lines = append(lines, fmt.Sprintf("Told again on %s.", r.date(m.Updated)))
	}
	before, err := r.i.opt.Vault.Before(r.ctx, r.scope(), n)
	if err != nil {
		return nil, err
	}
	for _, old := range before {
		lines = append(lines, fmt.Sprintf("Before that, since %s (memory %d): %s", r.date(old.Created), old.ID, old.Text))
	}
	if m.SupersededBy != 0 {
		lines = append(lines, fmt.Sprintf("It no longer holds: memory %d took its place.", m.SupersededBy))
	}
	if m.Pinned {
		lines = append(lines, "It is pinned.")
	}
	return pack(lines), nil
}

// source says when and how a memory was made, and in which words if they were said here.
func (r *request) source(m vault.Memory) ([]string, error) {
	by, err := r.name(m.Person)
	if err != nil {
		return nil, err
	}
	if m.Source == "command" {
		return say("Told by %s with /remember on %s.", by, r.date(m.Created))
	}
	how := "From a message"
	if m.Source == "extracted" {
		how = "Read out of a message, unasked,"
	}
	said, err := r.i.opt.Vault.SourceOf(r.ctx, r.scope(), m.ID)
	switch {
	case errors.Is(err, vault.ErrNotFound) && m.Source == "extracted":
		return say("Read out of a talk with %s, unasked, on %s.", by, r.date(m.Created))
	case errors.Is(err, vault.ErrNotFound):
		return say("From a message of %s on %s.", by, r.date(m.Created))
	case err != nil:
		return nil, err
	}
	if said.Person != 0 {
		if by, err = r.name(said.Person); err != nil {
			return nil, err
		}
	}
	place := "in a private chat"
	if said.Kind == vault.Group {
		place = "in a group"
	}
	lines, _ := say("%s of %s on %s, %s on %s.", how, by, r.date(said.Sent), place, gateways.Title(said.Gateway))
	words := strings.Join(strings.Fields(said.Text), " ")
	switch n := len([]rune(words)); {
	case n > maxWhy:
		lines = append(lines, fmt.Sprintf("Its words are too long to show here (%d letters).", n))
	case n > 0:
		lines = append(lines, "The words were: "+words)
	}
	return lines, nil
}

// name gives the name of a person by number.
func (r *request) name(person int64) (string, error) {
	switch person {
	case 0:
		return "nobody", nil
	case r.from.ID:
		return r.from.Name, nil
	}
	p, err := r.i.opt.Vault.Person(r.ctx, person)
	if errors.Is(err, vault.ErrNotFound) {
		return "somebody", nil
	}
	return p.Name, err
}
