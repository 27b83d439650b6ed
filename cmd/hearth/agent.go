package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hearth/brain"
	"hearth/brain/meaning"
	"hearth/config"
	"hearth/gateways"
	"hearth/gateways/inbox"
	"hearth/gateways/outbox"
	"hearth/gateways/terminal"
	"hearth/gateways/whatsapp"
	"hearth/scheduler"
	"hearth/skills"
	"hearth/vault"
)

// agent is all of Hearth in one process: the vault and the parts that work on it. They know the vault, and nothing of each
// other.
type agent struct {
	cfg   atomic.Pointer[config.Config]
	env   []string
	log   logger
	clock *clock

	vault     *vault.Vault
	gateways  []gateways.Gateway
	terminal  *terminal.Terminal
	bot       *bot                  // nil when this process runs no messengers
	whatsapp  *whatsapp.Gateway     // nil while it is off
	clients   map[string]keptClient // of the models, by name
	inbox     *inbox.Inbox
	outbox    *outbox.Outbox
	brain     *brain.Brain
	meaning   *meaning.Finder
	scheduler *scheduler.Scheduler
	service   *service
	tools     skills.Set

	messengers bool // it runs those of the configuration, and not only the terminal
	parts      []*part
	examiner   *part // decides about damage of the vault; nil where nothing does
	started    atomic.Bool
}

// newAgent opens the vault, waiting for another holder as long as hold says, and puts the parts together. Nothing runs
// before run. The caller closes it.
func newAgent(ctx context.Context, env []string, cfg *config.Config, log logger, clock *clock, messengers bool, hold func(*vault.LockedError) bool) (*agent, error) {
	a := &agent{env: env, log: log, clock: clock, messengers: messengers}
	a.discover(ctx, cfg)
	a.cfg.Store(cfg)
	crash, err := newCrasher(env, log.Logger)
	if err != nil {
		return nil, err
	}
	opt := vault.Options{Now: clock.now, Holder: "hearth chat", Gateways: []string{"terminal"}, Hooks: crash.hooks(), Wait: holdStep, Burst: burst}
	if messengers {
		opt.Holder, opt.Gateways = "hearth run", gatewayNames(cfg)
	}
	for a.vault == nil {
		a.vault, err = vault.Open(ctx, cfg.Vault.Dir, opt)
		var locked *vault.LockedError
		if err != nil && (!errors.As(err, &locked) || !hold(locked)) {
			return nil, err
		}
	}
	if err := a.assemble(ctx, cfg, crash); err != nil {
		return nil, errors.Join(a.vault.Doubt(err), a.vault.Close())
	}
	if err := a.vault.TellRestored(ctx, a.restoredWords); err != nil {
		return nil, errors.Join(a.vault.Doubt(err), a.vault.Close())
	}
	return a, nil
}

// burst is about how long one message keeps the vault busy.
const burst = 30 * time.Millisecond

// holdStep is how long one attempt to get the vault's lock takes.
const holdStep = 250 * time.Millisecond

// zone is the household's.
func (a *agent) zone() *time.Location { return a.cfg.Load().Location() }

// redact masks the secrets of the configuration.
func (a *agent) redact(s string) string { return a.log.redact.Load().Redact(s) }

// redactPart is redact for a text whose end is still to come.
func (a *agent) redactPart(s string) string { return a.log.redact.Load().RedactPart(s) }

// partStates tells how the parts are; ready when all of them have been started.
func (a *agent) partStates() (states []partState, ready bool) {
	ready = a.started.Load()
	for _, p := range a.parts {
		now := p.now()
		ready = ready && now.state == running
		states = append(states, now)
	}
	return states, ready
}

// graceful is how long the parts have to come to an end. The contract promises 10 s; what has not ended by then is cut off
// as a power cut would, which costs nothing that was committed.
const graceful = 8 * time.Second

// run starts all parts, and more, and waits until ctx ends or one of them gives up. started is called once they are.
func (a *agent) run(ctx context.Context, started func(), more ...*part) error {
	a.parts = append(a.parts, more...)
	group, ctx := errgroup.WithContext(ctx)
	for _, p := range a.parts {
		p.set(running) // so that who hears "ready" and asks is not told otherwise
	}
	for _, p := range a.parts {
		group.Go(func() error { return p.keep(ctx, a.log.Logger, a.hopeless(p)) })
	}
	a.started.Store(true)
	started()
	debug.FreeOSMemory() // starting takes more than waiting does, and most of life is waiting
	ended := make(chan error, 1)
	go func() { ended <- group.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(graceful)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		a.log.Warn("a part did not end in time and is cut off; what was committed is safe", "parts", slog.AnyValue(a.unended()))
		return nil
	}
}

func (a *agent) unended() []string {
	var names []string
	for _, p := range a.parts {
		if p.get() != "ended" {
			names = append(names, p.name)
		}
	}
	return names
}

// gatewayRows tells how the messengers are.
func (a *agent) gatewayRows() []gatewayRow {
	out := []gatewayRow{{Name: a.terminal.Name(), State: "connected"}}
	if row, on := a.bot.row(); on {
		out = append(out, row)
	}
	if a.whatsapp != nil {
		out = append(out, whatsappRow(a.whatsapp))
	}
	return out
}

// modelInUse names the model that answers next.
func (a *agent) modelInUse(ctx context.Context) (modelRow, error) {
	known, inUse, err := a.brain.Models(ctx)
	row := configuredModel(a.cfg.Load())
	row.InUse, row.Known = text(inUse), rows(known)
	return row, err
}
