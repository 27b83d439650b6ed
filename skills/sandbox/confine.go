//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setLimits sets what the kernel keeps for each process.
func setLimits(l Limits) error {
	unix.Umask(0o077)
	limits := []struct {
		what  int
		value uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_CPU, uint64(l.Time.Seconds()) + 1},
		{unix.RLIMIT_FSIZE, uint64(l.File)},
		{unix.RLIMIT_NOFILE, 256},
		{unix.RLIMIT_MEMLOCK, 64 << 10},
		{unix.RLIMIT_MSGQUEUE, 0},
	}
	if countsByNamespace() {
		limits = append(limits, struct {
			what  int
			value uint64
		}{unix.RLIMIT_NPROC, uint64(l.Processes)})
	}
	for _, limit := range limits {
		if err := unix.Setrlimit(limit.what, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return fmt.Errorf("limit %d: %w", limit.what, err)
		}
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, 10) // the agent goes first
}

// countsByNamespace reports whether the kernel counts a user's processes in each user namespace apart (since Linux 5.14).
// Before that a limit would count all that the user runs, and the watcher has to do.
func countsByNamespace() bool {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return false
	}
	return atLeast(unix.ByteSliceToString(name.Release[:]), 5, 14)
}

func atLeast(release string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(release, "%d.%d", &a, &b); n != 2 {
		return false
	}
	return a > major || a == major && b >= minor
}

// limitAddresses bounds what one process can map. It is wide: what is in use is the watcher's to bound.
func limitAddresses(l Limits) error {
	most := uint64(max(4*l.Memory, 1<<31))
	if unsafe.Sizeof(uintptr(0)) == 4 {
		most = uint64(min(l.Memory, 1<<30))
	}
	return unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most})
}

// giveUpRights takes every capability from this thread and from what it becomes, for good.
func giveUpRights() error {
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			break // there are no more
		} else if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	header, none := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("clear capabilities: %w", err)
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// loadFilter has the kernel refuse system calls of this thread, and of what it becomes.
func loadFilter(program []unix.SockFilter) error {
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0)
}
