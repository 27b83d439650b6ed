package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"hearth/config"
	"hearth/gateways"
	"hearth/scheduler/when"
	"hearth/vault"
)

// examineEvery is how often the whole file is read.
const examineEvery = 24 * time.Hour

// integrity reads the whole file, beside the work: after the start, daily, and when SQLite has stumbled over something. A
// damaged vault must not be written to, so it ends the program; first the owner is told.
func (a *agent) integrity(ctx context.Context) error {
	woken, cancel := a.vault.Subscribe(vault.TroubleChanged)
	defer cancel()
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	var examined time.Time
	for {
		if a.vault.Suspect() != nil || a.clock.now().Sub(examined).Abs() >= examineEvery {
			began := time.Now()
			err := a.vault.Examine(ctx)
			var damaged *vault.DamagedError
			switch {
			case errors.As(err, &damaged):
				a.tellDamage(ctx, damaged)
				return damaged
			case err != nil && ctx.Err() == nil:
				a.log.Error("cannot read the whole vault to see whether it is sound", "error", err)
			case err == nil:
				a.log.Info("the vault is sound", "looked_for", time.Since(began).Round(time.Millisecond).String())
				forgetDamage(a.vault.Dir())
			}
			examined = a.clock.now()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-tick.C:
		}
	}
}

// damageNote stands beside a damaged vault once its owner was told, so that a supervisor that starts the program again and
// again does not have them told again and again.
const damageNote = "damage-told"

func forgetDamage(dir string) {
	_ = os.Remove(filepath.Join(dir, damageNote)) // most often there is none
}

// tellDamage tells the owner, past the vault, which cannot be written to.
func (a *agent) tellDamage(ctx context.Context, e *vault.DamagedError) {
	note := filepath.Join(a.vault.Dir(), damageNote)
	if _, err := os.Stat(note); err == nil {
		return
	}
	words := "My vault is damaged, so I have stopped: nothing more is written to it, and I answer nobody. " + offer(ctx, a.cfg.Load(), a.env, e) +
		" Then start me again. What you write meanwhile is not lost: the messenger keeps it for a day."
	if err := a.direct(ctx, words); err != nil {
		a.log.Error("cannot tell the owner that the vault is damaged", "error", err)
		return
	}
	if err := os.WriteFile(note, []byte(a.clock.now().Format(time.RFC3339)+"\n"), 0o600); err != nil {
		a.log.Warn("cannot note that the owner was told", "error", err)
	}
}

// How often, and how far apart, something is said that passes the vault by.
const (
	directTries = 3
	directRest  = 3 * time.Second
)

// direct says something to the first owner without the outbox: a plain send, without a record, tried a few times.
func (a *agent) direct(ctx context.Context, words string) error {
	notice, err := a.vault.Notice(ctx, a.redact(words))
	if errors.Is(err, vault.ErrNotFound) {
		return nil // nobody to tell
	}
	if err != nil {
		return err
	}
	for _, g := range a.gateways {
		if g.Name() != notice.To.Gateway {
			continue
		}
		if p, ok := g.(gateways.Presence); ok && !p.Present(notice.To) {
			return nil // nobody sits there; whoever comes reads it on the command line
		}
		for try := 1; ; try++ {
			limited, cancel := context.WithTimeout(ctx, 2*directRest)
			_, err := g.Send(limited, notice)
			cancel()
			var fault *gateways.SendError
			if err == nil || try == directTries || !errors.As(err, &fault) || fault.Outcome != vault.NotSent {
				return err
			}
			timer := time.NewTimer(directRest)
			select {
			case <-ctx.Done():
				timer.Stop()
				return err
			case <-timer.C:
			}
		}
	}
	return nil
}

// damagedSentence says that a vault is damaged, and what to do about it.
func damagedSentence(e *vault.DamagedError, todo string) string {
	return fmt.Sprintf("%s is damaged (%v). Nothing more is written to it. %s The damaged file is kept aside then.", e.Path, e.Err, todo)
}

// offer names the newest sound snapshot and the command that brings it back.
func offer(ctx context.Context, cfg *config.Config, env []string, e *vault.DamagedError) string {
	s, err := vault.SoundSnapshot(ctx, filepath.Dir(e.Path))
	if err != nil {
		return "There is no sound snapshot in the folder backups beside it; bring back a backup of yours with `" + restoreCommand(cfg, env, "FILE") + "`."
	}
	return fmt.Sprintf("The newest sound copy is of %s: bring it back with `%s`.", when.Format(s.Taken.In(cfg.Location())), restoreCommand(cfg, env, s.Path))
}

func restoreCommand(cfg *config.Config, env []string, from string) string {
	words := []string{"hearth"}
	if path, there := cfg.File(); there && path != config.DefaultPath(env) {
		words = append(words, "--config", shellWord(path))
	}
	return strings.Join(append(words, "restore", shellWord(from)), " ")
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellWord writes a word as it is typed into a shell.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// restoredWords say what a vault that came out of a copy does not know.
func (a *agent) restoredWords(r vault.Restored) string {
	from, to := "an unknown time", when.Format(r.To.In(a.zone()).Truncate(time.Minute))
	if !r.From.IsZero() {
		from = when.Format(r.From.In(a.zone()).Truncate(time.Minute))
	}
	return fmt.Sprintf("I was brought back from a copy. What I was told and did between %s and %s is missing: look through /jobs and /memory, and tell me again what is not there. "+
		"What was under way when the copy was made may come a second time.", from, to)
}
