package vault

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// withMigrations adds made-up ones for one test.
func withMigrations(t *testing.T, more ...string) {
	t.Helper()
	before := migrations
	t.Cleanup(func() { migrations = before })
	migrations = slices.Concat(before, more)
}

const (
	second = `ALTER TABLE person ADD COLUMN new_age INTEGER; CREATE TABLE new_thing(id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES person(id));
		INSERT INTO new_thing(person_id) SELECT id FROM person;`
	third = `ALTER TABLE new_thing ADD COLUMN new_name TEXT NOT NULL DEFAULT 'x'; UPDATE person SET new_age = 3;`
)

var errPowerCut = errors.New("the power went out")

// failAt fails the k-th commit, before it happens; names collects the events.
func failAt(k int, names *[]string) Hooks {
	return Hooks{Before: func(event string) error {
		*names = append(*names, event)
		if len(*names) == k {
			return errPowerCut
		}
		return nil
	}}
}

func version(t *testing.T, path string) int {
	t.Helper()
	return int(must(os.ReadFile(path))(t)[63])
}

func TestDUR14UpgradeCopiesFirstAndCanBeRepeated(t *testing.T) {
	withMigrations(t, second, third)
	before := dump(t, golden)
	for k, want := range []struct {
		event   string
		version int
	}{{"migrate", 1}, {"migrate", 2}, {"recover", 3}} {
		t.Run(fmt.Sprintf("power cut at commit %d", k+1), func(t *testing.T) {
			dir := withGolden(t)
			backup := filepath.Join(dir, "backups", "before-schema-3-from-1.db")
			var names []string
			_, err := Open(t.Context(), dir, Options{Hooks: failAt(k+1, &names)})
			wantErr(t, err, errPowerCut)
			equal(t, "the event cut", names[k], want.event)
			equal(t, "version after the cut", version(t, filepath.Join(dir, "vault.db")), want.version)
			if diff := cmp.Diff(before, dump(t, backup)); diff != "" {
				t.Errorf("the copy: %s", diff)
			}
			check(t, VerifyFile(t.Context(), backup))
			first := must(os.Stat(backup))(t)
			equal(t, "mode of the copy", first.Mode().Perm(), 0o600)

			v := must(Open(t.Context(), dir, Options{}))(t)
			check(t, v.Check(t.Context()))
			check(t, v.Close())
			equal(t, "version at the end", version(t, filepath.Join(dir, "vault.db")), 3)
			after := dump(t, filepath.Join(dir, "vault.db"))
			equal(t, "rows made by the migration", len(after["new_thing"]), 3)
			delete(after, "new_thing")
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
			if !os.SameFile(first, must(os.Stat(backup))(t)) {
				t.Error("the second try has replaced the copy")
			}
			if diff := cmp.Diff(before, dump(t, backup)); diff != "" {
				t.Errorf("the copy after the second try: %s", diff)
			}
		})
	}
}

func TestDUR14UpgradeGoesOnAfterACutCopy(t *testing.T) {
	withMigrations(t, second)
	dir := withGolden(t)
	check(t, os.Mkdir(filepath.Join(dir, "backups"), 0o700))
	partial := filepath.Join(dir, "backups", "before-schema-2-from-1.db.partial")
	check(t, os.WriteFile(partial, []byte("half a copy"), 0o600))
	v := must(Open(t.Context(), dir, Options{}))(t)
	defer closing(t, v)
	check(t, VerifyFile(t.Context(), strings.TrimSuffix(partial, ".partial")))
	if _, err := os.Stat(partial); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the half copy: %v", err)
	}
}

func TestUpgradeThatFailsChangesNothing(t *testing.T) {
	withMigrations(t, `CREATE TABLE new_thing(id INTEGER); INSERT INTO no_such_table VALUES(1);`)
	dir := withGolden(t)
	_, err := Open(t.Context(), dir, Options{})
	if err == nil {
		t.Fatal("it opens")
	}
	contains(t, "the error", err.Error(), "upgrade vault to schema 2", "no_such_table")
	if diff := cmp.Diff(dump(t, golden), dump(t, filepath.Join(dir, "vault.db"))); diff != "" {
		t.Error(diff)
	}
	equal(t, "version", version(t, filepath.Join(dir, "vault.db")), 1)
}

func TestUpgradeKeepsTheNewestClockSeen(t *testing.T) {
	h := newHome(t)
	newest := h.clock.now()
	check(t, h.Close())
	withMigrations(t, second)
	h.clock.add(-72 * time.Hour)
	h.open()
	equal(t, "behind", h.Behind(), 72*time.Hour)
	equal(t, "clock", h.str(`SELECT value FROM setting WHERE name = 'clock'`), newest.Format(time.RFC3339))
}

func TestNewVaultNeedsNoCopy(t *testing.T) {
	h := newEmpty(t, Options{})
	if _, err := os.Stat(filepath.Join(h.folder, "backups")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("backups: %v", err)
	}
}

func TestBackupOfAVaultInUse(t *testing.T) {
	h := newHome(t)
	fill(h)
	target := filepath.Join(t.TempDir(), "copy.db")
	done := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := h.Set(t.Context(), "k", fmt.Sprint(i)); err != nil {
				done <- err
				return
			}
		}
	}()
	check(t, h.Backup(t.Context(), target))
	close(stop)
	check(t, <-done)
	check(t, VerifyFile(t.Context(), target))
	equal(t, "persons in the copy", len(dump(t, target)["person"]), 3)
	equal(t, "files made", len(must(os.ReadDir(filepath.Dir(target)))(t)), 1)
	equal(t, "mode", must(os.Stat(target))(t).Mode().Perm(), 0o600)

	if err := h.Backup(t.Context(), target); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second backup to the same file: %v", err)
	}
	if err := h.Backup(t.Context(), filepath.Join(t.TempDir(), "none", "copy.db")); err == nil {
		t.Error("a backup into no folder succeeds")
	}
	// The copy is a vault.
	dir := t.TempDir()
	check(t, os.Rename(target, filepath.Join(dir, "vault.db")))
	v := must(Open(t.Context(), dir, h.opt))(t)
	defer closing(t, v)
	equal(t, "people", len(must(v.People(t.Context()))(t)), 3)
}

// The golden vault of an older version, with fifty runs that wait for decisions: under the next schema the decisions come
// in, and every run goes on to its end.
func TestGoldenVaultWithParkedRunsGoesOnUnderTheNextSchema(t *testing.T) {
	dir := withGolden(t)
	h := newIn(t, dir, Options{})
	h.clock.add(24 * time.Hour)
	h.ann = must(h.PersonBy(t.Context(), "telegram", "1"))(t)
	h.last = 100
	h.do(func(tx *Tx) error { return tx.Pause(false) })
	const parked = 50
	runs := map[int64]bool{}
	for len(runs) < parked {
		h.accept(h.ann, "pay the plumber")
		p := h.claim()
		h.step(p, StepDone{Step: Step{}, Park: true, Calls: []Call{{Tool: "pay", Args: fmt.Sprintf(`{"n":%d}`, len(runs)), Effect: "acts", Ask: &Question{Text: "Pay?", Choices: []string{ChooseApprove, ChooseDeny}}}}})
		runs[p.Run.ID] = true
	}
	check(t, h.Close())
	withMigrations(t, second, third)
	h.open()
	check(t, h.Check(t.Context()))
	for _, a := range must(collect(t.Context(), h.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE state = 'open'`))(t) {
		if !runs[a.Run] {
			continue
		}
		h.do(func(tx *Tx) error { _, err := tx.Decide(a.ID, h.ann, ChooseApprove); return err })
		p := h.claim()
		equal(t, "the run that goes on", p.Run.ID, a.Run)
		c := p.Calls[0]
		equal(t, "its call is", c.State, Approved)
		check(t, h.StartCall(t.Context(), c))
		c.State, c.Result = Finished, "paid"
		check(t, h.FinishCall(t.Context(), c))
		h.step(h.progress(a.Run), StepDone{Step: Step{Text: "Paid."}, End: &Ending{State: Done, Reply: "Paid."}})
		delete(runs, a.Run)
	}
	equal(t, "runs that did not go on", len(runs), 0)
	equal(t, "calls made", h.count(`SELECT count(*) FROM call WHERE tool = 'pay' AND state = 'done'`), parked)
}
