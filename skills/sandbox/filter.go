//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"golang.org/x/sys/unix"
)

// Namespaces decide what a command can reach; the filter keeps it from the parts of the kernel in which most ways out of
// namespaces have been found, and from what is not bounded otherwise. Unknown numbers, those of newer kernels among them,
// are refused as if the kernel were too old to know them.

// refusal is one system call that is answered with an error.
type refusal struct {
	call  uint32
	err   unix.Errno
	arg   int    // which argument decides; -1: none, it is always refused
	mask  uint32 // refused if one of these bits is set
	equal bool   // refused if the argument's low half is exactly mask
}

func always(err unix.Errno, calls ...uint32) (out []refusal) {
	for _, call := range calls {
		out = append(out, refusal{call: call, err: err, arg: -1})
	}
	return out
}

// namespaceFlags are those of clone that make namespaces. One of them, for time, shares its bit with the signal and is
// understood by clone3 and unshare only.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// setID are the bits of a file's mode that lend its owner's rights: inside they are worth nothing, outside they would be.
const setID = unix.S_ISUID | unix.S_ISGID

func refusals() []refusal {
	out := always(
		unix.EPERM,
		// other processes and their memory
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
		// the file tree and namespaces
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
		unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_CHROOT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_LISTNS, unix.SYS_FANOTIFY_INIT,
		// keys, kernel code, tracing
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE,
		unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_SYSLOG,
		// the machine
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_VHANGUP,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME,
		unix.SYS_SETDOMAINNAME, unix.SYS_NFSSERVCTL, unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
		// memory that belongs to no process, so that nobody would count it
		unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET,
	)
	// Their arguments stand in memory, where a filter cannot look. Programs fall back to what came before them.
	out = append(out, always(unix.ENOSYS, unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_MEMFD_CREATE)...)
	out = append(out,
		refusal{call: unix.SYS_CLONE, err: unix.EPERM, mask: namespaceFlags},
		refusal{call: unix.SYS_FCHMOD, err: unix.EPERM, arg: 1, mask: setID},
		refusal{call: unix.SYS_FCHMODAT, err: unix.EPERM, arg: 2, mask: setID},
		refusal{call: unix.SYS_FCHMODAT2, err: unix.EPERM, arg: 2, mask: setID},
		refusal{call: unix.SYS_OPENAT, err: unix.EPERM, arg: 3, mask: setID},
		refusal{call: unix.SYS_MKNODAT, err: unix.EPERM, arg: 2, mask: setID},
		// else a command could outlive the program
		refusal{call: unix.SYS_PRCTL, err: unix.EPERM, mask: unix.PR_SET_PDEATHSIG, equal: true},
	)
	return append(out, ownRefusals()...)
}

// families are the kinds of socket that there may be. AF_VSOCK, for one, knows nothing of network namespaces.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}

// The layout of seccomp_data.
const (
	dataCall = 0
	dataArch = 4
	dataArgs = 16
)

// highestCall is the last number that this list was made with.
const highestCall = unix.SYS_RSEQ_SLICE_YIELD

// filter is the program that the kernel runs before each system call.
func filter() []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		above = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		bits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		end   = unix.BPF_RET | unix.BPF_K
	)
	op := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
	}
	fail := func(err unix.Errno) unix.SockFilter { return op(end, unix.SECCOMP_RET_ERRNO|uint32(err), 0, 0) }
	allow := op(end, unix.SECCOMP_RET_ALLOW, 0, 0)
	argument := func(n int) unix.SockFilter { return op(load, uint32(dataArgs+8*n), 0, 0) } // the low half: all are little-endian

	out := []unix.SockFilter{
		op(load, dataArch, 0, 0),
		op(equal, arch, 1, 0), // another instruction set has other numbers
		op(end, unix.SECCOMP_RET_KILL_PROCESS, 0, 0),
		op(load, dataCall, 0, 0),
		op(above, highestCall, 0, 4),
		op(least, privateCalls, 0, 2),
		op(above, privateCalls+lastPrivate, 1, 0),
		allow,
		fail(unix.ENOSYS),
	}
	for _, r := range refusals() {
		switch {
		case r.arg < 0:
			out = append(out, op(equal, r.call, 0, 1), fail(r.err))
		case r.equal:
			out = append(out, op(equal, r.call, 0, 4), argument(r.arg), op(equal, r.mask, 0, 1), fail(r.err), allow)
		default:
			out = append(out, op(equal, r.call, 0, 4), argument(r.arg), op(bits, r.mask, 0, 1), fail(r.err), allow)
		}
	}
	for _, call := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		out = append(out, op(equal, call, 0, uint8(2+2*len(families))), argument(0))
		for _, family := range families {
			out = append(out, op(equal, family, 0, 1), allow)
		}
		out = append(out, fail(unix.EAFNOSUPPORT))
	}
	return append(out, allow)
}
