package main

import (
	"io"
	"log/slog"
	"sync/atomic"

	"hearth/config"
)

// logger writes to stderr. Whatever a part logs, no secret of the configuration is in it.
type logger struct {
	*slog.Logger
	level  *slog.LevelVar
	redact *atomic.Pointer[config.Redactor]
}

func newLogger(w io.Writer, cfg *config.Config) logger {
	l := logger{level: &slog.LevelVar{}, redact: &atomic.Pointer[config.Redactor]{}}
	l.configure(cfg)
	opts := &slog.HandlerOptions{Level: l.level, ReplaceAttr: l.mask}
	var h slog.Handler = slog.NewTextHandler(masked{w, l.redact}, opts)
	if cfg.Log.Format == "json" {
		h = slog.NewJSONHandler(masked{w, l.redact}, opts)
	}
	l.Logger = slog.New(h)
	return l
}

// configure takes up a level and secrets. After a reload before is the configuration whose secrets may still be on their
// way through the program.
func (l logger) configure(cfg *config.Config, before ...*config.Config) {
	l.redact.Store(config.NewRedactor(append(before, cfg)...))
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	l.level.Set(levels[cfg.Log.Level])
}

// mask hides secrets in values before the handler quotes them, since a quoted secret may look different.
func (l logger) mask(_ []string, a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(l.redact.Load().Redact(v))
	case error:
		a.Value = slog.StringValue(l.redact.Load().Redact(v.Error()))
	}
	return a
}

// masked hides secrets in whole lines: a handler writes one at a time.
type masked struct {
	w      io.Writer
	redact *atomic.Pointer[config.Redactor]
}

func (m masked) Write(line []byte) (int, error) {
	if _, err := io.WriteString(m.w, m.redact.Load().Redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
