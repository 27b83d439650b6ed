package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hearth/config"
)

// reloading takes up new settings, or tells why not.
type reloading struct {
	agent *agent

	mu   sync.Mutex
	said string // the mistakes that the owner knows of
}

// take uses c from the next step on. When err says that the file has mistakes, nothing changes and the owner is told, once
// for the same mistakes.
func (r *reloading) take(ctx context.Context, c *config.Config, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.refuse(ctx, err)
		return
	}
	r.said = ""
	r.use(ctx, c)
}

func (r *reloading) refuse(ctx context.Context, err error) {
	a := r.agent
	words := a.redact(err.Error())
	a.log.Error("the configuration has mistakes, the settings in use go on", "mistakes", words)
	if words == r.said {
		return
	}
	r.said = words
	if err := a.bot.tell(ctx, "The configuration was changed and has mistakes, so the settings in use go on:\n"+words+"\nCorrect the file; it is read again when it is saved."); err != nil {
		a.log.Error("cannot tell the owner about the configuration", "error", err)
	}
}

func (r *reloading) use(ctx context.Context, c *config.Config) {
	a := r.agent
	before := a.cfg.Load()
	a.discover(ctx, c)
	changes := config.Diff(before, c)
	if len(changes) == 0 {
		return
	}
	a.log.configure(c, before)
	a.cfg.Store(c)
	if err := a.vault.SyncPeople(ctx, people(c)); err != nil {
		a.log.Error("cannot take up the people of the configuration", "error", err)
	}
	a.bot.take(ctx, c)
	a.vault.MissedPolicy(c.Scheduler.Missed)
	if err := a.quietHours(ctx); err != nil {
		a.log.Error("cannot take up the quiet hours", "error", err)
	}
	a.brain.Configure(a.brainSettings(ctx, c))
	a.meaning.Configure(a.embedding(c))
	a.vault.Wake()
	a.log.Info("new settings are in use", "changes", changes)
	later := afterRestart(changes)
	for _, w := range c.Warnings() {
		a.log.Warn("about the configuration", "what", w)
	}
	if len(later) == 0 {
		return
	}
	words := fmt.Sprintf("The configuration was changed. This part of it needs a restart of Hearth:\n%s", strings.Join(later, "\n"))
	if err := a.bot.tell(ctx, words); err != nil {
		a.log.Error("cannot tell the owner about the configuration", "error", err)
	}
}

// needsRestart ends the changes that config.Diff knows to need one.
const needsRestart = "(takes effect after a restart)"

// Keys that are read once, when the parts are put together.
var onlyAtStart = []string{"skills.workspace", "skills.dir", "log.format", "gateways.whatsapp.mode", "skills.web.search_url"}

// afterRestart gives the changes that wait for a restart.
func afterRestart(changes []string) []string {
	var later []string
	for _, change := range changes {
		key, _, _ := strings.Cut(change, ":")
		switch {
		case strings.HasSuffix(change, needsRestart):
			later = append(later, change)
		case slices.Contains(onlyAtStart, key):
			later = append(later, change+" "+needsRestart)
		}
	}
	return later
}
