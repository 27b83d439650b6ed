package sandbox

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_AARCH64

// There are none here.
const (
	privateCalls = 0xffff0000
	lastPrivate  = 0
)

// ownRefusals are of calls that the other instruction sets have not got.
func ownRefusals() []refusal {
	return always(unix.EPERM, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_MEMFD_SECRET)
}
