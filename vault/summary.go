package vault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Summary is what a model made of the older part of a conversation.
type Summary struct {
	ID           int64
	Conversation int64
	From, To     int64 // positions in the history, both included; what an earlier summary told is in the text too
	Text, Model  string
	Created      time.Time
}

const summaryColumns = `id, conversation_id, from_pos, to_pos, text, model, created`

func scanSummary(s scanner) (sum Summary, err error) {
	err = s.Scan(&sum.ID, &sum.Conversation, &sum.From, &sum.To, &sum.Text, &sum.Model, instant{&sum.Created})
	return sum, err
}

// Summary gives the one of a conversation that reaches furthest; what was said before /new is in none. The zero value when
// there is none.
func (v *Vault) Summary(ctx context.Context, c Conversation) (Summary, error) {
	sum, err := one(ctx, v.rdb, scanSummary, `SELECT `+summaryColumns+` FROM summary WHERE conversation_id = ? AND to_pos > ? ORDER BY to_pos DESC, id DESC LIMIT 1`, c.ID, c.SincePos)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return sum, err
}

func (t *Tx) addSummary(s Summary) error {
	if _, err := t.exec(`INSERT INTO summary(conversation_id, from_pos, to_pos, text, model, created) VALUES(?,?,?,?,?,?)`, s.Conversation, s.From, s.To, s.Text, s.Model, t.now.UnixMilli()); err != nil {
		return fmt.Errorf("store summary: %w", err)
	}
	return nil
}

// forgetSummaries deletes the summaries of all talks in which a fact may have come up, since a summary may tell it in other
// words, and stops what is being made of them at this moment: it has read the fact, and its end is refused. What the talks
// are summed up from again are lines of which nothing was forgotten; see Blanked.
func (t *Tx) forgetSummaries(m Memory) error {
	const talks = ` conversation_id IN (SELECT id FROM conversation WHERE ?1 = 'household' OR id = ?2 OR kind = 'private' AND person_id = ?3
		OR id IN (SELECT conversation_id FROM message WHERE person_id = ?3))`
	if _, err := t.exec(`DELETE FROM summary WHERE`+talks, m.Scope, m.Conversation, m.Person); err != nil {
		return fmt.Errorf("forget summaries: %w", err)
	}
	if _, err := t.exec(`UPDATE run SET state = 'stopped', reason = 'something was forgotten meanwhile', ended = ?4, claimed = NULL WHERE state = 'running' AND task != '' AND`+talks,
		m.Scope, m.Conversation, m.Person, t.now.UnixMilli()); err != nil {
		return fmt.Errorf("stop what has read it: %w", err)
	}
	return nil
}

// Blanked reports whether something was forgotten of words.
func Blanked(words string) bool { return strings.Contains(words, blank) }
