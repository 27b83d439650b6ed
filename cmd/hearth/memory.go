package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// memoryRow is something remembered. Its instants are in its person's zone.
type memoryRow struct {
	ID            int64  `json:"id"`
	Person        text   `json:"person"`
	Scope         string `json:"scope"` // person, conversation or household
	Kind          string `json:"kind"`  // fact, preference, person, place or rule
	Text          string `json:"text"`
	Pinned        bool   `json:"pinned"`
	Source        string `json:"source"` // message, command or extracted
	SourceMessage number `json:"source_message"`
	Created       stamp  `json:"created"`
	Updated       stamp  `json:"updated"`
	SupersededBy  number `json:"superseded_by"`
}

func (s *service) memoryRows(ctx context.Context, found []vault.Memory) ([]memoryRow, error) {
	var out []memoryRow
	n := s.names()
	for _, m := range found {
		p, err := n.person(ctx, m.Person)
		if err != nil {
			return nil, err
		}
		zone := s.zoneOf(p)
		out = append(out, memoryRow{
			ID: m.ID, Person: text(p.Name), Scope: m.Scope, Kind: m.Kind, Text: m.Text, Pinned: m.Pinned, Source: m.Source,
			SourceMessage: number(m.SourceMessage), Created: at(zone, m.Created), Updated: at(zone, m.Updated), SupersededBy: number(m.SupersededBy),
		})
	}
	return rows(out), nil
}

var viewMemory = view[[]memoryRow]{"memory", func(s *service, ctx context.Context, q query) ([]memoryRow, error) {
	p, err := s.personNamed(ctx, q.Person, everybody)
	if err != nil {
		return nil, err
	}
	found, err := s.vault.Memories(ctx, p.ID, q.limit(everything))
	if err != nil {
		return nil, err
	}
	return s.memoryRows(ctx, found)
}}

// A search is in what one person reaches: their own, what their private conversation holds, and the household's.
var viewMemorySearch = view[[]memoryRow]{"memory/search", func(s *service, ctx context.Context, q query) ([]memoryRow, error) {
	p, err := s.personNamed(ctx, q.Person, s.owner)
	if err != nil {
		return nil, err
	}
	c, err := s.vault.PrivateConversation(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	found, err := s.vault.FindMemories(ctx, vault.ScopeOf(c, p.ID), vault.Query{Text: q.Text, Limit: q.limit(50), Zone: s.zoneOf(p)})
	if err != nil {
		return nil, err
	}
	return s.memoryRows(ctx, found)
}}

// memoryOrder names a memory.
type memoryOrder struct {
	ID int64 `json:"id"`
	On bool  `json:"on"`
}

// scopeOf is the scope in which a memory is reached, by the owner of the machine.
func (s *service) scopeOf(ctx context.Context, number int64) (vault.Scope, error) {
	scope, err := s.vault.ScopeOfMemory(ctx, number)
	return scope, missing(err, "There is no memory %d; `hearth memory` shows them.", number)
}

var changeMemoryPin = change[memoryOrder]{"memory/pin", func(s *service, ctx context.Context, q memoryOrder) (told, error) {
	scope, err := s.scopeOf(ctx, q.ID)
	if err != nil {
		return told{}, err
	}
	var m vault.Memory
	err = s.vault.Do(ctx, "pin", func(t *vault.Tx) error {
		m, err = t.Pin(scope, q.ID, q.On)
		return err
	})
	if err != nil {
		return told{}, missing(err, "There is no memory %d; `hearth memory` shows them.", q.ID)
	}
	what := "No longer always in view: memory "
	if q.On {
		what = "Always in view from now on: memory "
	}
	return told{Text: what + numbered(m.ID, m.Text), ID: number(m.ID)}, nil
}}

var changeMemoryForget = change[memoryOrder]{"memory/forget", func(s *service, ctx context.Context, q memoryOrder) (told, error) {
	scope, err := s.scopeOf(ctx, q.ID)
	if err != nil {
		return told{}, err
	}
	f, err := s.vault.Forget(ctx, scope, q.ID)
	if err != nil {
		return told{}, missing(err, "There is no memory %d; `hearth memory` shows them.", q.ID)
	}
	words := s.forgotten(ctx, f)
	if err := sweepElsewhere(ctx, s.vault); err != nil {
		words += " The WhatsApp session could not be swept just now; the agent does it as soon as it can."
	}
	return told{Text: words, ID: number(q.ID)}, nil
}}

// forgotten says what was removed, and what a person must remove themselves.
func (s *service) forgotten(ctx context.Context, f vault.Forgotten) string {
	words := fmt.Sprintf("Forgotten: memory %d", f.ID)
	for _, n := range f.Also {
		words += fmt.Sprintf(", memory %d which came from the same words", n)
	}
	words += ", and its words wherever else they stood."
	if f.Again != 0 {
		words += fmt.Sprintf(" Memory %d, which it had replaced, holds again.", f.Again)
	}
	if !f.Gone.IsZero() {
		p, err := s.names().person(ctx, f.Person)
		if err != nil {
			p = vault.Person{}
		}
		words += fmt.Sprintf(" Snapshots lose them by %s.", when.Format(f.Gone.In(s.zoneOf(p)).Truncate(time.Minute)))
	}
	words += " A backup that you made keeps them."
	for _, path := range f.KeptDBs {
		words += fmt.Sprintf(" The vault that a restore put aside keeps them until you delete it: %s.", path)
	}
	return words
}

func printMemories(in *invocation, none string) func([]memoryRow, time.Time) error {
	return func(found []memoryRow, now time.Time) error {
		var lines [][]string
		for _, m := range found {
			pinned := ""
			if m.Pinned {
				pinned = "pinned"
			}
			about := clip(m.Text, 90)
			if m.SupersededBy != 0 {
				about += fmt.Sprintf(" (replaced by %d)", m.SupersededBy)
			}
			lines = append(lines, []string{id(m.ID), dash(m.Person), m.Scope, m.Kind, short(m.Created, now), dash(pinned), about})
		}
		return table(in.out, none, []string{"N", "WHOSE", "SEEN BY", "KIND", "SINCE", "PINNED", "TEXT"}, lines)
	}
}

// cmdMemory lists what is remembered.
func cmdMemory(ctx context.Context, in *invocation) error {
	return listing(ctx, in, viewMemory, query{Person: in.flags["person"]}, printMemories(in, "Nothing is remembered yet."))
}

// cmdMemorySearch finds memories.
func cmdMemorySearch(ctx context.Context, in *invocation) error {
	q := query{Person: in.flags["person"], Text: strings.Join(in.words, " ")}
	return listing(ctx, in, viewMemorySearch, q, printMemories(in, "Nothing that is remembered matches."))
}

// cmdMemoryPin pins or unpins, by the command's name.
func cmdMemoryPin(ctx context.Context, in *invocation) error {
	return doingEach(ctx, in, changeMemoryPin, func(n int64) memoryOrder { return memoryOrder{ID: n, On: in.command.name == "memory pin"} })
}

// cmdMemoryForget deletes.
func cmdMemoryForget(ctx context.Context, in *invocation) error {
	return doingEach(ctx, in, changeMemoryForget, func(n int64) memoryOrder { return memoryOrder{ID: n} })
}

// cmdMemoryExport prints all rows, one JSON object a line.
func cmdMemoryExport(ctx context.Context, in *invocation) error {
	return listing(ctx, in, viewMemory, query{Person: in.flags["person"]}, func(found []memoryRow, _ time.Time) error {
		for _, m := range found {
			if err := in.printJSON(m); err != nil {
				return err
			}
		}
		return nil
	})
}
