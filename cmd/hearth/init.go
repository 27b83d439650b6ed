package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"hearth/config"
)

// setup is one `hearth init`: what was there, and what is to be changed. Nothing is written before all has been asked.
type setup struct {
	*invocation
	ask    *asker
	path   string
	before []byte // the file; nil when there is none
	cfg    *config.Config

	changes []config.Setting
	bot     string // the username, without the @; "" = not known
}

// cmdInit asks the few things needed, checks each as it is answered, and writes them into the configuration.
func cmdInit(ctx context.Context, in *invocation) error {
	s := &setup{invocation: in, ask: newAsker(in.in, in.out), path: config.Locate(in.flags["config"], in.env)}
	if s.path == "" {
		return usage("Neither HOME nor XDG_CONFIG_HOME is set: say with --config FILE where the configuration is to be.")
	}
	if err := s.look(); err != nil {
		return err
	}
	err := s.questions(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return failed("Interrupted: nothing was changed.")
		}
		return err
	}
	if err := s.save(); err != nil {
		return err
	}
	return s.next(ctx)
}

// look reads what is there. A file with mistakes is left to its owner: what is meant by it cannot be known.
func (s *setup) look() error {
	text, err := readSome(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = nil
	case err != nil:
		return failed("%s cannot be read: %s.", s.path, reasonOf(err))
	}
	s.before = text
	s.cfg, err = config.Read(s.path, text, s.env)
	var wrong *config.Error
	if errors.As(err, &wrong) && text != nil {
		return &failure{code: exitUsage, cause: err, sentence: wrong.Error() + "\nCorrect this first: `hearth init` changes no file that has mistakes."}
	}
	if err != nil {
		return err
	}
	s.redact = config.NewRedactor(s.cfg).Redact
	return nil
}

// readSome reads a file, and of a very long one more than any configuration has, which is then refused for its length.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return text, errors.Join(err, f.Close())
}

// reasonOf is the system's word for what went wrong, without the path.
func reasonOf(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// topic is one thing to be asked.
type topic struct {
	name  string
	words []string // how it can be asked for
	// shown says what is set and checks it; "" when it is missing.
	shown func(context.Context) (string, error)
	ask   func(context.Context) error
}

func (s *setup) topics() []topic {
	return []topic{
		{"Telegram", []string{"telegram", "token", "bot"}, s.shownTelegram, s.askTelegram},
		{"time zone", []string{"time zone", "zone", "timezone"}, s.shownZone, s.askZone},
		{"model", []string{"model", "ollama"}, s.shownModel, s.askModel},
	}
}

// questions asks what is missing, and what the person wants to change.
func (s *setup) questions(ctx context.Context) error {
	topics := s.topics()
	if s.before == nil {
		if err := say(s.out, "This sets up Hearth in %s. Ctrl-C at any question leaves everything as it is.\n", s.path); err != nil {
			return err
		}
	} else if err := say(s.out, "Set in %s:", s.path); err != nil {
		return err
	}
	var missing, known []topic
	for _, t := range topics {
		shown, err := t.shown(ctx)
		if err != nil {
			return err
		}
		if shown == "" {
			missing = append(missing, t)
			continue
		}
		known = append(known, t)
		if err := say(s.out, "  %-10s %s", t.name, s.redact(shown)); err != nil {
			return err
		}
	}
	if s.before != nil && len(known) > 0 {
		wanted, err := s.wanted(ctx, known)
		if err != nil {
			return err
		}
		missing = append(missing, wanted...)
	}
	for _, t := range missing {
		if err := t.ask(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wanted asks which of the things that are set shall be changed.
func (s *setup) wanted(ctx context.Context, known []topic) ([]topic, error) {
	var names []string
	for _, t := range known {
		names = append(names, t.name)
	}
	for {
		answer, err := s.ask.ask(ctx, "Change one of them? ("+strings.Join(names, ", ")+"; Enter keeps them all)")
		if answer == "" || errors.Is(err, errNoMore) {
			return nil, ignoreEnd(err)
		}
		if err != nil {
			return nil, err
		}
		var out []topic
		wrong := ""
		for word := range strings.SplitSeq(answer, ",") {
			t, ok := named(known, strings.ToLower(strings.TrimSpace(word)))
			if !ok {
				wrong = strings.TrimSpace(word)
				break
			}
			out = append(out, t)
		}
		if wrong == "" {
			return out, nil
		}
		if err := say(s.out, "There is no %q here: it is one or more of %s.", clip(wrong, 40), strings.Join(names, ", ")); err != nil {
			return nil, err
		}
	}
}

func named(topics []topic, word string) (topic, bool) {
	for _, t := range topics {
		for _, name := range t.words {
			if word == name {
				return t, true
			}
		}
	}
	return topic{}, false
}

func ignoreEnd(err error) error {
	if errors.Is(err, errNoMore) {
		return nil
	}
	return err
}

// set notes a change. It is written at the end.
func (s *setup) set(value string, key ...string) {
	s.changes = append(s.changes, config.Setting{Key: key, Value: value})
}

func (s *setup) shownZone(context.Context) (string, error) {
	if !s.cfg.IsSet("timezone") {
		return "", nil
	}
	return s.cfg.Timezone, nil
}

// askZone asks for the time zone of the household.
func (s *setup) askZone(ctx context.Context) error {
	for {
		answer, err := s.ask.ask(ctx, fmt.Sprintf("Time zone [%s]:", s.cfg.Timezone))
		if err := ignoreEnd(err); err != nil {
			return err
		}
		if answer == "" {
			answer = s.cfg.Timezone
		}
		zone, err := config.ZoneName(answer)
		if err == nil {
			s.set(zone, "timezone")
			return nil
		}
		if err := say(s.out, "%s", sentenceOf(err.Error())); err != nil {
			return err
		}
	}
}

// fresh reports whether there is nothing to keep.
func (s *setup) fresh() bool { return len(bytes.TrimSpace(s.before)) == 0 }
