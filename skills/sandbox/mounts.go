//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// base is where the new tree is built. What stands there before is opened first.
const base = "/tmp"

// What a command can read of the system: programs, and the few settings that programs do not start without. None of it
// holds a secret.
var (
	systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"}
	systemFiles   = []string{
		"/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
		"/etc/ca-certificates", "/etc/pki/tls/certs",
	}
	devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	links   = map[string]string{"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2"}
	texts   = map[string]string{
		"/etc/passwd": "hearth:x:1000:1000::/:/bin/sh\n", "/etc/group": "hearth:x:1000:\n", "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
	}
)

// source is something of the outside that will be seen inside, held open from before it is covered.
type source struct {
	path   string
	fd     int
	folder bool
	flags  uintptr // of its mount, besides those it has outside
}

const still = unix.MS_NOSUID | unix.MS_NODEV

// buildTree makes a root of its own out of what the box grants, and leaves the old one.
func buildTree(b Box) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("part from the outside: %w", err)
	}
	sources, symlinks, err := b.sources()
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", base, "tmpfs", still, "size=2m,mode=755"); err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	for path, target := range symlinks {
		if err := errors.Join(os.MkdirAll(base+filepath.Dir(path), 0o755), os.Symlink(target, base+path)); err != nil {
			return err
		}
	}
	for path, text := range texts {
		if err := errors.Join(os.MkdirAll(base+filepath.Dir(path), 0o755), os.WriteFile(base+path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	if err := b.ownFolders(); err != nil {
		return err
	}
	for _, s := range sources {
		if err := s.mount(); err != nil {
			return fmt.Errorf("show %s: %w", s.path, err)
		}
	}
	if err := mountProc(); err != nil {
		return err
	}
	if err := unix.Mount("", base, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|still, ""); err != nil {
		return fmt.Errorf("close the root: %w", err)
	}
	return enter(b.Work)
}

// ownFolders are private to one command and gone after it.
func (b Box) ownFolders() error {
	for path, size := range map[string]int64{"/tmp": b.Limits.Temp, "/dev/shm": 16 << 20} {
		if err := os.MkdirAll(base+path, 0o755); err != nil {
			return err
		}
		if err := unix.Mount("tmpfs", base+path, "tmpfs", still, fmt.Sprintf("size=%d,nr_inodes=16k,mode=1777", size)); err != nil {
			return fmt.Errorf("make %s: %w", path, err)
		}
	}
	return nil
}

// mountProc shows the sandbox's own processes and nothing else of the kernel. Read-only: to the kernel, a command that
// root's agent runs is still root's, and the files under /proc/sys ask for no more than that.
func mountProc() error {
	target := base + "/proc"
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	const flags = still | unix.MS_NOEXEC | unix.MS_RDONLY
	err := unix.Mount("proc", target, "proc", flags, "subset=pid")
	if errors.Is(err, unix.EINVAL) { // before Linux 5.8
		err = unix.Mount("proc", target, "proc", flags, "")
	}
	if err != nil {
		return fmt.Errorf("make /proc: %w", err)
	}
	return nil
}

// enter makes the new tree the only one.
func enter(work string) error {
	if err := unix.Chdir(base); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the old root now lies over the new one
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	return unix.Chdir(work)
}

// sources opens all that is granted. Parts of the system that are links, as /bin is on most, stay links.
func (b Box) sources() (out []source, symlinks map[string]string, err error) {
	symlinks = map[string]string{}
	for path, target := range links {
		symlinks[path] = target
	}
	for _, path := range slices.Concat(systemFolders, systemFiles) {
		if target, err := os.Readlink(path); err == nil {
			symlinks[path] = target
			continue
		}
		if out, err = appendSource(out, path, still|unix.MS_RDONLY, false); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range devices { // read-only: devices can be written to all the same, but their modes not changed
		if out, err = appendSource(out, path, unix.MS_NOSUID|unix.MS_NOEXEC|unix.MS_RDONLY, false); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range b.ReadOnly {
		if out, err = appendSource(out, filepath.Clean(path), still|unix.MS_RDONLY, false); err != nil {
			return nil, nil, err
		}
	}
	out, err = appendSource(out, filepath.Clean(b.Work), still, true)
	return out, symlinks, err
}

func appendSource(out []source, path string, flags uintptr, needed bool) ([]source, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) && !needed {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err)
	}
	return append(out, source{path: path, fd: fd, folder: stat.Mode&unix.S_IFMT == unix.S_IFDIR, flags: flags}), nil
}

// mount shows a source under its own path, with all that is mounted below it.
func (s source) mount() error {
	target := base + s.path
	var err error
	if s.folder {
		err = os.MkdirAll(target, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(target), 0o755); err == nil {
		err = os.WriteFile(target, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", s.fd), target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	points, err := mountsUnder(target)
	if err != nil {
		return err
	}
	for _, point := range points {
		var now unix.Statfs_t
		if err := unix.Statfs(point, &now); err != nil {
			return err
		}
		// What the outside forbids must be said again, or the kernel refuses the change.
		kept := uintptr(now.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_RDONLY)
		if err := unix.Mount("", point, "", unix.MS_BIND|unix.MS_REMOUNT|s.flags|kept, ""); err != nil {
			return fmt.Errorf("restrict %s: %w", strings.TrimPrefix(point, base), err)
		}
	}
	return nil
}

// mountsUnder gives the mount points at and below a path.
func mountsUnder(path string) ([]string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readMounts(f, path)
}

func readMounts(from io.Reader, path string) ([]string, error) {
	var out []string
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		if point := unescape.Replace(fields[4]); point == path || strings.HasPrefix(point, path+"/") {
			out = append(out, point)
		}
	}
	return out, lines.Err()
}
