package vault

import (
	"context"
	"time"
)

// Reached says whether a chat may be written to, and whether somebody has written there first. Known are the chats of people
// who are, the groups in which they have written, and strangers who have: they get one line. One who was removed is not.
func (v *Vault) Reached(ctx context.Context, gateway, chat string) (known, wrote bool, err error) {
	n, err := one(ctx, v.rdb, scanInt, `SELECT (EXISTS(SELECT 1 FROM identity i JOIN person p ON p.id = i.person_id WHERE i.gateway = ?1 AND i.ext = ?2 AND p.gone IS NULL)
		OR EXISTS(SELECT 1 FROM chat WHERE gateway = ?1 AND chat = ?2 AND kind = 'group') OR EXISTS(SELECT 1 FROM stranger WHERE gateway = ?1 AND ext = ?2))
		+ 2 * (EXISTS(SELECT 1 FROM chat WHERE gateway = ?1 AND chat = ?2) OR EXISTS(SELECT 1 FROM stranger WHERE gateway = ?1 AND ext = ?2))`, gateway, chat)
	return n&1 != 0, n&2 != 0, err
}

// Unasked counts what was sent since an instant, on a gateway, to people who have never written there.
func (v *Vault) Unasked(ctx context.Context, gateway string, since time.Time) (int, error) {
	n, err := one(ctx, v.rdb, scanInt, `SELECT count(*) FROM outbox o WHERE o.gateway = ?1 AND o.state = 'sent' AND o.sent >= ?2
		AND NOT EXISTS(SELECT 1 FROM chat h WHERE h.gateway = ?1 AND h.chat = o.chat) AND NOT EXISTS(SELECT 1 FROM stranger s WHERE s.gateway = ?1 AND s.ext = o.chat)`,
		gateway, since.UnixMilli())
	return int(n), err
}

// PartUnder gives the part that was sent under an id chosen before. ErrNotFound: none was.
func (v *Vault) PartUnder(ctx context.Context, gateway, stable string) (Part, error) {
	if stable == "" {
		return Part{}, ErrNotFound
	}
	return one(ctx, v.rdb, scanPart, `SELECT `+partColumns+` FROM outbox WHERE gateway = ? AND stable = ? AND stable != '' ORDER BY id DESC LIMIT 1`, gateway, stable)
}

// LastQuestion gives the open question that was the last thing said in a chat. ErrNotFound: something else was, or it is
// decided.
func (v *Vault) LastQuestion(ctx context.Context, gateway, chat string) (Part, error) {
	p, err := one(ctx, v.rdb, scanPart, `SELECT `+partColumns+` FROM outbox WHERE gateway = ? AND chat = ? AND buttons != '' AND state IN ('sending','sent')
		AND (SELECT a.state FROM approval a WHERE a.id = outbox.approval_id) = 'open' ORDER BY id DESC LIMIT 1`, gateway, chat)
	if err != nil {
		return p, err
	}
	later, err := one(ctx, v.rdb, scanInt, `SELECT count(*) FROM outbox WHERE id > ? AND gateway = ? AND chat = ? AND state IN ('sending','sent')`, p.ID, gateway, chat)
	if err == nil && later > 0 {
		err = ErrNotFound
	}
	return p, err
}

// Withdraw takes back a message that its sender has deleted, as long as no model has seen it: a run that has no other is
// stopped. Later it changes nothing.
func (v *Vault) Withdraw(ctx context.Context, in Inbound) error {
	return v.write(ctx, "withdraw", durable, func(t *Tx) error {
		type row struct{ id, run int64 }
		found, err := collect(t.ctx, t.tx, func(s scanner) (r row, err error) { err = s.Scan(&r.id, &r.run); return r, err },
			`SELECT m.id, m.run_id FROM message m JOIN run r ON r.id = m.run_id WHERE m.gateway = ? AND m.account = ? AND m.chat = ? AND m.sender = ? AND m.ext = ?
			AND m.role = 'user' AND m.step IS NULL AND r.state = 'queued'`, in.Gateway, in.Account, in.Chat, in.Sender, in.ID)
		if err != nil {
			return err
		}
		for _, m := range found {
			if _, err := t.exec(`UPDATE message SET run_id = NULL, text = '', quoted = '', raw = NULL, kind = ? WHERE id = ?`, Lookup, m.id); err != nil {
				return err
			}
			left, err := one(t.ctx, t.tx, scanInt, `SELECT count(*) FROM message WHERE run_id = ?`, m.run)
			if err != nil {
				return err
			}
			if left > 0 {
				continue
			}
			r, err := one(t.ctx, t.tx, scanRun, `SELECT `+runColumns+` FROM run WHERE id = ?`, m.run)
			if err != nil {
				return err
			}
			if _, err := t.stopRun(r, "the message was deleted"); err != nil {
				return err
			}
		}
		return nil
	})
}
