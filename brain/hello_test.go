package brain

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hearth/skills"
)

// The first request stays small with every tool there is and a full shelf of skills: a small model on a small computer
// reads all of it before it says hello.
func TestHelloStaysSmallWithEverythingOn(t *testing.T) {
	inBubble(t, func(w *world) {
		shelf := filepath.Join(w.dir, "shelf")
		for i := range 40 {
			name := fmt.Sprintf("skill-%d", i)
			w.must(os.MkdirAll(filepath.Join(shelf, name), 0o700))
			text := "---\nname: " + name + "\ndescription: " + strings.Repeat("long words ", 60) + "\n---\nDo it."
			w.must(os.WriteFile(filepath.Join(shelf, name, "SKILL.md"), []byte(text), 0o600))
		}
		tools, err := skills.Builtin(skills.Deps{
			Vault: w.vault, Workspace: w.dir, Web: skills.Web{SearchURL: "http://search.example"}, Skills: skills.NewShelf(shelf, slog.New(slog.DiscardHandler)),
		})
		w.must(err)
		seen := map[string]bool{}
		for _, tool := range w.tools.all() {
			seen[tool.Name] = true
		}
		for _, tool := range tools {
			if !seen[tool.Name] { // three of the toolbox's have the same names and are as large
				w.tools.extra = append(w.tools.extra, tool)
			}
		}
		w.settings.Permissions.Tools = map[string]Permission{"run_command": Ask}
		m := record(func(context.Context, Request) (Response, error) { return say("Hello."), nil })
		w.use(m)
		w.start()
		w.say("hello")
		req := m.last()
		size := len(head(req))
		for _, msg := range req.Messages {
			size += len(msg.Text)
		}
		names := ""
		for _, tool := range req.Tools {
			names += tool.Name + " "
		}
		if !strings.Contains(names, "run_command use_skill") || !strings.Contains(head(req), "- skill-0: long words") {
			t.Errorf("not everything is on: %s", names)
		}
		if size > 10_000 {
			t.Errorf("hello takes %d characters", size)
		}
		t.Logf("%d characters", size)
	})
}
