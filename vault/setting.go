package vault

import (
	"context"
	"errors"
	"time"
)

// Settings that the vault itself keeps. Others are named by those who use them.
const (
	settingClock     = "clock"     // the newest instant seen, RFC 3339
	settingPaused    = "paused"    // "yes" holds all runs
	settingSweep     = "sweep"     // "yes": words were deleted whose copies are not swept out of the file yet
	settingElsewhere = "elsewhere" // words were forgotten that files beside the vault may hold; see Elsewhere
	settingUnsaved   = "unsaved"   // "yes": something has changed since the newest snapshot
	settingForgotten = "forgotten" // since when older snapshots hold words that were forgotten, RFC 3339
	settingRestored  = "restored"  // the span that a restored vault has lost, until its owner is told
)

// SettingShut is where it is noted that a model's server refuses whoever asks. Choosing the model by name ends it.
func SettingShut(model string) string { return "shut:" + model }

// Set stores a setting; "" removes it.
func (t *Tx) Set(name, value string) error {
	if value == "" {
		_, err := t.exec(`DELETE FROM setting WHERE name = ?`, name)
		return err
	}
	_, err := t.exec(`INSERT INTO setting(name, value, changed) VALUES(?,?,?)
		ON CONFLICT DO UPDATE SET value = excluded.value, changed = excluded.changed`, name, value, t.now.UnixMilli())
	return err
}

// Setting reads one inside an event; "" when it is not set.
func (t *Tx) Setting(name string) (string, error) { return setting(t.ctx, t.tx, name) }

// Set stores a setting in an event of its own; "" removes it.
func (v *Vault) Set(ctx context.Context, name, value string) error {
	return v.write(ctx, "set", durable, func(t *Tx) error { return t.Set(name, value) })
}

// Setting reads one; "" when it is not set.
func (v *Vault) Setting(ctx context.Context, name string) (string, error) {
	return setting(ctx, v.rdb, name)
}

func setting(ctx context.Context, q querier, name string) (string, error) {
	value, err := one(ctx, q, scanString, `SELECT value FROM setting WHERE name = ?`, name)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return value, err
}

// Pause holds all runs, or lets them go on. Commands and spoken reminders are not held.
func (t *Tx) Pause(on bool) error {
	if on {
		return t.Set(settingPaused, "yes")
	}
	return t.Set(settingPaused, "")
}

// Paused reports whether runs are held.
func (v *Vault) Paused(ctx context.Context) (bool, error) {
	value, err := v.Setting(ctx, settingPaused)
	return value != "", err
}

// AcceptClock declares the clock right, also when it stands before the last commit: it ends the hold of Behind at the
// next start.
func (v *Vault) AcceptClock(ctx context.Context) error {
	return v.write(ctx, "accept-clock", durable, func(t *Tx) error {
		v.stamp = t.now
		return t.Set(settingClock, t.now.Format(time.RFC3339))
	})
}

// noteClock records how far time has come; it never goes back by itself.
func (t *Tx) noteClock() error {
	_, err := t.exec(`INSERT INTO setting(name, value, changed) VALUES(?,?,?)
		ON CONFLICT DO UPDATE SET value = excluded.value, changed = excluded.changed WHERE excluded.value > value`, settingClock, t.now.Format(time.RFC3339), t.now.UnixMilli())
	return err
}

// LastClock is the newest instant that was seen, to the minute; zero in a new vault.
func (v *Vault) LastClock(ctx context.Context) (time.Time, error) {
	value, err := v.Setting(ctx, settingClock)
	if err != nil || value == "" {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, value)
}
