package vault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// TaskFacts reads what people have said, once, for facts that are worth keeping.
const TaskFacts = "facts"

// own is what a person wrote themselves: no command, no forward, nothing the program or a tool said.
const own = `m.role = 'user' AND m.kind = 'text' AND m.forwarded = '' AND m.text NOT LIKE '/%' AND m.person_id IN (SELECT id FROM person WHERE gone IS NULL)`

// Quiet gives the conversations in which somebody has said something that was not read for facts yet, and nothing has been
// said, or is being worked on, since an instant.
func (v *Vault) Quiet(ctx context.Context, since time.Time) ([]int64, error) {
	return collect(ctx, v.rdb, scanInt, `SELECT c.id FROM conversation c
		WHERE EXISTS (SELECT 1 FROM message m WHERE m.conversation_id = c.id AND m.pos > c.learned_pos AND `+own+`)
		AND NOT EXISTS (SELECT 1 FROM message m WHERE m.conversation_id = c.id AND m.pos > c.learned_pos AND m.received > ?)
		AND NOT EXISTS (SELECT 1 FROM run r WHERE r.conversation_id = c.id AND r.state IN ('queued','running') AND r.task = '') ORDER BY c.id`, since.UnixMilli())
}

// Unlearned is what people have said in a conversation since it was last read for facts.
type Unlearned struct {
	From, UpTo int64     // positions: behind From, up to UpTo
	Newest     time.Time // when the newest line behind From was received
	Lines      []Message // oldest first
}

// Unlearned gives at most limit lines of a conversation, the oldest ones. What was received before an instant, or has lost
// words since, is passed by.
func (v *Vault) Unlearned(ctx context.Context, conversation int64, after time.Time, limit int) (u Unlearned, err error) {
	u, err = one(ctx, v.rdb, func(s scanner) (u Unlearned, err error) {
		err = s.Scan(&u.From, &u.UpTo, instant{&u.Newest})
		return u, err
	}, `SELECT c.learned_pos, max(c.learned_pos, coalesce(max(m.pos), 0)), max(m.received) FROM conversation c LEFT JOIN message m ON m.conversation_id = c.id AND m.pos > c.learned_pos WHERE c.id = ? GROUP BY c.id`, conversation)
	if err != nil {
		return u, err
	}
	found, err := collect(ctx, v.rdb, scanMessage, `SELECT `+prefixed(messageColumns)+` FROM message m WHERE m.conversation_id = ? AND m.pos > ? AND m.pos <= ? AND m.received >= ? AND `+own+` ORDER BY m.pos LIMIT ?`,
		conversation, u.From, u.UpTo, after.UnixMilli(), limit)
	if len(found) == limit && limit > 0 {
		u.UpTo = found[limit-1].Pos
	}
	for _, m := range found {
		if !Blanked(m.Text) {
			u.Lines = append(u.Lines, m)
		}
	}
	return u, err
}

// Fact is one that was read out of a message.
type Fact struct {
	Kind, Text string
	Message    int64
	Replaces   int64 // the memory that it contradicts; 0 = none
}

// Learned is what a reading of a conversation came to, with the lines that it was of; no facts is the rule.
type Learned struct {
	Conversation, From, UpTo int64
	Facts                    []Fact
}

// So much can be learned from one reading, and about one person in a day: what is worth keeping is rare.
const (
	maxLearned    = 8
	maxLearnedDay = 20
)

// Learn is learn in an event of its own, for lines that hold nothing. It is not flushed: they can be passed by again.
func (v *Vault) Learn(ctx context.Context, l Learned) error {
	return v.write(ctx, "learn", relaxed, func(t *Tx) error { return t.learn(l) })
}

// learn notes how far a conversation was read and keeps the facts, each of which must stand in what its person wrote
// themselves, as it is now: words that were forgotten meanwhile teach nothing. A reading that another one has overtaken is
// dropped.
func (t *Tx) learn(l Learned) error {
	n, err := t.exec(`UPDATE conversation SET learned_pos = ? WHERE id = ? AND learned_pos = ? AND learned_pos <= ?`, l.UpTo, l.Conversation, l.From, l.UpTo)
	if err != nil || n == 0 {
		return err
	}
	c, err := one(t.ctx, t.tx, scanConversation, `SELECT `+conversationColumns+` FROM conversation WHERE id = ?`, l.Conversation)
	if err != nil {
		return err
	}
	for _, f := range l.Facts[:min(len(l.Facts), maxLearned)] {
		msg, err := one(t.ctx, t.tx, scanMessage, `SELECT `+prefixed(messageColumns)+` FROM message m WHERE m.id = ? AND m.conversation_id = ? AND m.pos > ? AND m.pos <= ? AND `+own, f.Message, l.Conversation, l.From, l.UpTo)
		switch {
		case errors.Is(err, ErrNotFound), err == nil && Blanked(msg.Text):
			continue
		case err != nil:
			return err
		}
		if err := t.learnOne(f, msg, ScopeOf(c, msg.Person)); err != nil {
			return fmt.Errorf("keep what was learned: %w", err)
		}
	}
	return nil
}

func (t *Tx) learnOne(f Fact, msg Message, in Scope) error {
	m := Memory{Kind: f.Kind, Text: f.Text, Source: "extracted", SourceMessage: msg.ID, SourceRun: msg.Run, Person: in.Person, Scope: "person"}
	if in.Group {
		m.Scope = "conversation"
	}
	teller, err := t.tellerOf(m)
	if err != nil || !backs(msg.Text, f.Text, teller) || f.Kind == "rule" {
		return err
	}
	today, err := one(t.ctx, t.tx, scanInt, `SELECT count(*) FROM memory WHERE person_id = ? AND source = 'extracted' AND created > ?`, in.Person, t.now.Add(-24*time.Hour).UnixMilli())
	if err != nil || today >= maxLearnedDay {
		return err
	}
	if m.Replaces, err = t.outdated(f, msg, in, teller); err != nil {
		return err
	}
	_, _, err = t.Remember(m, in)
	if errors.Is(err, ErrNotReplaceable) {
		m.Replaces = 0
		_, _, err = t.Remember(m, in)
	}
	if errors.Is(err, ErrForgotten) || errors.Is(err, ErrNoFact) || errors.Is(err, ErrTooManyMemories) {
		return nil
	}
	return err
}

// outdated gives the memory that a fact may take the place of: one of the same person about the same thing, and not one that
// was told after the line was written.
func (t *Tx) outdated(f Fact, msg Message, in Scope, teller string) (int64, error) {
	if f.Replaces == 0 {
		return 0, nil
	}
	old, err := memoryIn(t.ctx, t.tx, in, f.Replaces)
	switch {
	case errors.Is(err, ErrNotFound):
		return 0, nil
	case err != nil:
		return 0, err
	case old.Person != msg.Person, old.Updated.After(msg.Received), !shares(f.Text+" "+msg.Text, old.Text, teller):
		return 0, nil
	}
	return old.ID, nil
}
