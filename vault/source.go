package vault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Source is the message that a memory comes from.
type Source struct {
	Person    int64 // who wrote it; 0 = nobody known
	Sent      time.Time
	Kind      ChatKind
	Gateway   string
	Forwarded string // whose words it forwarded; "" = the writer's own
	Text      string // "" where it was said elsewhere than in the conversation that asks
}

// SourceOf gives the message that a memory of the scope comes from. ErrNotFound: there is no such memory, or no message.
func (v *Vault) SourceOf(ctx context.Context, in Scope, number int64) (Source, error) {
	where, args := in.where()
	return one(ctx, v.rdb, func(s scanner) (o Source, err error) {
		err = s.Scan(null[int64]{&o.Person}, instant{&o.Sent}, &o.Kind, &o.Gateway, &o.Forwarded, &o.Text)
		return o, err
	}, `SELECT t.person_id, t.sent, c.kind, t.gateway, t.forwarded, CASE WHEN t.conversation_id = ? THEN t.text ELSE '' END FROM message t JOIN conversation c ON c.id = t.conversation_id
		WHERE t.id = (SELECT m.source_message FROM memory m WHERE m.id = ? AND `+where+`)`, append([]any{in.Conversation, number}, args...)...)
}

// blankQuotes takes the words of the message that taught a fact out of what the program has said since: an answer that told
// where a memory comes from has quoted them.
func (t *Tx) blankQuotes(m Memory) error {
	said, err := one(t.ctx, t.tx, scanString, `SELECT text FROM message WHERE id = ? AND kind = 'text' AND text NOT IN ('', '`+blank+`')`, m.SourceMessage)
	if errors.Is(err, ErrNotFound) || err == nil && len(tokens(said)) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	quote := needleOf(said)
	type part struct {
		id   int64
		text string
	}
	parts, err := collect(t.ctx, t.tx, func(s scanner) (p part, err error) { err = s.Scan(&p.id, &p.text); return p, err },
		`SELECT id, text FROM outbox WHERE conversation_id = (SELECT conversation_id FROM message WHERE id = ?) AND instr(lower(text), ?) > 0`, m.SourceMessage, quote.hint)
	for _, p := range parts {
		if words := quote.blank(p.text); err == nil && words != p.text {
			_, err = t.exec(`UPDATE outbox SET text = ?, entities = '' WHERE id = ?`, words, p.id)
		}
	}
	if err != nil {
		return fmt.Errorf("blank what quotes its message: %w", err)
	}
	return nil
}
