//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// watcher ends a command that takes more than its share. The kernel has limits for one process; for all together only
// where there are control groups that an ordinary user may write, and its limit of processes does not bind root at all.
type watcher struct {
	pid    int
	work   string
	limits Limits
	stop   func(Reason)

	proc *os.Root // the sandbox's own /proc
}

// watchEvery is how often a command is looked at. What a process can take meanwhile is bounded by how fast it can be had.
const watchEvery = 40 * time.Millisecond

// open is called before the command has been waited for, so its number is still its own. False: there is nothing to
// watch, since it has ended; what cannot be watched is ended.
func (w *watcher) open() bool {
	var err error
	w.proc, err = os.OpenRoot(fmt.Sprintf("/proc/%d/root/proc", w.pid))
	if err != nil && !gone(err) {
		w.stop(OutOfProcesses)
	}
	return err == nil
}

func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

func (w *watcher) watch(done <-chan struct{}) {
	defer func() { _ = w.proc.Close() }()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if why := w.look(); why != "" {
			w.stop(why)
			return
		}
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// look counts what is in use.
func (w *watcher) look() Reason {
	dir, err := w.proc.Open(".")
	if err != nil {
		return ""
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close()
	if err != nil {
		return "" // the namespace is going
	}
	var tasks int
	var pages int64
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := w.proc.ReadFile(name + "/stat")
		if err != nil {
			continue // ended since
		}
		threads, rss := use(string(stat))
		tasks, pages = tasks+threads, pages+rss
	}
	switch {
	case tasks > w.limits.Processes:
		return OutOfProcesses
	case pages*int64(os.Getpagesize()) > w.limits.Memory:
		return OutOfMemory
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(w.work, &disk); err == nil && int64(disk.Bavail)*int64(disk.Bsize) < w.limits.DiskFree {
		return OutOfDisk
	}
	return ""
}

// use reads threads and resident pages from a line of /proc/N/stat. The name in it is the process's own choice and may
// hold anything, so fields are counted from its last bracket.
func use(stat string) (threads int, pages int64) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const state, numThreads, resident = 3, 20, 24 // as numbered in proc_pid_stat(5)
	if len(fields) <= resident-state {
		return 1, 0
	}
	threads, err := strconv.Atoi(fields[numThreads-state])
	if err != nil {
		threads = 1
	}
	pages, err = strconv.ParseInt(fields[resident-state], 10, 64)
	if err != nil {
		pages = 0
	}
	return threads, pages
}
