package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hearth/config"
)

// settings loads a configuration from a text.
func settings(t *testing.T, yaml string) *config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hearth.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(path, []string{"HOME=" + t.TempDir()}, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

type speaking struct{ words string }

func (s speaking) LogValue() slog.Value { return slog.StringValue(s.words) }

// Wherever a part puts a secret by mistake, it is not in the log; the old one is masked for a while after it was changed.
func TestCFG11NoSecretIsEverLogged(t *testing.T) {
	const secret = `se"cr<et>-4711\x`
	with := func(key, format string) *config.Config {
		return settings(t, "log: {level: debug, format: "+format+"}\nbrain: {models: {home: {provider: openai, model: m, api_key: '"+key+"'}}}\n")
	}
	for _, format := range []string{"text", "json"} {
		out := &buffer{}
		cfg := with(secret, format)
		log := newLogger(out, cfg)
		spread := func() {
			log.Debug("said "+secret, "words", "a "+secret, "cause", errors.New(secret), "list", []string{secret}, "later", speaking{secret}, "any", struct{ S string }{secret})
			log.With("with", secret).WithGroup("g").Info("in a group", slog.Group("h", "deep", secret), secret, 1)
		}
		spread()
		log.configure(with("another-secret-0815", format), cfg)
		spread()
		log.Info("the new one", "key", "another-secret-0815")
		for _, leak := range []string{"4711", "cr<et>", "0815"} {
			if strings.Contains(out.String(), leak) {
				t.Errorf("%s log shows %q:\n%s", format, leak, out)
			}
		}
		if strings.Count(out.String(), "***") < 10 || strings.Count(out.String(), "\n") != 5 {
			t.Errorf("%s log:\n%s", format, out)
		}
	}
}

func TestLevelIsTakenUp(t *testing.T) {
	log := newLogger(&buffer{}, settings(t, "log: {level: error}\n"))
	if log.Enabled(context.Background(), slog.LevelWarn) {
		t.Error("warnings are shown at level error")
	}
	log.configure(settings(t, "log: {level: debug}\n"))
	if !log.Enabled(context.Background(), slog.LevelDebug) {
		t.Error("debug is not shown at level debug")
	}
}
