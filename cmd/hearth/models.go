package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/brain"
	"hearth/brain/anthropic"
	"hearth/brain/offline"
	"hearth/brain/ollama"
	"hearth/brain/openai"
	"hearth/config"
	"hearth/gateways/inbox"
)

// modelClient is a model behind a server, of whatever provider.
type modelClient interface {
	brain.Model
	Context(ctx context.Context) int
	Check(ctx context.Context) []brain.Finding
}

// keptClient is a client with the settings it was made from.
type keptClient struct {
	modelClient
	settings string
}

// backends are the models of the configuration. The built-in one is always there. A client is kept as long as its settings
// are the same: it has learned what its server can do.
func (a *agent) backends(cfg *config.Config) map[string]brain.Backend {
	limits := cfg.Brain.Limits
	free := &brain.Price{}
	out := map[string]brain.Backend{config.Offline: {Name: config.Offline, Model: offline.New(), Context: 8192, MaxTokens: 1024, Parallel: limits.Parallel, Offline: true, Local: true, Price: free}}
	clients := map[string]keptClient{}
	for name, m := range cfg.Brain.Models {
		b := brain.Backend{Name: name, Context: m.Context, MaxTokens: m.MaxTokens, Parallel: limits.Parallel, Local: atHome(m)}
		if b.Local {
			b.Price = free
		}
		if m.Price != nil {
			b.Price = priceOf(m)
		}
		if m.Provider == config.Offline {
			b.Model, b.Offline, b.Price = offline.New(), true, free
		} else {
			c, ok := a.clients[name]
			if !ok || c.settings != clientSettings(m) {
				c = keptClient{modelClient: newModelClient(name, m, a.clock.now, a.log.Logger), settings: clientSettings(m)}
			}
			clients[name], b.Model, b.Window = c, c, c.Context
		}
		b.Print = fingerprint(m)
		out[name] = b
	}
	a.clients = clients
	return out
}

// atHome reports whether what is said to a model stays in the owner's own network.
func atHome(m config.Model) bool {
	if m.Provider == config.Offline {
		return true
	}
	u, err := url.Parse(m.URL.Reveal())
	return err == nil && brain.LocalHost(u.Hostname()) && (m.Provider != "ollama" || !ollama.Elsewhere(m.Model))
}

func clientSettings(m config.Model) string {
	warm := "unset"
	if m.Temperature != nil {
		warm = fmt.Sprint(*m.Temperature)
	}
	m.Price, m.Temperature = nil, nil
	return fmt.Sprintf("%s %s %s %+v", m.URL.Reveal(), m.APIKey.Reveal(), warm, m)
}

// fingerprint tells two settings of a model apart, and nothing of the secrets in them.
func fingerprint(m config.Model) string {
	sum := sha256.Sum256([]byte(clientSettings(m)))
	return hex.EncodeToString(sum[:8])
}

func newModelClient(name string, m config.Model, now func() time.Time, log *slog.Logger) modelClient {
	switch m.Provider {
	case "openai":
		return openai.New(openai.Options{
			Name: name, URL: m.URL.Reveal(), Model: m.Model, APIKey: m.APIKey.Reveal(), Context: m.Context, MaxTokens: m.MaxTokens, Think: m.Think, Temperature: m.Temperature,
			Tools: m.Tools, FirstToken: m.FirstTokenTimeout, Idle: m.IdleTimeout, Now: now, Log: log,
		})
	case "anthropic":
		return anthropic.New(anthropic.Options{
			Name: name, URL: m.URL.Reveal(), Model: m.Model, APIKey: m.APIKey.Reveal(), Context: m.Context, MaxTokens: m.MaxTokens, Think: m.Think, Temperature: m.Temperature,
			Tools: m.Tools, FirstToken: m.FirstTokenTimeout, Idle: m.IdleTimeout, Now: now, Log: log,
		})
	}
	return ollama.New(ollama.Options{
		Name: name, URL: m.URL.Reveal(), Model: m.Model, Context: m.Context, MaxTokens: m.MaxTokens, KeepAlive: m.KeepAlive, Think: m.Think, Temperature: m.Temperature, Tools: m.Tools,
		FirstToken: m.FirstTokenTimeout, Idle: m.IdleTimeout, Now: now, Log: log,
	})
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
	m := config.Model{Provider: "ollama", Model: found.Model, Context: 8192, MaxTokens: 1024, KeepAlive: 30 * time.Minute, Tools: brain.ToolsAuto}
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

// configuredModel is the model of the configuration, with the others there are.
func configuredModel(cfg *config.Config) modelRow {
	known := []string{config.Offline}
	for name := range cfg.Brain.Models {
		if name != config.Offline {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	return modelRow{Configured: text(cfg.Brain.Model), InUse: text(cfg.Brain.Model), Known: known}
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
		if m.Provider == config.Offline {
			continue
		}
		for _, f := range newModelClient(name, m, time.Now, slog.New(slog.DiscardHandler)).Check(ctx) {
			if f.OK {
				out = append(out, checkRow{"model " + name, fine, f.Text, ""})
			} else {
				out = append(out, checkRow{"model " + name, uneasy, f.Text, "Until then the next fallback answers, in the end the built-in model."})
			}
		}
	}
	return out
}
