package vault

import (
	"context"
	"errors"
	"fmt"
)

// Line is a progress line: the one message of its key that says what is being done, and that a messenger changes in place.
// Nothing about it is flushed: it outlives the process, and after a power cut it may be missing or be there twice.
type Line struct {
	Part
	Shown    string   // what the messenger shows of it; "" = it was not sent yet
	Over     bool     // Text is the last that it will say
	Chat     ChatKind // of its conversation; "" = it belongs to none
	Tool     string   // the call that its run has in hand; "" = none
	Asked    int64    // the open approval that its run waits for; 0 = none
	Answered bool     // nothing else that its run has to say is still to be sent
	More     bool     // its sender has written more, which joins the run at its next step
	Of       Run      // the run that Part.Run names, if any
}

// LineKey is the key of a run's progress line: a run has one.
func LineKey(run int64) string { return fmt.Sprintf("progress:%d", run) }

// ShowLine posts the first words of a progress line, or changes those of a line that is there: p.Key says which. A line that
// is not bound to a run says what Text says; in a messenger that cannot change what it has sent, only the first words are
// seen, so the outcome is told in a message of its own. posted: this was the first time. A line that was dropped, or is
// over, stays so. Any other message for the chat takes the place of a line that was not sent yet; the next call posts it
// anew, behind that message. No flush.
func (v *Vault) ShowLine(ctx context.Context, p Part) (posted bool, err error) {
	err = v.write(ctx, "line", relaxed, func(t *Tx) error {
		posted, err = t.postLine(p)
		if err != nil || posted {
			return err
		}
		_, err = t.exec(`UPDATE outbox SET text = ? WHERE key = ? AND live = 1`, p.Text, p.Key)
		return err
	})
	return posted, err
}

func (t *Tx) postLine(p Part) (bool, error) {
	if p.Key == "" {
		return false, errors.New("post a progress line: it has no key")
	}
	p.Class = Status
	number, err := t.Post(p)
	return number != 0, err
}

// EndLine gives a line that is not bound to a run its last words; one that was not sent yet is not sent any more. The line
// of a run ends by itself. No flush.
func (v *Vault) EndLine(ctx context.Context, key, words string) error {
	return v.write(ctx, "end-line", relaxed, func(t *Tx) error {
		if _, err := t.exec(`UPDATE outbox SET state = 'dropped', live = 0 WHERE key = ? AND live != 0 AND (state = 'waiting' OR state = 'sending' AND attempts = 0)`, key); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE outbox SET text = ?, live = 2 WHERE key = ? AND live = 1`, words, key)
		return err
	})
}

// LineShown notes what a messenger shows of a line by now; over: it will not change any more. No flush.
func (v *Vault) LineShown(ctx context.Context, part int64, words string, over bool) error {
	return v.write(ctx, "line-shown", relaxed, func(t *Tx) error {
		_, err := t.exec(`UPDATE outbox SET text = CASE WHEN run_id IS NULL THEN text ELSE ? END, shown = ?, live = CASE WHEN ? THEN 0 ELSE live END WHERE id = ?`, words, words, over, part)
		return err
	})
}

// Lines gives a gateway's progress lines that are waiting, being sent, or shown and not over, oldest first.
func (v *Vault) Lines(ctx context.Context, gateway string) ([]Line, error) {
	lines, err := collect(ctx, v.rdb, scanLine, `SELECT `+partColumns+`, shown, live,
		coalesce((SELECT kind FROM conversation c WHERE c.id = outbox.conversation_id), ''),
		coalesce((SELECT tool FROM call WHERE call.run_id = outbox.run_id AND call.state IN ('proposed','approved','started') ORDER BY call.id LIMIT 1), ''),
		coalesce((SELECT id FROM approval a WHERE a.run_id = outbox.run_id AND a.state = 'open' ORDER BY a.id LIMIT 1), 0),
		NOT EXISTS (SELECT 1 FROM outbox o WHERE o.run_id = outbox.run_id AND o.state IN ('waiting','sending') AND o.class != 'progress'),
		EXISTS (SELECT 1 FROM run r JOIN run q ON q.conversation_id = r.conversation_id AND q.state = 'queued' WHERE r.id = outbox.run_id AND `+joins+`)
		FROM outbox WHERE gateway = ? AND live != 0 AND state IN ('waiting','sending','sent') ORDER BY id`, gateway)
	if err != nil {
		return nil, err
	}
	for i, l := range lines {
		if l.Run == 0 {
			continue
		}
		if lines[i].Of, err = one(ctx, v.rdb, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ?`, l.Run); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// columns puts further columns behind those of a part.
type columns struct {
	scanner
	more []any
}

func (c columns) Scan(dest ...any) error { return c.scanner.Scan(append(dest, c.more...)...) }

func scanLine(s scanner) (l Line, err error) {
	var live int
	l.Part, err = scanPart(columns{s, []any{&l.Shown, &live, &l.Chat, &l.Tool, &l.Asked, &l.Answered, &l.More}})
	l.Over = live == 2
	return l, err
}
