package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hearth/brain"
	"hearth/brain/ollama"
	"hearth/config"
)

// shownModel says which model is set, and whether it answers. One that its server has not installed can be pulled here.
func (s *setup) shownModel(ctx context.Context) (string, error) {
	if !s.cfg.IsSet("brain.model") && len(s.cfg.Brain.Models) == 0 {
		return "", nil
	}
	name := s.cfg.Brain.Model
	m, ok := s.cfg.Brain.Models[name]
	switch {
	case !ok || m.Provider == config.Offline:
		return "offline, the built-in one: it understands plain sentences about reminders, memory and files", nil
	case m.Provider != "ollama":
		return fmt.Sprintf("%s: %s of %s", name, m.Model, m.Provider), nil
	}
	what := fmt.Sprintf("%s: %s at %s", name, m.Model, m.URL)
	installed, err := ollama.New(ollama.Options{Name: name, URL: m.URL.Reveal(), Model: m.Model}).Installed(ctx)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return what + ", which does not answer now. " + howToStart(m.URL.Reveal()), nil
	case installed:
		return what + ", installed", nil
	}
	if err := say(s.out, "  %-10s %s, not installed there", "model", what); err != nil {
		return "", err
	}
	pulled, err := s.pull(ctx, m.URL.Reveal(), m.Model)
	if err != nil {
		err = s.tellFault(ctx, err)
	}
	if !pulled {
		return what + ", not installed; until it is, the next fallback answers, in the end the built-in model", err
	}
	return what + ", installed now", nil
}

// howToStart says how to get a model server.
func howToStart(url string) string {
	if url != ollama.DefaultURL {
		return "Is that machine on, and does Ollama listen there (OLLAMA_HOST=0.0.0.0 lets others in)?"
	}
	return "`ollama serve` starts it; https://ollama.com/download has it."
}

// serverURL is where a model server is looked for first: where the settings say, where Ollama's own variable says, else
// on this machine.
func (s *setup) serverURL() string {
	if m := s.cfg.Brain.Models[s.cfg.Brain.Model]; m.Provider == "ollama" {
		return m.URL.Reveal()
	}
	host := s.lookup("OLLAMA_HOST")
	if host == "" {
		return ollama.DefaultURL
	}
	return address(host)
}

// address completes what people write for a server, HOST or HOST:PORT, as Ollama does. One that listens everywhere is
// reached on this machine.
func address(host string) string {
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	}
	rest = strings.TrimSuffix(rest, "/")
	if rest, ok = strings.CutPrefix(rest, "0.0.0.0"); ok {
		rest = "127.0.0.1" + rest
	}
	if scheme == "http" && !strings.Contains(rest[strings.LastIndexByte(rest, ']')+1:], ":") && !strings.Contains(rest, "/") {
		rest += ":11434"
	}
	return scheme + "://" + rest
}

// askModel looks for a model server and settles which model answers.
func (s *setup) askModel(ctx context.Context) error {
	url := s.serverURL()
	for {
		found, err := ollama.Discover(ctx, url, machineMemory())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			return s.chooseModel(ctx, found)
		}
		if err := say(s.out, "Model: no Ollama server answers at %s. %s", shownURL(url), howToStart(url)); err != nil {
			return err
		}
		answer, err := s.ask.ask(ctx, "Enter looks again, an address looks there, - goes on without a model.")
		switch {
		case errors.Is(err, errNoMore) || answer == "-":
			return s.withoutModel()
		case err != nil:
			return err
		case answer != "":
			url = address(answer)
		}
	}
}

// shownURL is an address without what may be secret in it.
func shownURL(url string) string {
	if at := strings.LastIndexByte(url, '@'); at >= 0 {
		scheme, _, _ := strings.Cut(url, "://")
		url = scheme + "://***" + url[at:]
	}
	return clip(url, 80)
}

// withoutModel leaves the built-in one in charge.
func (s *setup) withoutModel() error {
	if s.cfg.IsSet("brain.model") || len(s.cfg.Brain.Models) > 0 {
		s.set(config.Offline, "brain", "model")
		return say(s.out, "The built-in model answers from now on; what is set under brain.models stays.")
	}
	return say(s.out, "The built-in model answers: it understands plain sentences about reminders, memory and files. A model server that runs on this machine later is found by itself.")
}

// modelName is what model servers take: [HOST/][OWNER/]NAME[:TAG].
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(:[0-9]+/)?(/?[A-Za-z0-9][A-Za-z0-9._-]*){0,4}(:[A-Za-z0-9._-]+)?$`)

// chooseModel asks which model of a server answers, and has it pulled if it is not installed.
func (s *setup) chooseModel(ctx context.Context, found ollama.Found) error {
	if err := say(s.out, "Model: Ollama %s answers at %s. %s", clip(found.Version, 20), shownURL(found.URL), installedWords(found)); err != nil {
		return err
	}
	for {
		choice, err := s.whichModel(ctx, found)
		switch {
		case errors.Is(err, errNoMore):
			return s.withoutModel()
		case err != nil:
			return err
		case choice == "-":
			return s.withoutModel()
		case len(choice) > 200 || !modelName.MatchString(choice):
			if err := say(s.out, "%q is no name of a model: they look like qwen3:4b.", clip(choice, 40)); err != nil {
				return err
			}
			continue
		}
		c := ollama.New(ollama.Options{Name: "init", URL: found.URL, Model: choice})
		installed, err := c.Installed(ctx)
		if err == nil && !installed {
			installed, err = s.pull(ctx, found.URL, choice)
		}
		if err != nil {
			if err := s.tellFault(ctx, err); err != nil {
				return err
			}
		}
		if err == nil && installed {
			return s.useModel(ctx, c, found.URL, choice)
		}
		if s.ask.typist == nil && err == nil {
			return s.withoutModel() // nobody is there to think of another one
		}
	}
}

// installedWords says what a server has.
func installedWords(found ollama.Found) string {
	const most = 8
	var names []string
	for _, name := range found.Installed {
		names = append(names, clip(name, 40))
	}
	switch {
	case len(names) == 0:
		return "It has no model yet."
	case len(names) > most:
		return "It has " + strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more.", len(names)-most)
	}
	return "It has " + list(names) + "."
}

// whichModel asks for a model's name. The default is the best that is installed, else one that fits this machine.
func (s *setup) whichModel(ctx context.Context, found ollama.Found) (string, error) {
	if found.Model != "" {
		answer, err := s.ask.ask(ctx, fmt.Sprintf("Which model? [%s] (another name is pulled if it is not installed, - goes on without)", clip(found.Model, 60)))
		if answer == "" && ignoreEnd(err) == nil {
			return found.Model, nil // it is there: taking it costs nothing
		}
		return answer, err
	}
	memory := machineMemory()
	fit, ok := fitting(memory)
	if !ok {
		answer, err := s.ask.ask(ctx, fmt.Sprintf("None of those fits the %s of memory here, as far as its size tells. A model's name all the same, or - to go on without:", sizeWords(memory)))
		if answer == "" && err == nil {
			answer = "-"
		}
		return answer, err
	}
	answer, err := s.ask.ask(ctx, fmt.Sprintf("With the %s of memory here %s fits, a download of about %s. Which model? [%s] (- goes on without)", sizeWords(memory), fit.name, sizeWords(fit.size), fit.name))
	if answer == "" && err == nil {
		answer = fit.name
	}
	return answer, err
}

// pull asks for agreement and has a model pulled. It is false when nobody agreed.
func (s *setup) pull(ctx context.Context, url, model string) (bool, error) {
	size := ""
	if i := slices.IndexFunc(fits, func(f fit) bool { return f.name == model }); i >= 0 {
		size = " (about " + sizeWords(fits[i].size) + ")"
	}
	if yes, err := s.ask.agree(ctx, "Pull "+model+size+" now?"); err != nil || !yes {
		return false, err
	}
	err := pullModel(ctx, url, model, bar(s.out))
	if isTerminal(s.out) {
		fmt.Fprintln(s.out)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil, err
}

// tellFault prints what a model server or a download has against it. What is no such fault is given back.
func (s *setup) tellFault(ctx context.Context, err error) error {
	var fault *brain.ModelError
	if ctx.Err() != nil || !errors.As(err, &fault) {
		return err
	}
	if err := say(s.out, "%s", clip(fault.Human, 400)); err != nil {
		return err
	}
	if s.ask.typist == nil {
		return failed("So there is no model, and nothing was written. Without one: answer - where the model is asked.")
	}
	return nil
}

// leastContext is below what the instructions and a question need.
const leastContext = 2048

// useModel notes the model. One that is set on an Ollama server already is changed in its place; what else is set for it
// stays.
func (s *setup) useModel(ctx context.Context, c *ollama.Client, url, model string) error {
	for _, f := range c.Check(ctx) {
		if !f.OK && f.What != "context" {
			if err := say(s.out, "%s", clip(f.Text, 400)); err != nil {
				return err
			}
		}
	}
	name, had := s.cfg.Brain.Model, s.cfg.Brain.Models[s.cfg.Brain.Model]
	if had.Provider != "ollama" {
		name, had = s.freeName(), config.Model{}
		s.set(name, "brain", "model")
		s.set("ollama", "brain", "models", name, "provider")
	}
	if had.URL.Reveal() != url {
		s.set(url, "brain", "models", name, "url")
	}
	if had.Model != model {
		s.set(model, "brain", "models", name, "model")
	}
	const usual = 8192
	if _, most, err := c.Loaded(ctx); err == nil && most >= leastContext && most < max(usual, had.Context) {
		s.set(strconv.Itoa(most), "brain", "models", name, "context")
	}
	return say(s.out, "%s answers; in chat it is called %s (/model).", model, name)
}

// freeName is what a new model is called.
func (s *setup) freeName() string {
	for n := 1; ; n++ {
		name := "home"
		if n > 1 {
			name += strconv.Itoa(n)
		}
		if _, taken := s.cfg.Brain.Models[name]; !taken {
			return name
		}
	}
}
