package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// ballastSize is what is kept in reserve: enough for the log between two checkpoints, twice over.
const ballastSize = 8 << 20

// roomAgain is how much must be free, beside the ballast, before new work is taken again.
const roomAgain = 8 << 20

// FullError says that the disk takes nothing more: it is full, or it has become read-only.
type FullError struct {
	Dir      string
	ReadOnly bool
	Err      error
}

func (e *FullError) Error() string {
	what := "full"
	if e.ReadOnly {
		what = "read-only"
	}
	return fmt.Sprintf("write to %s: the disk is %s: %v", e.Dir, what, e.Err)
}

// Unwrap gives what the system or SQLite said.
func (e *FullError) Unwrap() error { return e.Err }

// fullness tells a disk that takes nothing more from other trouble; nil for the latter.
func (v *Vault) fullness(err error) *FullError {
	var known *FullError
	if errors.As(err, &known) {
		return known
	}
	var errno syscall.Errno
	var se sqlite3.Error
	if errors.As(err, &se) {
		switch se.Code { //nolint:exhaustive // the others say nothing about the disk
		case sqlite3.ErrFull:
			errno = syscall.ENOSPC
		case sqlite3.ErrReadonly:
			errno = syscall.EROFS
		case sqlite3.ErrIoErr, sqlite3.ErrCantOpen:
			errno = se.SystemErrno
		}
	} else {
		_ = errors.As(err, &errno)
	}
	switch errno { //nolint:exhaustive // the others say nothing about the disk
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG:
		return &FullError{Dir: v.dir, Err: err}
	case syscall.EROFS:
		return &FullError{Dir: v.dir, ReadOnly: true, Err: err}
	}
	return nil
}

// newWork is what is refused while the disk is full. Whoever brings it keeps it, and brings it again.
var newWork = map[string]bool{"accept": true, "command": true, "embed": true}

// Strained says why no new work is taken at the moment; nil when it is.
func (v *Vault) Strained() *FullError { return v.strain.Load() }

// strained notes a full disk, and gives up the ballast so that what is in hand can still be committed. It reports whether
// that made room.
func (v *Vault) strained(full *FullError) (room bool) {
	if v.strain.Swap(full) == nil {
		defer v.notifier.wake(nil)
	}
	return !full.ReadOnly && os.Remove(v.ballast()) == nil
}

func (v *Vault) ballast() string { return filepath.Join(v.dir, "ballast") }

// Relieve looks whether a disk that was full has room again, and puts the ballast back. It reports whether new work is
// taken. To be called now and then, also on a disk that never was full: it makes the ballast when there is none.
func (v *Vault) Relieve(ctx context.Context) bool {
	strain := v.strain.Load()
	if ctx.Err() != nil || strain == nil && fileSize(v.ballast()) == ballastSize {
		return strain == nil
	}
	if free, err := Free(v.dir); err == nil && free < ballastSize+roomAgain {
		return strain == nil
	}
	if err := v.makeBallast(); err != nil {
		return strain == nil
	}
	if strain != nil && v.strain.CompareAndSwap(strain, nil) {
		v.mu.Lock()
		_ = v.sweepLeft(ctx) // what could not be swept for lack of room; the next start tries again
		v.mu.Unlock()
		v.notifier.wake(nil)
	}
	return true
}

// makeBallast writes bytes that no file system can press together.
func (v *Vault) makeBallast() (err error) {
	file, err := os.OpenFile(v.ballast(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, removeIfThere(v.ballast()))
		}
	}()
	if _, err := io.CopyN(file, rand.Reader, ballastSize); err != nil {
		return err
	}
	return file.Sync()
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Free is how many bytes this process may still write below a folder.
func Free(dir string) (int64, error) {
	var fsys syscall.Statfs_t
	if err := syscall.Statfs(dir, &fsys); err != nil {
		return 0, fmt.Errorf("look for free space: %w", err)
	}
	return int64(fsys.Bavail) * int64(fsys.Bsize), nil //nolint:unconvert // their types differ by platform
}
