package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// copyStep is how many pages are copied at a time: 1 MB of pages of 4 kB.
const copyStep = 256

// longestRest is how long a copy rests at most between two steps. It rests as long as the step took, so that on a slow
// card every other moment belongs to the work.
const longestRest = 100 * time.Millisecond

// Backup writes a consistent, verified copy of the database to target while the vault is in use. The file must not
// exist yet. Media are not part of it.
func (v *Vault) Backup(ctx context.Context, target string) error {
	if _, err := os.Stat(target); err == nil {
		return fmt.Errorf("write backup: %s exists already", target)
	}
	return v.atLeisure(ctx, func(ctx context.Context) error {
		conn, err := v.rdb.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		return copyTo(ctx, conn, target)
	})
}

// Check reads the whole database and reports the first damage found; nil when it is sound. It opens a connection of its
// own: the full-text index checks itself against what its connection has kept in memory, and one that was open while
// another wrote takes the new rows for damage.
func (v *Vault) Check(ctx context.Context) error {
	return v.atLeisure(ctx, func(ctx context.Context) (err error) {
		db, err := sql.Open("sqlite3", dsn(v.Path(), "rw", "&_query_only=on"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		db.SetMaxOpenConns(1)
		return verify(ctx, db)
	})
}

// leisure is the long readings: copies and checks. A sweep of forgotten words must not wait for them, and what they read
// still holds these words; so it cuts them short, and they begin anew behind it.
type leisure struct {
	mu       sync.Mutex // held while a sweep goes on
	readings map[*context.CancelCauseFunc]struct{}
	inHand   sync.WaitGroup
	listed   sync.Mutex // guards readings
}

var errSwept = errors.New("words were forgotten meanwhile")

// atLeisure runs a long reading, again from the beginning when a sweep cuts it short. fn must not write to the vault.
func (v *Vault) atLeisure(ctx context.Context, fn func(context.Context) error) error {
	l := &v.leisure
	for {
		reading, cancel := context.WithCancelCause(ctx)
		l.mu.Lock()
		l.listed.Lock()
		if l.readings == nil {
			l.readings = map[*context.CancelCauseFunc]struct{}{}
		}
		l.readings[&cancel] = struct{}{}
		l.inHand.Add(1)
		l.listed.Unlock()
		l.mu.Unlock()

		err := fn(reading)

		again := err != nil && errors.Is(context.Cause(reading), errSwept)
		cancel(nil)
		l.listed.Lock()
		delete(l.readings, &cancel)
		l.inHand.Done()
		l.listed.Unlock()
		if !again {
			return err
		}
	}
}

// hush ends the long readings and keeps new ones waiting until release is called.
func (l *leisure) hush() (release func()) {
	l.mu.Lock()
	l.listed.Lock()
	for cancel := range l.readings {
		(*cancel)(errSwept)
	}
	l.listed.Unlock()
	l.inHand.Wait()
	return l.mu.Unlock
}

// copyTo writes what a connection sees now to a file, checks it, flushes it, and only then gives it its name.
func copyTo(ctx context.Context, from *sql.Conn, target string) error {
	partial := target + ".partial"
	if err := copyDatabase(ctx, from, partial); err != nil {
		return errors.Join(err, removeIfThere(partial))
	}
	if err := os.Rename(partial, target); err != nil {
		return errors.Join(err, removeIfThere(partial))
	}
	return syncFolder(filepath.Dir(target))
}

func copyDatabase(ctx context.Context, from *sql.Conn, target string) error {
	if err := removeIfThere(target); err != nil {
		return err
	}
	file, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // flushed below
	// The copy needs no journal: it has no name yet, and after a power cut it is thrown away.
	db, err := sql.Open("sqlite3", fileURI(target)+"?_journal_mode=OFF&_synchronous=OFF")
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
	// An open reading keeps all steps at one moment. Without it each commit would have the copy begin anew.
	if _, err := from.ExecContext(ctx, `BEGIN`); err != nil {
		return fmt.Errorf("begin copy: %w", err)
	}
	defer func() { _, _ = from.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`) }() // nothing was written
	if _, err := one(ctx, from, scanInt, `SELECT count(*) FROM sqlite_master`); err != nil {
		return fmt.Errorf("begin copy: %w", err)
	}
	err = to.Raw(func(dst any) error {
		return from.Raw(func(src any) error {
			b, err := dst.(*sqlite3.SQLiteConn).Backup("main", src.(*sqlite3.SQLiteConn), "main")
			if err != nil {
				return err
			}
			return errors.Join(steps(ctx, b, file), b.Finish())
		})
	})
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("flush copy: %w", err)
	}
	return verify(ctx, to)
}

// steps copies page after page. What was written is flushed bit by bit: many dirty pages at once would hold up the vault's
// own flushes.
func steps(ctx context.Context, b *sqlite3.SQLiteBackup, file *os.File) error {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-rest.C:
		}
		began := time.Now()
		done, err := b.Step(copyStep)
		if err != nil || done {
			return err
		}
		if err := file.Sync(); err != nil {
			return fmt.Errorf("flush copy: %w", err)
		}
		rest.Reset(min(time.Since(began), longestRest))
	}
}

// syncFolder makes a new name in a folder survive a power cut.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
