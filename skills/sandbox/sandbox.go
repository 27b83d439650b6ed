// Package sandbox runs a shell command that is taken for an attacker's: in namespaces of its own, with one folder it may
// write to, programs it may read, no network, no environment, no privileges and hard limits. It needs no root and no
// helper program: the running binary starts itself again as the first process of the namespaces, builds the new root from
// inside, gives up every right it has there and becomes the shell.
//
// The tour: run.go starts, watches and ends the command; inside, init.go is the order of events, mounts.go the file tree,
// confine.go the limits and rights, filter.go the system calls that are refused (calls_linux_*.go: their numbers).
//
// There is no way around it: where it cannot be built, Run gives *UnavailableError and runs nothing.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Name is the program name (argv[0]) under which the binary becomes the first process of a sandbox.
const Name = "hearth-sandbox"

// Box is what a command gets.
type Box struct {
	Work     string   // absolute path of a folder that is there; the command starts in it and may write to it
	ReadOnly []string // further folders that it may read, under the same paths; those that are not there are left out
	Limits   Limits
}

// Limits bound a command with all processes it starts. Zero values are replaced by those of DefaultLimits.
type Limits struct {
	Time      time.Duration
	Output    int   // bytes, both streams together
	Memory    int64 // bytes in use by all processes together
	Processes int   // with their threads
	File      int64 // bytes of one file
	Temp      int64 // bytes of /tmp
	DiskFree  int64 // bytes that stay free on the disk of Work
}

// DefaultLimits are meant for a small computer that has other things to do. Memory is also at most half of the machine's.
func DefaultLimits() Limits {
	return Limits{
		Time: 100 * time.Second, Output: 1 << 20, Memory: min(1<<30, machineMemory()/2), Processes: 64,
		File: 256 << 20, Temp: 64 << 20, DiskFree: 200 << 20,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		Time: either(l.Time, d.Time), Output: either(l.Output, d.Output), Memory: either(l.Memory, d.Memory),
		Processes: either(l.Processes, d.Processes), File: either(l.File, d.File), Temp: either(l.Temp, d.Temp),
		DiskFree: either(l.DiskFree, d.DiskFree),
	}
}

func either[T comparable](given, otherwise T) T {
	var zero T
	if given == zero {
		return otherwise
	}
	return given
}

// Reason is the limit that ended a command.
type Reason string

// The reasons; "" when the command ended by itself.
const (
	OutOfTime      Reason = "time"
	OutOfOutput    Reason = "output"
	OutOfMemory    Reason = "memory"
	OutOfProcesses Reason = "processes"
	OutOfDisk      Reason = "disk"
)

// Report is what became of a command. All its processes are gone, also those it left in the background.
type Report struct {
	Output []byte // both streams, in the order they came, at most Limits.Output
	Exit   int    // the shell's exit status; -1 when a signal ended it
	Signal string // which
	Ended  Reason
}

// UnavailableError says that there can be no sandbox here. Nothing was run.
type UnavailableError struct {
	Stage string // what failed
	Mend  string // a sentence for the owner
	Err   error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("build a sandbox: %s: %v", e.Stage, e.Err)
}
func (e *UnavailableError) Unwrap() error { return e.Err }

// Try builds a sandbox and runs a command that does nothing. It is the only way to know: what forbids one differs between
// kernels, distributions and containers. nil: it works here.
func Try(ctx context.Context, work string) error {
	report, err := Box{Work: work, Limits: Limits{Time: 20 * time.Second}}.Run(ctx, "exit 7")
	if err == nil && report.Exit != 7 {
		err = &UnavailableError{Stage: "run a shell", Mend: "Is /bin/sh there?", Err: errors.New("a command did not come to its end")}
	}
	return err
}
