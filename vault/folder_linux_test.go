package vault

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asNobody runs f as a user who owns nothing, also where the tests run as root. The file system's idea of the user is one
// of the thread, so the thread is given up afterwards.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		if err := syscall.Setfsuid(65534); err != nil {
			done <- err
			return
		}
		f()
		done <- nil
	}()
	check(t, <-done)
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	h := newEmpty(t, Options{})
	check(t, h.Close())
	for d := h.folder; strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		check(t, os.Chmod(d, 0o755))
	}
	check(t, os.Chmod(h.folder, 0o555))
	t.Cleanup(func() { check(t, os.Chmod(h.folder, 0o700)) })
	for _, missing := range []string{"", "vault.lock"} {
		if missing != "" {
			check(t, os.Chmod(h.folder, 0o755))
			check(t, os.Remove(filepath.Join(h.folder, missing)))
			check(t, os.Chmod(h.folder, 0o555))
		} else if os.Geteuid() != 0 {
			check(t, os.Chmod(filepath.Join(h.folder, "vault.lock"), 0o400))
		}
		for _, wait := range []time.Duration{0, time.Minute} {
			asNobody(t, func() {
				_, err := Open(t.Context(), h.folder, Options{Wait: wait})
				if !errors.Is(err, fs.ErrPermission) {
					t.Errorf("error is %v", err)
					return
				}
				contains(t, "the error", err.Error(), h.folder, "permission denied")
			})
		}
	}
	asNobody(t, func() {
		_, err := Open(t.Context(), filepath.Join(h.folder, "new"), Options{})
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("error is %v", err)
		}
	})
	h.Vault = nil
}

// The lock can be taken, but SQLite cannot put its log beside the file.
func TestFolderWithoutPlaceForTheLog(t *testing.T) {
	h := newEmpty(t, Options{})
	check(t, h.Close())
	h.Vault = nil
	for d := h.folder; strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		check(t, os.Chmod(d, 0o755))
	}
	for _, name := range []string{"vault.db", "vault.lock"} {
		check(t, os.Chmod(filepath.Join(h.folder, name), 0o666))
	}
	check(t, os.Chmod(h.folder, 0o555))
	t.Cleanup(func() { check(t, os.Chmod(h.folder, 0o700)) })
	asNobody(t, func() {
		_, err := Open(t.Context(), h.folder, Options{})
		if err == nil {
			t.Error("it opens")
			return
		}
		contains(t, "the error", err.Error(), filepath.Join(h.folder, "vault.db"), "readonly database")
	})
}
