package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// home is a folder with a configuration and a vault, for the real program.
type home struct {
	t      testing.TB
	dir    string
	binary string
	env    []string
}

func newHome(t testing.TB, tags, config string) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), binary: program(t, tags)}
	h.env = []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "TZ=Europe/Lisbon", "TMPDIR=" + h.dir}
	if config == "" {
		config = "people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\n"
	}
	if !strings.Contains(config, "brain:") {
		h.env = append(h.env, "HEARTH_BRAIN__MODEL=offline") // whatever model server this machine may have
	}
	h.write("hearth.yaml", config+fmt.Sprintf("vault: {dir: %q}\nskills: {workspace: %q}\n", h.vault(), filepath.Join(h.dir, "ws")))
	return h
}

func (h *home) vault() string  { return filepath.Join(h.dir, "v") }
func (h *home) socket() string { return socketPath(h.vault(), "") }

func (h *home) write(name, body string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *home) read(name string) string {
	h.t.Helper()
	body, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(body)
}

func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.binary, append([]string{"--config", filepath.Join(h.dir, "hearth.yaml")}, args...)...)
	cmd.Env, cmd.Dir = h.env, h.dir
	return cmd
}

// run runs one command to its end.
func (h *home) run(args ...string) (code int, stdout, stderr string) {
	h.t.Helper()
	var out, err bytes.Buffer
	cmd := h.command(h.t.Context(), args...)
	cmd.Stdout, cmd.Stderr = &out, &err
	_ = cmd.Run() // the code tells
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

// ok runs one command that must succeed, and gives what it prints.
func (h *home) ok(args ...string) string {
	h.t.Helper()
	code, out, err := h.run(args...)
	if code != 0 {
		h.t.Fatalf("hearth %s: exit %d: %s", strings.Join(args, " "), code, err)
	}
	return out
}

// ask asks the daemon.
func ask[A any](h *home, v view[A], q query) (found A) {
	h.t.Helper()
	if err := newClient(h.socket()).get(h.t.Context(), v.path, q.values(), &found); err != nil {
		h.t.Fatal(err)
	}
	return found
}

// process is a program that runs.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	log   *buffer
	ended chan struct{}
}

// buffer is what a process has written so far.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// begin starts a command and does not wait for anything.
func (h *home) begin(env []string, args ...string) *process {
	h.t.Helper()
	p := &process{t: h.t, log: &buffer{}, ended: make(chan struct{})}
	p.cmd = h.command(context.WithoutCancel(h.t.Context()), args...)
	p.cmd.Env = append(append([]string{}, h.env...), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the state tells
		close(p.ended)
	}()
	h.t.Cleanup(p.kill)
	return p
}

// daemon starts `hearth run` and waits until it is ready.
func (h *home) daemon(env ...string) *process {
	h.t.Helper()
	p := h.begin(env, "run")
	eventually(h.t, "the daemon is ready", func() bool {
		select {
		case <-p.ended:
			h.t.Fatalf("the daemon exits %d:\n%s", p.cmd.ProcessState.ExitCode(), p.log)
		default:
		}
		return h.ready()
	})
	return p
}

func (h *home) ready() bool {
	answer, err := newClient(h.socket()).do(h.t.Context(), http.MethodGet, "/readyz", nil)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// kill is the power cut.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may be dead already
	<-p.ended
}

// term asks the process to end and gives its exit code.
func (p *process) term() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
	return p.wait(15 * time.Second)
}

// wait gives the exit code; -1 after a signal.
func (p *process) wait(limit time.Duration) int {
	p.t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.t.Fatalf("the process has not ended within %s:\n%s", limit, p.log)
	}
	return p.cmd.ProcessState.ExitCode()
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	within(t, time.Minute, what, is)
}

// within does so for as long as it may take.
func within(t testing.TB, longest time.Duration, what string, is func() bool) {
	t.Helper()
	limit := time.NewTimer(longest)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("not within %s: %s", longest, what)
		}
	}
}

// chatter is a person at a terminal, over all lives of a daemon: it notes what was printed, and acknowledges it.
type chatter struct {
	t    testing.TB
	h    *home
	name string

	mu      sync.Mutex
	printed []string
	settled map[string]settlement
	line    *remoteLine
	gone    chan struct{} // closed when the line is lost
}

// open attaches to the daemon that runs now.
func (h *home) open(name string) *chatter {
	h.t.Helper()
	c := &chatter{t: h.t, h: h, name: name, settled: map[string]settlement{}}
	c.reopen()
	return c
}

func (c *chatter) reopen() {
	c.t.Helper()
	line, err := newClient(c.h.socket()).chat(context.WithoutCancel(c.t.Context()), c.name)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(line.close)
	gone := make(chan struct{})
	c.mu.Lock()
	c.line, c.gone = line, gone
	c.mu.Unlock()
	go func() {
		defer close(gone)
		for {
			e, err := line.next()
			if err != nil {
				return
			}
			c.mu.Lock()
			if e.Part != nil {
				c.printed = append(c.printed, e.Part.Text)
			}
			if e.Settled != nil {
				c.settled[e.Settled.ID] = *e.Settled
			}
			c.mu.Unlock()
			if e.Part != nil {
				_ = line.ack(context.Background(), e.Part.ID) // a daemon that died meanwhile offers it again
			}
		}
	}()
}

// say says something; an error is what a person sees when the daemon dies under their hands.
func (c *chatter) say(words, id string) error {
	c.mu.Lock()
	line := c.line
	c.mu.Unlock()
	return line.say(c.t.Context(), words, id)
}

// ask says something, and gives what was printed when it is answered.
func (c *chatter) ask(words, id string) string {
	c.t.Helper()
	before := len(c.all())
	if err := c.say(words, id); err != nil {
		c.t.Fatal(err)
	}
	c.await(id)
	return strings.Join(c.all()[before:], "\n")
}

func (c *chatter) await(id string) settlement {
	c.t.Helper()
	var s settlement
	eventually(c.t, c.name+"'s message "+id+" is answered", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		var ok bool
		s, ok = c.settled[id]
		return ok
	})
	return s
}

// all is everything that was printed so far.
func (c *chatter) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.printed...)
}

// hears waits for something to be printed.
func (c *chatter) hears(words string) string {
	c.t.Helper()
	var found string
	eventually(c.t, c.name+" reads "+words, func() bool {
		for _, p := range c.all() {
			if strings.Contains(p, words) {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

// copies counts what was printed with these words in it, and how much of that is marked as a possible repeat.
func (c *chatter) copies(words string) (all, marked int) {
	for _, p := range c.all() {
		if strings.Contains(p, words) {
			all++
			if strings.HasPrefix(p, "↻") {
				marked++
			}
		}
	}
	return all, marked
}
