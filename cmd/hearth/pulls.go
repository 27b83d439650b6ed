package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hearth/brain"
	"hearth/brain/ollama"
	"hearth/gateways"
	"hearth/gateways/inbox"
	"hearth/vault"
)

// missingTime is how long /model waits to hear what a model server has.
const missingTime = 3 * time.Second

// missingModel names what the server of a model has not installed; "" when it has it, or does not say.
func (a *agent) missingModel(ctx context.Context, name string) string {
	m := a.cfg.Load().Brain.Models[name]
	if m.Provider != "ollama" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, missingTime)
	defer cancel()
	installed, err := ollama.New(ollama.Options{Name: name, URL: m.URL.Reveal(), Model: m.Model}).Installed(ctx)
	if err != nil || installed {
		return "" // a server that is off may be on when the model is needed
	}
	return m.Model
}

// pulls has models installed that /model asked for, one at a time. What was asked for stands in the vault, so that a
// restart goes on with it; when the note there changes, what it asked for before is given up.
func (a *agent) pulls(ctx context.Context) error {
	woken, cancel := a.vault.Subscribe(vault.SettingsChanged)
	defer cancel()
	tick := time.NewTicker(time.Minute) // a wake-up is only a hint
	defer tick.Stop()
	var now pulling
	defer func() { now.giveUp() }()
	for {
		note, err := a.vault.Setting(ctx, inbox.SettingPull)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("read what is to be pulled: %w", err)
		case note != now.note:
			now.giveUp()
			now = a.beginPull(ctx, note)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-tick.C:
		}
	}
}

// pulling is a pull that goes on; one without a note is none.
type pulling struct {
	note  string
	stop  context.CancelFunc
	ended chan struct{}
}

func (p pulling) giveUp() {
	if p.stop != nil {
		p.stop()
		<-p.ended
	}
}

// beginPull starts what a note asks for.
func (a *agent) beginPull(ctx context.Context, note string) pulling {
	wanted := inbox.ReadPull(note)
	if wanted.Model == "" {
		return pulling{note: note}
	}
	ctx, stop := context.WithCancel(ctx)
	p := pulling{note: note, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		a.pull(ctx, wanted, note)
	}()
	return p
}

// pull has one model installed, tells how far it is, and uses it. note is the setting that asked for it.
func (a *agent) pull(ctx context.Context, p inbox.Pull, note string) {
	m, ok := a.cfg.Load().Brain.Models[p.Name]
	err := errChanged
	if ok && m.Model == p.Model {
		a.log.Info("a model is being pulled", "model", p.Model)
		err = pullModel(ctx, m.URL.Reveal(), p.Model, a.pullProgress(ctx, p))
	}
	if ctx.Err() != nil {
		a.endPullLine(context.WithoutCancel(ctx), p, note)
		return // given up, or the program ends: then it goes on with the next start
	}
	if err != nil {
		a.log.Warn("a model was not pulled", "model", p.Model, "error", a.redact(err.Error()))
	}
	if err := a.endPull(ctx, p, note, err); err != nil && ctx.Err() == nil {
		a.log.Error("cannot tell about a model that was pulled", "model", p.Model, "error", err)
	}
}

// errChanged says that the settings name the model no longer.
var errChanged = errors.New("the configuration does not name this model any more")

// pullLine is the key of a pull's progress line.
func pullLine(p inbox.Pull) string { return p.Key + ":pull" }

// endPullLine gives the progress line of a pull its last words, unless the next start goes on with it.
func (a *agent) endPullLine(ctx context.Context, p inbox.Pull, note string) {
	now, err := a.vault.Setting(ctx, inbox.SettingPull)
	if err == nil && now != note {
		err = a.vault.EndLine(ctx, pullLine(p), p.Model+" is not pulled any further.")
	}
	if err != nil {
		a.log.Warn("cannot end a progress line", "model", p.Model, "error", err)
	}
}

// pullProgress tells in the chat how far a pull is: in one line that is edited, where the messenger can do that. Elsewhere
// at a quarter, a half and three quarters, since the chat would fill up otherwise.
func (a *agent) pullProgress(ctx context.Context, p inbox.Pull) tell {
	edits := slices.ContainsFunc(a.gateways, func(g gateways.Gateway) bool {
		_, ok := g.(gateways.Editor)
		return ok && g.Name() == p.To.Gateway
	})
	quarter := 0
	return func(percent int, words string) {
		if edits {
			if _, err := a.vault.ShowLine(ctx, vault.Part{Key: pullLine(p), Conversation: p.Conversation, To: p.To, Text: words}); err != nil && ctx.Err() == nil {
				a.log.Warn("cannot tell how far a pull is", "model", p.Model, "error", err)
			}
			return
		}
		if percent/25 <= quarter || percent == 100 { // the end has words of its own
			return
		}
		quarter = percent / 25
		part := vault.Part{Key: fmt.Sprintf("%s:pull:%d", p.Key, quarter), Conversation: p.Conversation, To: p.To, Class: vault.Status, Text: words}
		if _, err := a.vault.Post(ctx, part); err != nil && ctx.Err() == nil {
			a.log.Warn("cannot tell how far a pull is", "model", p.Model, "error", err)
		}
	}
}

// endPull commits what came of a pull, the switch to the model and the word about it together. When the note is another
// one by now, somebody has decided otherwise, and nothing happens.
func (a *agent) endPull(ctx context.Context, p inbox.Pull, note string, failure error) error {
	yaml := string(configuredModel(a.cfg.Load()).InUse)
	if m, ok := a.cfg.Load().Brain.Models[p.Name]; !ok || m.Model != p.Model {
		failure = errChanged
	}
	last := p.Model + " is pulled."
	if failure != nil {
		last = p.Model + " was not pulled."
	}
	if err := a.vault.EndLine(ctx, pullLine(p), last); err != nil {
		return err
	}
	return a.vault.Do(ctx, "pulled", func(tx *vault.Tx) error {
		now, err := tx.Setting(inbox.SettingPull)
		if err != nil || now != note {
			return err
		}
		if err := tx.Set(inbox.SettingPull, ""); err != nil {
			return err
		}
		words := fmt.Sprintf("%s is installed. From the next step on I use %s.", p.Model, p.Name)
		if failure != nil {
			words = fmt.Sprintf("%s was not pulled: %s", p.Model, pullFault(failure, p))
		} else {
			name, over := p.Name, yaml
			if name == yaml {
				name, over = "", "" // nothing is overridden
			}
			if err := errors.Join(tx.Set(brain.SettingModel, name), tx.Set(brain.SettingModelOver, over)); err != nil {
				return err
			}
		}
		_, err = tx.Post(vault.Part{Key: p.Key + ":pulled", Conversation: p.Conversation, To: p.To, Class: vault.Notice, Text: words})
		return err
	})
}

// pullFault is what a person is told about a pull that came to nothing.
func pullFault(err error, p inbox.Pull) string {
	var fault *brain.ModelError
	switch {
	case errors.Is(err, errChanged):
		return "the configuration does not name it any more."
	case errors.As(err, &fault) && fault.Human != "":
		return fault.Human + " /model " + p.Name + " tries again."
	}
	return "the model server could not do it. /model " + p.Name + " tries again."
}
