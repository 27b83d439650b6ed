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
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"
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
	return out
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
	partial := target + ".partial"
	if err := v.backupFrom(ctx, v.writer, partial); err != nil {
		return err
	}
	return os.Rename(partial, target)
}

// Backup writes a consistent, verified copy of the database to target while the vault is in use. The file must not
// exist yet. Media are not part of it.
func (v *Vault) Backup(ctx context.Context, target string) error {
	if _, err := os.Stat(target); err == nil {
		return fmt.Errorf("write backup: %s exists already", target)
	}
	conn, err := v.rdb.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	partial := target + ".partial"
	if err := v.backupFrom(ctx, conn, partial); err != nil {
		return errors.Join(err, removeIfThere(partial))
	}
	return os.Rename(partial, target)
}

func (v *Vault) backupFrom(ctx context.Context, from *sql.Conn, target string) error {
	if err := removeIfThere(target); err != nil {
		return err
	}
	file, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(target)+"?_journal_mode=DELETE&_synchronous=FULL")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	to, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	err = to.Raw(func(dst any) error {
		return from.Raw(func(src any) error {
			b, err := dst.(*sqlite3.SQLiteConn).Backup("main", src.(*sqlite3.SQLiteConn), "main")
			if err != nil {
				return err
			}
			_, err = b.Step(-1)
			return errors.Join(err, b.Finish())
		})
	})
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	return verify(ctx, to)
}

// verify reports what SQLite's quick check finds.
func verify(ctx context.Context, q querier) error {
	found, err := one(ctx, q, scanString, `PRAGMA quick_check(1)`)
	if err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("check database: %s", found)
	}
	return nil
}

// Check reads the whole database and reports the first damage found; nil when it is sound. It opens a connection of its
// own: the full-text index checks itself against what its connection has kept in memory, and one that was open while
// another wrote takes the new rows for damage.
func (v *Vault) Check(ctx context.Context) (err error) {
	db, err := sql.Open("sqlite3", dsn(v.Path(), "rw", "&_query_only=on"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	return verify(ctx, db)
}

// VerifyFile reports whether the file at path is a sound vault that this program can open, without changing it.
// Errors: *NewerError, *DamagedError, or what the check found.
func VerifyFile(ctx context.Context, path string) error {
	if err := precheck(ctx, path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)+"?mode=ro&immutable=1")
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
