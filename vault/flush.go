package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// flusher brings commits to the disk, beside the vault's lock: whoever reads sees an event as soon as it is committed, and
// who must not act on what a power cut could take back waits for the flush. SQLite alone would flush within the commit,
// while every other event waits. What is committed meanwhile shares the next flush.
//
// A commit is a run of frames at the end of SQLite's log, and fsync of the log by any descriptor brings all of them to the
// disk, in synchronous=NORMAL as well (https://www.sqlite.org/wal.html). SQLite itself flushes around a checkpoint. The log
// carries no locks, so that a descriptor of our own may be closed without ending SQLite's.
type flusher struct {
	mu    sync.Mutex
	round sync.Cond

	path string // of the log
	file *os.File
	sync func(*os.File) error // a test puts its own here

	committed int64 // events so far; each has its number
	owed      int64 // the last that must be flushed
	flushed   int64 // the last that is
	busy      bool
	fault     error // what a disk has dropped once it may call flushed later: nothing is promised any more
}

func (f *flusher) open(path string) {
	f.path, f.round.L = path, &f.mu
	if f.sync == nil {
		f.sync = (*os.File).Sync
	}
}

// commit gives an event its number, in the order of the commits. durable: a flush is owed to it.
func (f *flusher) commit(d durability) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.committed++
	if d == durable {
		f.owed = f.committed
	}
	return f.committed
}

// debt is the last event so far that a flush is owed to.
func (f *flusher) debt() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.owed
}

// failed is why nothing can be promised any more; nil = it can.
func (f *flusher) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

// wait returns when the event of this number, and all before it, are on the disk. made: it was us who flushed.
func (f *flusher) wait(event int64) (made bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.fault == nil && f.flushed < event {
		if f.busy {
			f.round.Wait()
			continue
		}
		f.busy = true
		upTo := f.committed
		f.mu.Unlock()
		err := f.flush()
		f.mu.Lock()
		f.busy = false
		if err != nil {
			f.fault = fmt.Errorf("flush the vault: %w", err)
		} else {
			f.flushed, made = upTo, true
		}
		f.round.Broadcast()
	}
	return made, f.fault
}

// flush belongs to who has set busy.
func (f *flusher) flush() error {
	now, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the vault is closed: SQLite has moved the log into the file and flushed that
	}
	if err != nil {
		return err
	}
	if f.file != nil {
		if open, err := f.file.Stat(); err != nil || !os.SameFile(open, now) {
			_ = f.file.Close() // nothing of it is of use
			f.file = nil
		}
	}
	if f.file == nil {
		if f.file, err = os.OpenFile(f.path, os.O_RDWR, 0); err != nil {
			return err
		}
	}
	return f.sync(f.file)
}

// close waits for a flush in hand and lets the log go.
func (f *flusher) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.busy {
		f.round.Wait()
	}
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}
