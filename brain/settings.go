package brain

import (
	"context"
	"slices"
	"time"

	"hearth/vault"
)

// Settings are what the owner decides, as handed over by the configuration.
type Settings struct {
	Backends      map[string]Backend // by their name in the YAML file; the built-in one is called offline
	Model         string             // the one to use
	Fallback      []string           // tried in this order; offline is always the last
	CloudFallback CloudFallback
	Persona       string
	Zone          *time.Location // the household's
	Limits        Limits
	LimitsOf      map[string]DayLimits // people with limits of their own, by name
	Permissions   Permissions
	Background    bool // a model in use is asked in the background too: when nobody waits, and never the built-in one
}

// OfflineName is the backend that is always there.
const OfflineName = "offline"

// The settings in which a choice of /model is kept: its name, and the YAML value it overrides. It holds until that value
// changes.
const (
	SettingModel     = "model"
	SettingModelOver = "model_over"
)

func (s Settings) withDefaults() Settings {
	if s.Limits.Steps <= 0 {
		s.Limits.Steps = 20
	}
	if s.Limits.Worked <= 0 {
		s.Limits.Worked = 10 * time.Minute
	}
	if s.Limits.Tokens <= 0 {
		s.Limits.Tokens = 200_000
	}
	if s.Zone == nil {
		s.Zone = time.UTC
	}
	if s.Model == "" {
		s.Model = OfflineName
	}
	return s
}

// names gives the backends: the configured model first, then its fallbacks, then the others by name.
func (s Settings) names() []string {
	out := []string{s.Model}
	rest := make([]string, 0, len(s.Backends))
	for name := range s.Backends {
		rest = append(rest, name)
	}
	slices.Sort(rest)
	for _, name := range append(slices.Clone(s.Fallback), rest...) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// modelInUse is the YAML value, unless a person chose another in the chat and the YAML value is still the one it overrode.
func (s Settings) modelInUse(ctx context.Context, v *vault.Vault) (string, error) {
	chosen, err := v.Setting(ctx, SettingModel)
	if err != nil || chosen == "" {
		return s.Model, err
	}
	over, err := v.Setting(ctx, SettingModelOver)
	if err != nil || over != s.Model {
		return s.Model, err
	}
	if _, ok := s.Backends[chosen]; !ok {
		return s.Model, nil
	}
	return chosen, nil
}

// chain is the order in which backends are tried. The built-in one is not part of it: it comes when all have failed.
func (s Settings) chain(inUse string) []Backend {
	var out []Backend
	for _, name := range append([]string{inUse}, s.Fallback...) {
		backend, ok := s.Backends[name]
		if ok && !slices.ContainsFunc(out, func(o Backend) bool { return o.Name == name }) {
			out = append(out, backend)
		}
	}
	return out
}

// zone is the one a person lives in.
func (s Settings) zone(p vault.Person) *time.Location {
	if p.Zone != "" {
		if zone, err := time.LoadLocation(p.Zone); err == nil {
			return zone
		}
	}
	return s.Zone
}
