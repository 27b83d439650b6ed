//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// order is what the first process of a sandbox is told, through a pipe: an argument could be read by every user.
type order struct {
	Box     Box
	Command string
}

// ready is what the first process reports before it becomes the shell.
const ready = "ready"

// Run runs one command line with /bin/sh. It returns when all of its processes are gone. The error is *UnavailableError
// when there can be no sandbox, or why ctx ended; a command that fails or meets a limit is no error.
func (b Box) Run(ctx context.Context, command string) (Report, error) {
	b.Limits = b.Limits.withDefaults()
	if !filepath.IsAbs(b.Work) {
		return Report{}, fmt.Errorf("run a command: the folder %q is not absolute", b.Work)
	}
	if strings.ContainsRune(command, 0) {
		return Report{}, errors.New("run a command: it holds a zero byte, which no command line can")
	}
	// The kernel ends the sandbox when the thread that started it is gone, so that thread is kept: then, and only then, a
	// program that is killed takes its commands along.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	limited, cancel := context.WithTimeoutCause(ctx, b.Limits.Time, errTime)
	defer cancel()
	out := &output{limit: b.Limits.Output}
	cmd, talk, err := b.start(limited, out)
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return Report{}, cause
	}
	if err != nil {
		return Report{}, err
	}
	stop := func(why Reason) {
		out.end(why)
		_ = cmd.Process.Kill() // it has ended if it cannot be
	}
	out.full = func() { stop(OutOfOutput) }
	stage, err := talk(command)
	var watching sync.WaitGroup
	done := make(chan struct{})
	if err == nil && stage == ready {
		w := watcher{pid: cmd.Process.Pid, work: b.Work, limits: b.Limits, stop: stop}
		if w.open() {
			watching.Go(func() { w.watch(done) })
		}
	}
	waited := cmd.Wait()
	close(done)
	watching.Wait()
	switch cause := context.Cause(limited); {
	case cause != nil && !errors.Is(cause, errTime):
		return Report{}, cause
	case stage != ready && errors.Is(cause, errTime):
		return Report{}, unavailable("start", errors.New("it took too long"))
	case stage != ready:
		return Report{}, failedStage(stage, err)
	case cause != nil:
		out.end(OutOfTime)
	}
	return out.report(waited)
}

var errTime = errors.New("the time for the command is over")

// start starts the first process. talk hands it the command and gives what it reports before it becomes the shell.
func (b Box) start(ctx context.Context, out *output) (_ *exec.Cmd, talk func(command string) (string, error), err error) {
	theirOrder, ourOrder, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	ourStatus, theirStatus, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make a pipe: %w", err), theirOrder.Close(), ourOrder.Close())
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Stdout, cmd.Stderr = []string{Name}, []string{}, out, out
	cmd.ExtraFiles = []*os.File{theirOrder, theirStatus}
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
			unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP,
		// Not root inside: then becoming the shell takes all rights away.
		UidMappings: []syscall.SysProcIDMap{{ContainerID: insideID, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: insideID, HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN},
		Pdeathsig:   syscall.SIGKILL,
		Setsid:      true, // no terminal, whose input could be forged
	}
	err = cmd.Start()
	_, _ = theirOrder.Close(), theirStatus.Close() // copies of what the other side holds
	if err != nil {
		_, _ = ourOrder.Close(), ourStatus.Close()
		return nil, nil, unavailable("make namespaces", err)
	}
	talk = func(command string) (string, error) {
		told := json.NewEncoder(ourOrder).Encode(order{Box: b, Command: command})
		told = errors.Join(told, ourOrder.Close())
		// Becoming the shell closes the other end.
		status, err := io.ReadAll(io.LimitReader(ourStatus, 4096))
		return string(status), errors.Join(told, err, ourStatus.Close())
	}
	return cmd, talk, nil
}

// insideID is the user and group inside.
const insideID = 1000

// failedStage makes an error of what the first process reported instead of ready.
func failedStage(status string, err error) error {
	name, why, ok := strings.Cut(status, "\n")
	if name == ready { // it could not become the shell
		name, why, ok = strings.Cut(why, "\n")
	}
	switch {
	case ok:
		return unavailable(name, errors.New(why))
	case err != nil:
		return unavailable("start", err)
	}
	return unavailable("start", errors.New("its first process ended at once"))
}

// output keeps the beginning of what a command writes, and says when it is too much.
type output struct {
	limit int
	full  func()

	mu    sync.Mutex
	kept  bytes.Buffer
	ended atomic.Pointer[Reason]
}

// Write takes all, so that a command never sees a broken pipe.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	room := o.limit - o.kept.Len()
	o.kept.Write(p[:min(len(p), room)])
	over := len(p) > room
	o.mu.Unlock()
	if over {
		o.full()
	}
	return len(p), nil
}

// end notes why the command is ended; the first reason counts.
func (o *output) end(why Reason) { o.ended.CompareAndSwap(nil, &why) }

func (o *output) report(waited error) (Report, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := Report{Output: bytes.Clone(o.kept.Bytes())}
	if why := o.ended.Load(); why != nil {
		r.Ended = *why
	}
	var exit *exec.ExitError
	switch {
	case waited == nil:
	case errors.As(waited, &exit):
		r.Exit = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			r.Signal = status.Signal().String()
		}
	case errors.Is(waited, exec.ErrWaitDelay), errors.Is(waited, context.DeadlineExceeded), r.Ended != "":
		r.Exit = -1
	default:
		return r, fmt.Errorf("wait for a command: %w", waited)
	}
	return r, nil
}

// machineMemory is the memory of the machine in bytes.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 1 << 30
	}
	return int64(info.Totalram) * int64(info.Unit)
}
