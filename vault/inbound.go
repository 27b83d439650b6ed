package vault

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Inbound is one event from a messenger: a message, an edit of one, or a button press.
type Inbound struct {
	Gateway, Account, Chat, Thread string
	ChatKind                       ChatKind
	Sender                         string // the messenger's id of who wrote
	SenderName                     string // as the messenger shows it; only used to name a newly paired person
	ID                             string // the messenger's id of the message, or of the press
	EditTime                       int64  // > 0: this is an edit of message ID, made then (the messenger's own number)
	Kind                           string // "text", or what it is that cannot be read: "voice", "photo", …; "press" for a button
	Text                           string // for a press: the button's data
	Forwarded                      string // whose words they are, when forwarded
	Quoted                         string // the text it answers to
	PressedOn                      string // for a press: the message the button stands under
	Mentioned                      bool   // group: it speaks to the agent
	Sent                           time.Time
	Raw                            []byte // as received; kept while its run is open
}

// Address is where an answer goes.
func (in Inbound) Address() Address {
	return Address{in.Gateway, in.Account, in.Chat, in.Thread}
}

// Accepted says what became of an inbound message.
type Accepted struct {
	Run   int64 // the run that will answer; 0 for an edit that is only stored
	Burst bool  // it joined messages that were waiting
}

// burstLimit is the longest a burst waits, so that somebody who never stops typing is answered.
const burstLimit = 4 * time.Second

// Accept stores a message of a known person and queues the run that answers it, in one commit. Messages of one sender in
// one chat that lie closer together than burst, by arrival and by the sender's clock, share a run.
// ErrRepeat: it is stored already. After nil or ErrRepeat it may be acknowledged upstream.
func (v *Vault) Accept(ctx context.Context, in Inbound, from Person, burst time.Duration) (acc Accepted, err error) {
	err = v.write(ctx, "accept", durable, func(t *Tx) error {
		c, err := t.conversationOf(in, from.ID)
		if err != nil {
			return err
		}
		if in.EditTime > 0 {
			acc, err = t.edit(in, from, c)
			return err
		}
		run, ready, err := t.openBurst(in, c, burst)
		if err != nil {
			return err
		}
		acc.Burst = run != 0
		if run == 0 {
			ready = t.now.Add(burst)
			run, err = t.insert(`INSERT INTO run(conversation_id, person_id, trigger, gateway, account, chat, thread, sender, state, priority, ready_at, burst_end, queued)
				VALUES(?,?,'message',?,?,?,?,?,'queued',?,?,?,?)`, c.ID, from.ID, in.Gateway, in.Account, in.Chat, in.Thread, in.Sender, priorityMessage,
				ready.UnixMilli(), t.now.Add(burstLimit).UnixMilli(), t.now.UnixMilli())
			if err != nil {
				return err
			}
		} else if _, err := t.exec(`UPDATE run SET ready_at = ? WHERE id = ?`, ready.UnixMilli(), run); err != nil {
			return err
		}
		acc.Run = run
		_, err = t.storeInbound(in, from, c, run)
		return err
	})
	return acc, err
}

// openBurst finds the run of the same sender that still waits for more words, and when it should now begin.
func (t *Tx) openBurst(in Inbound, c Conversation, burst time.Duration) (run int64, ready time.Time, err error) {
	if burst <= 0 {
		return 0, ready, nil
	}
	type row struct {
		id, end, sent int64
	}
	last, err := one(t.ctx, t.tx, func(s scanner) (r row, err error) { err = s.Scan(&r.id, &r.end, &r.sent); return r, err },
		`SELECT r.id, r.burst_end, (SELECT max(m.sent) FROM message m WHERE m.run_id = r.id) FROM run r
		WHERE r.state = 'queued' AND r.conversation_id = ? AND r.trigger = 'message' AND r.claimed IS NULL AND r.ready_at > ? AND r.burst_end > ?
		AND r.gateway = ? AND r.account = ? AND r.chat = ? AND r.thread = ? AND r.sender = ? ORDER BY r.id DESC LIMIT 1`,
		c.ID, t.now.UnixMilli(), t.now.UnixMilli(), in.Gateway, in.Account, in.Chat, in.Thread, in.Sender)
	if errors.Is(err, ErrNotFound) {
		return 0, ready, nil
	}
	if err != nil {
		return 0, ready, err
	}
	// Messengers stamp whole seconds: two messages 50 ms apart may lie on both sides of one.
	if gap := in.Sent.UnixMilli() - last.sent; gap > (burst + time.Second).Milliseconds() {
		return 0, ready, nil
	}
	ready = t.now.Add(burst)
	if end := time.UnixMilli(last.end); ready.After(end) {
		ready = end
	}
	return last.id, ready, nil
}

// storeInbound inserts the message. ErrRepeat when it is known.
func (t *Tx) storeInbound(in Inbound, from Person, c Conversation, run int64) (int64, error) {
	if in.EditTime == 0 { // the first words come again, after an edit took their place in the row
		known, err := one(t.ctx, t.tx, scanInt, `SELECT count(*) FROM message WHERE gateway = ? AND account = ? AND chat = ? AND sender = ? AND ext = ? AND role = 'user'`,
			in.Gateway, in.Account, in.Chat, in.Sender, in.ID)
		if err == nil && known > 0 {
			err = ErrRepeat
		}
		if err != nil {
			return 0, err
		}
	}
	pos, err := t.nextPos()
	if err != nil {
		return 0, err
	}
	var raw any
	if len(in.Raw) > 0 && run != 0 { // without a run there is no end at which it would be dropped
		raw = in.Raw
	}
	number, err := one(t.ctx, t.tx, scanInt, `INSERT INTO message(conversation_id, run_id, pos, role, person_id, gateway, account, chat, thread, sender, ext, edit_time, kind,
		text, forwarded, quoted, edited, sent, received, raw) VALUES(?,?,?,'user',?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING RETURNING id`,
		c.ID, id(run), pos, id(from.ID), in.Gateway, in.Account, in.Chat, in.Thread, in.Sender, in.ID, in.EditTime, in.Kind,
		in.Text, in.Forwarded, in.Quoted, in.EditTime > 0, in.Sent.UnixMilli(), t.now.UnixMilli(), raw)
	if errors.Is(err, ErrNotFound) {
		return 0, ErrRepeat
	}
	return number, err
}

// edit replaces words that no model has seen yet, joins a run that is still open as a correction, and is otherwise only
// stored.
func (t *Tx) edit(in Inbound, from Person, c Conversation) (Accepted, error) {
	type row struct {
		id, run int64
		seen    bool
		text    string
		at      int64
		state   RunState
	}
	old, err := one(t.ctx, t.tx, func(s scanner) (r row, err error) {
		err = s.Scan(&r.id, null[int64]{&r.run}, &r.seen, &r.text, &r.at, null[RunState]{&r.state})
		return r, err
	}, `SELECT m.id, m.run_id, m.step IS NOT NULL, m.text, m.edit_time, r.state FROM message m LEFT JOIN run r ON r.id = m.run_id
		WHERE m.gateway = ? AND m.account = ? AND m.chat = ? AND m.sender = ? AND m.ext = ? AND m.role = 'user' ORDER BY m.edit_time DESC, m.id DESC LIMIT 1`,
		in.Gateway, in.Account, in.Chat, in.Sender, in.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Accepted{}, err
	}
	known := err == nil
	if known && (old.text == in.Text || in.EditTime < old.at) {
		return Accepted{}, ErrRepeat // messengers also send an edit when only a preview was added
	}
	if known && old.state == Queued && !old.seen {
		_, err := t.exec(`UPDATE message SET text = ?, edit_time = ? WHERE id = ?`, in.Text, in.EditTime, old.id)
		return Accepted{Run: old.run}, err
	}
	run := int64(0)
	if known && (old.state == Running || old.state == Waiting || old.state == Queued) {
		run = old.run
	}
	_, err = t.storeInbound(in, from, c, run)
	return Accepted{Run: run}, err
}

// Lookup is the kind of a command that only shows something: it is no part of what a model is shown of the conversation.
const Lookup = "lookup"

// Command stores a command message and does what do says, all in one commit: a command is carried out once, however
// often it is delivered. What do returns is queued as the answer, in the chat the command came from.
// ErrRepeat: it was carried out before.
func (v *Vault) Command(ctx context.Context, in Inbound, from Person, do func(*Tx, Conversation) ([]Part, error)) error {
	return v.write(ctx, "command", durable, func(t *Tx) error {
		c, err := t.conversationOf(in, from.ID)
		if err != nil {
			return err
		}
		if _, err := t.storeInbound(in, from, c, 0); err != nil {
			return err
		}
		parts, err := do(t, c)
		if err != nil {
			return err
		}
		for _, part := range parts {
			if part.To == (Address{}) {
				part.To = in.Address()
			}
			if part.Class == "" {
				part.Class = Answer
			}
			if part.Conversation == 0 {
				part.Conversation = c.ID
			}
			if _, err := t.Post(part); err != nil {
				return err
			}
			if part.Conversation == c.ID && in.Kind != Lookup {
				if err := t.said(c.ID, 0, part.To, part.Text); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// said adds what the agent said to the history.
func (t *Tx) said(conversation, run int64, to Address, words string) error {
	pos, err := t.nextPos()
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO message(conversation_id, run_id, pos, role, gateway, account, chat, thread, sender, ext, kind, text, sent, received)
		VALUES(?,?,?,'assistant',?,?,?,?,'','','text',?,?,?)`, conversation, id(run), pos, to.Gateway, to.Account, to.Chat, to.Thread, words, t.now.UnixMilli(), t.now.UnixMilli())
	return err
}

// Quarantine keeps bytes that could not be understood for seven days, for somebody to look at.
func (v *Vault) Quarantine(ctx context.Context, gateway, account, reason string, raw []byte) error {
	return v.write(ctx, "quarantine", durable, func(t *Tx) error {
		if err := t.sweepQuarantine(); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO quarantine(gateway, account, reason, raw, at) VALUES(?,?,?,?,?)`, gateway, account, reason, raw, t.now.UnixMilli())
		return err
	})
}

func (t *Tx) sweepQuarantine() error {
	_, err := t.exec(`DELETE FROM quarantine WHERE at < ?`, t.now.Add(-7*24*time.Hour).UnixMilli())
	return err
}

// Message is a stored message of a conversation.
type Message struct {
	ID, Run, Step int64 // Step -1: no model has seen it
	Pos           int64
	Role          string // user or assistant
	Person        int64
	Kind, Text    string
	Forwarded     string
	Quoted        string
	Edited        bool
	Ext           string
	Sent          time.Time
	Received      time.Time
}

const messageColumns = `id, run_id, step, pos, role, person_id, kind, text, forwarded, quoted, edited, ext, sent, received`

func scanMessage(s scanner) (m Message, err error) {
	var step sql.NullInt64
	err = s.Scan(&m.ID, null[int64]{&m.Run}, &step, &m.Pos, &m.Role, null[int64]{&m.Person}, &m.Kind, &m.Text, &m.Forwarded, &m.Quoted, &m.Edited, &m.Ext,
		instant{&m.Sent}, instant{&m.Received})
	m.Step = -1
	if step.Valid {
		m.Step = step.Int64
	}
	return m, err
}
