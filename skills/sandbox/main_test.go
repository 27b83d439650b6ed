//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be the first process of a sandbox, and what the tests need inside and beside one.
func TestMain(m *testing.M) {
	Main()
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case "run": // a program of its own that runs a command in the present folder
			os.Exit(runHere(os.Args[2]))
		case "run-forbidden": // the same where the kernel allows no further user namespaces
			if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
				fmt.Println("cannot forbid namespaces:", err)
				os.Exit(1)
			}
			os.Exit(runHere(os.Args[2]))
		case "probe": // inside: what the kernel says to a call
			probe(os.Args[2])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func runHere(command string) int {
	work, err := os.Getwd()
	if err == nil {
		var report Report
		if report, err = (Box{Work: work}).Run(context.Background(), command); err == nil {
			fmt.Printf("%s", report.Output)
			return report.Exit
		}
	}
	fmt.Println(err)
	var refused *UnavailableError
	if asUnavailable(err, &refused) {
		fmt.Println("mend:", refused.Mend)
	}
	return 99
}

// probe makes one call and prints its error.
func probe(name string) {
	var err error
	switch name {
	case "vsock":
		_, err = unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	case "netlink":
		_, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0)
	case "unix":
		_, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	case "userns":
		err = unix.Unshare(unix.CLONE_NEWUSER)
	case "clone-userns":
		_, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		err = errnoOrNil(errno)
	case "setuid-file":
		err = unix.Chmod("probe.test", 0o4755)
	case "keyring":
		_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
	case "memfd":
		_, err = unix.MemfdCreate("x", 0)
	case "outlive":
		err = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	case "rename-process":
		err = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	case "new-call":
		_, _, errno := syscall.RawSyscall(highestCall+1, 0, 0, 0)
		err = errnoOrNil(errno)
	default:
		err = fmt.Errorf("no probe %s", name)
	}
	fmt.Printf("%v", err)
}

func errnoOrNil(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
