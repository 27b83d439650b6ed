package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Snapshot is a copy of the database that the vault has made by itself, in DIR/backups.
type Snapshot struct {
	Path  string
	N     int       // counts up; a clock may go back
	Taken time.Time // UTC, in whole seconds
	Size  int64
}

// Pace is how often snapshots are made of a vault that changes.
type Pace string

// The paces. Hourly snapshots of a vault of 64 MB or more are made daily.
const (
	NoSnapshots Pace = "off"
	Daily       Pace = "daily"
	Hourly      Pace = "hourly"
)

// hourlyLimit is the size from which on hourly is daily.
const hourlyLimit = 64 << 20

// So many snapshots are kept: those of the last day, and beside them the newest of each of the last days that have any.
const (
	keptOfADay = 24
	keptDays   = 7
)

// Words that were forgotten leave the snapshots when the next one is made; at most after promised, if need be without one.
const (
	forgetAfter = time.Hour
	promised    = 23 * time.Hour
)

// spare is what a snapshot leaves free.
const spare = 32 << 20

// Snapshots gives those of the vault in dir, newest first. It does not need the vault.
func Snapshots(dir string) ([]Snapshot, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "backups"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var out []Snapshot
	for _, e := range entries {
		s, ok := parseSnapshot(e.Name())
		info, err := e.Info()
		if !ok || err != nil || !info.Mode().IsRegular() {
			continue // not ours, or just deleted
		}
		s.Path, s.Size = filepath.Join(dir, "backups", e.Name()), info.Size()
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Snapshot) int { return b.N - a.N })
	return out, nil
}

const nameTime = "20060102T150405Z"

func snapshotName(n int, at time.Time) string {
	return fmt.Sprintf("snapshot-%06d-%s.db", n, at.UTC().Format(nameTime))
}

func parseSnapshot(name string) (s Snapshot, ok bool) {
	rest, ok := strings.CutPrefix(name, "snapshot-")
	number, stamp, ok2 := strings.Cut(strings.TrimSuffix(rest, ".db"), "-")
	n, err := strconv.Atoi(number)
	at, err2 := time.Parse(nameTime, stamp)
	if !ok || !ok2 || err != nil || err2 != nil || n < 1 || name != snapshotName(n, at) {
		return s, false
	}
	return Snapshot{N: n, Taken: at}, true
}

// SoundSnapshot finds the newest snapshot of the vault in dir that can be restored; ErrNotFound when none can.
func SoundSnapshot(ctx context.Context, dir string) (Snapshot, error) {
	all, err := Snapshots(dir)
	for _, s := range all {
		if VerifyFile(ctx, s.Path) == nil {
			return s, nil
		}
	}
	return Snapshot{}, errors.Join(err, ctx.Err(), ErrNotFound)
}

// copies is what the vault knows of its snapshots without looking at the disk.
type copies struct {
	mu        sync.Mutex
	unsaved   bool      // something has changed since the newest
	forgotten time.Time // words were forgotten that older ones hold; zero = none
	events    int       // changes in this life
	sweeps    int       // times that words were forgotten in this life
}

func (c *copies) changed(unsaved bool, t *Tx) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if unsaved {
		c.unsaved, c.events = true, c.events+1
	}
	if t.scrub {
		c.sweeps++
	}
	if !t.forgotten.IsZero() {
		c.forgotten = t.forgotten
	}
}

// noteChange runs an event and has the first one that changes something note that it is in no snapshot yet.
func (t *Tx) noteChange(event string, fn func(*Tx) error) (unsaved bool, err error) {
	t.v.copies.mu.Lock()
	known := t.v.copies.unsaved
	t.v.copies.mu.Unlock()
	switch event {
	case "migrate", "recover", "sync-people", "snapshot": // what every start does
		return false, fn(t)
	}
	if known {
		return true, fn(t)
	}
	const query = `SELECT total_changes()`
	before, err := one(t.ctx, t.tx, scanInt, query)
	if err != nil {
		return false, err
	}
	if err := fn(t); err != nil {
		return false, err
	}
	after, err := one(t.ctx, t.tx, scanInt, query)
	if err != nil || after == before {
		return false, err
	}
	return true, t.Set(settingUnsaved, "yes")
}

// forgottenSince notes that there are words in the snapshots that must leave them.
func (t *Tx) forgottenSince() error {
	since, err := t.Setting(settingForgotten)
	if err != nil || since != "" {
		return err
	}
	t.forgotten = t.now.Truncate(time.Second)
	return t.Set(settingForgotten, t.forgotten.Format(time.RFC3339))
}

// readCopies brings what earlier lives have noted.
func (v *Vault) readCopies(ctx context.Context) error {
	unsaved, err := v.Setting(ctx, settingUnsaved)
	if err != nil {
		return err
	}
	since, err := v.Setting(ctx, settingForgotten)
	if err != nil {
		return err
	}
	v.copies.unsaved = unsaved != ""
	v.copies.forgotten, _ = time.Parse(time.RFC3339, since) // "" is none
	return nil
}

// NoRoomError says that a snapshot was not made because the disk has too little room for it.
type NoRoomError struct{ Free, Need int64 }

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("make snapshot: %d MB are needed and %d MB are free", (e.Need+1<<20-1)>>20, e.Free>>20)
}

// Snapshot makes a snapshot if one is due, and takes away those that are no longer kept. It reads beside the work and does
// not hold it up. ErrIdle: none is due. Errors: *NoRoomError, among others; then what is kept is kept.
func (v *Vault) Snapshot(ctx context.Context, pace Pace) (s Snapshot, err error) {
	v.copies.mu.Lock()
	unsaved, forgotten, events, sweeps := v.copies.unsaved, v.copies.forgotten, v.copies.events, v.copies.sweeps
	v.copies.mu.Unlock()
	now := v.now().UTC()
	forget := !forgotten.IsZero() && now.Sub(forgotten).Abs() >= forgetAfter
	if !forget && (!unsaved || pace == NoSnapshots) {
		return s, ErrIdle
	}
	all, err := Snapshots(v.dir)
	if err != nil {
		return s, err
	}
	if pace == NoSnapshots {
		return s, errors.Join(ErrIdle, v.dropForgotten(ctx, sweeps, all))
	}
	if !forget && len(all) > 0 && now.Sub(all[0].Taken).Abs() < v.every(pace) {
		return s, ErrIdle
	}
	s, err = v.makeSnapshot(ctx, all, now)
	if err == nil {
		err = v.saved(ctx, events)
	}
	// Behind the copy: what it holds is what the vault held, and that was swept.
	if forget && (err == nil || now.Sub(forgotten).Abs() >= promised) {
		err = errors.Join(err, v.dropForgotten(ctx, sweeps, all))
	}
	if err != nil {
		return s, err
	}
	if all, err = Snapshots(v.dir); err != nil {
		return s, err
	}
	for _, old := range superfluous(all, now) {
		err = errors.Join(err, removeIfThere(old.Path))
	}
	return s, err
}

func (v *Vault) every(pace Pace) time.Duration {
	if pace == Hourly && fileSize(v.Path()) < hourlyLimit {
		return time.Hour
	}
	return 24 * time.Hour
}

func (v *Vault) makeSnapshot(ctx context.Context, all []Snapshot, now time.Time) (s Snapshot, err error) {
	folder := filepath.Join(v.dir, "backups")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return s, fmt.Errorf("make snapshot: %w", err)
	}
	if err := v.makeRoom(all); err != nil {
		return s, err
	}
	s = Snapshot{N: 1, Taken: now.Truncate(time.Second)}
	if len(all) > 0 {
		s.N = all[0].N + 1
	}
	s.Path = filepath.Join(folder, snapshotName(s.N, s.Taken))
	if err := v.Backup(ctx, s.Path); err != nil {
		return s, fmt.Errorf("make snapshot: %w", err)
	}
	s.Size = fileSize(s.Path)
	return s, nil
}

// makeRoom gives up the oldest snapshots when there is too little room for one more; the newest stays.
func (v *Vault) makeRoom(all []Snapshot) error {
	need := fileSize(v.Path()) + fileSize(v.Path()+"-wal") + spare
	for {
		free, err := Free(v.dir)
		if err != nil || free >= need {
			return err
		}
		if len(all) < 2 {
			return &NoRoomError{Free: free, Need: need}
		}
		if err := removeIfThere(all[len(all)-1].Path); err != nil {
			return err
		}
		all = all[:len(all)-1]
	}
}

// saved notes that all is in a snapshot, unless something has changed since it was begun.
func (v *Vault) saved(ctx context.Context, events int) error {
	return v.write(ctx, "snapshot", relaxed, func(t *Tx) error {
		v.copies.mu.Lock()
		defer v.copies.mu.Unlock()
		if v.copies.events != events {
			return nil
		}
		v.copies.unsaved = false
		return t.Set(settingUnsaved, "")
	})
}

// dropForgotten takes away the copies that hold words which were forgotten since.
func (v *Vault) dropForgotten(ctx context.Context, sweeps int, old []Snapshot) error {
	var errs []error
	for _, s := range old {
		errs = append(errs, removeIfThere(s.Path))
	}
	upgrades, err := filepath.Glob(filepath.Join(v.dir, "backups", "before-schema-*.db"))
	errs = append(errs, err)
	for _, path := range upgrades {
		errs = append(errs, removeIfThere(path))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("drop copies of forgotten words: %w", err)
	}
	return v.write(ctx, "snapshot", durable, func(t *Tx) error {
		v.copies.mu.Lock()
		defer v.copies.mu.Unlock()
		v.copies.forgotten = time.Time{}
		if v.copies.sweeps == sweeps {
			return t.Set(settingForgotten, "")
		}
		v.copies.forgotten = t.now.Truncate(time.Second) // again meanwhile, and the new copy may hold it
		return t.Set(settingForgotten, v.copies.forgotten.Format(time.RFC3339))
	})
}

// superfluous gives those, of all from newest to oldest, that are not kept: beside the newest 24 of a day one a day is, for
// seven days.
func superfluous(all []Snapshot, now time.Time) (drop []Snapshot) {
	days := map[string]bool{}
	for i, s := range all {
		if i < keptOfADay && now.Sub(s.Taken) < 24*time.Hour {
			continue
		}
		day := s.Taken.Format(time.DateOnly)
		if days[day] || len(days) == keptDays {
			drop = append(drop, s)
			continue
		}
		days[day] = true
	}
	return drop
}
