package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// IsDamage reports whether an error of any method says that the file is damaged.
func IsDamage(err error) bool {
	var whole *DamagedError
	var se sqlite3.Error
	return errors.As(err, &whole) || errors.As(err, &se) && (se.Code == sqlite3.ErrCorrupt || se.Code == sqlite3.ErrNotADB)
}

// Suspect says why the file is taken for damaged: SQLite stumbled over something. Until Examine has found it sound nothing is
// written to it. Nil when nothing was found.
func (v *Vault) Suspect() *DamagedError { return v.suspect.Load() }

// Doubt notes what an error says about the file, if it does, and gives it as a *DamagedError; other errors as they are.
func (v *Vault) Doubt(err error) error {
	if err == nil || !IsDamage(err) {
		return err
	}
	return v.suspected(err)
}

func (v *Vault) suspected(err error) *DamagedError {
	found := &DamagedError{Path: v.Path(), Err: err}
	if v.suspect.CompareAndSwap(nil, found) {
		v.notifier.wake(nil)
	}
	return v.suspect.Load()
}

// Examine reads the whole file, beside the work. A *DamagedError says that it is damaged: then nothing is written to it any
// more, not even at Close. Other errors say that it could not be read to its end.
func (v *Vault) Examine(ctx context.Context) error {
	before := v.suspect.Load()
	err := v.Check(ctx)
	switch {
	case err == nil:
		v.suspect.CompareAndSwap(before, nil) // SQLite stumbled over its own memory, not over the file
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errUnsound), IsDamage(err):
		return v.suspected(err)
	}
	return fmt.Errorf("examine vault: %w", err)
}

// readers are the connections that read. What they stumble over is noted.
type readers struct {
	*sql.DB
	v    *Vault
	slow bool // a query may take so long that the end of its context cuts it off
}

// slowly is for queries of which nobody knows how long they take.
func (r readers) slowly() readers {
	r.slow = true
	return r
}

// briefly gives the context of a query: one that takes no time is not cut off, since watching for that would take longer
// than most queries do.
func briefly(ctx context.Context, q querier) (context.Context, error) {
	if r, ok := q.(readers); ok && !r.slow {
		return context.WithoutCancel(ctx), ctx.Err()
	}
	return ctx, nil
}

// noted looks at what a query of the readers came to.
func noted(q querier, err error) error {
	if r, ok := q.(readers); ok && err != nil && IsDamage(err) {
		return r.v.suspected(err)
	}
	return err
}
