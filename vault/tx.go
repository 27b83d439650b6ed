package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Tx is one event in the making. Its methods are the changes that commands and events combine; what they do becomes
// true together or not at all.
type Tx struct {
	tx  tracked
	v   *Vault
	now time.Time
	ctx context.Context

	scrub bool // words were deleted of which no copy may stay

	forgotten time.Time // when words were forgotten that snapshots hold; zero = not in this event, or that was noted before
}

// Now is the instant of the event: every row it writes carries it.
func (t *Tx) Now() time.Time { return t.now }

// durability says what a power cut may take back once write has returned.
type durability int

const (
	// relaxed events survive the death of the process, but not of the machine: claims and counters, whose loss costs no
	// more than a mark on an answer.
	relaxed durability = iota
	// durable events are flushed to the disk, and all that was committed before them.
	durable
	// ordered events are relaxed themselves, but the durable ones before them are flushed: what follows can be seen from
	// outside.
	ordered
)

// durableIf is for an event that is flushed in some cases only.
func durableIf(yes bool) durability {
	if yes {
		return durable
	}
	return relaxed
}

// write runs one event: fn in one immediate transaction, then the wake-up, then the flush, if there must be one: whoever is
// woken sees the event before it is safe, and what he does that others see waits for that. The context can end it before it begins;
// begun work is finished, so that no caller is left in doubt about a commit. fn may be run twice: after the disk was full,
// when the ballast has made room. Errors: *FullError, *DamagedError, among others.
func (v *Vault) write(ctx context.Context, event string, d durability, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if full := v.strain.Load(); full != nil && newWork[event] {
		return full
	}
	v.mu.Lock()
	err := v.writeLocked(context.WithoutCancel(ctx), event, d, fn)
	if full := v.fullness(err); full != nil {
		if err = full; v.strained(full) && !newWork[event] {
			err = v.writeLocked(context.WithoutCancel(ctx), event, d, fn)
		}
	}
	touched, number := v.touched, v.last
	v.mu.Unlock()
	if err != nil {
		return err
	}
	v.notifier.wake(touched)
	if err := v.settle(d, number); err != nil {
		return err
	}
	if v.hooks.After != nil {
		return v.hooks.After(event)
	}
	return nil
}

// settle waits until an event is as safe as it must be.
func (v *Vault) settle(d durability, event int64) error {
	switch d {
	case relaxed:
		return nil
	case ordered:
		event = v.disk.debt()
	}
	made, err := v.disk.wait(event)
	if made {
		v.flushed.Add(1)
	}
	return err
}

// writeLocked commits an event and sweeps behind it.
func (v *Vault) writeLocked(ctx context.Context, event string, d durability, fn func(*Tx) error) error {
	if v.writer == nil {
		return errors.New("vault is closed")
	}
	if found := v.suspect.Load(); found != nil {
		return found
	}
	scrub, err := v.commit(ctx, event, d, fn)
	if err != nil && IsDamage(err) {
		return v.suspected(err)
	}
	if err != nil || !scrub {
		return err
	}
	if err := v.sweep(ctx); v.fullness(err) == nil {
		return err
	}
	return nil // the words are gone from every row, and their last copies go when there is room: see recover
}

func (v *Vault) commit(ctx context.Context, event string, d durability, fn func(*Tx) error) (scrub bool, err error) {
	if err := v.disk.failed(); err != nil {
		return false, err
	}
	tx, err := v.writer.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("begin %s: %w", event, err)
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error is the one that tells
		}
	}()
	t := &Tx{tx: tracked{tx, map[Change]bool{}}, v: v, now: v.now().UTC().Truncate(time.Millisecond), ctx: ctx}
	unsaved, err := t.noteChange(event, fn)
	if err != nil {
		return false, err
	}
	// Once a minute: how far time has come, so that a clock that wakes up in the past is noticed.
	noted := t.now.Sub(v.stamp) >= time.Minute
	if noted {
		if err := t.noteClock(); err != nil {
			return false, err
		}
	}
	if v.hooks.Before != nil {
		if err := v.hooks.Before(event); err != nil {
			return false, err
		}
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("commit %s: %w", event, err)
	}
	v.last = v.disk.commit(d)
	if noted {
		v.stamp = t.now
	}
	v.copies.changed(unsaved, t)
	v.touched = t.tx.touched
	return t.scrub, nil
}

func (t *Tx) exec(query string, args ...any) (int64, error) {
	res, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// note is exec for a change of less weight than its table says.
func (t *Tx) note(as Change, query string, args ...any) (int64, error) {
	t.tx.touched[as] = true
	res, err := t.tx.Tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t *Tx) insert(query string, args ...any) (int64, error) {
	res, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// scanner is what a row and rows have in common.
type scanner interface{ Scan(dest ...any) error }

// querier reads, inside an event or beside it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// collect reads all rows of a query through one function a row.
func collect[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	ctx, err := briefly(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, noted(q, err)
	}
	defer func() { _ = rows.Close() }()
	var out []T
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, noted(q, err)
		}
		out = append(out, row)
	}
	return out, noted(q, rows.Err())
}

// one reads a single row; ErrNotFound when there is none.
func one[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	ctx, err := briefly(ctx, q)
	if err != nil {
		var none T
		return none, err
	}
	row, err := scan(q.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return row, noted(q, err)
}

func scanInt(s scanner) (n int64, err error)     { err = s.Scan(&n); return n, err }
func scanString(s scanner) (n string, err error) { err = s.Scan(&n); return n, err }

// millis is how an instant is stored; the zero time is NULL.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// instant reads what millis wrote.
type instant struct{ t *time.Time }

// Scan implements sql.Scanner.
func (i instant) Scan(src any) error {
	switch n := src.(type) {
	case nil:
		*i.t = time.Time{}
	case int64:
		*i.t = time.UnixMilli(n).UTC()
	default:
		return fmt.Errorf("read instant: found %T", src)
	}
	return nil
}

// id stores a row number where 0 means none.
func id(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// null reads a nullable number or text as its zero value.
type null[T any] struct{ to *T }

// Scan implements sql.Scanner.
func (n null[T]) Scan(src any) error {
	var v sql.Null[T]
	if err := v.Scan(src); err != nil {
		return err
	}
	*n.to = v.V
	return nil
}

// text stores "" as NULL, for unique keys.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}
