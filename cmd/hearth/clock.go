package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// clockVariable names a file with an RFC 3339 instant: the program's now is that instant plus the time since the file was
// last changed. It is for tests only.
const clockVariable = "HEARTH_TEST_CLOCK"

// clock tells the program's time: the machine's, or that of a test.
type clock struct {
	path string // "" = the machine's
	test atomic.Pointer[reading]
}

// reading is what the file of a test clock said.
type reading struct {
	base    time.Time
	changed time.Time
	size    int64
	inode   uint64
}

// newClock gives the machine's clock, or the one that the file tells.
func newClock(path string) (*clock, error) {
	c := &clock{path: path}
	if path == "" {
		return c, nil
	}
	r, err := readClock(path)
	if err != nil {
		return nil, usage("%s names %s, and there is no instant to be read from it (%v): write one like 2026-03-10T10:00:00Z into the file, or unset the variable.", clockVariable, path, err)
	}
	c.test.Store(&r)
	return c, nil
}

func (c *clock) now() time.Time {
	r := c.test.Load()
	if r == nil {
		return time.Now()
	}
	return r.base.Add(time.Since(r.changed))
}

// readClock reads instant and age from one open file, so that both belong together however it is being replaced.
func readClock(path string) (r reading, err error) {
	file, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer func() { _ = file.Close() }() // only read from
	info, err := file.Stat()
	if err != nil {
		return r, err
	}
	body, err := io.ReadAll(io.LimitReader(file, 100))
	if err != nil {
		return r, err
	}
	if r.base, err = time.Parse(time.RFC3339, strings.TrimSpace(string(body))); err != nil {
		return r, fmt.Errorf("read instant: %w", err)
	}
	r.changed, r.size, r.inode = info.ModTime(), info.Size(), inode(info)
	return r, nil
}

func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

// clockPoll is how often a test clock is looked at; the contract promises 200 ms.
const clockPoll = 50 * time.Millisecond

// watch takes up changes of a test clock until ctx ends, and calls changed after each. The machine's clock needs no
// watching: nobody sleeps longer than a minute.
func (c *clock) watch(ctx context.Context, log *slog.Logger, changed func()) error {
	if c.path == "" {
		<-ctx.Done()
		return nil
	}
	log.Warn("RUNNING ON A TEST CLOCK, not on the time of this machine", "variable", clockVariable, "file", c.path, "now", c.now().Format(time.RFC3339))
	tick := time.NewTicker(clockPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		info, err := os.Stat(c.path)
		if err != nil {
			continue // being replaced
		}
		was := c.test.Load()
		if info.ModTime().Equal(was.changed) && info.Size() == was.size && inode(info) == was.inode {
			continue
		}
		r, err := readClock(c.path)
		if err != nil {
			continue // being written
		}
		c.test.Store(&r)
		log.Warn("the test clock was set", "now", c.now().Format(time.RFC3339))
		changed()
	}
}
