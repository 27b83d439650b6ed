// Package vault is the agent's only durable state, one SQLite file, and the bus between its parts.
//
// Gateways, brain and scheduler never call each other: each commits events here, and every event is exactly one
// transaction. The tables are the queues. A wake-up channel only hints that there is something to look at, so a crash
// between any two instructions loses nothing. The tour: people.go and conversation.go (who and where), inbound.go (a
// message comes in), run.go, step.go and call.go (the brain's journal), approval.go (questions to people), outbox.go
// (what goes out), job.go (wake-ups), memory.go, setting.go.
//
// A Vault is safe for use by several goroutines. Instants are time.Time in UTC with millisecond precision.
package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	sqlite3 "github.com/mattn/go-sqlite3"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound   = errors.New("no such row")
	ErrRepeat     = errors.New("already stored")              // an inbound event that was seen before
	ErrNotRunning = errors.New("the run is not running here") // stopped, ended or taken back meanwhile
	ErrIdle       = errors.New("nothing to do now")
)

// LockedError says that another process holds the vault.
type LockedError struct {
	Dir    string
	Holder string // what the other process wrote about itself, e.g. "hearth run, process 4711"
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("open vault %s: held by %s", e.Dir, e.Holder)
}

// NewerError says that the file was written by a later version of the program. The file was not touched.
type NewerError struct {
	Path      string
	Have, Can int // schema versions: of the file, and the newest this program knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("open vault %s: its schema is version %d and this program knows up to %d", e.Path, e.Have, e.Can)
}

// DamagedError says that the file is not a readable database. The file was not touched.
type DamagedError struct {
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("open vault %s: damaged: %v", e.Path, e.Err)
}

// Unwrap gives SQLite's own error.
func (e *DamagedError) Unwrap() error { return e.Err }

// Options say how a vault is opened. The zero value of each field has a meaning.
type Options struct {
	Now    func() time.Time // the clock of every stamp; nil = time.Now
	Holder string           // what a second process is told about this one
	Wait   time.Duration    // how long to wait for the other holder before LockedError
	// Gateways that this process runs; nil = all. What speaks first is only sent where one of them reaches.
	Gateways []string
	Hooks    Hooks
	Burst    time.Duration // about how long one message keeps the vault busy; see SubscribeLater
}

// Hooks are called around each commit with the name of the event. They are for crash tests: an error from Before
// rolls the transaction back, one from After is returned though the commit has happened.
type Hooks struct {
	Before, After func(event string) error
}

// Vault is an open vault. One process has it open at a time.
type Vault struct {
	dir      string
	now      func() time.Time
	gateways atomic.Pointer[[]string] // those this process runs; nil = all
	boot     string                   // of the machine: a write that was not flushed survives the process, but not the machine
	lock     *flock.Flock
	burst    time.Duration
	hooks    Hooks

	mu      sync.Mutex // one writer
	writer  *sql.Conn
	wdb     *sql.DB
	rdb     readers
	touched map[Change]bool // by the last commit
	last    int64           // its number
	stamp   time.Time

	behind   time.Duration
	unclean  bool
	missed   atomic.Pointer[string] // what new jobs do about missed instants
	quiet    atomic.Pointer[Quiet]  // see quiet.go
	disk     flusher
	flushed  atomic.Int64 // how often commits were flushed to the disk
	leisure  leisure
	strain   atomic.Pointer[FullError]    // see space.go
	suspect  atomic.Pointer[DamagedError] // see damage.go
	copies   copies
	previews previews

	notifier notifier
}

// Open opens or creates the vault in dir (created with mode 0700), brings its schema up to date after copying the file
// to dir/backups, and settles what the last life left in the middle (see recover.go).
// Errors: *LockedError, *NewerError, *DamagedError, or what the file system says.
func Open(ctx context.Context, dir string, opt Options) (*Vault, error) {
	if err := checkFTS5(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create vault folder: %w", err)
	}
	v := &Vault{dir: dir, now: opt.Now, boot: bootID(), hooks: opt.Hooks, burst: opt.Burst}
	if opt.Gateways != nil {
		v.Carry(opt.Gateways)
	}
	if v.now == nil {
		v.now = time.Now
	}
	v.MissedPolicy("once")
	if err := v.takeLock(ctx, opt); err != nil {
		return nil, err
	}
	if err := v.open(ctx); err != nil {
		if IsDamage(err) {
			err = v.suspected(err) // Close leaves it alone
		} else if full := v.fullness(err); full != nil {
			err = full
		}
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

func (v *Vault) open(ctx context.Context) error {
	path := v.Path()
	if err := precheck(ctx, path); err != nil {
		return err
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		v.unclean = true
	}
	// Before SQLite creates them with the process's umask.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create vault file: %w", err)
	}
	if err := file.Close(); err != nil {
		return err
	}
	v.wdb = openDB(dsn(path, "rwc", "&_synchronous=FULL&_txlock=immediate&_foreign_keys=on&_secure_delete=on"))
	v.wdb.SetMaxOpenConns(1)
	if v.writer, err = v.wdb.Conn(ctx); err != nil {
		return damaged(path, err)
	}
	if err := v.migrate(ctx); err != nil {
		return err
	}
	if _, err := v.writer.ExecContext(ctx, "PRAGMA synchronous=NORMAL"); err != nil { // from here on we flush
		return fmt.Errorf("set flushing: %w", err)
	}
	v.disk.open(path + "-wal")
	rdb, err := sql.Open("sqlite3", dsn(path, "rw", "&_query_only=on"))
	if err != nil {
		return err
	}
	v.rdb = readers{DB: rdb, v: v}
	v.rdb.SetMaxOpenConns(4)
	v.rdb.SetMaxIdleConns(keptReaders)
	if err := v.recover(ctx); err != nil {
		return damaged(path, err)
	}
	return nil
}

func dsn(path, mode, more string) string {
	return fileURI(path) + "?mode=" + mode + "&_journal_mode=WAL&_busy_timeout=10000&_stmt_cache_size=64" + more
}

// fileURI is a path as SQLite's URIs want it.
func fileURI(path string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

func (v *Vault) takeLock(ctx context.Context, opt Options) error {
	path := filepath.Join(v.dir, "vault.lock")
	v.lock = flock.New(path, flock.SetPermissions(0o600))
	if opt.Wait > 0 {
		waited, cancel := context.WithTimeout(ctx, opt.Wait)
		defer cancel()
		if _, err := v.lock.TryLockContext(waited, 50*time.Millisecond); err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return fmt.Errorf("lock vault: %w", err)
		}
	} else if _, err := v.lock.TryLock(); err != nil {
		return fmt.Errorf("lock vault: %w", err)
	}
	if !v.lock.Locked() {
		holder, err := os.ReadFile(path)
		if err != nil || len(holder) == 0 {
			holder = []byte("another program")
		}
		return &LockedError{Dir: v.dir, Holder: strings.TrimSpace(string(holder))}
	}
	name := opt.Holder
	if name == "" {
		name = "hearth"
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%s, process %d\n", name, os.Getpid()), 0o600)
}

// Close ends all work with the vault and lets another process have it. Closing again does nothing. A damaged file stays as
// it is, and its connections with it until the process ends.
func (v *Vault) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	errs := []error{v.disk.close()}
	if v.suspect.Load() == nil { // closing would move the log into a damaged file
		if v.writer != nil {
			errs = append(errs, v.writer.Close())
		}
		if v.rdb.DB != nil {
			errs = append(errs, v.rdb.Close())
		}
		if v.wdb != nil {
			errs = append(errs, v.wdb.Close())
		}
	}
	if v.lock != nil {
		errs = append(errs, v.lock.Unlock())
	}
	v.writer, v.wdb, v.lock = nil, nil, nil // rdb stays: its own error answers a read that comes too late
	return errors.Join(errs...)
}

// Dir is the vault's folder.
func (v *Vault) Dir() string { return v.dir }

// Path is the database file.
func (v *Vault) Path() string { return filepath.Join(v.dir, "vault.db") }

// Behind is how far the clock stood before the last commit when the vault was opened; 0 when it did not. A computer
// without a clock chip wakes up in the past: wall-clock work must wait until its clock is right.
func (v *Vault) Behind() time.Duration { return v.behind }

// Unclean reports whether the last holder ended without closing the vault.
func (v *Vault) Unclean() bool { return v.unclean }

// checkFTS5 fails with the sentence the contract asks for when the binary was built without the tag.
func checkFTS5(ctx context.Context) error {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var has bool
	if err := db.QueryRowContext(ctx, `SELECT sqlite_compileoption_used('ENABLE_FTS5')`).Scan(&has); err != nil {
		return err
	}
	if !has {
		return ErrNoFTS5
	}
	return nil
}

// ErrNoFTS5 says that the binary was built without full-text search.
var ErrNoFTS5 = errors.New("this binary was built without full-text search: build it with `make build` or `go build -tags sqlite_fts5 ./cmd/hearth`")

// precheck reads the header of an existing file without letting SQLite change anything: a newer or damaged file stays
// byte for byte as it was.
func precheck(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at vault file: %w", err)
	}
	header := make([]byte, 100)
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open vault file: %w", err)
	}
	_, err = file.ReadAt(header, 0)
	if cerr := file.Close(); cerr != nil {
		return cerr
	}
	if err != nil || string(header[:16]) != "SQLite format 3\x00" {
		return &DamagedError{Path: path, Err: errors.New("the file does not begin as an SQLite database does")}
	}
	// user_version is the big-endian number at byte 60; a newer program keeps it even when its last commits are in the WAL.
	have := int(header[60])<<24 | int(header[61])<<16 | int(header[62])<<8 | int(header[63])
	if have > len(migrations) {
		return &NewerError{Path: path, Have: have, Can: len(migrations)}
	}
	return ctx.Err()
}

func damaged(path string, err error) error {
	var se sqlite3.Error
	if errors.As(err, &se) && (se.Code == sqlite3.ErrCorrupt || se.Code == sqlite3.ErrNotADB) {
		return &DamagedError{Path: path, Err: err}
	}
	return fmt.Errorf("open vault %s: %w", path, err)
}

// bootID names this start of the machine; "" where the system does not tell.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
