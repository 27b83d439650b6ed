package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hearth/brain"
	"hearth/brain/meaning"
	"hearth/config"
	"hearth/gateways"
	"hearth/gateways/activity"
	"hearth/gateways/inbox"
	"hearth/gateways/outbox"
	"hearth/gateways/terminal"
	"hearth/gateways/whatsapp"
	"hearth/scheduler"
	"hearth/scheduler/when"
	"hearth/skills"
	"hearth/vault"
)

// Here, and only here, the settings become values that the parts are handed.

// assemble makes the parts on the open vault.
func (a *agent) assemble(ctx context.Context, cfg *config.Config, crash crasher) error {
	if err := a.vault.SyncPeople(ctx, people(cfg)); err != nil {
		return fmt.Errorf("take up people: %w", err)
	}
	a.vault.MissedPolicy(cfg.Scheduler.Missed)
	shelf := skills.NewShelf(cfg.Skills.Dir, a.log.Logger)
	shelf.Installed() // what is wrong with one is in the log from the start
	a.meaning = meaning.New(meaning.Options{Vault: a.vault, Now: a.clock.now, Log: a.log.Logger})
	a.meaning.Configure(a.embedding(cfg))
	tools, err := skills.Builtin(skills.Deps{Vault: a.vault, Meaning: a.meaning.Vector, Workspace: cfg.Skills.Workspace, Skills: shelf, Web: skills.Web{
		AllowHosts: func() []string { return a.cfg.Load().Skills.Web.AllowHosts }, SearchURL: cfg.Skills.Web.SearchURL.Reveal(),
	}})
	if err != nil {
		return fmt.Errorf("make tools: %w", err)
	}
	set, err := skills.NewSet(tools...)
	if err != nil {
		return fmt.Errorf("make tools: %w", err)
	}
	a.tools = set
	now, log := a.clock.now, a.log.Logger
	a.service = &service{vault: a.vault, now: now, zone: a.zone, model: configuredModel(cfg), mask: a.redact, parts: a}
	if err := a.quietHours(ctx); err != nil {
		return err
	}
	a.terminal = terminal.New(terminal.Options{Now: now, Attached: func() { a.outbox.Nudge(terminal.Name) }})
	a.inbox = inbox.New(inbox.Options{
		Vault: a.vault, Now: now, Log: log,
		Burst:    func() time.Duration { return a.cfg.Load().Gateways.Burst },
		Zone:     a.service.zoneOf,
		Zones:    config.Zones(),
		Groups:   a.groups,
		Models:   a.models,
		Missing:  a.missingModel,
		Gateways: a.gatewayStatus,
	})
	a.gateways = []gateways.Gateway{crash.gateway(a.terminal)}
	if a.messengers {
		a.bot = newBot(a)
		if err := a.bot.begin(ctx, cfg); err != nil {
			return err
		}
		a.gateways = append(a.gateways, crash.phone(a.bot))
	}
	if a.messengers && whatsappMode(cfg) != "off" {
		if err := a.addWhatsApp(cfg, crash); err != nil {
			return err
		}
	}
	a.outbox = outbox.New(outbox.Options{Vault: a.vault, Gateways: a.gateways, Now: now, Log: log, Mask: a.redact})
	a.brain = brain.New(brain.Options{Vault: a.vault, Tools: set, Now: now, Log: log, Hook: crash.brain()}, a.brainSettings(ctx, cfg))
	a.scheduler = scheduler.New(scheduler.Options{Vault: a.vault, Now: now, Log: log, Heartbeat: func() time.Duration { return a.cfg.Load().Scheduler.Heartbeat }})
	for _, g := range a.gateways {
		a.parts = append(a.parts, &part{name: "gateway " + g.Name(), run: func(ctx context.Context) error { return g.Receive(ctx, a.inbox.Accept) }})
	}
	shown := activity.Options{Vault: a.vault, Gateways: a.gateways, Log: log, Mask: a.redact, MaskPart: a.redactPart}
	a.parts = append(a.parts, []*part{
		{name: "thrift", run: a.thrift},
		{name: "activity", run: func(ctx context.Context) error { return activity.Run(ctx, shown) }},
		{name: "outbox", run: a.outbox.Run},
		{name: "brain", run: a.brain.Run},
		{name: "meaning", run: a.meaning.Run},
		{name: "scheduler", run: a.scheduler.Run},
		{name: "pulls", run: a.pulls},
		{name: "elsewhere", run: a.elsewhere},
	}...)
	return nil
}

// brainSettings is what the configuration says to the brain.
func (a *agent) brainSettings(_ context.Context, cfg *config.Config) brain.Settings {
	row := configuredModel(cfg)
	s := brain.Settings{
		Backends: a.backends(cfg), Model: string(row.InUse), Fallback: cfg.Brain.Fallback, CloudFallback: brain.CloudFallback(cfg.Brain.CloudFallback), Persona: cfg.Brain.Persona, Zone: cfg.Location(),
		Limits: limits(cfg.Brain.Limits), LimitsOf: map[string]brain.DayLimits{},
		Permissions: brain.Permissions{Tools: permissions(cfg.Skills.Permissions)},
		Background:  cfg.Brain.Background,
	}
	for _, p := range cfg.People {
		if p.Limits != nil {
			s.LimitsOf[p.Name] = dayLimits(*p.Limits)
		}
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

// groups says in which groups the agent takes part.
func (a *agent) groups(gateway string) inbox.GroupMode {
	switch gateway {
	case "telegram":
		return inbox.GroupMode(a.cfg.Load().Gateways.Telegram.Groups)
	case whatsapp.Name:
		return inbox.GroupMode(a.cfg.Load().Gateways.WhatsApp.Groups)
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

// quietHours hands the vault the hours of the configuration, which go by each person's own clock.
func (a *agent) quietHours(ctx context.Context) error {
	hours := a.cfg.Load().Scheduler.QuietHours
	if hours.Off() {
		return a.vault.QuietHours(ctx, nil)
	}
	quiet := when.Quiet{From: hours.From, To: hours.To}
	return a.vault.QuietHours(ctx, func(p vault.Person, at time.Time) time.Time { return quiet.Until(at.In(a.service.zoneOf(p))) })
}
