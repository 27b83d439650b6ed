package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"hearth/config"
	"hearth/vault"
)

// runPatience is how long the daemon waits for a command, or a daemon that is just ending, to give the vault back.
const runPatience = 10 * time.Second

// cmdRun is the daemon.
func cmdRun(ctx context.Context, in *invocation) (err error) {
	cfg, err := in.load()
	if err != nil {
		return err
	}
	clock, err := newClock(in.lookup(clockVariable))
	if err != nil {
		return err
	}
	log := newLogger(in.err, cfg)
	socket := socketPath(cfg.Vault.Dir, in.lookup("XDG_RUNTIME_DIR"))
	began := time.Now()
	a, err := newAgent(ctx, in.env, cfg, log, clock, true, func(*vault.LockedError) bool {
		// A daemon that answers will not go away; a command will.
		return ctx.Err() == nil && time.Since(began) < runPatience && dial(ctx, socket) == nil
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	listener, err := listen(ctx, socket)
	if err != nil {
		return err
	}
	metrics, err := newMetrics(ctx, a)
	if err != nil {
		return errors.Join(a.vault.Doubt(err), listener.Close())
	}
	api := &api{service: a.service, agent: a, metrics: metrics, log: log.Logger}
	path, _ := cfg.File()
	log.Info("hearth is starting", "version", programVersion(), "config", path, "vault", a.vault.Path(), "socket", socket, "zone", cfg.Timezone)
	for _, w := range cfg.Warnings() {
		log.Warn("about the configuration", "what", w)
	}
	if a.vault.Unclean() {
		log.Info("the last life ended without a goodbye; what it left in the middle is settled")
	}
	leaving := sync.OnceFunc(func() { notify(log, daemon.SdNotifyStopping) })
	defer context.AfterFunc(ctx, leaving)() // as soon as it is asked to end, not when it has
	a.generous()
	a.examiner = &part{name: "integrity", run: a.integrity}
	err = a.run(ctx, func() { notify(log, daemon.SdNotifyReady) },
		&part{name: "socket", run: func(ctx context.Context) error { return api.serve(ctx, listener) }},
		&part{name: "settings", run: a.watchSettings},
		&part{name: "clock", run: func(ctx context.Context) error { return clock.watch(ctx, log.Logger, a.vault.Wake) }},
		&part{name: "watchdog", run: a.watchdog},
		a.examiner,
		&part{name: "space", run: a.space},
		&part{name: "snapshots", run: a.snapshots},
	)
	leaving()
	if err != nil {
		return err
	}
	log.Info("hearth has ended")
	return nil
}

// close gives the vault back. After a part that did not end it may be busy: then the end of the process does it.
func (a *agent) close() error {
	ended := make(chan error, 1)
	go func() { ended <- a.vault.Close() }()
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return nil
	}
}

// notify tells systemd, where there is one.
func notify(log logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("cannot tell systemd", "state", state, "error", err)
	}
}

// watchdog tells systemd that the agent is alive as long as its vault can be read and written: what is stuck there is
// stuck everywhere, and a new start mends it.
func (a *agent) watchdog(ctx context.Context) error {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return fmt.Errorf("read watchdog interval: %w", err)
	}
	if interval == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(interval / 2)
	defer tick.Stop()
	for {
		if err := a.vault.Touch(ctx); err == nil {
			notify(a.log, daemon.SdNotifyWatchdog)
		} else if ctx.Err() == nil {
			a.log.Error("the vault does not answer, so systemd is not told that all is well", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// watchSettings takes up edits of the configuration, and reads it on SIGHUP.
func (a *agent) watchSettings(ctx context.Context) error {
	w := config.NewWatcher(a.cfg.Load(), a.env, config.WatchOptions{Log: a.log.Logger})
	reload := reloading{agent: a}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, func(c *config.Config, err error) { reload.take(ctx, c, err) }) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-hup:
			notify(a.log, "RELOADING=1")
			c, err := w.Reload()
			reload.take(ctx, c, err)
			notify(a.log, daemon.SdNotifyReady)
		}
	}
}
