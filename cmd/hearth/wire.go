package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"hearth/brain"
	"hearth/brain/offline"
	"hearth/config"
	"hearth/gateways"
	"hearth/gateways/inbox"
	"hearth/gateways/outbox"
	"hearth/gateways/terminal"
	"hearth/scheduler"
	"hearth/skills"
)

// Here, and only here, the settings become values that the parts are handed.

// assemble makes the parts on the open vault.
func (a *agent) assemble(ctx context.Context, cfg *config.Config, crash crasher) error {
	if err := a.vault.SyncPeople(ctx, people(cfg)); err != nil {
		return fmt.Errorf("take up people: %w", err)
	}
	tools, err := skills.Builtin(skills.Deps{Vault: a.vault, Workspace: cfg.Skills.Workspace})
	if err != nil {
		return fmt.Errorf("make tools: %w", err)
	}
	set, err := skills.NewSet(tools...)
	if err != nil {
		return fmt.Errorf("make tools: %w", err)
	}
	now, log := a.clock.now, a.log.Logger
	a.service = &service{vault: a.vault, now: now, zone: a.zone, model: configuredModel(cfg), parts: a}
	a.terminal = terminal.New(terminal.Options{Now: now, Attached: func() { a.outbox.Nudge(terminal.Name) }})
	a.inbox = inbox.New(inbox.Options{
		Vault: a.vault, Now: now, Log: log,
		Burst:    func() time.Duration { return a.cfg.Load().Gateways.Burst },
		Zone:     a.service.zoneOf,
		Groups:   a.groups,
		Models:   a.models,
		Gateways: a.gatewayStatus,
	})
	a.outbox = outbox.New(outbox.Options{Vault: a.vault, Gateways: []gateways.Gateway{crash.gateway(a.terminal)}, Now: now, Log: log, Mask: a.redact})
	a.brain = brain.New(brain.Options{Vault: a.vault, Tools: set, Now: now, Log: log, Hook: crash.brain()}, a.brainSettings(ctx, cfg))
	a.scheduler = scheduler.New(scheduler.Options{Vault: a.vault, Now: now, Log: log})
	a.parts = []*part{
		{name: "gateway terminal", run: func(ctx context.Context) error { return a.terminal.Receive(ctx, a.inbox.Accept) }},
		{name: "outbox", run: a.outbox.Run},
		{name: "brain", run: a.brain.Run},
		{name: "scheduler", run: a.scheduler.Run},
	}
	return nil
}

// brainSettings is what the configuration says to the brain.
func (a *agent) brainSettings(_ context.Context, cfg *config.Config) brain.Settings {
	backends := backends(cfg)
	row := configuredModel(cfg)
	s := brain.Settings{
		Backends: backends, Model: string(row.InUse), Fallback: cfg.Brain.Fallback, Persona: cfg.Brain.Persona, Zone: cfg.Location(),
		Limits: brain.Limits{
			Steps: cfg.Brain.Limits.Steps, Worked: time.Duration(cfg.Brain.Limits.Minutes) * time.Minute,
			Tokens: cfg.Brain.Limits.TokensPerRun, USDPerDay: cfg.Brain.Limits.USDPerDay,
		},
		Permissions: brain.Permissions{Tools: permissions(cfg.Skills.Permissions)},
	}
	if s.Limits.USDPerDay == 0 {
		s.Limits.USDPerDay = math.SmallestNonzeroFloat64 // nothing may be spent; to the brain 0 is no limit
	}
	for _, e := range cfg.Skills.PermissionsFor {
		s.Permissions.For = append(s.Permissions.For, brain.PermissionsFor{Person: e.Person, Chat: e.Chat, Tools: permissions(e.Tools)})
	}
	return s
}

func permissions(rules map[string]string) map[string]brain.Permission {
	out := map[string]brain.Permission{}
	for tool, rule := range rules {
		out[tool] = brain.Permission(rule)
	}
	return out
}

// backends are the models of the configuration that this program can talk to. The built-in one is always there.
func backends(cfg *config.Config) map[string]brain.Backend {
	built := func(name string, m config.Model) brain.Backend {
		return brain.Backend{Name: name, Model: offline.New(), Context: m.Context, MaxTokens: m.MaxTokens, Parallel: cfg.Brain.Limits.Parallel, Offline: true, Price: &brain.Price{}}
	}
	out := map[string]brain.Backend{config.Offline: built(config.Offline, config.Model{Context: 8192, MaxTokens: 1024})}
	for name, m := range cfg.Brain.Models {
		if m.Provider == config.Offline {
			out[name] = built(name, m)
		}
	}
	return out
}

// configuredModel is the model to use: the configured one, else the first fallback that this program can talk to, else
// the built-in one. The note says why.
func configuredModel(cfg *config.Config) modelRow {
	known := backends(cfg)
	row := modelRow{Configured: text(cfg.Brain.Model), InUse: text(config.Offline), Known: slices.Sorted(maps.Keys(known))}
	for _, name := range append([]string{cfg.Brain.Model}, cfg.Brain.Fallback...) {
		if _, ok := known[name]; ok {
			row.InUse = text(name)
			break
		}
	}
	if row.InUse != row.Configured {
		row.Note = text(fmt.Sprintf("This version cannot talk to %s, the model of the configuration, so %s answers.", row.Configured, row.InUse))
	}
	return row
}

// models tells the inbox about the models, for /model and /status.
func (a *agent) models(ctx context.Context) inbox.ModelSet {
	names, inUse, err := a.brain.Models(ctx)
	if err != nil {
		a.log.Error("cannot tell which model is in use", "error", err)
	}
	return inbox.ModelSet{Names: names, InUse: inUse, YAML: string(configuredModel(a.cfg.Load()).InUse)}
}

// groups says in which groups the agent takes part.
func (a *agent) groups(gateway string) inbox.GroupMode {
	if gateway == "telegram" {
		return inbox.GroupMode(a.cfg.Load().Gateways.Telegram.Groups)
	}
	return inbox.Mention
}

// gatewayStatus tells the inbox how the messengers are, for /status.
func (a *agent) gatewayStatus() []inbox.GatewayStatus {
	var out []inbox.GatewayStatus
	for _, g := range a.gatewayRows() {
		out = append(out, inbox.GatewayStatus{Name: g.Name, OK: g.Error == "", Detail: strings.TrimSpace(g.State + " " + string(g.Error))})
	}
	return out
}

// unsupported are sentences about settings for what this version has not got.
func unsupported(cfg *config.Config) []string {
	var out []string
	if !cfg.Gateways.Telegram.Token.IsZero() {
		out = append(out, "gateways.telegram is set, and this version has no Telegram gateway yet: it is left out.")
	}
	if cfg.IsSet("gateways.whatsapp") && cfg.Gateways.WhatsApp.Mode != "off" {
		out = append(out, "gateways.whatsapp is set, and this version has no WhatsApp gateway yet: it is left out.")
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Brain.Models)) {
		if _, ok := backends(cfg)[name]; !ok {
			out = append(out, fmt.Sprintf("brain.models.%s has the provider %s, which this version cannot talk to yet: it is left out.", name, cfg.Brain.Models[name].Provider))
		}
	}
	return out
}
