package skills

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"hearth/skills/sandbox"
	"hearth/vault"
)

//go:embed *.md
var pages embed.FS

// Deps is what the built-in tools work with.
type Deps struct {
	Vault *vault.Vault
	// Meaning gives what a query means to the model that embeds what is kept; the zero Vector, or a nil func: searched is by words
	// alone.
	Meaning   func(ctx context.Context, query string) vault.Vector
	Workspace string // folder of list_files, read_file and write_file; made on first use, mode 0700
	MaxRead   int    // characters that read_file gives at most; 0 = 16,000
	Skills    *Shelf // nil: there are none
	Limits    sandbox.Limits
	Web       Web
}

// Done begins what a tool that changed something tells the model. The person reads the receipt, not this.
const Done = "Done. "

// AskPrefix begins an error that only the person can mend: what follows is the question for them.
const AskPrefix = "nothing is stored yet; ask the person: "

// Builtin makes the built-in tools, in the order in which the model sees them.
func Builtin(d Deps) ([]Tool, error) {
	if d.MaxRead <= 0 {
		d.MaxRead = maxRead
	}
	if d.Skills == nil {
		d.Skills = NewShelf("", slog.New(slog.DiscardHandler))
	}
	files := workspace{dir: d.Workspace, maxRead: d.MaxRead, shelf: d.Skills}
	commands := runner{files: files, limit: d.Limits}
	b := builtin{vault: d.Vault, meaning: d.Meaning}
	if b.meaning == nil {
		b.meaning = func(context.Context, string) vault.Vector { return vault.Vector{} }
	}
	w, err := newWeb(d.Web)
	if err != nil {
		return nil, err
	}
	tools := []Tool{
		{Name: "remind", Group: true, Run: typed(b.remind)},
		{Name: "follow_up", Run: typed(b.followUp)},
		{Name: "jobs", Group: true, Run: typed(b.jobs)},
		{Name: "change_job", Run: typed(b.changeJob)},
		{Name: "cancel_job", Run: typed(b.cancelJob)},
		{Name: "remember", Run: typed(b.remember)},
		{Name: "recall", Group: true, Run: typed(b.recall)},
		{Name: "forget", Run: typed(b.forget)},
		{Name: "send", Run: typed(b.send), Always: everyLetter},
		{Name: "list_files", Run: typed(files.listFiles)},
		{Name: "read_file", Run: typed(files.readFile)},
		{Name: "write_file", Run: typed(files.writeFile)},
		{Name: "web_fetch", Group: true, Run: typed(w.fetch), Always: everyPage},
	}
	if w.search != nil {
		tools = append(tools, Tool{Name: "web_search", Group: true, Run: typed(w.searchFor)})
	}
	tools = append(
		tools,
		Tool{Name: "run_command", Always: everyCommand, Run: typed(commands.runCommand)},
		Tool{Name: "use_skill", Catalogue: d.Skills.catalogue, Run: typed(d.Skills.useSkill)},
	)
	var errs []error
	for i := range tools {
		t := &tools[i]
		text, err := pages.ReadFile(t.Name + ".md")
		if err != nil {
			errs = append(errs, fmt.Errorf("read the page of tool %s: %w", t.Name, err))
			continue
		}
		p, err := parsePage(t.Name, string(text))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		t.About, t.Schema, t.Effect, t.Unknown = p.about, p.schema, p.effect, p.unknown
	}
	return tools, errors.Join(errs...)
}

// builtin holds what the tools that keep something share.
type builtin struct {
	vault   *vault.Vault
	meaning func(ctx context.Context, query string) vault.Vector
}

// typed makes a tool's function out of one that takes its arguments as a struct. They have been through Canonical.
func typed[T any](run func(context.Context, Call, T) (Result, error)) func(context.Context, Call, json.RawMessage) (Result, error) {
	return func(ctx context.Context, c Call, raw json.RawMessage) (Result, error) {
		var args T
		if err := json.Unmarshal(raw, &args); err != nil {
			return Result{}, fmt.Errorf("read the arguments: %w", err)
		}
		return run(ctx, c, args)
	}
}
