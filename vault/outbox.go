package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Class says what kind of message a part is, and by that what happens when nobody knows whether it arrived.
type Class string

// The classes. Found half sent after a crash: Answer, Reminder, Notice and Asks go again, marked; Progress is dropped;
// a Letter to a third person is not repeated, the owner is told.
const (
	Answer   Class = "answer"
	Reminder Class = "reminder"
	Letter   Class = "message"
	Notice   Class = "notice"
	Status   Class = "progress"
	Asks     Class = "question"
)

// Part is one piece of outgoing text.
type Part struct {
	ID, Run, Job, Approval, Conversation int64
	Key                                  string // the same key is posted once; "" = no such promise
	To                                   Address
	Class                                Class
	State                                string // waiting, sending, sent, unknown, failed or dropped
	Text                                 string
	Entities                             string // "" = Text is Markdown; else its styles, in the form of gateways/markup
	Buttons                              []Button
	Outcome                              string // what its buttons have come to, when they belong to no approval; see Tx.Answer
	ReplyTo                              string
	Ref                                  string // the messenger's id of what was sent
	Stable                               string // the id chosen before sending, where a gateway can
	Marked                               bool   // it may be a repeat
	Due                                  time.Time
	Late                                 string // why it comes after its time, as far as was known when it was queued
	Attempts                             int
	NextTry                              time.Time
	Held                                 time.Time // until when it waits for quiet hours to end; zero = it does not
	Error                                string
	Created, Sent                        time.Time
}

// Piece is a part of a part: what a messenger takes at a time.
type Piece struct{ Text, Entities string }

// Button is a choice under a message. Data is at most 64 bytes.
type Button struct{ Label, Data string }

const partColumns = `id, run_id, job_id, approval_id, conversation_id, coalesce(key, ''), gateway, account, chat, thread, class, state, text, entities, buttons, outcome, reply_to, ref, stable, marked, due, late,
	attempts, next_try, held, error, created, sent`

func scanPart(s scanner) (p Part, err error) {
	var buttons string
	err = s.Scan(&p.ID, null[int64]{&p.Run}, null[int64]{&p.Job}, null[int64]{&p.Approval}, null[int64]{&p.Conversation}, &p.Key, &p.To.Gateway, &p.To.Account, &p.To.Chat, &p.To.Thread,
		&p.Class, &p.State, &p.Text, &p.Entities, &buttons, &p.Outcome, &p.ReplyTo, &p.Ref, &p.Stable, &p.Marked, instant{&p.Due}, &p.Late, &p.Attempts, instant{&p.NextTry}, instant{&p.Held}, &p.Error, instant{&p.Created}, instant{&p.Sent})
	if err == nil && buttons != "" {
		err = json.Unmarshal([]byte(buttons), &p.Buttons)
	}
	return p, err
}

// Post puts a part at the end of its chat's lane. When nothing stands before it, it is committed as already sending:
// the delivery then needs no flush of its own. A progress line that was not sent yet makes way for it. A part whose key was posted before is not posted again; its number is 0.
func (t *Tx) Post(p Part) (int64, error) {
	var buttons string
	if len(p.Buttons) > 0 {
		b, err := json.Marshal(p.Buttons)
		if err != nil {
			return 0, err
		}
		buttons = string(b)
	}
	if p.Class != Status && p.Held.IsZero() {
		if _, err := t.exec(`DELETE FROM outbox WHERE gateway = ? AND chat = ? AND state IN ('waiting','sending') AND class = 'progress' AND (state = 'waiting' OR attempts = 0)`, p.To.Gateway, p.To.Chat); err != nil {
			return 0, err
		}
	}
	number, err := one(t.ctx, t.tx, scanInt, `INSERT INTO outbox(key, run_id, job_id, approval_id, conversation_id, gateway, account, chat, thread, class, state, text, entities, buttons, reply_to, due, late, held, boot, live, created)
		VALUES(?,?,?,?,?,?,?,?,?,?, CASE WHEN ? OR EXISTS (SELECT 1 FROM outbox o WHERE o.gateway = ? AND o.chat = ? AND o.state IN ('waiting','sending') AND o.class != 'progress' AND o.held IS NULL) THEN 'waiting' ELSE 'sending' END,
		?,?,?,?,?,?,?,?,?,?) ON CONFLICT(key) DO NOTHING RETURNING id`,
		text(p.Key), id(p.Run), id(p.Job), id(p.Approval), id(p.Conversation), p.To.Gateway, p.To.Account, p.To.Chat, p.To.Thread, p.Class,
		!p.Held.IsZero(), p.To.Gateway, p.To.Chat, p.Text, p.Entities, buttons, p.ReplyTo, millis(p.Due), p.Late, millis(p.Held), t.v.boot, p.Class == Status, t.now.UnixMilli())
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return number, err
}

// Post queues a part in an event of its own.
func (v *Vault) Post(ctx context.Context, p Part) (number int64, err error) {
	err = v.write(ctx, "post", durable, func(t *Tx) error {
		number, err = t.Post(p)
		return err
	})
	return number, err
}

// Tell queues a notice to the first owner; nothing happens before there is one.
func (v *Vault) Tell(ctx context.Context, key, words string) error {
	return v.write(ctx, "tell", durable, func(t *Tx) error { return t.Tell(key, words) })
}

// Tell queues a notice to the first owner; nothing happens before there is one. The same key tells once.
func (t *Tx) Tell(key, words string) error { return t.tellBeside("", key, words, false) }

// TellLater queues a notice to the first owner that can wait for the end of the quiet hours. The same key tells once.
func (v *Vault) TellLater(ctx context.Context, key, words string) error {
	return v.write(ctx, "tell", durable, func(t *Tx) error { return t.TellLater(key, words) })
}

// TellLater is Tell for what can wait for the end of the owner's quiet hours.
func (t *Tx) TellLater(key, words string) error { return t.tellBeside("", key, words, true) }

// TellBeside is Tell by another gateway than the one that is in trouble: a messenger, else the terminal.
func (v *Vault) TellBeside(ctx context.Context, gateway, key, words string) error {
	return v.write(ctx, "tell", durable, func(t *Tx) error { return t.tellBeside(gateway, key, words, false) })
}

func (t *Tx) tellBeside(gateway, key, words string, later bool) error {
	owner, err := firstOwner(t.ctx, t.tx)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	to, err := t.v.addressBeside(t.ctx, t.tx, owner.ID, gateway)
	if err != nil {
		return err
	}
	c, err := t.privateConversation(owner.ID)
	if err != nil {
		return err
	}
	p := Part{Key: key, Conversation: c.ID, To: to, Class: Notice, Text: words}
	if later {
		return t.postFirst(owner.ID, p)
	}
	_, err = t.Post(p)
	return err
}

// longRest is how long a part must be told to wait before others may pass it.
const longRest = 5 * time.Second

// Heads gives the first unsent part of every lane of a gateway, oldest first: what may be sent now or, by NextTry, later.
// A part that is to be repeated, because it may have arrived, and waits for that for long does not hold up what comes after.
//
// SQLite compiles a statement anew for each execution when one of its parameters stands where a constant could have told it
// more: as a LIMIT, or beside a constant that it compares with. What is asked all the time writes ? + 0 there.
func (v *Vault) Heads(ctx context.Context, gateway string) ([]Part, error) {
	return collect(ctx, v.rdb, scanPart, `SELECT `+partColumns+` FROM outbox WHERE id IN
		(SELECT coalesce(min(CASE WHEN rests = 1 AND state = 'waiting' AND next_try - ? > 0 THEN NULL ELSE id END), min(id))
		FROM outbox WHERE gateway = ? AND state IN ('waiting','sending') AND held IS NULL GROUP BY chat) ORDER BY id`, v.now().Add(longRest).UnixMilli(), gateway)
}

// Lanes gives the gateways that have something unsent.
func (v *Vault) Lanes(ctx context.Context) ([]string, error) {
	return collect(ctx, v.rdb, scanString, `SELECT DISTINCT gateway FROM outbox WHERE state IN ('waiting','sending') AND held IS NULL`)
}

// Sending commits that a part is about to be handed to the messenger, with the text it will have there. It must be called
// before each attempt. A part that was posted as sending needs no flush of its own, but the event that posted it must be safe.
func (v *Vault) Sending(ctx context.Context, p Part) error {
	d := ordered
	if p.State != "sending" {
		d = durable
	}
	return v.write(ctx, "sending", d, func(t *Tx) error {
		n, err := t.note(SendsChanged, `UPDATE outbox SET state = 'sending', rests = 0, attempts = attempts + 1, boot = ?, stable = ? WHERE id = ? AND state IN ('waiting','sending')`, t.v.boot, p.Stable, p.ID)
		if err == nil && n == 0 {
			err = ErrNotFound // a person stopped or dropped it
		}
		return err
	})
}

// Delivered commits that the messenger took the part, under its id.
func (v *Vault) Delivered(ctx context.Context, p Part, ref string) error {
	return v.write(ctx, "sent", durableIf(p.Class != Status), func(t *Tx) error {
		if _, err := t.note(SendsChanged, `UPDATE outbox SET state = 'sent', ref = ?, shown = CASE class WHEN 'progress' THEN ? ELSE '' END, sent = ?, error = '' WHERE id = ?`, ref, p.Text, t.now.UnixMilli(), p.ID); err != nil {
			return err
		}
		if err := t.bundleDelivered(p, ref); err != nil {
			return err
		}
		return t.jobDelivered(p)
	})
}

// Outcome is what is known of an attempt that did not succeed.
type Outcome string

// The outcomes.
const (
	NotSent     Outcome = "not sent" // it certainly did not arrive: try again
	MayHaveSent Outcome = "unknown"  // it may have arrived
	Refused     Outcome = "refused"  // it will never be taken
)

// Undelivered commits what came of an attempt. again is when to try next. A part that may have arrived is handled by its
// class; one that was refused is a dead letter and the owner is told, once.
func (v *Vault) Undelivered(ctx context.Context, p Part, o Outcome, reason string, again time.Time) error {
	return v.write(ctx, "undelivered", durableIf(o != NotSent && p.Class != Status), func(t *Tx) error {
		switch {
		case p.Class == Status && o == Refused: // nobody misses it
			_, err := t.exec(`UPDATE outbox SET state = 'dropped', live = 0, error = ? WHERE id = ?`, reason, p.ID)
			return err
		case o == NotSent:
			_, err := t.exec(`UPDATE outbox SET state = `+waitsUnlessStopped+`, next_try = ?, error = ? WHERE id = ? AND state = 'sending'`, again.UnixMilli(), reason, p.ID)
			return err
		case o == MayHaveSent:
			return t.ambiguous(p, reason, again)
		default:
			return t.deadLetter(p, reason)
		}
	})
}

// ambiguous decides, by class, what becomes of a part that may have arrived.
func (t *Tx) ambiguous(p Part, reason string, again time.Time) error {
	switch p.Class {
	case Status:
		_, err := t.exec(`UPDATE outbox SET state = 'dropped', live = 0, error = ? WHERE id = ?`, reason, p.ID)
		return err
	case Letter:
		if _, err := t.exec(`UPDATE outbox SET state = 'unknown', error = ? WHERE id = ?`, reason, p.ID); err != nil {
			return err
		}
		return t.askArrived(p)
	default:
		_, err := t.exec(`UPDATE outbox SET state = `+waitsUnlessStopped+`, marked = 1, rests = 1, next_try = ?, error = ? WHERE id = ?`, again.UnixMilli(), reason, p.ID)
		return err
	}
}

// askArrived asks an owner about a message to a third person: sent twice, it would be somebody else who is bothered.
func (t *Tx) askArrived(p Part) error {
	var r Run
	if p.Run != 0 {
		var err error
		if r, err = one(t.ctx, t.tx, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ?`, p.Run); err != nil {
			return err
		}
	}
	shown, err := json.Marshal(map[string]string{"text": p.Text})
	if err != nil {
		return err
	}
	_, err = t.ask(Approval{
		Run: p.Run, Part: p.ID, Kind: "unknown", Tool: "send", Arguments: string(shown), Choices: []string{ChooseAgain, ChooseWorked, ChooseDrop},
		Question: fmt.Sprintf("I do not know whether this message arrived, so I do not send it again by myself. Shall I send it again, did it arrive, or shall I drop it?\n%s", p.Text),
	}, r)
	if errors.Is(err, ErrNotFound) {
		return nil // nobody is there to be asked; it stays in the outbox
	}
	return err
}

// settlePart carries out what was decided about a message that may have arrived.
func (t *Tx) settlePart(number int64, choice string) error {
	state := map[string]string{ChooseAgain: "waiting", ChooseWorked: "sent", ChooseDrop: "dropped"}[choice]
	_, err := t.exec(`UPDATE outbox SET state = ?, marked = 1, next_try = 0, sent = CASE ? WHEN 'sent' THEN ? END WHERE id = ? AND state = 'unknown'`, state, state, t.now.UnixMilli(), number)
	return err
}

// closeAsked closes the question about a message that was decided in another way.
func (t *Tx) closeAsked(part int64) error {
	_, err := t.exec(`UPDATE approval SET state = 'expired', decided = ? WHERE part_id = ? AND state = 'open'`, t.now.UnixMilli(), part)
	return err
}

// waitsUnlessStopped is the state of a part that was in the air, when its run may have been stopped meanwhile.
const waitsUnlessStopped = `CASE WHEN EXISTS (SELECT 1 FROM run r WHERE r.id = outbox.run_id AND r.state = 'stopped') THEN 'dropped' ELSE 'waiting' END`

func (t *Tx) deadLetter(p Part, reason string) error {
	n, err := t.exec(`UPDATE outbox SET state = 'failed', error = ?, told = ? WHERE id = ? AND state IN ('waiting','sending')`, reason, t.now.UnixMilli(), p.ID)
	if err != nil || n == 0 {
		return err
	}
	if err := t.jobUndeliverable(p, reason); err != nil {
		return err
	}
	if err := t.bundleUndeliverable(p, reason); err != nil {
		return err
	}
	owner, err := firstOwner(t.ctx, t.tx)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	to, err := t.v.privateAddress(t.ctx, t.tx, owner.ID)
	if err != nil || to.Gateway == p.To.Gateway && to.Chat == p.To.Chat {
		return err // the chat that refuses is the very one we would tell
	}
	return t.TellLater(fmt.Sprintf("failed:%d/%d", p.ID, p.Attempts), fmt.Sprintf("I could not deliver this (%s): %q. It is kept: `hearth outbox retry %d` tries again.", reason, clip(p.Text, 120), p.ID))
}

// Split replaces a part that is too long for its messenger by several, in its place in the lane. The first keeps the
// number and the reply mark, the last gets the buttons. ErrNotFound: a person stopped or dropped it meanwhile.
func (v *Vault) Split(ctx context.Context, p Part, pieces []Piece) error {
	return v.write(ctx, "split", durable, func(t *Tx) error {
		// Later parts of the lane move behind the new ones by being inserted again.
		later, err := collect(t.ctx, t.tx, scanPart, `SELECT `+partColumns+` FROM outbox WHERE gateway = ? AND chat = ? AND id > ? AND state = 'waiting' AND held IS NULL ORDER BY id`, p.To.Gateway, p.To.Chat, p.ID)
		if err != nil {
			return err
		}
		n, err := t.exec(`UPDATE outbox SET text = ?, entities = ?, buttons = CASE WHEN ? THEN '' ELSE buttons END WHERE id = ? AND state IN ('waiting','sending')`,
			pieces[0].Text, pieces[0].Entities, len(pieces) > 1, p.ID)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		for i, piece := range pieces[1:] {
			next := p
			next.Text, next.Entities, next.ReplyTo, next.Buttons, next.Due, next.Late = piece.Text, piece.Entities, "", nil, time.Time{}, ""
			if p.Key != "" {
				next.Key = fmt.Sprintf("%s/%d", p.Key, i+2)
			}
			if i == len(pieces)-2 {
				next.Buttons = p.Buttons
			} else {
				next.Approval = 0
			}
			if _, err := t.Post(next); err != nil {
				return err
			}
		}
		for _, l := range later {
			if _, err := t.exec(`UPDATE outbox SET id = (SELECT max(id) + 1 FROM outbox) WHERE id = ?`, l.ID); err != nil {
				return err
			}
		}
		_, err = t.exec(`UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM outbox) WHERE name = 'outbox'`)
		return err
	})
}

// Parts lists the outbox, newest first; open: only what has not reached its end.
func (v *Vault) Parts(ctx context.Context, open bool, limit int) ([]Part, error) {
	return collect(ctx, v.rdb, scanPart, `SELECT `+partColumns+` FROM outbox WHERE NOT ? OR state IN ('waiting','sending','unknown','failed') ORDER BY id DESC LIMIT ?`, open, limit)
}

// PartsOf lists what a run sent or will send, oldest first.
func (v *Vault) PartsOf(ctx context.Context, run int64) ([]Part, error) {
	return collect(ctx, v.rdb, scanPart, `SELECT `+partColumns+` FROM outbox WHERE run_id = ? ORDER BY id`, run)
}

// RetryPart sends a failed or unknown part again, marked when it may have arrived. ErrNotFound when it is neither.
func (v *Vault) RetryPart(ctx context.Context, number int64) error {
	return v.write(ctx, "retry-part", durable, func(t *Tx) error {
		n, err := t.exec(`UPDATE outbox SET marked = CASE state WHEN 'unknown' THEN 1 ELSE marked END, state = 'waiting', next_try = 0, told = NULL WHERE id = ? AND state IN ('failed','unknown')`, number)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		return t.closeAsked(number)
	})
}

// DropPart gives up an unsent part. ErrNotFound when it is sent or gone.
func (v *Vault) DropPart(ctx context.Context, number int64) error {
	return v.write(ctx, "drop-part", durable, func(t *Tx) error {
		p, err := one(t.ctx, t.tx, scanPart, `UPDATE outbox SET state = 'dropped' WHERE id = ? AND state IN ('waiting','failed','unknown') RETURNING `+partColumns, number)
		if err != nil {
			return err
		}
		if err := t.closeAsked(number); err != nil {
			return err
		}
		const why = "given up by a person"
		if _, err := t.exec(`UPDATE outbox SET state = 'dropped', error = ? WHERE bundle = ? AND state IN ('waiting','failed')`, why, p.ID); err != nil {
			return err
		}
		return t.jobUndeliverable(p, why)
	})
}

// clip shortens a text for a sentence, at a rune.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
