package vault

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations in order: number n brings schema version n-1 to n (PRAGMA user_version). A migration that has been released
// is never changed.
var migrations = loadMigrations()

func loadMigrations() []string {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // sorted
	if err != nil {
		panic(err) // a bad pattern, which is a constant
	}
	var out []string
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic(err) // embedded
		}
		out = append(out, string(text))
	}
	return append(out, madeUp...)
}

// migrate brings the file to the newest schema: one transaction a version, so a power cut leaves it at one version or
// the next, and starting again goes on.
func (v *Vault) migrate(ctx context.Context) error {
	var have int
	if err := v.writer.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&have); err != nil {
		return damaged(v.Path(), err)
	}
	if have > len(migrations) {
		return &NewerError{Path: v.Path(), Have: have, Can: len(migrations)}
	}
	if have == len(migrations) {
		return nil
	}
	if have > 0 {
		target := filepath.Join(v.dir, "backups", fmt.Sprintf("before-schema-%d-from-%d.db", len(migrations), have))
		if err := v.copyOnce(ctx, target); err != nil {
			return fmt.Errorf("copy vault before its upgrade: %w", err)
		}
	}
	for n := have; n < len(migrations); n++ {
		err := v.writeLocked(ctx, "migrate", durable, func(t *Tx) error {
			if _, err := t.tx.ExecContext(ctx, migrations[n]); err != nil {
				return err
			}
			_, err := t.tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", n+1))
			return err
		})
		if err != nil {
			return fmt.Errorf("upgrade vault to schema %d: %w", n+1, err)
		}
	}
	// Now the version stands in the file's header, where an older program looks first.
	_, err := v.writer.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

// copyOnce keeps the copy that an earlier, interrupted upgrade made: it is the older one.
func (v *Vault) copyOnce(ctx context.Context, target string) error {
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	return copyTo(ctx, v.writer, target)
}

// verify reports what SQLite's quick check finds.
func verify(ctx context.Context, q querier) error {
	found, err := one(ctx, q, scanString, `PRAGMA quick_check(1)`)
	if err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", errUnsound, found)
	}
	return nil
}

var errUnsound = errors.New("check database")

// VerifyFile reports whether the file at path is a sound vault that this program can open, without changing it.
// Errors: *NewerError, *DamagedError, or what the check found.
func VerifyFile(ctx context.Context, path string) error {
	if err := precheck(ctx, path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", fileURI(path)+"?mode=ro&immutable=1")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	have, err := one(ctx, db, scanInt, `PRAGMA user_version`)
	if err != nil {
		return damaged(path, err)
	}
	if have == 0 {
		return &DamagedError{Path: path, Err: errors.New("it is a database, but not a vault")}
	}
	return verify(ctx, db)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
