//go:build linux && (amd64 || arm64 || arm)

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func asUnavailable(err error, to **UnavailableError) bool { return errors.As(err, to) }

// in runs a command in a box with short limits.
func in(t *testing.T, b Box, command string) Report {
	t.Helper()
	if b.Work == "" {
		b.Work = t.TempDir()
	}
	if b.Limits.Time == 0 {
		b.Limits.Time = 30 * time.Second
	}
	report, err := b.Run(t.Context(), command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return report
}

// refused runs commands in one box, one after the other, and wants all of them to fail. It gives all they say.
func refused(t *testing.T, b Box, commands []string) string {
	t.Helper()
	var script strings.Builder
	for i, c := range commands {
		fmt.Fprintf(&script, "( %s ) && echo \"works: %d.\"\n", c, i)
	}
	out := string(in(t, b, script.String()).Output)
	for i, c := range commands {
		if strings.Contains(out, fmt.Sprintf("works: %d.", i)) {
			t.Errorf("%s works", c)
		}
	}
	if !strings.Contains(string(in(t, b, "( true ) && echo works: 0.").Output), "works: 0.") {
		t.Error("what works is not seen")
	}
	return out
}

// outsider is a file that no command may see, with its secret.
func outsider(t *testing.T) (path, secret string) {
	t.Helper()
	path, secret = filepath.Join(t.TempDir(), "token"), "CANARY-5512"
	if err := os.WriteFile(path, []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, secret
}

func TestSEC17CommandHasNothingOfTheProgram(t *testing.T) {
	path, secret := outsider(t)
	t.Setenv("MODEL_KEY", secret)
	leak, err := unix.Open(path, unix.O_RDONLY, 0) // without O_CLOEXEC, as whoever started the program may have left one
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(leak) }()
	work := t.TempDir()

	out := string(in(t, Box{Work: work}, "env | sort; echo; ls /proc/self/fd | tr '\\n' ' '; cat <&"+fmt.Sprint(leak)).Output)
	want := "HOME=" + work + "\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin\nPWD=" + work + "\nTERM=dumb\n\n0 1 2 3 "
	if got, _, _ := strings.Cut(out, "sh:"); got != want { // 3 is the folder that ls reads
		t.Errorf("it has\n%s\nnot\n%s", out, want)
	}

	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	out = refused(t, Box{Work: work}, []string{
		"cat " + path, "cat " + filepath.Dir(path) + "/*", "ls " + home + "/.config", "cat /etc/shadow", "cat /etc/hostname",
		fmt.Sprintf("cat /proc/%d/environ", os.Getpid()), fmt.Sprintf("ls /proc/%d/root/", os.Getpid()), "cat /proc/sys/kernel/core_pattern",
		"ls /sys/class", "ls /run/user", "ls /var/lib", "ls /home/", "cat /proc/1/root" + path, "cat ../token", "ls /dev/sda /dev/vda /dev/tty /dev/mem",
	})
	if strings.Contains(out, secret) {
		t.Errorf("it reads what is outside: %s", out)
	}
	if out := in(t, Box{Work: work}, "cat /proc/[0-9]*/comm | sort -u; hostname").Output; strings.Contains(string(out), "sandbox.test") {
		t.Errorf("it sees processes of the outside: %s", out)
	}
}

func TestSEC17NetworkIsRefused(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("bash is not installed, and the shell has no network of its own")
	}
	tcp, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tcp.Close() }()
	hits := make(chan string, 10)
	go func() {
		for {
			c, err := tcp.Accept()
			if err != nil {
				return
			}
			hits <- c.RemoteAddr().String()
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	bash := func(address string) string {
		return fmt.Sprintf("bash -c 'exec 5<>/dev/tcp/%s'", address)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", bash("127.0.0.1/"+port)).CombinedOutput(); err != nil {
		t.Fatalf("the outside cannot connect either: %v %s", err, out)
	}
	<-hits
	for address, want := range map[string]string{"127.0.0.1/" + port: "refused", "192.0.2.1/80": "unreachable", "169.254.169.254/80": "unreachable"} {
		r := in(t, Box{}, bash(address))
		if r.Exit == 0 || !strings.Contains(string(r.Output), want) {
			t.Errorf("connecting to %s gives %d %s, want %s", address, r.Exit, r.Output, want)
		}
	}
	if len(hits) > 0 {
		t.Errorf("a connection came through from %s", <-hits)
	}
}

func TestCommandWorksInItsFolderOnly(t *testing.T) {
	work, extra := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(extra, "notes"), []byte("read me"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := in(t, Box{Work: work, ReadOnly: []string{extra, "/nowhere"}}, "echo mark >> done.txt; echo '#!/bin/sh\necho ran' > s; chmod +x s; ./s; pwd; cat "+extra+"/notes; exit 3")
	if want := "ran\n" + work + "\nread me"; string(r.Output) != want || r.Exit != 3 || r.Ended != "" {
		t.Errorf("%+v %s, want %s", r, r.Output, want)
	}
	if data, err := os.ReadFile(filepath.Join(work, "done.txt")); err != nil || string(data) != "mark\n" {
		t.Errorf("the file holds %q (%v)", data, err)
	}
	if info, err := os.Stat(filepath.Join(work, "done.txt")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file can be read by others: %v", info.Mode())
	}
	refused(t, Box{Work: work, ReadOnly: []string{extra}}, []string{
		"test -w /usr", "touch /x", "touch /etc/x", "mkdir /root", "touch " + extra + "/x", "chmod 000 " + extra + "/notes", "test -w /bin/sh", "chmod 666 /dev/null",
		"touch /dev/x", "echo 0 > /proc/self/oom_score_adj", "mv " + work + " /tmp/w",
	})
	if r := in(t, Box{Work: work}, "echo x > /tmp/mine; cat /tmp/mine"); r.Exit != 0 {
		t.Errorf("there is no /tmp: %s", r.Output)
	}
	if r := in(t, Box{Work: work}, "cat /tmp/mine"); r.Exit == 0 {
		t.Error("/tmp is not private to one command")
	}
	if r := in(t, Box{Work: work}, "ls -A /tmp"); !strings.HasPrefix(work, strings.TrimSpace("/tmp/"+string(r.Output))) {
		t.Errorf("it sees the /tmp of the outside: %s", r.Output)
	}
}

func TestCommandHasNoRights(t *testing.T) {
	work := t.TempDir()
	copyTo(t, filepath.Join(work, "probe.test"))
	status := string(in(t, Box{Work: work}, "cat /proc/self/status; cat /proc/self/oom_score_adj").Output)
	for _, want := range []string{"CapInh:\t0000000000000000", "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2", "Uid:\t1000\t1000", "\n1000\n"} {
		if !strings.Contains(status, want) {
			t.Errorf("its status lacks %q:\n%s", want, status)
		}
	}
	for name, want := range map[string]string{
		"vsock": "address family not supported by protocol", "netlink": "address family not supported by protocol", "unix": "<nil>",
		"userns": "operation not permitted", "clone-userns": "operation not permitted", "setuid-file": "operation not permitted",
		"keyring": "operation not permitted", "memfd": "function not implemented", "outlive": "operation not permitted",
		"rename-process": "<nil>", "new-call": "function not implemented",
	} {
		if got := string(in(t, Box{Work: work}, "./probe.test probe "+name).Output); got != want {
			t.Errorf("%s gives %q, want %q", name, got, want)
		}
	}
	refused(t, Box{Work: work}, []string{
		"unshare -U true", "mount -t tmpfs x /tmp", "umount /proc", "chroot /tmp true", "mknod /tmp/d c 1 3", "renice -n -5 $$", "ulimit -f unlimited",
	})
}

// copyTo puts this test's binary where a command finds it.
func copyTo(t *testing.T, path string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}

// lifeline makes a pipe with a name in a folder. A process that reads it shows that it lives.
func lifeline(t *testing.T, work string) (held func() bool) {
	t.Helper()
	path := filepath.Join(work, "lifeline")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return !errors.Is(err, unix.ENXIO)
	}
}

const (
	// Opening for both ways does not wait for a writer.
	stayBehind = "setsid nohup sh -c 'exec 3<>lifeline; echo up >&2; exec sleep 1000' & "
	holdOn     = "exec 3<>lifeline; echo up; exec sleep 1000"
)

func TestTimeLimitEndsGrandchildren(t *testing.T) {
	work := t.TempDir()
	held := lifeline(t, work)
	began := time.Now()
	r := in(t, Box{Work: work, Limits: Limits{Time: time.Second}}, stayBehind+"trap '' TERM INT HUP; while :; do sleep 1; done")
	if r.Ended != OutOfTime || r.Exit != -1 || !strings.Contains(string(r.Output), "up") {
		t.Errorf("%+v %s", r, r.Output)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if held() {
		t.Error("a grandchild lives")
	}
}

func TestWhatIsLeftInTheBackgroundEndsWithTheCommand(t *testing.T) {
	work := t.TempDir()
	held := lifeline(t, work)
	r := in(t, Box{Work: work}, stayBehind+"until [ -s up ]; do echo x > up; done; exit 0")
	if r.Exit != 0 || r.Ended != "" || held() {
		t.Errorf("%+v %s; it lives: %v", r, r.Output, held())
	}
}

func TestCancelledCommandEnds(t *testing.T) {
	work := t.TempDir()
	held := lifeline(t, work)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("a person said stop")
	go func() {
		poll(20*time.Second, held)
		cancel(why)
	}()
	if _, err := (Box{Work: work}).Run(ctx, holdOn); !errors.Is(err, why) {
		t.Errorf("it ends with %v", err)
	}
	if held() {
		t.Error("it lives")
	}
	if _, err := (Box{Work: work}).Run(ctx, "touch late"); !errors.Is(err, why) {
		t.Errorf("one that is cancelled before it begins ends with %v", err)
	}
	if _, err := os.Stat(filepath.Join(work, "late")); err == nil {
		t.Error("it ran all the same")
	}
}

// What kill -9 leaves of the program must not leave its commands.
func TestCommandEndsWithTheProgram(t *testing.T) {
	work := t.TempDir()
	held := lifeline(t, work)
	program := exec.CommandContext(t.Context(), "/proc/self/exe", "run", holdOn)
	program.Dir = work
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Process.Kill(); _ = program.Wait() }()
	wait(t, "the command to begin", held)
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait(t, "the command to end", func() bool { return !held() })
}

func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	if !poll(20*time.Second, is) {
		t.Fatalf("gave up waiting for %s", what)
	}
}

// poll asks until it is so, or until the time is over.
func poll(most time.Duration, is func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); !is(); <-tick.C {
		if time.Since(began) > most {
			return false
		}
	}
	return true
}

func TestLimits(t *testing.T) {
	bomb := "b() { b | b & }; b; while :; do sleep 1; done"
	for name, c := range map[string]struct {
		limits  Limits
		command string
		want    []Reason
		most    int // bytes of output
	}{
		"output flood":    {Limits{Output: 5000}, "yes", []Reason{OutOfOutput}, 5000},
		"endless in all":  {Limits{Output: 5000}, "while :; do yes & done", []Reason{OutOfOutput, OutOfProcesses}, 5000},
		"fork bomb":       {Limits{Processes: 40, Time: 2 * time.Second}, bomb, []Reason{OutOfProcesses, OutOfTime, OutOfOutput}, 1 << 20},
		"memory":          {Limits{Memory: 64 << 20}, "tail /dev/zero", []Reason{OutOfMemory}, 1000},
		"memory of many":  {Limits{Memory: 64 << 20}, "for i in 1 2 3 4; do head -c 40m /dev/zero | tail -c 40m | sleep 20 & done; wait", []Reason{OutOfMemory}, 1000},
		"disk":            {Limits{DiskFree: 1 << 60}, "sleep 20", []Reason{OutOfDisk}, 1000},
		"none of them":    {Limits{}, "echo fine", []Reason{""}, 5},
		"processor, idle": {Limits{Time: time.Second}, "sleep 20", []Reason{OutOfTime}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			r := in(t, Box{Limits: c.limits}, c.command)
			if !slices.Contains(c.want, r.Ended) || len(r.Output) > c.most {
				t.Errorf("it was ended by %q with %d bytes, exit %d: %.300s", r.Ended, len(r.Output), r.Exit, r.Output)
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	t.Run("file", func(t *testing.T) {
		work := t.TempDir()
		in(t, Box{Work: work, Limits: Limits{File: 4096}}, "head -c 100000 /dev/zero > big")
		if info, err := os.Stat(filepath.Join(work, "big")); err != nil || info.Size() > 4096 {
			t.Errorf("it wrote %d bytes (%v)", info.Size(), err)
		}
	})
	t.Run("temp", func(t *testing.T) {
		if r := in(t, Box{Limits: Limits{Temp: 64 << 10}}, "head -c 1000000 /dev/zero > /tmp/big"); r.Exit == 0 {
			t.Error("/tmp has no bound")
		}
	})
	t.Run("files open", func(t *testing.T) {
		if r := in(t, Box{}, "ulimit -n; ulimit -c"); string(r.Output) != "256\n0\n" {
			t.Errorf("the limits are %s", r.Output)
		}
	})
}

// Where the kernel allows no namespaces nothing is run, and the owner learns what to do.
func TestNothingRunsWithoutASandbox(t *testing.T) {
	work := t.TempDir()
	program := exec.CommandContext(t.Context(), "/proc/self/exe", "run-forbidden", "touch ran")
	program.Dir = work
	program.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := program.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 99 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"make namespaces", "mend: This system allows no user namespaces: sudo sysctl -w user.max_user_namespaces"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it says %s, without %q", out, want)
		}
	}
	if _, err := os.Stat(filepath.Join(work, "ran")); err == nil {
		t.Error("the command ran")
	}
	if err := Try(t.Context(), work); err != nil {
		t.Errorf("trying where it works: %v", err)
	}
	if _, err := (Box{Work: filepath.Join(work, "not there")}).Run(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), "not there") {
		t.Errorf("without its folder: %v", err)
	}
	for _, b := range []Box{{Work: "relative"}, {}} {
		if _, err := b.Run(t.Context(), "true"); err == nil {
			t.Errorf("%+v runs", b)
		}
	}
	if _, err := (Box{Work: work}).Run(t.Context(), "true\x00false"); err == nil {
		t.Error("a zero byte is taken")
	}
}

// nobody is a user without any rights on most systems.
const nobody = 65534

// The same as an ordinary user, when the tests have the right to become one.
func TestWorksForAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the other tests run as an ordinary user already")
	}
	dir, err := os.MkdirTemp("", "sandbox-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	tests := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v", "-test.run", "SEC17|CommandWorks|NoRights|TimeLimit|EndsWithTheProgram|TestLimits/(fork|memory)|WithoutASandbox")
	tests.Dir, tests.Env = dir, []string{"TMPDIR=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	tests.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := tests.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") < 8 {
		t.Errorf("%v\n%s", err, out)
	}
}

func BenchmarkRun(b *testing.B) {
	work := b.TempDir()
	for b.Loop() {
		if _, err := (Box{Work: work}).Run(b.Context(), "exit 0"); err != nil {
			b.Fatal(err)
		}
	}
}
