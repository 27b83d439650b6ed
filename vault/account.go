package vault

import (
	"context"
	"errors"
	"fmt"
)

// Adopt notes which account, a bot or a number, a gateway has from now on. What was still to be sent by another one fails,
// and the owner is told once, beside this gateway, since nobody may have written to the new account yet. Reminders and open
// runs go on by the new account, in the same chats. What is in the air ends as it ends. With nothing of another account
// nothing is written. It returns how many parts have failed.
func (v *Vault) Adopt(ctx context.Context, gateway, account string) (failed int, err error) {
	foreign, err := one(ctx, v.rdb, scanInt, `SELECT EXISTS (SELECT 1 FROM outbox WHERE gateway = ?1 AND account NOT IN ('', ?2) AND (state IN ('waiting','sending') OR live != 0))
		OR EXISTS (SELECT 1 FROM chat WHERE gateway = ?1 AND account != ?2) OR EXISTS (SELECT 1 FROM job WHERE gateway = ?1 AND account NOT IN ('', ?2) AND next IS NOT NULL)
		OR EXISTS (SELECT 1 FROM run WHERE gateway = ?1 AND account NOT IN ('', ?2) AND state IN ('queued','running','waiting'))`, gateway, account)
	if err != nil || foreign == 0 {
		return 0, err
	}
	err = v.write(ctx, "adopt", durable, func(t *Tx) error {
		failed, err = t.adopt(gateway, account)
		return err
	})
	return failed, err
}

func (t *Tx) adopt(gateway, account string) (int, error) {
	const reason = "it was meant for another account, which is not used any more"
	for _, query := range []string{
		`UPDATE outbox SET state = CASE state WHEN 'sent' THEN state ELSE 'dropped' END, live = 0 WHERE gateway = ? AND account NOT IN ('', ?) AND class = 'progress' AND (state IN ('waiting','sending') OR live != 0)`,
		`DELETE FROM chat WHERE gateway = ? AND account NOT IN ('', ?)`, // nobody is reached there
	} {
		if _, err := t.exec(query, gateway, account); err != nil {
			return 0, err
		}
	}
	parts, err := collect(t.ctx, t.tx, scanPart, `UPDATE outbox SET state = 'failed', error = ?, told = ? WHERE gateway = ? AND account NOT IN ('', ?) AND (state = 'waiting' OR state = 'sending' AND attempts = 0) RETURNING `+partColumns,
		reason, t.now.UnixMilli(), gateway, account)
	if err != nil {
		return 0, err
	}
	for _, p := range parts {
		if err := t.jobUndeliverable(p, reason); err != nil {
			return 0, err
		}
	}
	for _, query := range []string{
		`UPDATE job SET account = ? WHERE gateway = ? AND account NOT IN ('', ?) AND next IS NOT NULL`,
		`UPDATE run SET account = ? WHERE gateway = ? AND account NOT IN ('', ?) AND state IN ('queued','running','waiting')`,
	} {
		if _, err := t.exec(query, account, gateway, account); err != nil {
			return 0, err
		}
	}
	if len(parts) == 0 {
		return 0, nil
	}
	words := fmt.Sprintf("Another account is used now, and %d messages that were still to be sent by the one before were not, the first: %q. `hearth outbox` lists them.", len(parts), clip(parts[0].Text, 120))
	if len(parts) == 1 {
		words = fmt.Sprintf("Another account is used now, and a message that was still to be sent by the one before was not: %q. `hearth outbox` lists it.", clip(parts[0].Text, 120))
	}
	if err := t.tellBeside(gateway, "", words, false); err != nil && !errors.Is(err, ErrNotFound) {
		return 0, err
	}
	return len(parts), nil
}
