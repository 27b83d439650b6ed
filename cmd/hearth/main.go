// Command hearth is the agent: the daemon that carries messages and keeps promises, a chat in the terminal, and the
// commands that look after both.
//
// The tour: command.go and commands.go (what can be typed), errors.go (how it fails), ops.go (what can be asked of a
// vault, here or through the daemon's socket) with one file a noun (jobs.go, memory.go, runs.go, …), then daemon.go,
// wire.go and reload.go (the parts and how they hang together), socket.go and api.go, chat.go.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"hearth/skills/sandbox"
	"hearth/vault"
)

func main() {
	sandbox.Main() // this may be the beginning of a sandbox and not of the program
	fewHeaps()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	c := &console{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Environ()}
	os.Exit(c.main(ctx, os.Args[1:]))
}

// console is what a command has around it.
type console struct {
	in       io.Reader
	out, err io.Writer
	env      []string

	redact func(string) string              // masks the secrets of the configuration, once it is known
	offer  func(*vault.DamagedError) string // says what to do about a damaged vault, once it is known which one
}

// main runs one command line and gives the exit code.
func (c *console) main(ctx context.Context, args []string) int {
	err := c.dispatch(ctx, args)
	if err == nil {
		return exitDone
	}
	code, sentence := explain(err)
	if sentence == "" {
		return code
	}
	var damaged *vault.DamagedError
	var told *failure
	if errors.As(err, &damaged) && !errors.As(err, &told) && c.offer != nil {
		sentence = c.offer(damaged)
	}
	if c.redact != nil {
		sentence = c.redact(sentence)
	}
	_, _ = io.WriteString(c.err, sentence+"\n") // there is nowhere left to complain to
	return code
}

// lookup reads a variable of the environment; "" when it is not set.
func (c *console) lookup(name string) string {
	for _, entry := range c.env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
