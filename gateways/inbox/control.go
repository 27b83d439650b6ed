package inbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hearth/vault"
)

// stop ends what is going on in this conversation and says what becomes of the rest.
func stop(r *request) ([]string, error) {
	h, err := r.tx.Stop(r.c.ID)
	if err != nil {
		return nil, err
	}
	lines := []string{"Nothing is running."}
	if len(h.Stopped) > 0 {
		var what []string
		for _, run := range h.Stopped {
			words, err := r.about(run)
			if err != nil {
				return nil, err
			}
			what = append(what, words)
		}
		lines[0] = "Stopped: " + strings.Join(what, ", ") + "."
	}
	for _, call := range h.Unsure {
		lines = append(lines, fmt.Sprintf("%s had begun: it may or may not have happened, and I do not repeat it.", deed(call)))
	}
	kept, err := r.kept(h.Kept)
	if err != nil {
		return nil, err
	}
	if kept != "" {
		lines = append(lines, kept)
	}
	return []string{strings.Join(lines, "\n")}, nil
}

// about names a run by what began it.
func (r *request) about(run vault.Run) (string, error) {
	words := run.Input
	if words == "" {
		p, err := r.i.opt.Vault.Progress(r.ctx, run.ID)
		if err != nil {
			return "", err
		}
		for _, m := range p.Messages {
			if words = oneLine(m.Text, maxAbout); words != "" {
				break
			}
		}
	}
	if words = oneLine(words, maxAbout); words == "" {
		return fmt.Sprintf("run %d", run.ID), nil
	}
	return "“" + words + "”", nil
}

// maxAbout is how much of a message names its run.
const maxAbout = 60

// deed names a call with its arguments as a person reads them.
func deed(call vault.Call) string {
	var args map[string]any
	if err := json.Unmarshal([]byte(call.Args), &args); err != nil || len(args) == 0 {
		return call.Tool
	}
	var names []string
	for name := range args {
		names = append(names, name)
	}
	slices.Sort(names)
	for n, name := range names {
		names[n] = fmt.Sprintf("%s: %s", name, oneLine(fmt.Sprint(args[name]), maxAbout))
	}
	return call.Tool + " (" + strings.Join(names, ", ") + ")"
}

// kept says what waits and comes next, "" when nothing does.
func (r *request) kept(runs []vault.Run) (string, error) {
	messages, tasks := 0, 0
	for _, run := range runs {
		if run.Trigger != "message" {
			tasks++
			continue
		}
		p, err := r.i.opt.Vault.Progress(r.ctx, run.ID)
		if err != nil {
			return "", err
		}
		messages += max(1, len(p.Messages))
	}
	var what []string
	if messages > 0 {
		what = append(what, plural(messages, "message", "messages"))
	}
	if tasks > 0 {
		what = append(what, plural(tasks, "scheduled task", "scheduled tasks"))
	}
	if len(what) == 0 {
		return "", nil
	}
	verb := "are waiting and come next"
	if messages+tasks == 1 {
		verb = "is waiting and comes next"
	}
	paused, err := r.i.opt.Vault.Paused(r.ctx)
	if err != nil {
		return "", err
	}
	if paused {
		verb += " after /resume"
	}
	return strings.Join(what, " and ") + " " + verb + ".", nil
}

// pause holds all runs of the household.
func pause(r *request) ([]string, error) {
	before, err := r.i.opt.Vault.Paused(r.ctx)
	if err != nil {
		return nil, err
	}
	if before {
		return say("I am paused already. /resume lets me go on.")
	}
	if err := r.tx.Pause(true); err != nil {
		return nil, err
	}
	return say("Paused, for everybody: I keep what is written and answer after /resume. Reminders still come.")
}

// resume lets them go on.
func resume(r *request) ([]string, error) {
	before, err := r.i.opt.Vault.Paused(r.ctx)
	if err != nil {
		return nil, err
	}
	if !before {
		return say("I am not paused.")
	}
	if err := r.tx.Pause(false); err != nil {
		return nil, err
	}
	open, err := r.i.opt.Vault.OpenRuns(r.ctx, 0)
	if err != nil {
		return nil, err
	}
	queued := 0
	for _, run := range open {
		if run.State == vault.Queued {
			queued++
		}
	}
	if queued == 0 {
		return say("I go on. Nothing was waiting.")
	}
	return say("I go on. %s.", plural(queued, "task was waiting", "tasks were waiting"))
}

// newTalk hides what was said before from the model.
func newTalk(r *request) ([]string, error) {
	if err := r.tx.NewTalk(r.c.ID); err != nil {
		return nil, err
	}
	return say("A new talk begins. What was said before is kept, but I no longer look at it. Memories and reminders stay.")
}

// model lists the models, or switches.
func model(r *request) ([]string, error) {
	names := r.models.Names
	if len(names) == 0 {
		return say("No model is set up.")
	}
	pull, err := r.pull()
	if err != nil {
		return nil, err
	}
	list := make([]string, len(names))
	for n, name := range names {
		list[n] = name
		switch name {
		case r.models.InUse:
			list[n] += " (in use)"
		case pull.Name:
			list[n] += " (being pulled)"
		}
	}
	there := "Models: " + strings.Join(list, ", ") + "."
	if r.arg == "" {
		if r.from.IsOwner() {
			there += " /model NAME switches."
		}
		return []string{there}, nil
	}
	if !r.from.IsOwner() {
		return []string{refusal}, nil
	}
	chosen := chosenModel(names, r.arg)
	if chosen == "" {
		unknown := fmt.Sprintf("There is no model %q.", oneLine(r.arg, 40))
		if near := nearest(r.arg, names); near != "" {
			unknown += fmt.Sprintf(" Did you mean %s?", near)
		}
		return []string{unknown + " " + there}, nil
	}
	if r.missing != "" {
		return r.beginPull(pull, chosen)
	}
	given, err := r.endPull(pull)
	if err != nil {
		return nil, err
	}
	name, over := chosen, r.models.YAML
	if chosen == r.models.YAML {
		name, over = "", "" // nothing is overridden
	}
	if err := r.tx.Set(SettingModel, name); err != nil {
		return nil, err
	}
	if err := r.tx.Set(SettingModelOver, over); err != nil {
		return nil, err
	}
	if err := r.tx.Set(vault.SettingShut(chosen), ""); err != nil { // it is to be tried, whatever it said before
		return nil, err
	}
	if chosen == r.models.InUse {
		return say("%s is in use already.%s", chosen, given)
	}
	return say("From the next step on I use %s.%s", chosen, given)
}

// chosenModel finds the model that is meant; "" when there is none.
func chosenModel(names []string, word string) string {
	chosen := ""
	for _, name := range names {
		if name == word || chosen == "" && strings.EqualFold(name, word) {
			chosen = name
		}
	}
	return chosen
}
