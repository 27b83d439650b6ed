package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"hearth/brain"
	"hearth/config"
	"hearth/skills"
	"hearth/skills/sandbox"
)

// skillChecks looks at the installed skills, and whether commands could run.
func skillChecks(ctx context.Context, cfg *config.Config) []checkRow {
	names, problems := skills.NewShelf(cfg.Skills.Dir, slog.New(slog.DiscardHandler)).Installed()
	words := "none is installed in " + cfg.Skills.Dir
	if len(names) > 0 {
		words = plural(len(names), "skill") + ": " + strings.Join(names, ", ")
	}
	out := []checkRow{{"skills", fine, words, ""}}
	for _, p := range problems {
		out = append(out, checkRow{"skills", uneasy, p, "Correct it or take its folder away; the others work."})
	}
	return append(out, commandCheck(ctx, mayRun(cfg)))
}

// mayRun reports whether the settings let anybody run commands.
func mayRun(cfg *config.Config) bool {
	const command = "run_command"
	on := func(rules map[string]string) bool {
		rule := rules[command]
		return rule == string(brain.Ask) || rule == string(brain.Allow)
	}
	for _, e := range cfg.Skills.PermissionsFor {
		if on(e.Tools) {
			return true
		}
	}
	return on(cfg.Skills.Permissions)
}

// commandCheck tries a sandbox.
func commandCheck(ctx context.Context, wanted bool) checkRow {
	row := checkRow{Name: "commands", State: fine}
	work, err := os.MkdirTemp("", "hearth-doctor-")
	if err == nil {
		err = errors.Join(sandbox.Try(ctx, work), os.RemoveAll(work))
	}
	var none *sandbox.UnavailableError
	switch {
	case err == nil && wanted:
		row.Text = "a sandbox for run_command can be built"
	case err == nil:
		row.Text = "run_command is off; a sandbox for it could be built"
	case !wanted:
		row.Text = fmt.Sprintf("run_command is off, and no sandbox for it could be built: %v", err)
	default:
		row.State, row.Text = uneasy, fmt.Sprintf("run_command is on, and runs nothing, since no sandbox can be built: %v", err)
	}
	if errors.As(err, &none) {
		row.Mend = text(none.Mend)
	}
	return row
}
