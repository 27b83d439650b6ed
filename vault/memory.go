package vault

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
)

// Memory is a fact that the agent keeps.
type Memory struct {
	ID               int64
	Key              string // the call or command that made it: the same key makes one memory
	Person           int64
	Conversation     int64  // scope conversation: which
	Scope            string // person, conversation or household
	Kind             string // fact, preference, person, place or rule
	Text             string
	Pinned           bool
	Source           string // message, command or extracted
	SourceMessage    int64
	SourceRun        int64
	Origin           string // whose words they are, when not the person's own
	SupersededBy     int64
	Replaces         int64 // for Remember: the memory whose place it takes; not stored here
	Created, Updated time.Time
}

const memoryColumns = `id, coalesce(key, ''), person_id, conversation_id, scope, kind, text, pinned, source, source_message, source_run, origin, superseded_by, created, updated`

func scanMemory(s scanner) (m Memory, err error) {
	err = s.Scan(&m.ID, &m.Key, null[int64]{&m.Person}, null[int64]{&m.Conversation}, &m.Scope, &m.Kind, &m.Text, &m.Pinned, &m.Source, null[int64]{&m.SourceMessage}, null[int64]{&m.SourceRun},
		&m.Origin, null[int64]{&m.SupersededBy}, instant{&m.Created}, instant{&m.Updated})
	return m, err
}

// Scope is whose memories are reachable from where. It stands in every query, so that nothing else is.
type Scope struct {
	Person       int64
	Conversation int64
	Group        bool // a group sees its own conversation and what is marked household, never a person's own
}

// ScopeOf is what a person may reach from a conversation.
func ScopeOf(c Conversation, person int64) Scope {
	return Scope{Person: person, Conversation: c.ID, Group: c.Kind == Group}
}

func (s Scope) where() (string, []any) {
	if s.Group {
		return `(m.scope = 'household' OR m.scope = 'conversation' AND m.conversation_id = ?)`, []any{s.Conversation}
	}
	return `(m.scope = 'household' OR m.scope = 'person' AND m.person_id = ? OR m.scope = 'conversation' AND m.conversation_id = ?)`, []any{s.Person, s.Conversation}
}

// maxMemories bounds what one person can have stored.
const maxMemories = 20_000

// Reasons why a fact is not stored.
var (
	ErrNoFact          = errors.New("there is nothing to remember in this")
	ErrTooManyMemories = errors.New("the memory is full; forget something first")
)

// Remember stores a fact in the scope it was told in: a group's stays in the group. The same fact told again, whatever
// the case, punctuation and small words, is the one that is there, and known is true. What m.Replaces names is superseded
// by it. Errors: ErrNoFact, ErrTooManyMemories, ErrForgotten, ErrNotReplaceable.
func (t *Tx) Remember(m Memory, in Scope) (out Memory, known bool, err error) {
	m.Text = strings.Join(strings.Fields(strings.Map(printable, strings.ToValidUTF8(m.Text, "\ufffd"))), " ")
	norm := strings.Join(tokens(m.Text), " ")
	if norm == "" {
		return m, false, ErrNoFact
	}
	m.Person, m.Scope = in.Person, "person"
	if in.Group {
		m.Scope, m.Conversation = "conversation", in.Conversation
	}
	if m.Kind == "" {
		m.Kind = "fact"
	}
	teller, err := t.tellerOf(m)
	if err != nil {
		return m, false, err
	}
	replaced, err := t.replaceable(in, m)
	if err != nil {
		return m, false, err
	}
	out, err = t.toldBefore(m, in, norm, teller)
	switch {
	case err == nil:
		if m.rules() && !out.rules() && out.Person == m.Person { // they say now that it is to hold
			out.Kind, out.Origin, out.Source = m.Kind, "", m.Source
		}
		if _, err = t.exec(`UPDATE memory SET updated = ?, kind = ?, origin = ?, source = ? WHERE id = ?`, t.now.UnixMilli(), out.Kind, out.Origin, out.Source, out.ID); err == nil {
			err = t.supersede(replaced, &out)
		}
		return out, true, err
	case !errors.Is(err, ErrNotFound):
		return m, false, err
	}
	if err := t.unbury(m, teller); err != nil {
		return m, false, err
	}
	n, err := one(t.ctx, t.tx, scanInt, `SELECT count(*) FROM memory WHERE person_id = ?`, m.Person)
	if err != nil {
		return m, false, err
	}
	if n >= maxMemories {
		return m, false, ErrTooManyMemories
	}
	out, err = one(t.ctx, t.tx, scanMemory, `INSERT INTO memory(key, person_id, conversation_id, scope, kind, text, norm, gist, source, source_message, source_run, origin, created, updated)
		VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING `+memoryColumns,
		text(m.Key), id(m.Person), id(m.Conversation), m.Scope, m.Kind, m.Text, norm, gist(m.Text, teller), m.Source, id(m.SourceMessage), id(m.SourceRun), m.Origin, t.now.UnixMilli(), t.now.UnixMilli())
	if err != nil {
		return out, false, err
	}
	if _, err = t.exec(`INSERT INTO memory_fts(rowid, tokens) VALUES(?,?)`, out.ID, norm); err == nil {
		err = t.supersede(replaced, &out)
	}
	return out, false, err
}

// toldBefore finds the current memory that says the same as a new one. What a person says outright is the same only in the
// same order of words; what is read out of a talk is not worth a second line of the same gist. ErrNotFound.
func (t *Tx) toldBefore(m Memory, in Scope, norm, teller string) (Memory, error) {
	where, args := in.where()
	found, err := collect(t.ctx, t.tx, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory m WHERE m.id IN (SELECT id FROM memory WHERE norm = ? UNION SELECT id FROM memory WHERE key = ? UNION SELECT id FROM memory WHERE gist = ?)
		AND m.superseded_by IS NULL AND `+where+` ORDER BY m.id`, append([]any{norm, text(m.Key), gist(m.Text, teller)}, args...)...)
	if err != nil {
		return Memory{}, err
	}
	for _, old := range found {
		switch {
		case m.Key != "" && old.Key == m.Key, strings.Join(tokens(old.Text), " ") == norm, m.Source == "extracted", sameTold(old.Text, m.Text, teller):
			return old, nil
		}
	}
	return Memory{}, ErrNotFound
}

func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// Remember is Tx.Remember in an event of its own.
func (v *Vault) Remember(ctx context.Context, m Memory, in Scope) (out Memory, known bool, err error) {
	err = v.write(ctx, "remember", durable, func(t *Tx) error {
		out, known, err = t.Remember(m, in)
		return err
	})
	return out, known, err
}

// Recall finds memories by words, best first: those that hold all words, else those that hold some. An empty query gives
// the newest. Any text is a valid query.
func (v *Vault) Recall(ctx context.Context, in Scope, query string, limit int) ([]Memory, error) {
	where, args := in.where()
	words := queryTokens(query)
	if len(words) == 0 {
		if strings.TrimSpace(query) != "" && strings.TrimSpace(query) != "*" {
			return nil, nil // only punctuation: nothing can match, and everything would be too much
		}
		return collect(ctx, v.rdb, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory m WHERE m.superseded_by IS NULL AND `+where+` ORDER BY m.id DESC LIMIT ?`, append(args, limit)...)
	}
	for _, join := range []string{" AND ", " OR "} {
		found, err := collect(ctx, v.rdb.slowly(), scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory_fts f JOIN memory m ON m.id = f.rowid
			WHERE memory_fts MATCH ? AND m.superseded_by IS NULL AND `+where+` ORDER BY f.rank, m.id DESC LIMIT ?`,
			append(append([]any{strings.Join(words, join)}, args...), limit)...)
		if err != nil || len(found) > 0 || len(words) == 1 {
			return found, err
		}
	}
	return nil, nil
}

// MemoriesBefore lists what a scope reaches and still holds, newest first, from below a number on.
func (v *Vault) MemoriesBefore(ctx context.Context, in Scope, number int64, limit int) ([]Memory, error) {
	where, args := in.where()
	return collect(ctx, v.rdb, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory m WHERE m.id < ? AND m.superseded_by IS NULL AND `+where+` ORDER BY m.id DESC LIMIT ?`, append(append([]any{number}, args...), limit)...)
}

// Pinned gives what always stands in the prompt of a scope, oldest first.
func (v *Vault) Pinned(ctx context.Context, in Scope) ([]Memory, error) {
	where, args := in.where()
	return collect(ctx, v.rdb, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory m WHERE m.pinned AND m.superseded_by IS NULL AND `+where+` ORDER BY m.id LIMIT 50`, args...)
}

// Memories lists what is kept of one person, newest first; person 0 = everybody's.
func (v *Vault) Memories(ctx context.Context, person int64, limit int) ([]Memory, error) {
	return collect(ctx, v.rdb, scanMemory, `SELECT `+memoryColumns+` FROM memory WHERE (? = 0 OR person_id = ?) ORDER BY id DESC LIMIT ?`, person, person, limit)
}

// Memory gives one that the scope reaches. ErrNotFound.
func (v *Vault) Memory(ctx context.Context, in Scope, number int64) (Memory, error) {
	return memoryIn(ctx, v.rdb, in, number)
}

func memoryIn(ctx context.Context, q querier, in Scope, number int64) (Memory, error) {
	where, args := in.where()
	return one(ctx, q, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory m WHERE m.id = ? AND `+where, append([]any{number}, args...)...)
}

// Pin makes a memory stand in every prompt of its scope, or no longer. ErrNotFound.
func (t *Tx) Pin(in Scope, number int64, on bool) (Memory, error) {
	m, err := memoryIn(t.ctx, t.tx, in, number)
	if err != nil {
		return m, err
	}
	m.Pinned = on
	_, err = t.exec(`UPDATE memory SET pinned = ? WHERE id = ?`, on, number)
	return m, err
}

func prefixed(columns string) string {
	out := strings.Split(columns, ", ")
	for i, c := range out {
		if inner, ok := strings.CutPrefix(c, "coalesce("); ok {
			out[i] = "coalesce(m." + inner
		} else if c != "'')" {
			out[i] = "m." + c
		}
	}
	return strings.Join(out, ", ")
}
