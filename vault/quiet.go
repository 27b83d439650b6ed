package vault

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Quiet tells until when a person is not to be spoken to unasked, at an instant. Zero: now is fine.
type Quiet func(p Person, at time.Time) time.Time

// What speaks first waits for the end of its person's quiet hours. A job that wakes the agent stays where it is, with the
// instant it is held until (job.held); words that are ready stand in the outbox, in no lane (outbox.held). Both are rows,
// so that a night outlives the program. A reminder is its person's own wish, and an answer was asked for: neither waits.

// QuietHours says when nobody is spoken to unasked, from now on; nil = never. What waits is judged anew.
func (v *Vault) QuietHours(ctx context.Context, q Quiet) error {
	v.quiet.Store(&q)
	waits, err := one(ctx, v.rdb, scanInt, `SELECT EXISTS (SELECT 1 FROM job WHERE held IS NOT NULL) OR EXISTS (SELECT 1 FROM outbox WHERE held IS NOT NULL AND state = 'waiting')`)
	if err != nil || waits == 0 {
		return err
	}
	return v.write(ctx, "quiet-hours", durable, func(t *Tx) error { return t.rehold() })
}

// QuietUntil tells until when a person is not to be spoken to unasked; zero = now is fine.
func (v *Vault) QuietUntil(ctx context.Context, person int64) (time.Time, error) {
	return v.quietAt(ctx, v.rdb, person, v.now())
}

func (v *Vault) quietAt(ctx context.Context, q querier, person int64, at time.Time) (time.Time, error) {
	quiet := v.quiet.Load()
	if quiet == nil || *quiet == nil {
		return time.Time{}, nil
	}
	var p Person
	if person != 0 {
		var err error
		if p, err = one(ctx, q, scanPerson, `SELECT `+personColumns+` FROM person WHERE id = ?`, person); err != nil {
			return time.Time{}, err
		}
	}
	return (*quiet)(p, at), nil
}

// asleep is a JSON array of those who are not to be spoken to now: runs that nobody asked for and that have not begun wait.
func (v *Vault) asleep(ctx context.Context, q querier) (string, error) {
	quiet := v.quiet.Load()
	if quiet == nil || *quiet == nil {
		return "[]", nil
	}
	people, err := collect(ctx, q, scanPerson, `SELECT `+personColumns+` FROM person WHERE gone IS NULL`)
	if err != nil {
		return "", err
	}
	out := []int64{}
	for _, p := range people {
		if !(*quiet)(p, v.now()).IsZero() {
			out = append(out, p.ID)
		}
	}
	b, err := json.Marshal(out)
	return string(b), err
}

// HoldJob commits that a due job waits until an instant. ErrNotFound: it was changed or cancelled since it was read.
func (v *Vault) HoldJob(ctx context.Context, j Job, until time.Time) error {
	return v.write(ctx, "hold-job", durable, func(t *Tx) error {
		n, err := t.exec(`UPDATE job SET held = ? WHERE id = ? AND next = ? AND changed = ? AND state IN ('waiting','firing')`, until.UnixMilli(), j.ID, j.Next.UnixMilli(), j.Changed.UnixMilli())
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
}

// rehold judges anew what waits: the hours, or a person's zone, have changed.
func (t *Tx) rehold() error {
	if _, err := t.exec(`UPDATE job SET held = NULL WHERE held IS NOT NULL`); err != nil {
		return err
	}
	type waiting struct{ part, person int64 }
	held, err := collect(t.ctx, t.tx, func(s scanner) (w waiting, err error) {
		err = s.Scan(&w.part, null[int64]{&w.person})
		return w, err
	}, `SELECT o.id, coalesce(r.person_id, c.person_id) FROM outbox o LEFT JOIN run r ON r.id = o.run_id LEFT JOIN conversation c ON c.id = o.conversation_id
		WHERE o.held IS NOT NULL AND o.bundle IS NULL AND o.state = 'waiting'`)
	if err != nil {
		return err
	}
	for _, w := range held {
		until, err := t.v.quietAt(t.ctx, t.tx, w.person, t.now)
		if err != nil {
			return err
		}
		if until.IsZero() {
			until = t.now
		}
		if _, err := t.exec(`UPDATE outbox SET held = ? WHERE id = ?`, until.UnixMilli(), w.part); err != nil {
			return err
		}
	}
	return nil
}

// lateByNight is why something comes late that waited for the end of the quiet hours.
const lateByNight = "quiet hours"

// together is how long after the quiet hours words wait for the runs of the same night, to go out as one message.
const together = 10 * time.Minute

// postReply queues what a run says at its end. What nobody asked for speaks first; a run that a person decided about goes
// on because of that person.
func (t *Tx) postReply(r Run, p Part) error {
	decided, err := one(t.ctx, t.tx, scanInt, `SELECT EXISTS (SELECT 1 FROM approval WHERE run_id = ? AND decided_by IS NOT NULL)`, r.ID)
	if err != nil {
		return err
	}
	if r.Trigger == "message" || decided != 0 {
		_, err := t.Post(p)
		return err
	}
	return t.postFirst(r.Person, p)
}

// postFirst queues what speaks to a person first: at once, or held until the quiet hours end. What was due in a night that
// has just ended, or as it ended, goes out with the rest of that night.
func (t *Tx) postFirst(person int64, p Part) error {
	until, err := t.v.quietAt(t.ctx, t.tx, person, t.now)
	if err == nil && until.IsZero() {
		until, err = t.nightOf(person, p)
	}
	if err != nil {
		return err
	}
	if p.Held = until; !until.IsZero() && !p.Due.IsZero() && p.Due.Before(until) {
		p.Late = lateByNight
	}
	_, err = t.Post(p)
	return err
}

// nightOf gives the end of the night that a part belongs to, when that has just ended; else zero.
func (t *Tx) nightOf(person int64, p Part) (time.Time, error) {
	end, err := one(t.ctx, t.tx, func(s scanner) (at time.Time, err error) { err = s.Scan(instant{&at}); return at, err },
		`SELECT max(held) FROM outbox WHERE held IS NOT NULL AND bundle IS NULL AND state = 'waiting' AND conversation_id = ? AND held <= ?`, p.Conversation, t.now.UnixMilli())
	if err != nil || !end.IsZero() || p.Due.IsZero() {
		return end, err
	}
	if end, err = t.v.quietAt(t.ctx, t.tx, person, p.Due.Add(-time.Millisecond)); t.now.Sub(end).Abs() >= together {
		end = time.Time{}
	}
	return end, err
}

// Release sends on its way what was held until now, in one message for each chat. It gives the instant at which there is
// more to release; zero when nothing is held.
func (v *Vault) Release(ctx context.Context) (next time.Time, err error) {
	earliest := func(q querier) (time.Time, error) {
		return one(ctx, q, func(s scanner) (at time.Time, err error) { err = s.Scan(instant{&at}); return at, err },
			`SELECT min(held) FROM outbox WHERE held IS NOT NULL AND bundle IS NULL AND state = 'waiting'`)
	}
	if next, err = earliest(v.rdb); err != nil || next.IsZero() || next.After(v.now()) {
		return next, err
	}
	ready, wait, err := v.ready(ctx, v.rdb, v.now())
	if err != nil || len(ready) == 0 {
		return wait, err
	}
	err = v.write(ctx, "release", durable, func(t *Tx) error {
		if ready, wait, err = v.ready(t.ctx, t.tx, t.now); err != nil {
			return err
		}
		for _, parts := range ready {
			if err := t.bundle(parts); err != nil {
				return err
			}
		}
		next, err = earliest(t.tx)
		return err
	})
	if !wait.IsZero() {
		return wait, err
	}
	return next, err
}

// ready gives the held parts that may go, chat by chat, and the instant until which others wait for runs of their night.
func (v *Vault) ready(ctx context.Context, q querier, now time.Time) (out [][]Part, wait time.Time, err error) {
	parts, err := collect(ctx, q, scanPart, `SELECT `+partColumns+` FROM outbox WHERE held IS NOT NULL AND held <= ? AND bundle IS NULL AND state = 'waiting' ORDER BY id`, now.UnixMilli())
	if err != nil {
		return nil, wait, err
	}
	type chat struct {
		conversation          int64
		gateway, name, thread string // not the account: that of a person who has not written yet is not known
	}
	var order []chat
	lanes := map[chat][]Part{}
	for _, p := range parts {
		c := chat{p.Conversation, p.To.Gateway, p.To.Chat, p.To.Thread}
		if lanes[c] == nil {
			order = append(order, c)
		}
		lanes[c] = append(lanes[c], p)
	}
	for _, c := range order {
		var end time.Time
		for _, p := range lanes[c] {
			if p.Held.After(end) {
				end = p.Held
			}
		}
		open, err := one(ctx, q, scanInt, `SELECT EXISTS (SELECT 1 FROM run WHERE conversation_id = ? AND trigger = 'job' AND due <= ? AND state IN ('queued','running'))`, c.conversation, end.UnixMilli())
		if err != nil {
			return nil, wait, err
		}
		if last := end.Add(together); open != 0 && now.Before(last) {
			wait = earlier(wait, last)
			continue
		}
		out = append(out, lanes[c])
	}
	return out, wait, nil
}

// bundle makes one message of the held parts of a chat: the first takes the words of the others, which share its fate.
func (t *Tx) bundle(parts []Part) error {
	head := parts[0]
	var words []string
	for _, p := range parts {
		words = append(words, p.Text)
		if !p.Due.IsZero() && (head.Due.IsZero() || p.Due.Before(head.Due)) {
			head.Due, head.Late = p.Due, p.Late
		}
	}
	if _, err := t.exec(`UPDATE outbox SET held = NULL, text = ?, due = ?, late = ? WHERE id = ?`, strings.Join(words, "\n\n"), millis(head.Due), head.Late, head.ID); err != nil {
		return err
	}
	for _, p := range parts[1:] {
		if _, err := t.exec(`UPDATE outbox SET bundle = ? WHERE id = ?`, head.ID, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// bundleDelivered notes that those have arrived whose words went out in p.
func (t *Tx) bundleDelivered(p Part, ref string) error {
	sent, err := collect(t.ctx, t.tx.Tx, scanPart, `UPDATE outbox SET state = 'sent', ref = ?, sent = ?, error = '' WHERE bundle = ? AND state IN ('waiting','failed') RETURNING `+partColumns, ref, t.now.UnixMilli(), p.ID)
	t.tx.touched[SendsChanged] = true
	for _, s := range sent {
		err = errors.Join(err, t.jobDelivered(s))
	}
	return err
}

func (t *Tx) bundleUndeliverable(p Part, reason string) error {
	failed, err := collect(t.ctx, t.tx, scanPart, `UPDATE outbox SET state = 'failed', error = ? WHERE bundle = ? AND state = 'waiting' RETURNING `+partColumns, reason, p.ID)
	for _, f := range failed {
		err = errors.Join(err, t.jobUndeliverable(f, reason))
	}
	return err
}
