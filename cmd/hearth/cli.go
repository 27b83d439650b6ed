package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"hearth/config"
	"hearth/gateways/terminal"
	"hearth/vault"
)

// session is what a command works with: the settings, and whoever answers.
type session struct {
	backend
	cfg   *config.Config
	clock *clock
	close func() error
}

// patience is how long a command waits for another that has the vault open.
const patience = 5 * time.Second

// open gives a command somebody who answers: the daemon if it runs, else the vault itself. The caller closes it.
func (in *invocation) open(ctx context.Context) (*session, error) {
	cfg, err := in.load()
	if err != nil {
		return nil, err
	}
	clock, err := newClock(in.lookup(clockVariable))
	if err != nil {
		return nil, err
	}
	s := &session{cfg: cfg, clock: clock, close: func() error { return nil }}
	path := socketPath(cfg.Vault.Dir, in.lookup("XDG_RUNTIME_DIR"))
	if s.remote = dial(ctx, path); s.remote != nil {
		return s, nil
	}
	v, err := in.openVault(ctx, cfg, clock, path)
	if err != nil {
		return nil, err
	}
	if v == nil { // the daemon has come up meanwhile
		s.remote = newClient(path)
		return s, nil
	}
	s.local = &service{vault: v, now: clock.now, zone: cfg.Location, model: configuredModel(cfg), mask: in.redact}
	s.close = v.Close
	return s, nil
}

// openVault opens the vault for one command. It is nil when a daemon turned out to have it, and now answers.
func (in *invocation) openVault(ctx context.Context, cfg *config.Config, clock *clock, socket string) (*vault.Vault, error) {
	opt := vault.Options{Now: clock.now, Holder: "hearth " + in.command.name, Gateways: gatewayNames(cfg), Wait: patience / 10}
	for began := time.Now(); ; {
		v, err := vault.Open(ctx, cfg.Vault.Dir, opt)
		var locked *vault.LockedError
		switch {
		case err == nil:
			return v, syncPeople(ctx, v, cfg)
		case !errors.As(err, &locked):
			return nil, err
		case dial(ctx, socket) != nil:
			return nil, nil
		case time.Since(began) > patience:
			return nil, err
		}
	}
}

// syncPeople makes the people of the configuration known, so that commands can name them before the daemon ever ran.
func syncPeople(ctx context.Context, v *vault.Vault, cfg *config.Config) error {
	if err := v.SyncPeople(ctx, people(cfg)); err != nil {
		return errors.Join(v.Doubt(err), v.Close())
	}
	return nil
}

// listing shows a view: as JSON, or by print. now is for dates in words.
func listing[A any](ctx context.Context, in *invocation, v view[A], q query, print func(found A, now time.Time) error) (err error) {
	s, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	found, err := look(ctx, s.backend, v, q)
	if err != nil {
		return err
	}
	if in.has("json") {
		return in.printJSON(found)
	}
	return print(found, s.clock.now())
}

// doing makes a change and prints what is told about it.
func doing[Q any](ctx context.Context, in *invocation, c change[Q], q Q) (err error) {
	s, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	answer, err := alter(ctx, s.backend, c, q)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(in.out, terminal.Clean(answer.Text))
	return err
}

// doingEach makes a change for each number of the command line. The first that cannot be done ends it.
func doingEach[Q any](ctx context.Context, in *invocation, c change[Q], order func(n int64) Q) (err error) {
	var numbers []int64
	for i := range in.words {
		n, err := in.number(i)
		if err != nil {
			return err
		}
		numbers = append(numbers, n)
	}
	s, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, n := range numbers {
		answer, err := alter(ctx, s.backend, c, order(n))
		if err != nil {
			return err
		}
		fmt.Fprintln(in.out, terminal.Clean(answer.Text))
	}
	return nil
}

func (c *console) printJSON(v any) error {
	b, err := marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "%s\n", b)
	return err
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

func numbered(n int64, words string) string { return fmt.Sprintf("%d: %s", n, words) }

// list writes names as people do: "a", "a and b", "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// say prints a line.
func say(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}
