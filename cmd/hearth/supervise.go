package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"hearth/vault"
)

// part is one of the loops that make up the agent.
type part struct {
	name string
	run  func(ctx context.Context) error

	mu    sync.Mutex
	state string // "" before it was started
	broke int    // how often it broke down
}

// partState is how a part is.
type partState struct {
	name, state string
	broke       int
}

const running = "running"

func (p *part) set(state string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = state
}

// breaks notes that it broke down.
func (p *part) breaks() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broke++
	p.state = "broken down, started again soon"
}

func (p *part) get() string { return p.now().state }

// now tells how the part is.
func (p *part) now() partState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return partState{name: p.name, state: cmp.Or(p.state, "not started"), broke: p.broke}
}

// How long a part that broke down is left alone, and when it counts as well again.
const (
	firstRest = time.Second
	lastRest  = time.Minute
	wellAfter = time.Minute
)

// panicError is a panic, as an error.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// keep runs a part until ctx ends. One that panics or breaks down is logged and started again, after a rest that doubles.
// It gives up, and with it the program, on what starting again cannot mend.
func (p *part) keep(ctx context.Context, log *slog.Logger, hopeless func(error) bool) error {
	rest := firstRest
	for {
		p.set(running)
		began := time.Now()
		err := p.once(ctx)
		if ctx.Err() != nil {
			p.set("ended")
			return nil
		}
		if hopeless(err) {
			p.set("given up")
			return err
		}
		if time.Since(began) > wellAfter {
			rest = firstRest
		}
		p.breaks()
		args := []any{"part", p.name, "error", err, "again_in", rest}
		var fault *panicError
		if errors.As(err, &fault) {
			args = append(args, "stack", string(fault.stack))
		}
		log.Error("a part of the agent broke down", args...)
		timer := time.NewTimer(rest)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		rest = min(2*rest, lastRest)
	}
}

func (p *part) once(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{value: r, stack: debug.Stack()}
		}
	}()
	if err := p.run(ctx); err != nil {
		return err
	}
	return errors.New("it ended though nobody asked it to")
}

// hopeless tells of which errors of a part starting it again cannot help. Damage of the vault is for the examiner to judge,
// where there is one: it may be a false alarm, and if it is not the owner is told before the program ends.
func (a *agent) hopeless(p *part) func(error) bool {
	return func(err error) bool {
		var told *failure
		if errors.As(err, &told) {
			return true
		}
		if a.examiner != nil && a.examiner != p {
			_ = a.vault.Doubt(err) // which wakes the examiner
			return false
		}
		return vault.IsDamage(err)
	}
}
