package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Restored is what a vault that came out of a copy does not know: what happened from the one instant to the other.
type Restored struct{ From, To time.Time }

// MarkRestored has the vault in the file at path, a verified copy that nothing has open, know when it opens that it was
// brought back at now: what the copy held as unsent or allowed may have been sent and done since, so it counts as begun.
// from names the copy as Snapshot does, if it is one.
func MarkRestored(ctx context.Context, path, from string, now time.Time) (r Restored, err error) {
	db, err := sql.Open("sqlite3", dsn(path, "rw", "&_synchronous=FULL&_txlock=immediate"))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	clock, err := setting(ctx, db, settingClock)
	if err != nil {
		return r, err
	}
	r.To = now.UTC()
	r.From, _ = time.Parse(time.RFC3339, clock) // a vault without one is of no time
	if s, ok := parseSnapshot(filepath.Base(from)); ok && s.Taken.After(r.From) {
		r.From = s.Taken
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return r, err
	}
	defer func() { _ = tx.Rollback() }() // of no effect after Commit
	for _, query := range []string{
		`UPDATE outbox SET state = 'sending', attempts = attempts + 1, boot = '' WHERE state IN ('waiting','sending')`,
		`UPDATE call SET state = 'started' WHERE effect = 'acts' AND state IN ('proposed','approved')`,
	} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return r, fmt.Errorf("mark restored vault: %w", err)
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO setting(name, value, changed) VALUES(?,?,?) ON CONFLICT DO UPDATE SET value = excluded.value, changed = excluded.changed`,
		settingRestored, r.From.Format(time.RFC3339)+" "+r.To.Format(time.RFC3339), now.UnixMilli())
	if err != nil {
		return r, fmt.Errorf("mark restored vault: %w", err)
	}
	return r, tx.Commit()
}

// TellRestored tells the first owner once, in the words that tell makes, that the vault came out of a copy.
func (v *Vault) TellRestored(ctx context.Context, tell func(Restored) string) error {
	value, err := v.Setting(ctx, settingRestored)
	if err != nil || value == "" {
		return err
	}
	var r Restored
	from, to, _ := strings.Cut(value, " ")
	r.From, err = time.Parse(time.RFC3339, from)
	if err == nil {
		r.To, err = time.Parse(time.RFC3339, to)
	}
	if err != nil {
		return fmt.Errorf("read what was restored: %w", err)
	}
	return v.write(ctx, "restored", durable, func(t *Tx) error {
		return errors.Join(t.Tell("", tell(r)), t.Set(settingRestored, ""))
	})
}

// Notice is a notice to the first owner that stands in no outbox: for what must be said when nothing can be written.
// ErrNotFound when there is no owner yet.
func (v *Vault) Notice(ctx context.Context, words string) (Part, error) {
	owner, err := v.FirstOwner(ctx)
	if err != nil {
		return Part{}, err
	}
	to, err := v.privateAddress(ctx, v.rdb, owner.ID)
	return Part{To: to, Class: Notice, Text: words}, err
}
