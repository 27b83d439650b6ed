package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/brain"
	"hearth/brain/offline"
	"hearth/brain/ollama"
	"hearth/config"
	"hearth/gateways/inbox"
)

// providers that this program can talk to.
var providers = []string{config.Offline, "ollama"}

// backends are the models of the configuration that this program can talk to. The built-in one is always there. A client
// is kept as long as its settings are the same: it has learned what its server can do.
func (a *agent) backends(cfg *config.Config) map[string]brain.Backend {
	limits := cfg.Brain.Limits
	free := &brain.Price{}
	out := map[string]brain.Backend{config.Offline: {Name: config.Offline, Model: offline.New(), Context: 8192, MaxTokens: 1024, Parallel: limits.Parallel, Offline: true, Price: free}}
	clients := map[string]*ollamaClient{}
	for name, m := range cfg.Brain.Models {
		b := brain.Backend{Name: name, Context: m.Context, MaxTokens: m.MaxTokens, Parallel: limits.Parallel, Price: free}
		switch m.Provider {
		case config.Offline:
			b.Model, b.Offline = offline.New(), true
		case "ollama":
			c := a.ollama[name]
			if c == nil || c.settings != ollamaSettings(m) {
				c = newOllama(a, name, m)
			}
			clients[name], b.Model, b.Window = c, c.Client, c.Context
		default:
			continue
		}
		if m.Price != nil {
			b.Price = &brain.Price{Input: m.Price.Input, Output: m.Price.Output}
		}
		out[name] = b
	}
	a.ollama = clients
	return out
}

// ollamaClient is a client with the settings it was made from.
type ollamaClient struct {
	*ollama.Client
	settings string
}

func ollamaSettings(m config.Model) string {
	m.Price = nil
	return fmt.Sprintf("%s %+v", m.URL.Reveal(), m)
}

func newOllama(a *agent, name string, m config.Model) *ollamaClient {
	return &ollamaClient{settings: ollamaSettings(m), Client: ollama.New(ollama.Options{
		Name: name, URL: m.URL.Reveal(), Model: m.Model, Context: m.Context, MaxTokens: m.MaxTokens, KeepAlive: m.KeepAlive, Think: m.Think, Tools: m.Tools,
		FirstToken: m.FirstTokenTimeout, Idle: m.IdleTimeout, Now: a.clock.now, Log: a.log.Logger,
	})}
}

// foundName is what a model is called that nobody configured: it was found on this machine.
const foundName = "ollama"

// discover looks for a model on this machine when the configuration names none, and adds it to the settings.
func (a *agent) discover(ctx context.Context, cfg *config.Config) {
	if cfg.IsSet("brain.model") || len(cfg.Brain.Models) > 0 {
		return
	}
	found, err := ollama.Discover(ctx, ollama.DefaultURL, machineMemory())
	if err != nil {
		a.log.Debug("no model server on this machine", "error", err)
		return
	}
	if found.Model == "" {
		a.log.Info("an Ollama server answers, but has no model that knows tools and fits this machine", "installed", found.Installed)
		return
	}
	m := config.Model{Provider: "ollama", Model: found.Model, Context: 8192, MaxTokens: 1024, KeepAlive: 30 * time.Minute, Tools: ollama.ToolsAuto}
	if found.Context > 0 {
		m.Context = min(m.Context, found.Context)
	}
	cfg.Brain.Models = map[string]config.Model{foundName: m}
	cfg.Brain.Model = foundName
	a.log.Info("found a model on this machine", "model", found.Model, "loaded", found.Loaded)
}

// machineMemory is the memory of this machine in bytes; 0 when it is not told, so that only a loaded model counts as fit.
func machineMemory() int64 {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(info)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// knownModels names the models of the configuration that this program can talk to.
func knownModels(cfg *config.Config) []string {
	known := []string{config.Offline}
	for name, m := range cfg.Brain.Models {
		if name != config.Offline && slices.Contains(providers, m.Provider) {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	return known
}

// configuredModel is the model to use: the configured one, else the first fallback that this program can talk to, else
// the built-in one. The note says why.
func configuredModel(cfg *config.Config) modelRow {
	known := knownModels(cfg)
	row := modelRow{Configured: text(cfg.Brain.Model), InUse: text(config.Offline), Known: known}
	for _, name := range append([]string{cfg.Brain.Model}, cfg.Brain.Fallback...) {
		if slices.Contains(known, name) {
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

// modelChecks looks whether the models of the configuration can be used.
func modelChecks(ctx context.Context, cfg *config.Config) []checkRow {
	var out []checkRow
	for _, name := range slices.Sorted(maps.Keys(cfg.Brain.Models)) {
		m := cfg.Brain.Models[name]
		if m.Provider != "ollama" {
			continue
		}
		c := ollama.New(ollama.Options{Name: name, URL: m.URL.Reveal(), Model: m.Model, Context: m.Context, MaxTokens: m.MaxTokens, Think: m.Think, Tools: m.Tools})
		for _, f := range c.Check(ctx) {
			if f.OK {
				out = append(out, checkRow{"model " + name, fine, f.Text, ""})
			} else {
				out = append(out, checkRow{"model " + name, uneasy, f.Text, "Until then the next fallback answers, in the end the built-in model."})
			}
		}
	}
	return out
}

// unsupported are sentences about settings for what this version has not got.
func unsupported(cfg *config.Config) []string {
	var out []string
	if cfg.IsSet("scheduler.quiet_hours") {
		out = append(out, "scheduler.quiet_hours is set, and this version does not keep them yet: follow-ups may speak at night.")
	}
	if cfg.Scheduler.Heartbeat > 0 {
		out = append(out, "scheduler.heartbeat is set, and this version has none yet: it stays off.")
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Brain.Models)) {
		if m := cfg.Brain.Models[name]; !slices.Contains(providers, m.Provider) {
			out = append(out, fmt.Sprintf("brain.models.%s has the provider %s, which this version cannot talk to yet: it is left out.", name, m.Provider))
		}
	}
	return out
}
