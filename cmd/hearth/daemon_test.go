package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestDUR17SecondStartIsRefusedAndNamesTheFirst(t *testing.T) {
	h := newHome(t, "", "")
	first := h.daemon()
	second := h.begin(nil, "run")
	if code := second.wait(3 * time.Second); code != 3 {
		t.Errorf("the second start exits %d:\n%s", code, second.log)
	}
	if want := fmt.Sprintf("in use by hearth run, process %d", first.cmd.Process.Pid); !strings.Contains(second.log.String(), want) {
		t.Errorf("it says %q, not %q", second.log, want)
	}
	if !h.ready() {
		t.Error("the first one is gone")
	}
	if code := first.term(); code != 0 {
		t.Errorf("the first one exits %d", code)
	}
}

// A chat of its own has the vault for as long as it lasts: the daemon waits for it, but not for ever.
func TestRunWaitsForAChatThatHoldsTheVault(t *testing.T) {
	h := newHome(t, "", "")
	input, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	chat := h.command(t.Context(), "chat")
	screen := &buffer{}
	chat.Stdin, chat.Stdout, chat.Stderr = input, screen, screen
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the chat greets", func() bool { return strings.Contains(screen.String(), "This is Hearth") })

	code, _, stderr := h.run("jobs")
	if code != 3 || !strings.Contains(stderr, "in use by hearth chat, process") {
		t.Errorf("jobs beside a chat: exit %d, %q", code, stderr)
	}
	daemon := h.begin(nil, "run")
	if _, err := io.WriteString(typing, "remember that the gate is blue\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the chat answers", func() bool { return strings.Contains(screen.String(), "Noted (memory 1)") })
	if err := typing.Close(); err != nil {
		t.Fatal(err)
	}
	if err := chat.Wait(); err != nil || !strings.Contains(screen.String(), "Bye.") {
		t.Errorf("the chat ends with %v: %q", err, screen)
	}
	eventually(t, "the daemon has the vault", h.ready)
	if code := daemon.term(); code != 0 {
		t.Errorf("the daemon exits %d:\n%s", code, daemon.log)
	}
}

func TestDUR14NewerVaultIsRefusedAndLeftAlone(t *testing.T) {
	h := newHome(t, "", "")
	h.ok("status")
	path := filepath.Join(h.vault(), "vault.db")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	version := binary.BigEndian.Uint32(file[60:]) // PRAGMA user_version
	binary.BigEndian.PutUint32(file[60:], version+1000)
	h.write("v/vault.db", string(file))
	before := sha256.Sum256(file)
	for _, args := range [][]string{{"run"}, {"status"}, {"jobs", "list", "--json"}, {"chat", "-m", "hello"}, {"doctor"}} {
		code, out, stderr := h.run(args...)
		said := out + stderr
		if code != 4 || !strings.Contains(said, fmt.Sprint(version+1000)) || !strings.Contains(said, fmt.Sprintf("up to %d", version)) {
			t.Errorf("%v: exit %d, %q", args, code, said)
		}
		if sha256.Sum256([]byte(h.read("v/vault.db"))) != before {
			t.Fatalf("%v changed the file", args)
		}
	}
}

func TestDUR13DamagedVaultIsNamedAndKept(t *testing.T) {
	h := newHome(t, "", "")
	h.ok("status")
	for i := range 2 {
		h.ok("jobs", "add", "tomorrow at 9", fmt.Sprintf("task %d %s", i, strings.Repeat("padding ", 600)))
	}
	sound := h.read("v/vault.db")
	for name, page := range map[string]int{"first page": 0, "a page in the middle": damageable(t, sound)} {
		t.Run(name, func(t *testing.T) {
			broken := []byte(sound)
			copy(broken[page*4096:], bytes.Repeat([]byte{0xa5}, 4096))
			h.write("v/vault.db", string(broken))
			daemon := h.begin(nil, "run")
			if code := daemon.wait(10 * time.Second); code != 4 {
				t.Errorf("run exits %d:\n%s", code, daemon.log)
			}
			said := daemon.log.String()
			if !strings.Contains(said, "vault.db is damaged") || !strings.Contains(said, " restore FILE`") || strings.Contains(said, "panic") || strings.Count(said, "\n") > 20 {
				t.Errorf("it says:\n%s", said)
			}
			if code, out, _ := h.run("doctor"); code == 0 || !strings.Contains(out, "damaged") {
				t.Errorf("doctor exits %d:\n%s", code, out)
			}
			if !strings.Contains(h.read("v/vault.db"), strings.Repeat("\xa5", 4096)) {
				t.Error("the damaged file is gone")
			}
		})
	}
}

// damageable finds a page of the job table: it holds what was written last.
func damageable(t *testing.T, file string) int {
	t.Helper()
	at := strings.Index(file, "task 0 padding")
	if at < 0 {
		t.Fatal("no page holds the job")
	}
	return at / 4096
}

// Eight people write at once while reminders fire and searches run. The acceptance case does the same over Telegram.
func TestDUR10EightChatsAtOnce(t *testing.T) {
	config := "people: [{name: P0, role: owner}"
	for i := 1; i < 8; i++ {
		config += fmt.Sprintf(", {name: P%d}", i)
	}
	h := newHome(t, "", config+"]\ngateways: {burst: 0s}\n")
	daemon := h.daemon()
	const turns = 50
	var talking sync.WaitGroup
	people := make([]*chatter, 8)
	for i := range people {
		people[i] = h.open(fmt.Sprintf("P%d", i))
		talking.Go(func() {
			for n := range turns {
				id := fmt.Sprintf("p%dn%d", i, n)
				words := "remember that token " + id + " is mine"
				switch n % 10 {
				case 3:
					words = fmt.Sprintf("/remind in 1 second, tick %s", id)
				case 7:
					words = "what do you know about token"
				}
				if answer := people[i].ask(words, id); answer == "" {
					t.Errorf("no answer to %q", words)
				}
			}
		})
	}
	for range 10 {
		var found []memoryRow
		if err := newClient(h.socket()).get(t.Context(), viewMemorySearch.path, query{Text: "token"}.values(), &found); err != nil {
			t.Error(err)
		}
	}
	talking.Wait()
	for i, p := range people {
		for n := 3; n < turns; n += 10 {
			eventually(t, "the reminder comes", func() bool {
				return slices.ContainsFunc(p.all(), regexp.MustCompile(fmt.Sprintf(`^Reminder \d+: tick p%dn%d\b`, i, n)).MatchString)
			})
		}
	}
	if found := ask(h, viewMemory, query{}); len(found) != 8*turns*8/10 {
		t.Errorf("%d memories", len(found))
	}
	if code := daemon.term(); code != 0 {
		t.Errorf("the daemon exits %d", code)
	}
	if log := daemon.log.String(); strings.Contains(log, "locked") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestStopIsQuickAndSaysGoodbye(t *testing.T) {
	h := newHome(t, "", "")
	daemon := h.daemon()
	h.open("Ana") // an open chat must not hold it up
	began := time.Now()
	if code := daemon.term(); code != 0 || time.Since(began) > 10*time.Second {
		t.Errorf("exit %d after %s", code, time.Since(began))
	}
	if _, err := os.Stat(h.socket()); err == nil {
		t.Error("the socket is still there")
	}
	for _, want := range []string{"hearth is starting", "hearth has ended"} {
		if !strings.Contains(daemon.log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, daemon.log)
		}
	}
}

func TestSocketIsForItsOwnerAndADeadOneIsReplaced(t *testing.T) {
	h := newHome(t, "", "")
	h.daemon().kill()
	info, err := os.Stat(h.socket())
	if err != nil {
		t.Fatal("the dead daemon left no socket: the test needs one")
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	h.daemon()
	if h.ok("status") == "" {
		t.Error("nothing answers")
	}
}

func TestLongPathPutsTheSocketIntoTheRuntimeFolder(t *testing.T) {
	h := newHome(t, "", "")
	deep := filepath.Join(h.dir, strings.Repeat("d", 100))
	h.write("hearth.yaml", fmt.Sprintf("people: [{name: Ana, role: owner}]\nvault: {dir: %q}\n", deep))
	refused := h.begin(nil, "run")
	if code := refused.wait(5 * time.Second); code != 1 || !strings.Contains(refused.log.String(), "XDG_RUNTIME_DIR") {
		t.Errorf("without a runtime folder: exit %d, %s", code, refused.log)
	}
	h.env = append(h.env, "XDG_RUNTIME_DIR="+h.dir)
	daemon := h.begin(nil, "run")
	eventually(t, "the daemon answers", func() bool {
		_, out, _ := h.run("status")
		return strings.Contains(out, "running")
	})
	if found, _ := filepath.Glob(filepath.Join(h.dir, "hearth-*.sock")); len(found) != 1 {
		t.Errorf("sockets: %v", found)
	}
	daemon.term()
}

func TestHealthEndpoints(t *testing.T) {
	h := newHome(t, "", "")
	h.daemon()
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "brain: running\n"} {
		answer, err := newClient(h.socket()).do(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %q, %v", path, answer.Status, body, err)
		}
	}
}

// The machine sleeps over a due time: what is overdue comes at once when it wakes.
func TestSCH32OverdueReminderComesAfterASleep(t *testing.T) {
	h := newHome(t, "", "").clocked("2026-03-10T07:00:00Z")
	daemon := h.daemon()
	ana := h.open("Ana")
	ana.ask("remind me at 9:30 to stretch", "r")
	if err := daemon.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.setClock("2026-03-10T10:00:00Z")
	if err := daemon.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if said := ana.hears("Reminder 1: stretch"); !strings.Contains(said, "was due 09:30, I was asleep") {
		t.Errorf("it says %q", said)
	}
}

func TestCrashPointsAreIgnoredByANormalBinary(t *testing.T) {
	h := newHome(t, "", "")
	daemon := h.daemon(crashVariable + "=after:recover")
	if !strings.Contains(daemon.log.String(), "ignored: this program was not built with the tag crashpoints") {
		t.Errorf("the log:\n%s", daemon.log)
	}
}

func TestAChatIsToldWhenTheDaemonEnds(t *testing.T) {
	h := newHome(t, "", "")
	daemon := h.daemon()
	input, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = typing.Close() })
	chat := h.command(t.Context(), "chat")
	screen := &buffer{}
	chat.Stdin, chat.Stdout, chat.Stderr = input, screen, screen
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the chat greets", func() bool { return strings.Contains(screen.String(), "This is Hearth") })
	daemon.term()
	if err := chat.Wait(); chat.ProcessState.ExitCode() != 1 || !strings.Contains(screen.String(), "The daemon has ended this chat") {
		t.Errorf("it ends with %v: %q", err, screen)
	}
}

func TestCtrlCEndsAChatPolitely(t *testing.T) {
	h := newHome(t, "", "")
	for _, beside := range []string{"an agent of its own", "the daemon"} {
		if beside == "the daemon" {
			h.daemon()
		}
		input, typing, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = typing.Close() })
		chat := h.command(t.Context(), "chat")
		screen := &buffer{}
		chat.Stdin, chat.Stdout, chat.Stderr = input, screen, screen
		if err := chat.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the chat greets", func() bool { return strings.Contains(screen.String(), "Ctrl-D ends the chat") })
		if err := chat.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := chat.Wait(); err != nil || !strings.Contains(screen.String(), "Bye.") {
			t.Errorf("beside %s it ends with %v: %q", beside, err, screen)
		}
	}
}
