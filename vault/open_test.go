package vault

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// pragma reads a setting of a connection as text.
func pragma(t *testing.T, q querier, name string) string {
	t.Helper()
	return must(one(t.Context(), q, scanString, `PRAGMA `+name))(t)
}

func TestConnectionsAreSafe(t *testing.T) {
	h := newHome(t)
	for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "secure_delete": "1", "busy_timeout": "10000"} {
		equal(t, "the writer's "+name, pragma(t, h.writer, name), want)
	}
	for name, want := range map[string]string{"journal_mode": "wal", "query_only": "1"} {
		equal(t, "a reader's "+name, pragma(t, h.rdb, name), want)
	}
	if _, err := h.rdb.ExecContext(t.Context(), `DELETE FROM person`); err == nil {
		t.Error("a reader could write")
	}
	equal(t, "FTS5 secure-delete", h.count(`SELECT v FROM memory_fts_config WHERE k = 'secure-delete'`), 1)
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "vault")
	v := must(Open(t.Context(), dir, Options{}))(t)
	defer closing(t, v)
	check(t, os.Mkdir(filepath.Join(dir, "backups"), 0o700))
	check(t, v.Backup(t.Context(), filepath.Join(dir, "backups", "b.db")))
	seen := map[string]bool{}
	check(t, filepath.WalkDir(filepath.Dir(dir), func(path string, d fs.DirEntry, err error) error {
		check(t, err)
		info := must(d.Info())(t)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		equal(t, "mode of "+d.Name(), info.Mode().Perm(), want)
		seen[d.Name()] = true
		return nil
	}))
	for _, name := range []string{"vault.db", "vault.db-wal", "vault.db-shm", "vault.lock", "b.db"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestOddFolderNames(t *testing.T) {
	for _, name := range []string{"a b", "a?mode=ro", "a#b", "50%25 off", "ünï/日本", "a&b=c;d", "it's"} {
		dir := filepath.Join(t.TempDir(), name)
		v := must(Open(t.Context(), dir, Options{}))(t)
		check(t, v.Set(t.Context(), "k", "v"))
		check(t, v.Backup(t.Context(), filepath.Join(dir, "copy?of#it 1%.db")))
		check(t, VerifyFile(t.Context(), filepath.Join(dir, "copy?of#it 1%.db")))
		check(t, v.Close())
		if _, err := os.Stat(filepath.Join(dir, "vault.db")); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		v = must(Open(t.Context(), dir, Options{}))(t)
		equal(t, "setting in "+name, must(v.Setting(t.Context(), "k"))(t), "v")
		check(t, v.Close())
	}
}

// files reads every file of a folder but the lock.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range must(os.ReadDir(dir))(t) {
		if !e.IsDir() && e.Name() != "vault.lock" {
			out[e.Name()] = string(must(os.ReadFile(filepath.Join(dir, e.Name())))(t))
		}
	}
	return out
}

func sameFiles(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := files(t, dir)
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was left behind", name)
		}
	}
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestDUR14NewerFileIsRefusedUntouched(t *testing.T) {
	h := newHome(t)
	h.do(func(tx *Tx) error { _, err := tx.exec(`PRAGMA user_version = 4711`); return err })
	check(t, h.Close())
	before := files(t, h.folder)
	_, err := Open(t.Context(), h.folder, h.opt)
	h.Vault = nil
	var newer *NewerError
	if !errors.As(err, &newer) {
		t.Fatalf("error is %v", err)
	}
	equal(t, "have", newer.Have, 4711)
	equal(t, "can", newer.Can, len(migrations))
	contains(t, "the error", err.Error(), h.folder, "4711", "1")
	sameFiles(t, h.folder, before)
	if !errors.As(VerifyFile(t.Context(), newer.Path), &newer) {
		t.Error("VerifyFile takes a newer file")
	}
	// The lock is free again.
	_, err = Open(t.Context(), h.folder, h.opt)
	if !errors.As(err, &newer) {
		t.Errorf("second error is %v", err)
	}
}

func TestDUR14NewerVersionThatIsOnlyInTheLogIsRefused(t *testing.T) {
	h := newHome(t)
	h.do(func(tx *Tx) error { _, err := tx.exec(`PRAGMA user_version = 4711`); return err })
	copied := t.TempDir() // as after a kill: nothing was moved from the log into the file
	for name, text := range files(t, h.folder) {
		check(t, os.WriteFile(filepath.Join(copied, name), []byte(text), 0o600))
	}
	_, err := Open(t.Context(), copied, h.opt)
	var newer *NewerError
	if !errors.As(err, &newer) {
		t.Fatalf("error is %v", err)
	}
}

func TestUpgradeIsInTheHeaderAtOnce(t *testing.T) {
	h := newEmpty(t, Options{})
	header := must(os.ReadFile(h.Path()))(t)
	equal(t, "user_version in the file's header", int(header[63]), len(migrations))
}

func TestDUR13DamagedFileIsRefusedUntouched(t *testing.T) {
	sound := newHome(t)
	sound.accept(sound.ann, strings.Repeat("words ", 3000))
	check(t, sound.Close())
	good := must(os.ReadFile(sound.Path()))(t)
	overwrite := func(at, n int, with byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], bytes.Repeat([]byte{with}, n))
		return b
	}
	for name, content := range map[string][]byte{
		"first page overwritten":   overwrite(0, 4096, 0xff),
		"first page zero":          overwrite(0, 4096, 0),
		"header's page size wrong": overwrite(16, 2, 0x77),
		"schema overwritten":       overwrite(100, 3000, 0xa5),
		"shorter than a header":    good[:57],
		"a text":                   []byte(strings.Repeat("this is no database\n", 20)),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "vault.db")
			check(t, os.WriteFile(path, content, 0o600))
			before := files(t, dir)
			_, err := Open(t.Context(), dir, Options{})
			var damage *DamagedError
			if !errors.As(err, &damage) {
				t.Fatalf("error is %v", err)
			}
			contains(t, "the error", err.Error(), path)
			sameFiles(t, dir, before)
			if !errors.As(VerifyFile(t.Context(), path), &damage) {
				t.Errorf("VerifyFile says %v", VerifyFile(t.Context(), path))
			}
		})
	}
}

func TestDUR13DamageInTheMiddleIsFoundByCheck(t *testing.T) {
	h := newHome(t)
	for range 50 {
		h.accept(h.ann, strings.Repeat("words ", 500))
	}
	check(t, h.Check(t.Context()))
	check(t, h.Close())
	b := must(os.ReadFile(h.Path()))(t)
	copy(b[len(b)/2/4096*4096:], bytes.Repeat([]byte{0xa5}, 4096))
	check(t, os.WriteFile(h.Path(), b, 0o600))
	if err := VerifyFile(t.Context(), h.Path()); err == nil {
		t.Error("VerifyFile calls it sound")
	}
	v, err := Open(t.Context(), h.folder, h.opt)
	if h.Vault = v; err == nil {
		err = h.Check(t.Context())
	} else if damage := (*DamagedError)(nil); !errors.As(err, &damage) {
		t.Errorf("error of Open is %v", err)
	}
	if err == nil {
		t.Error("Check calls it sound")
	}
}

func TestIsDamage(t *testing.T) {
	for err, want := range map[error]bool{
		&DamagedError{Err: errors.New("x")}: true, sqlite3.Error{Code: sqlite3.ErrCorrupt}: true, sqlite3.Error{Code: sqlite3.ErrNotADB}: true,
		sqlite3.Error{Code: sqlite3.ErrFull}: false, &NewerError{}: false, ErrNotFound: false,
	} {
		equal(t, err.Error(), IsDamage(fmt.Errorf("read: %w", err)), want)
	}
}

func TestVerifyFile(t *testing.T) {
	h := newHome(t)
	target := filepath.Join(t.TempDir(), "copy.db")
	check(t, h.Backup(t.Context(), target))
	check(t, VerifyFile(t.Context(), target))
	other := filepath.Join(t.TempDir(), "other.db")
	check(t, os.WriteFile(other, nil, 0o600))
	if err := VerifyFile(t.Context(), other); err == nil {
		t.Error("an empty file is no vault")
	}
	if err := VerifyFile(t.Context(), filepath.Join(t.TempDir(), "none.db")); err == nil {
		t.Error("a missing file is no vault")
	}
}

func TestBehind(t *testing.T) {
	h := newHome(t)
	equal(t, "behind at first", h.Behind(), 0)
	h.clock.add(3 * time.Hour)
	check(t, h.Set(t.Context(), "a", "1"))
	newest := h.clock.now()

	h.clock.add(-48 * time.Hour) // a computer without a clock chip
	h.reopen()
	equal(t, "behind", h.Behind(), 48*time.Hour)
	h.accept(h.ann, "hello") // the past goes on being written
	h.clock.add(2 * time.Hour)
	h.accept(h.ann, "hello")
	equal(t, "the newest clock seen", h.str(`SELECT value FROM setting WHERE name = 'clock'`), newest.Format(time.RFC3339))
	h.reopen()
	equal(t, "behind in the next life", h.Behind(), 46*time.Hour)

	check(t, h.AcceptClock(t.Context()))
	h.clock.add(5 * time.Minute) // and from here on it is recorded again
	h.accept(h.ann, "hello")
	equal(t, "the clock after it was accepted", h.str(`SELECT value FROM setting WHERE name = 'clock'`), h.clock.now().Format(time.RFC3339))
	h.reopen()
	equal(t, "behind after the clock was accepted", h.Behind(), 0)
}

func TestClockIsNotedOnceAMinute(t *testing.T) {
	h := newHome(t)
	seen := func() string { return h.str(`SELECT value FROM setting WHERE name = 'clock'`) }
	first := seen()
	h.clock.add(59 * time.Second)
	h.accept(h.ann, "hello")
	equal(t, "clock after 59 s", seen(), first)
	h.clock.add(time.Second)
	wantErr(t, h.Do(t.Context(), "fails", func(*Tx) error { return ErrIdle }), ErrIdle) // and what failed has noted nothing
	h.accept(h.ann, "hello")
	equal(t, "clock after a minute", seen(), h.clock.now().Format(time.RFC3339))
}

func TestCloseAndAfter(t *testing.T) {
	h := newHome(t)
	rows := must(h.rdb.QueryContext(t.Context(), `SELECT id FROM person`))(t)
	if !rows.Next() {
		t.Fatal("no rows")
	}
	v := h.Vault
	h.Vault = nil
	check(t, v.Close())    // with a reader in the middle
	check(t, rows.Close()) //nolint:sqlclosecheck // when it is closed is what is tested
	check(t, rows.Err())
	check(t, v.Close())
	err := v.Set(t.Context(), "a", "b")
	if err == nil || !strings.Contains(err.Error(), "vault is closed") {
		t.Errorf("a write after Close says %v", err)
	}
	if _, err := v.People(t.Context()); err == nil {
		t.Error("a read after Close succeeds")
	}
	h.open()
	equal(t, "people", len(must(h.People(t.Context()))(t)), 3)
	equal(t, "unclean", h.Unclean(), false)
}

func TestUncleanEnd(t *testing.T) {
	h := newHome(t)
	copied := t.TempDir()
	for name, text := range files(t, h.folder) {
		if !strings.HasSuffix(name, "-shm") {
			check(t, os.WriteFile(filepath.Join(copied, name), []byte(text), 0o600))
		}
	}
	v := must(Open(t.Context(), copied, h.opt))(t)
	defer closing(t, v)
	equal(t, "unclean", v.Unclean(), true)
	equal(t, "people", len(must(v.People(t.Context()))(t)), 3)
}

func TestReadersAndTheWriterDoNotWaitForEachOther(t *testing.T) {
	h := newHome(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	rows := must(h.rdb.QueryContext(ctx, `SELECT id FROM person`))(t) //nolint:rowserrcheck // an open snapshot; its Err is looked at below
	defer func() { _ = rows.Close() }()
	rows.Next()
	check(t, h.Set(ctx, "a", "b"))
	h.do(func(*Tx) error { // a transaction that has written and is not done
		_, err := h.People(ctx)
		equal(t, "setting seen from inside an event", must(h.Setting(ctx, "a"))(t), "b")
		return err
	})
	check(t, rows.Err())
}

// The full-text index of a connection that was open before a write must not be taken for damaged.
func TestCheckIsNotMisledByWhatAConnectionRemembers(t *testing.T) {
	h := newHome(t)
	in := Scope{Person: h.ann.ID}
	for n := range 20 {
		_, err := h.Recall(t.Context(), in, "swordfish", 5)
		check(t, err)
		_, _, err = h.Remember(t.Context(), Memory{Text: fmt.Sprintf("swordfish number %d", n), Source: "command"}, in)
		check(t, err)
		check(t, h.Check(t.Context()))
	}
}

// Who reads the file without this program, e.g. to make a dump of it, can read each of its tables.
func TestEveryTableCanBeReadByOtherPrograms(t *testing.T) {
	h := newHome(t)
	h.talk(h.ann, "the gate is blue", "noted")
	h.remember(h.private(h.ann), "the gate is blue")
	check(t, h.Close())
	db := must(sql.Open("sqlite3", h.Path()))(t)
	defer closing(t, db)
	names := must(collect(t.Context(), db, scanString, `SELECT name FROM sqlite_master WHERE type IN ('table','view')`))(t)
	if len(names) < 20 {
		t.Errorf("only %d tables: %q", len(names), names)
	}
	for _, name := range names {
		must(collect(t.Context(), db, func(scanner) (int, error) { return 0, nil }, `SELECT * FROM "`+name+`"`))(t)
	}
}
