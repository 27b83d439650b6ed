package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// How often free space is looked at.
const (
	spaceFirst = time.Second // after the start, when there is other work
	spaceLook  = time.Minute
	strainLook = 2 * time.Second // while the disk is full
)

// space keeps the ballast, and tells the owner when the disk is full and when there is room again.
func (a *agent) space(ctx context.Context) error {
	woken, cancel := a.vault.Subscribe(vault.TroubleChanged)
	defer cancel()
	tick := time.NewTimer(spaceFirst)
	defer tick.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
			if (a.vault.Strained() != nil) == told {
				continue // just a commit
			}
		case <-tick.C:
		}
		if full := a.vault.Strained(); full != nil && !told {
			told = true
			a.log.Error("the disk takes nothing more: no new work is taken until it does", "error", full)
			a.tellStrain(ctx, fullSentence(full)+" Until then I take nothing new. Nothing is lost: what you send waits at the messenger, and I go on by myself.")
		}
		pause := spaceLook
		switch relieved := a.vault.Relieve(ctx); {
		case !relieved:
			pause = strainLook
		case told:
			told = false
			a.log.Info("the disk takes data again")
			a.tellStrain(ctx, "The disk takes data again, and I go on.")
		}
		tick.Reset(pause)
	}
}

// tellStrain tells the owner through the outbox if that can be written, and past it if not.
func (a *agent) tellStrain(ctx context.Context, words string) {
	err := a.vault.Tell(ctx, "", words)
	if err != nil {
		err = a.direct(ctx, words)
	}
	if err != nil && ctx.Err() == nil {
		a.log.Error("cannot tell the owner about the disk", "error", err)
	}
}

func fullSentence(e *vault.FullError) string {
	if e.ReadOnly {
		return fmt.Sprintf("The disk of %s has become read-only, as happens when it fails: look at it, and mount it for writing again.", e.Dir)
	}
	return fmt.Sprintf("The disk of %s is full: free some space.", e.Dir)
}

// snapshotRest is how long a snapshot that failed is left alone.
const snapshotRest = time.Hour

// settingSnapshotFailed stands while the owner knows that no snapshots are made.
const settingSnapshotFailed = "snapshot-failed"

// snapshots makes snapshots of the vault, not right after the start, when there is other work.
func (a *agent) snapshots(ctx context.Context) error {
	woken, cancel := a.vault.SubscribeLater()
	defer cancel()
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	look := a.clock.now().Add(time.Minute)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-tick.C:
		}
		now := a.clock.now()
		if ahead := look.Sub(now); ahead > 0 && ahead <= snapshotRest || a.vault.Behind() > tolerated || a.vault.Strained() != nil {
			continue // a clock that has lost its time would give a snapshot a wrong one
		}
		look = now.Add(time.Minute)
		s, err := a.vault.Snapshot(ctx, vault.Pace(a.cfg.Load().Vault.Snapshots))
		switch {
		case errors.Is(err, vault.ErrIdle), ctx.Err() != nil:
		case err != nil:
			look = now.Add(snapshotRest)
			a.log.Warn("no snapshot was made", "error", err)
			a.tellSnapshotFailed(ctx, err)
		default:
			a.log.Info("a snapshot was made", "file", s.Path, "taken", s.Taken, "kB", s.Size>>10)
			if known, err := a.vault.Setting(ctx, settingSnapshotFailed); err == nil && known != "" {
				if err := a.vault.Set(ctx, settingSnapshotFailed, ""); err != nil {
					a.log.Error("cannot note that snapshots are made again", "error", err)
				}
			}
		}
	}
}

// tellSnapshotFailed tells the owner once, until one succeeds.
func (a *agent) tellSnapshotFailed(ctx context.Context, cause error) {
	var room *vault.NoRoomError
	words := "I could not make a snapshot of my vault; the log says why. I keep trying and say no more about it. `hearth backup FILE` makes a copy by hand."
	if errors.As(cause, &room) {
		words = fmt.Sprintf("There is no room for a snapshot of my vault: it needs %d MB and %d MB are free. I keep trying and say no more about it; free some space, or set vault.snapshots to off.", (room.Need+1<<20-1)>>20, room.Free>>20)
	}
	err := a.vault.Do(ctx, "snapshot-failed", func(t *vault.Tx) error {
		known, err := t.Setting(settingSnapshotFailed)
		if err != nil || known != "" {
			return err
		}
		return errors.Join(t.TellLater("", words), t.Set(settingSnapshotFailed, t.Now().Format(time.RFC3339)))
	})
	if err != nil {
		a.log.Error("cannot tell the owner that snapshots fail", "error", err)
	}
}

// snapshotCheck says which snapshots there are.
func (s *service) snapshotCheck() checkRow {
	all, err := vault.Snapshots(s.vault.Dir())
	switch {
	case err != nil:
		return checkRow{"snapshots", uneasy, err.Error(), "Look at the folder backups in vault.dir."}
	case len(all) == 0:
		return checkRow{"snapshots", fine, "none yet", ""}
	}
	return checkRow{"snapshots", fine, fmt.Sprintf("%d, the newest of %s", len(all), when.Format(all[0].Taken.In(s.zone()))), ""}
}
