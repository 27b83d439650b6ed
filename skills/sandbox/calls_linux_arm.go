package sandbox

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_ARM

// The kernel's own calls for ARM: breakpoint, cacheflush, usr26, usr32, set_tls, get_tls. Programs need them to start.
const (
	privateCalls = 0x0f0001
	lastPrivate  = 5
)

// ownRefusals are of calls that the other instruction sets have not got.
func ownRefusals() []refusal {
	return append(
		always(unix.EPERM, unix.SYS_USELIB, unix.SYS__SYSCTL, unix.SYS_CLOCK_SETTIME64, unix.SYS_CLOCK_ADJTIME64),
		refusal{call: unix.SYS_CHMOD, err: unix.EPERM, arg: 1, mask: setID},
		refusal{call: unix.SYS_CREAT, err: unix.EPERM, arg: 1, mask: setID},
		refusal{call: unix.SYS_OPEN, err: unix.EPERM, arg: 2, mask: setID},
		refusal{call: unix.SYS_MKNOD, err: unix.EPERM, arg: 1, mask: setID},
	)
}
