//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The files that the first process is started with.
const (
	orderFile  = 3
	statusFile = 4
)

// Main must be called before a program does anything else: if it was started as the first process of a sandbox, Main
// builds that, becomes the shell and does not return.
func Main() {
	if len(os.Args) != 1 || os.Args[0] != Name {
		return
	}
	// Rights, filters and the signal at the parent's death belong to a thread, and the one that becomes the shell need not be
	// the one that the program began with. Here it never is, so that nothing works by luck.
	runtime.LockOSThread()
	failed := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		status := os.NewFile(statusFile, "status")
		stage, err := become(os.NewFile(orderFile, "order"), status)
		_, _ = fmt.Fprintf(status, "%s\n%v", stage, err) // nobody else would hear of it
		close(failed)
	}()
	<-failed
	os.Exit(125)
}

// become does not return unless a stage fails.
func become(from io.Reader, status *os.File) (stage string, err error) {
	var o order
	if err := json.NewDecoder(from).Decode(&o); err != nil {
		return "read the order", err
	}
	unix.Umask(0o022)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"die with the program", dieWithTheProgram},
		{"close what was inherited", closeInherited},
		{"let memory run out here first", firstToGo},
		{"build the file tree", func() error { return buildTree(o.Box) }},
		{"start the loopback network", loopbackUp},
		{"set the limits", func() error { return setLimits(o.Box.Limits) }},
		{"give up all rights", giveUpRights},
		{"filter system calls", func() error { return loadFilter(filter()) }},
	} {
		if err := step.do(); err != nil {
			return step.name, err
		}
	}
	if _, err := status.WriteString(ready); err != nil {
		return "report", err
	}
	// The last step, since it also binds what this process has still to do.
	if err := limitAddresses(o.Box.Limits); err != nil {
		return "\nset the limits", err
	}
	err = syscall.Exec("/bin/sh", []string{"sh", "-c", o.Command}, environment(o.Box))
	return "\nrun /bin/sh", err
}

// environment is all that a command is told.
func environment(b Box) []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
		"HOME=" + b.Work, "LANG=C.UTF-8", "TERM=dumb",
	}
}

// dieWithTheProgram has the kernel kill this process when the thread that started it is gone. If it is gone already, the
// report that follows finds nobody to take it.
func dieWithTheProgram() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// closeInherited has all files but the three standard ones closed when the shell begins, also those that whoever started
// the program left open.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// firstToGo offers this process to the kernel for when memory runs out: not the agent, and not its model. Some containers
// do not let it, which is no reason to run nothing.
func firstToGo() error {
	err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS) {
		return nil
	}
	return err
}

// loopbackUp gives the sandbox a network that holds nothing but itself, so that a connection is refused at once.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
}

func unavailable(stage string, err error) *UnavailableError {
	return &UnavailableError{Stage: stage, Err: err, Mend: mend()}
}

// mend guesses from the kernel's switches what is in the way.
func mend() string {
	is := func(name, value string) bool {
		data, err := os.ReadFile(filepath.Join("/proc/sys", name))
		return err == nil && len(data) > 0 && string(data[:len(data)-1]) == value
	}
	switch {
	case is("kernel/apparmor_restrict_unprivileged_userns", "1"):
		return "This system (Ubuntu does so) forbids user namespaces to programs without an AppArmor profile: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, and the same line in a file in /etc/sysctl.d to keep it."
	case is("kernel/unprivileged_userns_clone", "0"):
		return "This system forbids user namespaces to ordinary users: sudo sysctl -w kernel.unprivileged_userns_clone=1, and the same line in a file in /etc/sysctl.d to keep it."
	case is("user/max_user_namespaces", "0"):
		return "This system allows no user namespaces: sudo sysctl -w user.max_user_namespaces=15000, and the same line in a file in /etc/sysctl.d to keep it."
	}
	return "In a container, start that with user namespaces allowed and all of /proc visible (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined); in a systemd unit, leave out RestrictNamespaces and the Protect… settings for /proc; or run Hearth outside of it."
}
