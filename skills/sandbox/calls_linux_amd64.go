package sandbox

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_X86_64

// There are none here: a number above all known ones that is none of the x32 ones either.
const (
	privateCalls = 0xffff0000
	lastPrivate  = 0
)

// ownRefusals are of calls that the other instruction sets have not got.
func ownRefusals() []refusal {
	return append(
		always(
			unix.EPERM,
			unix.SYS_IOPERM, unix.SYS_IOPL, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE,
			unix.SYS_KEXEC_FILE_LOAD, unix.SYS_MEMFD_SECRET,
		),
		refusal{call: unix.SYS_CHMOD, err: unix.EPERM, arg: 1, mask: setID},
		refusal{call: unix.SYS_CREAT, err: unix.EPERM, arg: 1, mask: setID},
		refusal{call: unix.SYS_OPEN, err: unix.EPERM, arg: 2, mask: setID},
		refusal{call: unix.SYS_MKNOD, err: unix.EPERM, arg: 1, mask: setID},
	)
}
