package main

import (
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"hearth/gateways/telegram/tgfake"
)

var update = flag.Bool("update", false, "write docs/init.txt")

// typist is a person at a real terminal.
type typist struct {
	t      *testing.T
	tty    *os.File // their end
	other  *os.File // the program's end, kept open so that its settings can be looked at
	cmd    *exec.Cmd
	screen *buffer
	ended  chan struct{}
	seen   int // how much of the screen has been looked at
}

// sit starts the program at a terminal of 100 columns.
func sit(t *testing.T, env []string, args ...string) *typist {
	t.Helper()
	tty, other, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	p := &typist{t: t, tty: tty, other: other, screen: &buffer{}, ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), program(t, ""), args...)
	p.cmd.Env = env
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = other, other, other
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(p.screen, tty) // it ends with an error when the terminal is closed
	}()
	go func() {
		_ = p.cmd.Wait() // the state tells
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
		_ = other.Close()
		_ = tty.Close()
		<-shown
	})
	return p
}

// sees waits for words that were not looked at before.
func (p *typist) sees(words string) {
	p.t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		screen := p.screen.String()
		if at := strings.Index(screen[p.seen:], words); at >= 0 {
			p.seen += at + len(words)
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			p.t.Fatalf("%q is not on the screen:\n%s", words, screen)
		}
	}
}

func (p *typist) types(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.tty, keys); err != nil {
		p.t.Fatal(err)
	}
}

// echoes reports whether the terminal shows what is typed.
func (p *typist) echoes() bool {
	p.t.Helper()
	settings, err := unix.IoctlGetTermios(int(p.other.Fd()), ioctlGetTermios)
	if err != nil {
		p.t.Fatal(err)
	}
	return settings.Lflag&unix.ECHO != 0
}

// mute waits until the terminal shows nothing of what is typed.
func (p *typist) mute() {
	p.t.Helper()
	eventually(p.t, "the terminal is mute", func() bool { return !p.echoes() })
}

func (p *typist) exits(code int) {
	p.t.Helper()
	timer := time.NewTimer(20 * time.Second)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.t.Fatalf("it has not ended:\n%s", p.screen)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("it exits %d, not %d:\n%s", got, code, p.screen)
	}
	if !p.echoes() {
		p.t.Error("the terminal is left mute")
	}
}

// desk is a machine with a home, Telegram in reach and a model server.
func desk(t *testing.T, api *tgfake.Server, server *ollamaFake) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	clock := filepath.Join(dir, "clock")
	if err := os.WriteFile(clock, []byte("2026-03-10T08:00:00Z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TZ=Europe/Lisbon", "TERM=xterm", "OLLAMA_HOST=" + server.host(),
		"HEARTH_GATEWAYS__TELEGRAM__API_URL=" + api.URL(), clockVariable + "=" + clock,
	}
}

func TestInitAtATerminal(t *testing.T) {
	api, server := tgfake.New(t), newOllamaFake()
	t.Cleanup(server.Close)
	dir, env := desk(t, api, server)
	half := server.hold(t, 5)
	p := sit(t, env, "init")

	p.sees("Bot token (what you type does not show):")
	p.mute()
	p.types("123456:MISTYPED-of-the-tests_0123456789ab\r")
	p.sees("Telegram does not know this token")
	p.sees("Bot token (what you type does not show):")
	p.mute()
	p.types("slip\x15" + api.Token() + "x\x7f\r")
	p.sees("(@" + tgfake.Username + ").")
	p.sees("Time zone [Europe/Lisbon]: ")
	if !p.echoes() {
		t.Error("after the token the terminal stays mute")
	}
	p.types("\n")
	p.sees("It has no model yet.")
	p.sees("(- goes on without) ")
	p.types("qwen3:4b\n")
	p.sees("Pull qwen3:4b (about 2.5 GB) now? [Y/n] ")
	p.types("\n")
	p.sees("\rpulling qwen3:4b 50 % [############------------]")
	half()
	p.sees("\rpulling qwen3:4b 100 % [########################]\r\n")
	p.sees("qwen3:4b answers; in chat it is called home")
	p.sees("works once; `hearth pair` makes another.")
	p.exits(0)

	screen := p.screen.String()
	for _, secret := range []string{"MISTYPED", "CANARY"} {
		if strings.Contains(screen, secret) {
			t.Errorf("a token is on the screen:\n%s", screen)
		}
	}
	path := filepath.Join(dir, ".config/hearth/hearth.yaml")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file: %v, %v", info, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `token: "`+api.Token()+`"`) {
		t.Errorf("the file holds another token, %v:\n%s", err, text)
	}
	check := sit(t, env, "check")
	check.exits(0)

	picture(t, screen, string(text), dir, server.URL)

	// The code of the link works: whoever opens it is the owner.
	code := regexp.MustCompile(`\?start=([A-Z0-9]+)`).FindStringSubmatch(screen)
	if code == nil {
		t.Fatalf("no code:\n%s", screen)
	}
	letIn(t, env, dir, api, code[1])
}

// letIn starts the daemon and opens the bot's link from a phone.
func letIn(t *testing.T, env []string, dir string, api *tgfake.Server, code string) {
	t.Helper()
	h := &home{t: t, dir: dir, binary: program(t, ""), env: env}
	log := &buffer{}
	d := &process{t: t, cmd: exec.CommandContext(context.WithoutCancel(t.Context()), h.binary, "run"), log: log, ended: make(chan struct{})}
	d.cmd.Env, d.cmd.Stdout, d.cmd.Stderr = env, log, log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait() // the log tells
		close(d.ended)
	}()
	t.Cleanup(d.kill)
	api.Say(tgfake.Person{ID: 700000000001, First: "Ann"}, "/start "+code)
	api.WaitFor("a greeting: "+log.String(), func() bool { return len(api.Calls("sendMessage")) > 0 })
	if said := api.Calls("sendMessage")[0].Params["text"]; !strings.Contains(said, "owner") {
		t.Errorf("it says %q", said)
	}
}

// picture compares docs/init.txt with a session, less what differs from machine to machine.
func picture(t *testing.T, screen, file, dir, server string) {
	t.Helper()
	memory := machineMemory()
	fits, _ := fitting(memory)
	shown, _ := fitting(8e9)
	screen = strings.ReplaceAll(screen, "\r\n", "\n")
	screen = regexp.MustCompile(`(?m)^.*\r(pulling \S+ 100 %)`).ReplaceAllString(screen, "$1") // what the line looks like in the end
	screen = regexp.MustCompile(`(With the ).*( of memory here ).*( fits, a download of about ).*(\. Which model\? \[).*\]`).
		ReplaceAllString(screen, "${1}8 GB${2}"+shown.name+"${3}"+sizeWords(shown.size)+"${4}"+shown.name+"]")
	screen = regexp.MustCompile(`start=[A-Z0-9]+`).ReplaceAllString(screen, "start=K7M2QXRA")
	screen = regexp.MustCompile(`until Tue .*, and`).ReplaceAllString(screen, "until Tue 10 Mar 2026, 08:10 (Europe/Lisbon), and")
	got := "$ hearth init\n" + screen + "$ cat ~/.config/hearth/hearth.yaml\n" + file
	for _, change := range [][2]string{
		{dir, "/home/ana"},
		{server, "http://127.0.0.1:11434"},
		{"123456:CANARY-of-the-tests_0123456789abcdefgh", "123456:AAE-your-own-token"},
		{tgfake.Username, "anas_hearth_bot"},
	} {
		got = strings.ReplaceAll(got, change[0], change[1])
	}
	if fits.name == "" {
		t.Skip("the memory of this machine is not known, or too small for the picture")
	}
	const path = "../../docs/init.txt"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run go test ./cmd/hearth -run TestInitAtATerminal -update (-want +got):\n%s", diff)
	}
}

// Ctrl-C at any question, and in the middle of a download, leaves everything as it was, the terminal too.
func TestInitInterruptedChangesNothing(t *testing.T) {
	api, server := tgfake.New(t), newOllamaFake()
	t.Cleanup(server.Close)
	server.hold(t, 3)
	steps := []struct{ sees, types string }{
		{"Bot token (what you type does not show):", api.Token() + "\n"},
		{"Time zone [Europe/Lisbon]: ", "\n"},
		{"(- goes on without) ", "qwen3:4b\n"},
		{"Pull qwen3:4b (about 2.5 GB) now? [Y/n] ", "\n"},
		{"pulling qwen3:4b 30 %", ""},
	}
	for last := range steps {
		dir, env := desk(t, api, server)
		p := sit(t, env, "init")
		for n, step := range steps[:last+1] {
			p.sees(step.sees)
			if n == 0 {
				p.mute()
			}
			if n == last {
				p.types("\x03")
				break
			}
			p.types(step.types)
		}
		p.sees("Interrupted: nothing was changed.")
		p.exits(exitFailed)
		found, err := os.ReadDir(dir)
		if err != nil || len(found) != 1 { // the clock
			t.Errorf("at %q it leaves %v, %v", steps[last].sees, found, err)
		}
	}
}

// Ctrl-D is no answer: what is missing is said.
func TestInitWithoutAnAnswerAtATerminal(t *testing.T) {
	api, server := tgfake.New(t), newOllamaFake("tiny:1b")
	t.Cleanup(server.Close)
	_, env := desk(t, api, server)
	p := sit(t, env, "init")
	p.sees("Bot token (what you type does not show):")
	p.mute()
	p.types("\x04")
	p.sees("The bot token is missing, so nothing was written")
	p.exits(exitUsage)
}
