package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// personRow is somebody known.
type personRow struct {
	ID         int64    `json:"id"`
	Name       string   `json:"name"`
	Role       string   `json:"role"`
	Zone       string   `json:"zone"`
	Source     string   `json:"source"` // config, paired or terminal
	Identities []string `json:"identities"`
}

var viewPeople = view[[]personRow]{"people", func(s *service, ctx context.Context, _ query) ([]personRow, error) {
	found, err := s.vault.People(ctx)
	if err != nil {
		return nil, err
	}
	var out []personRow
	for _, p := range found {
		row := personRow{ID: p.ID, Name: p.Name, Role: string(p.Role), Zone: s.zoneOf(p).String(), Source: p.Source}
		for _, known := range p.Identities {
			row.Identities = append(row.Identities, known.Gateway+":"+known.Ext)
		}
		row.Identities = rows(row.Identities)
		out = append(out, row)
	}
	return rows(out), nil
}}

// personOrder names somebody, and what they may do.
type personOrder struct {
	Name string `json:"name"`
	Role string `json:"role"`
}

var changePeopleRemove = change[personOrder]{"people/remove", func(s *service, ctx context.Context, q personOrder) (told, error) {
	p, err := s.personNamed(ctx, q.Name, everybody)
	if err != nil {
		return told{}, err
	}
	if err := s.vault.RemovePerson(ctx, p.Name); err != nil {
		return told{}, missing(err, "Nobody is called %s.", q.Name)
	}
	words := fmt.Sprintf("%s is a stranger now; their reminders are paused.", p.Name)
	if p.Source == "config" {
		words += " The configuration names them, so they come back with the next start: take them out of people there too."
	}
	return told{Text: words, ID: number(p.ID)}, nil
}}

var changePair = change[personOrder]{"pair", func(s *service, ctx context.Context, q personOrder) (told, error) {
	role := vault.Role(q.Role)
	if role == "" {
		role = vault.Member
	}
	if role != vault.Owner && role != vault.Member {
		return told{}, usage("--role is owner or member, not %q.", q.Role)
	}
	code, expires, err := s.vault.NewPairCode(ctx, strings.TrimSpace(q.Name), role)
	if err != nil {
		return told{}, err
	}
	who := "whoever sends it"
	if q.Name != "" {
		who = q.Name
	}
	until := when.Format(expires.In(s.zone()))
	return told{Text: fmt.Sprintf("%s\nSend /pair %s to the agent from the messenger of %s, before %s. It works once.", code, code, who, until), Code: code, Until: when.Format(expires.In(s.zone()).Truncate(time.Minute))}, nil
}}

// cmdPeople lists who is known.
func cmdPeople(ctx context.Context, in *invocation) error {
	return listing(ctx, in, viewPeople, query{}, func(found []personRow, _ time.Time) error {
		var lines [][]string
		for _, p := range found {
			lines = append(lines, []string{clip(p.Name, 40), p.Role, p.Zone, p.Source, dash(strings.Join(p.Identities, ", "))})
		}
		return table(in.out, "Nobody is known yet: `hearth pair` makes a code, and `hearth chat` makes you the owner.", []string{"NAME", "ROLE", "ZONE", "FROM", "KNOWN AS"}, lines)
	})
}

// cmdPeopleRemove makes somebody a stranger.
func cmdPeopleRemove(ctx context.Context, in *invocation) error {
	return doing(ctx, in, changePeopleRemove, personOrder{Name: strings.Join(in.words, " ")})
}

// cmdPair makes a pairing code.
func cmdPair(ctx context.Context, in *invocation) error {
	return doing(ctx, in, changePair, personOrder{Name: in.flags["person"], Role: in.flags["role"]})
}
