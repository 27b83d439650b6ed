//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// machine runs the filter as the kernel would. It reads words in network order, so that is how they are laid out for it.
type machine struct{ vm *bpf.VM }

func newMachine(t *testing.T) machine {
	t.Helper()
	var raw []bpf.RawInstruction
	for _, in := range filter() {
		raw = append(raw, bpf.RawInstruction{Op: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K})
	}
	program, all := bpf.Disassemble(raw)
	if !all {
		t.Fatal("the filter holds something that is no instruction")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	return machine{vm}
}

func (m machine) verdict(t *testing.T, arch, call uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[dataCall:], call)
	binary.BigEndian.PutUint32(data[dataArch:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[dataArgs+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[dataArgs+8*i+4:], uint32(a>>32))
	}
	got, err := m.vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

func TestFilterRefusesWhatLeadsOut(t *testing.T) {
	m := newMachine(t)
	allowed, fails := uint32(unix.SECCOMP_RET_ALLOW), func(err unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(err) }
	for _, c := range []struct {
		name string
		call uint32
		args []uint64
		want uint32
	}{
		{"read", unix.SYS_READ, nil, allowed},
		{"write", unix.SYS_WRITE, []uint64{1, 2, 3}, allowed},
		{"execve", unix.SYS_EXECVE, nil, allowed},
		{"the newest that is known", highestCall, nil, allowed},
		{"one that is newer", highestCall + 1, nil, fails(unix.ENOSYS)},
		{"the x32 way to write", 0x40000000 | 1, nil, fails(unix.ENOSYS)},
		{"the highest number", 0xffffffff, nil, fails(unix.ENOSYS)},
		{"fork", unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, allowed},
		{"thread", unix.SYS_CLONE, []uint64{0x3d0f00}, allowed},
		{"clone into a user namespace", unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, fails(unix.EPERM)},
		{"clone into a file tree", unix.SYS_CLONE, []uint64{unix.CLONE_NEWNS}, fails(unix.EPERM)},
		{"clone3", unix.SYS_CLONE3, nil, fails(unix.ENOSYS)},
		{"mount", unix.SYS_MOUNT, nil, fails(unix.EPERM)},
		{"ptrace", unix.SYS_PTRACE, nil, fails(unix.EPERM)},
		{"bpf", unix.SYS_BPF, nil, fails(unix.EPERM)},
		{"io_uring", unix.SYS_IO_URING_SETUP, nil, fails(unix.EPERM)},
		{"keyctl", unix.SYS_KEYCTL, nil, fails(unix.EPERM)},
		{"shared memory", unix.SYS_SHMGET, nil, fails(unix.EPERM)},
		{"memory without a name", unix.SYS_MEMFD_CREATE, nil, fails(unix.ENOSYS)},
		{"local socket", unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, allowed},
		{"internet socket", unix.SYS_SOCKET, []uint64{unix.AF_INET6}, allowed},
		{"socket to the host of a virtual machine", unix.SYS_SOCKET, []uint64{unix.AF_VSOCK}, fails(unix.EAFNOSUPPORT)},
		{"raw packets", unix.SYS_SOCKET, []uint64{unix.AF_PACKET}, fails(unix.EAFNOSUPPORT)},
		{"crypto socket", unix.SYS_SOCKET, []uint64{unix.AF_ALG}, fails(unix.EAFNOSUPPORT)},
		{"socket with a hidden high half", unix.SYS_SOCKET, []uint64{1<<32 | unix.AF_ALG}, fails(unix.EAFNOSUPPORT)},
		{"chmod 755", unix.SYS_FCHMODAT, []uint64{0, 0, 0o755}, allowed},
		{"chmod u+s", unix.SYS_FCHMODAT, []uint64{0, 0, 0o4755}, fails(unix.EPERM)},
		{"chmod g+s", unix.SYS_FCHMODAT2, []uint64{0, 0, 0o2755}, fails(unix.EPERM)},
		{"fchmod u+s", unix.SYS_FCHMOD, []uint64{3, 0o4755}, fails(unix.EPERM)},
		{"create u+s", unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT, 0o4755}, fails(unix.EPERM)},
		{"create", unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT, 0o644}, allowed},
		{"name a process", unix.SYS_PRCTL, []uint64{unix.PR_SET_NAME}, allowed},
		{"outlive the program", unix.SYS_PRCTL, []uint64{unix.PR_SET_PDEATHSIG}, fails(unix.EPERM)},
	} {
		if got := m.verdict(t, arch, c.call, c.args...); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
	for _, foreign := range []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_MIPS, 0} {
		if got := m.verdict(t, foreign, unix.SYS_READ); got != unix.SECCOMP_RET_KILL_PROCESS {
			t.Errorf("a call by the numbers of %#x: %#x", foreign, got)
		}
	}
	for _, call := range []uint32{ // whatever their arguments are
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN,
		unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_LISTNS, unix.SYS_FANOTIFY_INIT, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
		unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
		unix.SYS_IO_URING_REGISTER, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_LOOKUP_DCOOKIE, unix.SYS_SYSLOG, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL,
		unix.SYS_QUOTACTL_FD, unix.SYS_VHANGUP, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_NFSSERVCTL, unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY, unix.SYS_MIGRATE_PAGES,
		unix.SYS_MOVE_PAGES, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET,
	} {
		if got := m.verdict(t, arch, call); got != fails(unix.EPERM) {
			t.Errorf("call %d: %#x", call, got)
		}
	}
	for _, r := range refusals() { // each of them bites
		if got := m.verdict(t, arch, r.call, uint64(r.mask), uint64(r.mask), uint64(r.mask), uint64(r.mask)); got != fails(r.err) {
			t.Errorf("call %d: %#x, want %#x", r.call, got, fails(r.err))
		}
	}
}

func TestMountsAreFound(t *testing.T) {
	const info = `22 28 0:20 / /proc rw,relatime - proc proc rw
30 1 254:0 /usr /tmp/usr rw - ext4 /dev/vda rw
31 30 0:40 / /tmp/usr/local/my\040disk rw - tmpfs x rw
32 1 0:41 / /tmp/usrx rw - tmpfs x rw
short line
`
	got, err := readMounts(strings.NewReader(info), "/tmp/usr")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/tmp/usr", "/tmp/usr/local/my disk"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReleaseOfTheKernel(t *testing.T) {
	for release, want := range map[string]bool{"5.14.0-427.el9": true, "5.13.19": false, "6.1.0-rpi7-rpi-v8": true, "4.19": false, "10.0": true, "odd": false, "": false} {
		if got := atLeast(release, 5, 14); got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}

// A process chooses its own name, so its line in /proc is an attacker's.
func FuzzUse(f *testing.F) {
	f.Add("7 (sh) S 1 7 7 0 -1 4194560 97 0 0 0 0 0 0 0 30 10 3 0 100 2600000 250 18446744073709551615")
	f.Add("7 (a) R 1 (b) S 1 7 7 0 -1 4194560 97 0 0 0 0 0 0 0 30 10 3 0 100 2600000 250 1")
	f.Add(")")
	f.Add("")
	f.Fuzz(func(t *testing.T, line string) {
		use(line)
	})
}

func TestUseOfAProcess(t *testing.T) {
	for _, line := range []string{
		"7 (sh) S 1 7 7 0 -1 4194560 97 0 0 0 0 0 0 0 30 10 3 0 100 2600000 250 18446744073709551615",
		"7 (a) R 9 9 9 (b) S 1 7 7 0 -1 4194560 97 0 0 0 0 0 0 0 30 10 3 0 100 2600000 250 1",
	} {
		if threads, pages := use(line); threads != 3 || pages != 250 {
			t.Errorf("%s: %d threads, %d pages", line, threads, pages)
		}
	}
}
