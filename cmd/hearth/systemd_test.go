package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hearth/vault"
)

// manager plays systemd's end of the notify socket.
type manager struct {
	path  string
	heard chan string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	m := &manager{path: filepath.Join(t.TempDir(), "notify"), heard: make(chan string, 1000)}
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		b := make([]byte, 1000)
		for {
			n, err := l.Read(b)
			if err != nil {
				return
			}
			m.heard <- string(b[:n])
		}
	}()
	return m
}

// hears waits for a word, and gives what was said before it.
func (m *manager) hears(t *testing.T, word string) (before []string) {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		select {
		case said := <-m.heard:
			if said == word {
				return before
			}
			before = append(before, said)
		case <-limit.C:
			t.Fatalf("systemd does not hear %s within 20 s, only %v", word, before)
		}
	}
}

// quiet tells whether nothing is said for a while.
func (m *manager) quiet(long time.Duration) bool {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-m.heard:
		return false
	case <-timer.C:
		return true
	}
}

func TestSystemdHearsReadyAliveAndStopping(t *testing.T) {
	h := newHome(t, "", "")
	m := newManager(t)
	daemon := h.begin([]string{"NOTIFY_SOCKET=" + m.path, "WATCHDOG_USEC=200000"}, "run")
	before := m.hears(t, "READY=1")
	if !h.ready() {
		t.Error("it says that it is ready, and is not")
	}
	// The watchdog may be a moment faster than the last part; nothing else comes first.
	if i := slices.IndexFunc(before, func(said string) bool { return said != "WATCHDOG=1" }); i >= 0 {
		t.Errorf("before it is ready it says %q", before[i])
	}
	for range 3 {
		m.hears(t, "WATCHDOG=1")
	}
	if err := daemon.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	m.hears(t, "STOPPING=1")
	if code := daemon.wait(10 * time.Second); code != 0 || time.Since(began) > 10*time.Second {
		t.Errorf("exit %d after %s", code, time.Since(began))
	}
}

// A vault whose writer is stuck stops the pings, though it can still be read, and they go on when it does.
func TestAStuckVaultStopsTheWatchdog(t *testing.T) {
	m := newManager(t)
	t.Setenv("NOTIFY_SOCKET", m.path)
	t.Setenv("WATCHDOG_USEC", "20000")
	v := bench(t).vault
	a := &agent{vault: v, log: logger{Logger: slog.New(slog.DiscardHandler)}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.watchdog(ctx) }()
	m.hears(t, "WATCHDOG=1")
	stuck, release, freed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { freed <- holdWriter(v, stuck, release) }()
	<-stuck
	said := 0
	for ; said < 20 && !m.quiet(200*time.Millisecond); said++ { // one or two may be under way
	}
	if said == 20 {
		t.Error("it is said to be alive while its vault is stuck")
	}
	close(release)
	if err := <-freed; err != nil {
		t.Fatal(err)
	}
	m.hears(t, "WATCHDOG=1")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// units are the services of docs/systemd, by the path of the program in them.
var units = map[string]string{"hearth.service": "/usr/local/bin/hearth", "user/hearth.service": "%h/.local/bin/hearth"}

// unitSettings reads a unit: every value of every name.
func unitSettings(body string) map[string][]string {
	found := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^([A-Za-z]+)=(.*)$`).FindAllStringSubmatch(body, -1) {
		found[m[1]] = append(found[m[1]], m[2])
	}
	return found
}

func TestUnitsKeepWhatTheProgramPromises(t *testing.T) {
	for name, program := range units {
		unit := unitSettings(readDoc(t, "systemd/"+name))
		for setting, want := range map[string]string{
			"Type": "notify", "ExecStart": program + " run", "Restart": "always", "KillMode": "mixed", "NoNewPrivileges": "yes", "UMask": "0077",
			"RestartPreventExitStatus": fmt.Sprintf("%d %d %d", exitUsage, exitLocked, exitDamaged),
		} {
			if got := strings.Join(unit[setting], ";"); got != want {
				t.Errorf("%s: %s is %q, want %q", name, setting, got, want)
			}
		}
		if len(unit["WatchdogSec"]) != 1 {
			t.Errorf("%s has no watchdog", name)
		}
		if stop, err := time.ParseDuration(unit["TimeoutStopSec"][0] + "s"); err != nil || stop < 10*time.Second {
			t.Errorf("%s gives it %s to end, which may take 10 s: %v", name, stop, err)
		}
		// Each would make the sandbox of run_command impossible.
		for _, wrong := range []string{
			"RestrictNamespaces", "ProtectKernelTunables", "ProtectKernelLogs", "ProtectHostname", "ProtectProc", "ProcSubset", "MemoryDenyWriteExecute", "PrivateUsers", "RootDirectory",
		} {
			if len(unit[wrong]) > 0 {
				t.Errorf("%s sets %s", name, wrong)
			}
		}
		for _, families := range unit["RestrictAddressFamilies"] {
			if families != "AF_UNIX AF_INET AF_INET6 AF_NETLINK" {
				t.Errorf("%s allows the address families %s", name, families)
			}
		}
		for _, filter := range unit["SystemCallFilter"] {
			if !strings.HasPrefix(filter, "~") || strings.Contains(filter, "@mount") || strings.Contains(filter, "@privileged") || strings.Contains(filter, "@sandbox") {
				t.Errorf("%s filters %s", name, filter)
			}
		}
	}
}

// systemd itself finds nothing wrong, and nothing it does not know.
func TestUnitsAreTakenBySystemd(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	for name, program := range units {
		// The check wants a program that exists; which one does not matter to it.
		body := strings.ReplaceAll(readDoc(t, "systemd/"+name), program, "/bin/true")
		path := filepath.Join(t.TempDir(), "hearth.service")
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"verify", "--man=no", path}
		if strings.HasPrefix(name, "user/") {
			args = append([]string{"--user"}, args...)
		}
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if strings.HasPrefix(name, "user/") {
			continue
		}
		rated := exec.CommandContext(t.Context(), tool, "security", "--offline=true", "--threshold=40", "--no-pager", path)
		if out, err := rated.CombinedOutput(); err != nil {
			t.Errorf("%s is rated worse than 4.0: %v\n%s", name, err, out)
		}
	}
}

// What the README says about the service is what lies in docs.
func TestTheServiceOfTheREADMEExists(t *testing.T) {
	page := readDoc(t, "../README.md")
	shown := regexp.MustCompile(`docs/systemd/[a-z/.]+\.service`).FindAllString(page, -1)
	for name := range units {
		if !slices.Contains(shown, "docs/systemd/"+name) {
			t.Errorf("the README does not name docs/systemd/%s", name)
		}
	}
	for _, path := range shown {
		if _, err := os.Stat("../../" + path); err != nil {
			t.Errorf("the README names %s: %v", path, err)
		}
	}
	system := unitSettings(readDoc(t, "systemd/hearth.service"))
	for _, words := range []string{"/var/lib/" + system["StateDirectory"][0], system["User"][0], "/usr/local/bin/hearth", "~/.local/bin/hearth"} {
		if !strings.Contains(page, words) {
			t.Errorf("the README does not say %s", words)
		}
	}
}

// holdWriter keeps the vault's writer until it is released.
func holdWriter(v *vault.Vault, stuck, release chan struct{}) error {
	return v.Do(context.Background(), "stuck", func(*vault.Tx) error {
		close(stuck)
		<-release
		return nil
	})
}
