package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hearth/config"
	"hearth/gateways/terminal"
	"hearth/scheduler/when"
	"hearth/vault"
)

// How a check came out.
const (
	fine   = "ok"
	uneasy = "look" // works, and somebody should look at it
	wrong  = "wrong"
)

// checkRow is one thing that was looked at.
type checkRow struct {
	Name  string `json:"name"`
	State string `json:"state"` // ok, look or wrong
	Text  string `json:"text"`
	Mend  text   `json:"mend"`
}

// healthRow is all that was looked at.
type healthRow struct {
	OK     bool       `json:"ok"`
	Checks []checkRow `json:"checks"`
}

// What only who has the vault open can look at.
var viewHealth = view[[]checkRow]{"health", func(s *service, ctx context.Context, _ query) ([]checkRow, error) {
	var out []checkRow
	add := func(name, state, words string, mend string) {
		out = append(out, checkRow{name, state, words, text(mend)})
	}
	switch err := s.vault.Check(ctx); {
	case err == nil:
		add("vault", fine, fmt.Sprintf("%s: integrity ok", s.vault.Path()), "")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		add("vault", wrong, fmt.Sprintf("%s is damaged: %v", s.vault.Path(), err), "Stop the daemon and start it: it names the newest sound copy, and how to bring it back.")
	}
	out = append(append(out, s.snapshotCheck()), s.clockCheck(ctx)...)
	if s.parts == nil {
		add("gateways", uneasy, "the daemon is not running, so no messenger is connected", "`hearth run` starts it.")
	} else {
		for _, g := range s.parts.gatewayRows() {
			state, mend := fine, ""
			if g.Error != "" {
				state, mend = uneasy, "It is tried again by itself; `hearth outbox` shows what waits."
				if g.Mend != "" {
					mend = string(g.Mend)
				}
			}
			add("gateway "+g.Name, state, strings.TrimSpace(g.State+" "+string(g.Error)), mend)
		}
	}
	m := s.model
	if s.parts != nil {
		var err error
		if m, err = s.parts.modelInUse(ctx); err != nil {
			return nil, err
		}
	}
	state, mend := fine, ""
	if m.Note != "" {
		state, mend = uneasy, "Set brain.model to a model that this program can reach."
	}
	add("model", state, strings.TrimSpace(fmt.Sprintf("%s is in use. %s", dash(m.InUse), m.Note)), mend)
	if s.parts != nil {
		row, on, err := s.parts.embeddingRow(ctx)
		if err != nil {
			return nil, err
		}
		if on {
			out = append(out, row)
		}
	}
	failed, err := s.vault.Parts(ctx, true, everything)
	if err != nil {
		return nil, err
	}
	stuck := 0
	for _, p := range failed {
		if p.State == "failed" || p.State == "unknown" {
			stuck++
		}
	}
	if stuck > 0 {
		add("outbox", uneasy, plural(stuck, "message")+" could not be delivered, or nobody knows whether it was", "`hearth outbox` shows them; retry or drop each.")
	} else {
		add("outbox", fine, "nothing failed", "")
	}
	return out, nil
}}

// tolerated is how far the clock may stand before what was seen earlier.
const tolerated = 24 * time.Hour

func (s *service) clockCheck(ctx context.Context) []checkRow {
	now := s.now().In(s.zone())
	seen, err := s.vault.LastClock(ctx)
	if err == nil && seen.Sub(now) > tolerated {
		return []checkRow{{"clock", wrong, fmt.Sprintf("it says %s, and %s was seen already, so reminders wait", when.Format(now.Truncate(time.Minute)), when.Format(seen.In(now.Location()))), "Set the clock of this machine; if it is right now, `hearth doctor --accept-clock`."}}
	}
	return []checkRow{{"clock", fine, when.Format(now.Truncate(time.Minute)), ""}}
}

// nothing is the order of a change that needs to be told nothing.
type nothing struct{}

var changeAcceptClock = change[nothing]{"clock/accept", func(s *service, ctx context.Context, _ nothing) (told, error) {
	if err := s.vault.AcceptClock(ctx); err != nil {
		return told{}, err
	}
	return told{Text: fmt.Sprintf("Taken as right: %s.", when.Format(s.now().In(s.zone()).Truncate(time.Minute)))}, nil
}}

// cmdDoctor looks at everything.
func cmdDoctor(ctx context.Context, in *invocation) error {
	if in.has("accept-clock") {
		return doing(ctx, in, changeAcceptClock, nothing{})
	}
	cfg, err := in.load()
	var problems *config.Error
	if errors.As(err, &problems) {
		var found []checkRow
		for _, p := range problems.Problems {
			found = append(found, checkRow{"config", wrong, p.String(), "Correct it; `hearth check` reads the file again."})
		}
		return in.report(found, exitUsage)
	}
	if err != nil {
		return err
	}
	found, code := append(append(configChecks(cfg), modelChecks(ctx, cfg)...), embeddingChecks(ctx, cfg)...), exitFailed
	found = append(found, diskCheck(cfg.Vault.Dir))
	found = append(found, modeChecks(cfg, socketPath(cfg.Vault.Dir, in.lookup("XDG_RUNTIME_DIR")))...)
	if dial(ctx, socketPath(cfg.Vault.Dir, in.lookup("XDG_RUNTIME_DIR"))) == nil {
		found = append(found, whatsappCheck(ctx, cfg)...)
	}
	found = append(found, skillChecks(ctx, cfg)...)
	more, err := in.health(ctx)
	if err != nil {
		var sentence string
		code, sentence = explain(err)
		var damaged *vault.DamagedError
		if errors.As(err, &damaged) {
			sentence = in.offer(damaged)
		}
		more = []checkRow{{"vault", wrong, sentence, "Nothing else of it could be looked at."}}
	}
	return in.report(append(found, more...), code)
}

func (in *invocation) health(ctx context.Context) (found []checkRow, err error) {
	s, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return look(ctx, s.backend, viewHealth, query{})
}

// report prints checks. When one is wrong the command fails with a code.
func (in *invocation) report(found []checkRow, code int) error {
	row := healthRow{OK: true, Checks: found}
	for i, c := range found {
		row.OK = row.OK && c.State != wrong
		if in.redact != nil {
			found[i].Text = in.redact(c.Text)
		}
	}
	if in.has("json") {
		if err := in.printJSON(row); err != nil {
			return err
		}
	} else {
		for _, c := range found {
			fmt.Fprintln(in.out, strings.TrimSpace(terminal.Clean(fmt.Sprintf("%-5s  %s: %s", c.State, c.Name, c.Text))))
			if c.Mend != "" {
				fmt.Fprintln(in.out, "       "+string(c.Mend))
			}
		}
	}
	if !row.OK {
		return &failure{code: code}
	}
	return nil
}

func configChecks(cfg *config.Config) []checkRow {
	path, there := cfg.File()
	words := path + " is fine"
	if !there {
		words = "there is none at " + path + ", the defaults hold"
	}
	out := []checkRow{{"config", fine, words, ""}}
	for _, w := range cfg.Warnings() {
		out = append(out, checkRow{"config", uneasy, w, "Nothing stops because of it."})
	}
	zones := []string{cfg.Timezone}
	for _, p := range cfg.People {
		if p.Timezone != "" {
			zones = append(zones, p.Name+": "+p.Timezone)
		}
	}
	return append(out, checkRow{"zones", fine, strings.Join(zones, ", "), ""})
}

// Below this much free space the vault is at risk, or will be soon.
const (
	leastFree  = 100 << 20
	littleFree = 1 << 30
)

func diskCheck(dir string) checkRow {
	at := dir
	for { // the folder may not be there yet
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	var fsys unix.Statfs_t
	if err := unix.Statfs(at, &fsys); err != nil {
		return checkRow{"disk", uneasy, fmt.Sprintf("cannot tell how much is free at %s: %v", at, err), text("Look yourself: df " + at)}
	}
	free := fsys.Bavail * uint64(fsys.Bsize)
	words := fmt.Sprintf("%d MB free at %s", free>>20, at)
	switch {
	case free < leastFree:
		return checkRow{"disk", wrong, words, "Free some space: without it nothing can be stored."}
	case free < littleFree:
		return checkRow{"disk", uneasy, words, "Free some space soon."}
	}
	return checkRow{"disk", fine, words, ""}
}

// modeChecks looks at who can read what is private.
func modeChecks(cfg *config.Config, socket string) []checkRow {
	var out []checkRow
	check := func(path string, allowed fs.FileMode) {
		info, err := os.Stat(path)
		if err != nil {
			return // what is not there can be read by nobody
		}
		if mode := info.Mode().Perm(); mode&^allowed != 0 {
			out = append(out, checkRow{"permissions", wrong, fmt.Sprintf("%s can be read by others (mode %04o)", path, mode), text(fmt.Sprintf("chmod %o %s", allowed, path))})
		}
	}
	dir := cfg.Vault.Dir
	for _, folder := range []string{dir, filepath.Join(dir, "backups"), filepath.Join(dir, "media")} {
		check(folder, 0o700)
	}
	for _, file := range []string{"vault.db", "vault.db-wal", "vault.db-shm", whatsappFile, whatsappFile + "-wal", whatsappFile + "-shm"} {
		check(filepath.Join(dir, file), 0o600)
	}
	check(socket, 0o600)
	if len(out) == 0 {
		out = append(out, checkRow{"permissions", fine, "nobody else can read " + dir, ""})
	}
	return out
}
