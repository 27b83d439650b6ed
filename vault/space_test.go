package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// smallDisk is a folder that holds no more than so many bytes.
func smallDisk(t *testing.T, size int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("a small disk cannot be made here: mounting a tmpfs needs root (%v)", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fillTo leaves so many bytes free.
func fillTo(dir string, left int64) error {
	free, err := Free(dir)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, "others"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Fallocate(int(file.Fd()), 0, 0, fileSize(file.Name())+free-left), file.Close())
}

func TestFullDiskRefusesNewWorkAndKeepsWhatIsInHand(t *testing.T) {
	dir := smallDisk(t, 32<<20)
	h := newIn(t, dir, Options{})
	check(t, h.SyncPeople(t.Context(), household))
	h.meet()
	equal(t, "room", h.Relieve(t.Context()), true)
	equal(t, "ballast", fileSize(h.ballast()), ballastSize)
	p := h.claimed(h.ann, "hello")
	must(h.Accept(t.Context(), h.says(h.bob, "later"), h.bob, 0))(t)
	check(t, fillTo(dir, 0))

	// What is in hand is committed, and may be as big as the log was small.
	h.step(p, StepDone{Step: Step{Text: string(make([]byte, 1<<20))}, End: &Ending{State: Done, Reply: "hello"}})
	if h.Strained() == nil || h.Strained().ReadOnly {
		t.Fatalf("strained: %v", h.Strained())
	}
	equal(t, "ballast", fileSize(h.ballast()), 0)
	h.send()
	check(t, h.Tell(t.Context(), "", "the disk is full"))

	// New work is refused, whoever brings it.
	var full *FullError
	in := h.says(h.ann, "more")
	if _, err := h.Accept(t.Context(), in, h.ann, 0); !errors.As(err, &full) || full.Dir != dir {
		t.Errorf("a message: %v", err)
	}
	command := func(*Tx, Conversation) ([]Part, error) { return nil, nil }
	if err := h.Command(t.Context(), h.says(h.ann, "/status"), h.ann, command); !errors.As(err, &full) {
		t.Errorf("a command: %v", err)
	}
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle)

	// There is no room yet: not for the ballast and the work too.
	check(t, os.Truncate(filepath.Join(dir, "others"), fileSize(filepath.Join(dir, "others"))-ballastSize/2))
	equal(t, "room", h.Relieve(t.Context()), false)
	woken, cancel := h.Subscribe()
	defer cancel()
	check(t, os.Remove(filepath.Join(dir, "others")))
	equal(t, "room", h.Relieve(t.Context()), true)
	<-woken
	equal(t, "ballast", fileSize(h.ballast()), ballastSize)
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	h.claim()
	check(t, h.Check(t.Context()))
}

// What is offered when the disk fills up is refused though the ballast would have had room for it: it comes again.
func TestTheMessageThatFindsTheDiskFullIsRefused(t *testing.T) {
	dir := smallDisk(t, 32<<20)
	h := newIn(t, dir, Options{})
	check(t, h.SyncPeople(t.Context(), household))
	h.meet()
	h.Relieve(t.Context())
	check(t, fillTo(dir, 0))
	var full *FullError
	for h.Strained() == nil {
		_, err := h.Accept(t.Context(), h.says(h.ann, string(make([]byte, 1<<20))), h.ann, 0)
		if err != nil && !errors.As(err, &full) {
			t.Fatal(err)
		}
	}
	equal(t, "messages", h.count(`SELECT count(*) FROM message`), 0)
	h.reopen() // in the next life too there is only what the ballast left
	check(t, h.Check(t.Context()))
}

func TestForgettingOnAFullDiskForgets(t *testing.T) {
	dir := smallDisk(t, 32<<20)
	h := newIn(t, dir, Options{})
	check(t, h.SyncPeople(t.Context(), household))
	h.meet()
	in := h.private(h.ann)
	m := h.remember(in, "the CANARY sleeps in the shed")
	h.Relieve(t.Context())
	check(t, fillTo(dir, 0))
	must(h.Forget(t.Context(), in, m.ID))(t)
	equal(t, "memories", h.count(`SELECT count(*) FROM memory`), 0)
	check(t, os.Remove(filepath.Join(dir, "others")))
	equal(t, "room", h.Relieve(t.Context()), true)
	equal(t, "setting", h.str(`SELECT coalesce(max(value), '') FROM setting WHERE name = 'sweep'`), "")
	equal(t, "files that hold it", len(h.holding("CANARY")), 0)
}

func TestWhatCountsAsFull(t *testing.T) {
	v := &Vault{dir: "/d"}
	for _, c := range []struct {
		err      error
		is, only bool
	}{
		{nil, false, false},
		{context.Canceled, false, false},
		{fmt.Errorf("x: %w", sqlite3.Error{Code: sqlite3.ErrFull}), true, false},
		{sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.EDQUOT}, true, false},
		{sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.EIO}, false, false},
		{sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.EROFS}, true, true},
		{sqlite3.Error{Code: sqlite3.ErrReadonly}, true, true},
		{sqlite3.Error{Code: sqlite3.ErrBusy, SystemErrno: syscall.ENOSPC}, false, false},
		{&os.PathError{Err: syscall.ENOSPC}, true, false},
		{&os.PathError{Err: syscall.EROFS}, true, true},
		{&os.PathError{Err: syscall.EACCES}, false, false},
	} {
		full := v.fullness(c.err)
		if (full != nil) != c.is || full != nil && (full.ReadOnly != c.only || !errors.Is(full, c.err)) {
			t.Errorf("%v: %v", c.err, full)
		}
	}
}
