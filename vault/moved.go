package vault

import (
	"context"
	"time"
)

// MoveChat rewrites a chat's id wherever something is still to be sent to it or comes from it: a group got another one from
// its messenger.
func (v *Vault) MoveChat(ctx context.Context, gateway, from, to string) error {
	return v.write(ctx, "move-chat", durable, func(t *Tx) error {
		for _, query := range []string{
			`UPDATE OR REPLACE chat SET chat = ? WHERE gateway = ? AND chat = ?`,
			`UPDATE OR IGNORE conversation SET chat = ? WHERE kind = 'group' AND gateway = ? AND chat = ?`,
			`UPDATE run SET chat = ? WHERE gateway = ? AND chat = ? AND state IN ('queued','running','waiting')`,
			`UPDATE job SET chat = ? WHERE gateway = ? AND chat = ?`,
			`UPDATE outbox SET chat = ? WHERE gateway = ? AND chat = ? AND (state IN ('waiting','sending','failed','unknown') OR live != 0)`,
		} {
			if _, err := t.exec(query, to, gateway, from); err != nil {
				return err
			}
		}
		return nil
	})
}

// Decided is a question that was delivered with buttons and is decided meanwhile. One that is no approval has its outcome in
// the part.
type Decided struct {
	Part     Part
	Approval Approval
	By       string // the name of who decided; "" when nobody did
}

// Unsettled gives the decided questions of a gateway whose buttons are still there, oldest first.
func (v *Vault) Unsettled(ctx context.Context, gateway string) ([]Decided, error) {
	parts, err := collect(ctx, v.rdb, scanPart, `SELECT `+partColumns+` FROM outbox WHERE gateway = ? AND state = 'sent' AND buttons != '' AND (approval_id IS NOT NULL OR outcome != '') AND
		coalesce((SELECT a.state FROM approval a WHERE a.id = outbox.approval_id), '') != 'open' ORDER BY id LIMIT 50`, gateway)
	if err != nil {
		return nil, err
	}
	var out []Decided
	for _, p := range parts {
		if p.Approval == 0 {
			out = append(out, Decided{Part: p})
			continue
		}
		a, err := v.Approval(ctx, p.Approval)
		if err != nil {
			return nil, err
		}
		d := Decided{Part: p, Approval: a}
		if a.DecidedBy != 0 {
			by, err := v.Person(ctx, a.DecidedBy)
			if err != nil {
				return nil, err
			}
			d.By = by.Name
		}
		out = append(out, d)
	}
	return out, nil
}

// Settled notes that a question's buttons are gone.
func (v *Vault) Settled(ctx context.Context, part int64) error {
	return v.write(ctx, "settled", relaxed, func(t *Tx) error {
		_, err := t.exec(`UPDATE outbox SET buttons = '' WHERE id = ?`, part)
		return err
	})
}

// Rest notes until when a running run waits for a model that is out of reach: it is not at work meanwhile.
func (v *Vault) Rest(ctx context.Context, run int64, until time.Time) error {
	return v.write(ctx, "rest", relaxed, func(t *Tx) error {
		_, err := t.exec(`UPDATE run SET ready_at = ? WHERE id = ? AND state = 'running'`, until.UnixMilli(), run)
		return err
	})
}

// AtWork gives the runs that are at work for a chat of a gateway.
func (v *Vault) AtWork(ctx context.Context, gateway string) ([]Run, error) {
	return collect(ctx, v.rdb, scanRun, `SELECT `+runColumns+` FROM run WHERE state = 'running' AND gateway = ? AND ready_at <= ? + 0 ORDER BY id`, gateway, v.now().UnixMilli())
}
