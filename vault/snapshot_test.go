package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// snap makes a snapshot that must be due.
func (h *home) snap(pace Pace) Snapshot {
	h.t.Helper()
	return must(h.Snapshot(h.t.Context(), pace))(h.t)
}

// idle wants no snapshot to be due.
func (h *home) idle(pace Pace) {
	h.t.Helper()
	_, err := h.Snapshot(h.t.Context(), pace)
	wantErr(h.t, err, ErrIdle)
}

func (h *home) change() { h.remember(h.private(h.ann), fmt.Sprint("a fact at ", h.clock.now())) }

func (h *home) kept() []Snapshot {
	h.t.Helper()
	return must(Snapshots(h.folder))(h.t)
}

func TestSnapshotsAreMadeOfWhatHasChangedAndAtTheirPace(t *testing.T) {
	for pace, every := range map[Pace]time.Duration{Hourly: time.Hour, Daily: 24 * time.Hour} {
		t.Run(string(pace), func(t *testing.T) {
			h := newHome(t)
			h.idle(pace) // to open a vault and to know its people is no change
			h.change()
			h.idle(NoSnapshots)
			first := h.snap(pace)
			equal(t, "name", filepath.Base(first.Path), "snapshot-000001-20261130T090000Z.db")
			check(t, VerifyFile(t.Context(), first.Path))
			equal(t, "mode", must(os.Stat(first.Path))(t).Mode().Perm(), 0o600)
			h.clock.add(every)
			h.idle(pace)
			h.reopen()
			check(t, h.SyncPeople(t.Context(), household))
			h.idle(pace) // a restart is none either
			h.change()
			h.clock.add(-time.Second)
			h.idle(pace)
			h.clock.add(time.Second)
			h.reopen() // that something has changed is known to the next life
			equal(t, "second", h.snap(pace).N, 2)
			h.idle(pace)
			h.change()
			h.clock.add(-30 * 24 * time.Hour) // the clock was wrong
			equal(t, "third", h.snap(pace).N, 3)
			equal(t, "newest", h.kept()[0].N, 3)
		})
	}
}

func TestAChangeWhileASnapshotIsMadeIsForTheNext(t *testing.T) {
	h := newHome(t)
	h.change()
	during := false
	h.hooks.Before = func(event string) error {
		if event == "snapshot" && !during {
			during = true
			h.copies.changed(true, &Tx{})
		}
		return nil
	}
	h.snap(Hourly)
	equal(t, "changed meanwhile", during, true)
	h.clock.add(time.Hour)
	h.snap(Hourly)
}

func TestSnapshotsThatAreKept(t *testing.T) {
	var all []Snapshot
	now := monday
	for i := range 24 * 20 { // hourly for 20 days
		all = append(all, Snapshot{N: 1000 - i, Taken: now.Add(-time.Duration(i) * time.Hour)})
	}
	for range 5 { // beyond the first pass nothing changes
		drop := superfluous(all, now)
		all = slices.DeleteFunc(all, func(s Snapshot) bool { return slices.Contains(drop, s) })
	}
	equal(t, "kept", len(all), 24+7)
	for i, s := range all[:24] {
		equal(t, "of the last day", now.Sub(s.Taken), time.Duration(i)*time.Hour)
	}
	equal(t, "the oldest", all[30].Taken, time.Date(2026, 11, 23, 23, 0, 0, 0, time.UTC))

	var daily []Snapshot
	for i := range 30 {
		daily = append(daily, Snapshot{N: 100 - i, Taken: now.AddDate(0, 0, -i)})
	}
	equal(t, "daily ones dropped", len(superfluous(daily, now)), 30-8) // one of the last day, seven beside
}

func TestSnapshotNames(t *testing.T) {
	for _, name := range []string{
		"", "snapshot-", "snapshot-1-20261130T090000Z.db", "snapshot-000001-20261130T090000Z.db.partial", "snapshot-000000-20261130T090000Z.db",
		"snapshot-000001-20261330T090000Z.db", "before-schema-2-from-1.db", "xsnapshot-000001-20261130T090000Z.db",
	} {
		if s, ok := parseSnapshot(name); ok {
			t.Errorf("%q is %v", name, s)
		}
	}
}

func FuzzSnapshotName(f *testing.F) {
	f.Add("snapshot-000001-20261130T090000Z.db")
	f.Add("snapshot--1-.db")
	f.Fuzz(func(t *testing.T, name string) {
		if s, ok := parseSnapshot(name); ok && snapshotName(s.N, s.Taken) != name {
			t.Errorf("%q is read as %v", name, s)
		}
	})
}

// holding gives the files of the vault's folder that hold words.
func (h *home) holding(words string) (found []string) {
	h.t.Helper()
	check(h.t, filepath.WalkDir(h.folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if body, err := os.ReadFile(path); err != nil || bytes.Contains(body, []byte(words)) {
			found = append(found, filepath.Base(path))
		}
		return nil
	}))
	return found
}

func TestMEM07ForgottenLeavesTheSnapshotsWithinADay(t *testing.T) {
	for _, pace := range []Pace{Hourly, Daily, NoSnapshots} {
		t.Run(string(pace), func(t *testing.T) {
			h := newHome(t)
			in := h.private(h.ann)
			m := h.remember(in, "the CANARY sleeps in the shed")
			h.remember(in, "the gate is blue")
			h.snap(Hourly)
			h.clock.add(24 * time.Hour)
			h.change()
			h.snap(Hourly)
			old := filepath.Join(h.folder, "backups", "before-schema-2-from-1.db")
			check(t, os.WriteFile(old, []byte("CANARY"), 0o600))
			must(h.Forget(t.Context(), in, m.ID))(t)
			equal(t, "files that hold it at first", len(h.holding("CANARY")), 3)
			h.reopen() // which does not make it forget
			h.clock.add(forgetAfter)
			if pace == NoSnapshots {
				h.idle(pace)
			} else {
				h.snap(pace)
				s := must(SoundSnapshot(t.Context(), h.folder))(t)
				equal(t, "snapshots", len(h.kept()), 1)
				equal(t, "the new one", s.N, 3)
				contains(t, "the new one", string(must(os.ReadFile(s.Path))(t)), "the gate is blue")
			}
			equal(t, "files that hold it", strings.Join(h.holding("CANARY"), " "), "")
			h.clock.add(forgetAfter)
			h.idle(pace)
		})
	}
}

func TestForgottenLeavesTheSnapshotsAlsoWhenNoneCanBeMade(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	m := h.remember(in, "the CANARY sleeps in the shed")
	h.snap(Daily)
	must(h.Forget(t.Context(), in, m.ID))(t)
	h.clock.add(forgetAfter)
	blocked := filepath.Join(h.folder, "backups", snapshotName(2, h.clock.now()))
	check(t, os.MkdirAll(filepath.Join(blocked, "x"), 0o700)) // a folder stands in its way
	if _, err := h.Snapshot(t.Context(), Daily); err == nil || errors.Is(err, ErrIdle) {
		t.Fatalf("error %v", err)
	}
	equal(t, "the old one is kept", len(h.kept()), 1)
	h.clock.add(promised)
	blocked = filepath.Join(h.folder, "backups", snapshotName(2, h.clock.now()))
	check(t, os.MkdirAll(filepath.Join(blocked, "x"), 0o700))
	if _, err := h.Snapshot(t.Context(), Daily); err == nil || errors.Is(err, ErrIdle) {
		t.Fatalf("error %v", err)
	}
	equal(t, "files that hold it", strings.Join(h.holding("CANARY"), " "), "")
}

func TestWordsForgottenWhileASnapshotIsMadeAreRemembered(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	one, two := h.remember(in, "the CANARY sleeps in the shed"), h.remember(in, "the gate is blue")
	h.snap(Daily)
	must(h.Forget(t.Context(), in, one.ID))(t)
	h.clock.add(forgetAfter)
	h.copies.mu.Lock()
	sweeps := h.copies.sweeps
	h.copies.mu.Unlock()
	must(h.Forget(t.Context(), in, two.ID))(t)
	check(t, h.dropForgotten(t.Context(), sweeps, nil))
	equal(t, "since", h.str(`SELECT value FROM setting WHERE name = 'forgotten'`), h.clock.now().Format(time.RFC3339))
}

// A copy or a check that goes on must not hold up forgetting, nor keep what is forgotten.
func TestForgettingCutsALongReadingShort(t *testing.T) {
	h := newHome(t)
	in := h.private(h.ann)
	m := h.remember(in, "the CANARY sleeps in the shed")
	begun, tries := make(chan struct{}), 0
	read := make(chan error, 1)
	go func() {
		read <- h.atLeisure(t.Context(), func(ctx context.Context) error {
			if tries++; tries > 1 {
				return nil
			}
			rows, err := h.rdb.QueryContext(context.WithoutCancel(ctx), `SELECT text FROM memory`) // a snapshot of the vault that stays open
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			if !rows.Next() {
				return errors.Join(rows.Err(), errors.New("no row"))
			}
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-begun
	must(h.Forget(t.Context(), in, m.ID))(t)
	check(t, <-read)
	equal(t, "tries", tries, 2)
	equal(t, "files that hold it", strings.Join(h.holding("CANARY"), " "), "")
}

func TestTheNewestSoundSnapshotIsOffered(t *testing.T) {
	h := newHome(t)
	if _, err := SoundSnapshot(t.Context(), h.folder); !errors.Is(err, ErrNotFound) {
		t.Errorf("without one: %v", err)
	}
	for range 3 {
		h.change()
		h.snap(Hourly)
		h.clock.add(time.Hour)
	}
	all := h.kept()
	equal(t, "snapshots", len(all), 3)
	check(t, os.WriteFile(all[0].Path, []byte("rubbish"), 0o600))
	body := must(os.ReadFile(all[1].Path))(t)
	check(t, os.WriteFile(all[1].Path, append(body[:8192:8192], bytes.Repeat([]byte{0xa5}, len(body)-8192)...), 0o600))
	equal(t, "offered", must(SoundSnapshot(t.Context(), h.folder))(t).N, 1)
}

func TestRestoredVaultKnowsWhatItMayHaveDoneSince(t *testing.T) {
	h := newHome(t)
	h.post(Part{Text: "first", Class: Answer, To: to("2")})
	h.post(Part{Text: "behind it", Class: Letter, To: to("2")})
	p := h.claimed(h.ann, "do it")
	h.step(p, StepDone{Step: Step{}, Calls: []Call{{Tool: "pay", Args: `{}`, Effect: "acts"}, {Tool: "look", Args: `{}`, Effect: "reads"}}})
	s := h.snap(Hourly)
	dir := t.TempDir()
	path := filepath.Join(dir, "vault.db")
	check(t, os.Rename(s.Path, path))
	h.clock.add(5 * time.Hour)
	lost := must(MarkRestored(t.Context(), path, s.Path, h.clock.now()))(t)
	equal(t, "from", lost.From, s.Taken)
	equal(t, "to", lost.To, h.clock.now())
	equal(t, "files", len(must(os.ReadDir(dir))(t)), 1)

	r := newIn(t, dir, Options{})
	r.clock.add(5 * time.Hour)
	parts := r.parts()
	equal(t, "the answer is", parts[0].State, "waiting")
	equal(t, "the answer is marked", parts[0].Marked, true)
	equal(t, "the letter is", parts[1].State, "unknown")
	calls := must(collect(t.Context(), r.rdb, scanCall, `SELECT `+callColumns+` FROM call ORDER BY id`))(t)
	equal(t, "what acts", calls[0].State, Started)
	equal(t, "what reads", calls[1].State, Proposed)
	for range 2 { // told once
		check(t, r.TellRestored(t.Context(), func(got Restored) string {
			equal(t, "told from", got.From, lost.From)
			equal(t, "told to", got.To, lost.To)
			return "I was restored"
		}))
	}
	equal(t, "notices", r.count(`SELECT count(*) FROM outbox WHERE text = 'I was restored'`), 1)
}

func TestNoRoomForASnapshot(t *testing.T) {
	dir := smallDisk(t, 48<<20)
	h := newIn(t, dir, Options{})
	check(t, h.SyncPeople(t.Context(), household))
	h.meet()
	h.change()
	for range 2 {
		h.snap(Hourly)
		h.clock.add(time.Hour)
		h.change()
	}
	check(t, fillTo(dir, spare/2))
	_, err := h.Snapshot(t.Context(), Hourly)
	var room *NoRoomError
	if !errors.As(err, &room) || room.Need < spare || room.Free > spare {
		t.Errorf("error %v", err)
	}
	left := h.kept()
	equal(t, "what is left", len(left), 1)
	equal(t, "the newest", left[0].N, 2)
}
