package skills

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/tools.golden")

const goodPage = "# ping\n\nSays pong.\nAlways.\n\nFor maintainers.\n\n## Arguments\n\n```json\n{\"type\": \"object\",\n \"properties\": {\"to\": {\"type\": \"string\"}}}\n```\n\n" +
	"## Effect\n\nacts\n\nIt rings a bell.\n\n## When the outcome is unknown\n\nThe owner is asked\nwhether it rang.\n\n## History\n\nNone.\n"

func TestPageIsRead(t *testing.T) {
	p, err := parsePage("ping", goodPage)
	if err != nil {
		t.Fatal(err)
	}
	want := page{
		about:   "Says pong. Always.",
		schema:  json.RawMessage(`{"type":"object","properties":{"to":{"type":"string"}}}`),
		effect:  Acts,
		unknown: "The owner is asked whether it rang.",
	}
	if diff := cmp.Diff(want, p, cmp.AllowUnexported(page{})); diff != "" {
		t.Error(diff)
	}
	if windows, err := parsePage("ping", strings.ReplaceAll(goodPage, "\n", "\r\n")); err != nil || windows.about != want.about {
		t.Errorf("with other line ends: %v, %v", windows, err)
	}
}

func TestPageThatLacksSomethingIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ old, with, wrong string }{
		"another title":     {"# ping", "# pong", `first line`},
		"no title":          {"# ping\n", "", `first line`},
		"no description":    {"Says pong.\nAlways.\n\nFor maintainers.\n\n", "", `tell the model`},
		"no schema":         {"```json", "```js", `no block of JSON`},
		"two schemas":       {"## Effect", "```json\n{}\n```\n\n## Effect", `more than one block`},
		"broken schema":     {`"object",`, `"object"`, `read its JSON`},
		"nested schema":     {`"string"`, `"array"`, `only string`},
		"unknown keyword":   {`"type": "string"`, `"type": "string", "maxLength": 3`, `maxLength`},
		"no object":         {`"object"`, `"string"`, `no object`},
		"no effect":         {"acts\n\nIt rings a bell.\n", "", `"Effect" is missing`},
		"unknown effect":    {"acts", "maybe", `"maybe"`},
		"no unknown":        {"The owner is asked\nwhether it rang.", "", `outcome is unknown`},
		"unknown, no end":   {"rang.", "rang", `no sentence`},
		"a section missing": {"## Effect", "## Side effects", `"Effect" is missing`},
		"a section twice":   {"## History", "## Effect", `twice`},
		"an open block":     {"None.", "```", `no end`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(goodPage, c.old, c.with, 1)
			if text == goodPage {
				t.Fatal("the test changes nothing")
			}
			p, err := parsePage("ping", text)
			if err == nil {
				t.Fatalf("it is read as %+v", p)
			}
			contains(t, err.Error(), "ping.md", c.wrong)
		})
	}
}

func FuzzPage(f *testing.F) {
	f.Add(goodPage)
	f.Add("# ping\n\n## Arguments\n```json\n```\n")
	f.Add("# ping\n```\n## Effect")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePage("ping", text)
		if err != nil {
			return
		}
		if p.about == "" || p.unknown == "" || strings.ContainsAny(p.about+p.unknown, "\n\r") {
			t.Errorf("a page without its words: %+v", p)
		}
		tool := Tool{Name: "ping", About: p.about, Schema: p.schema, Effect: p.effect, Unknown: p.unknown, Run: nothing}
		if _, err := NewSet(tool); err != nil {
			t.Errorf("a page that is read makes a tool that is refused: %v", err)
		}
	})
}

func nothing(context.Context, Call, json.RawMessage) (Result, error) { return Result{}, nil }

func TestToolThatDeclaresTooLittleIsRefused(t *testing.T) {
	whole := Tool{Name: "ping", About: "Says pong.", Schema: []byte(`{"type":"object"}`), Effect: Reads, Unknown: "It is run again.", Run: nothing}
	if _, err := NewSet(whole); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(*Tool)
		wrong string
	}{
		"no name":        {func(t *Tool) { t.Name = "" }, "name is empty"},
		"no effect":      {func(t *Tool) { t.Effect = "" }, "no effect"},
		"another effect": {func(t *Tool) { t.Effect = "maybe" }, "no effect"},
		"no unknown":     {func(t *Tool) { t.Unknown = "" }, "outcome is unknown"},
		"no description": {func(t *Tool) { t.About = "" }, "no description"},
		"nothing to run": {func(t *Tool) { t.Run = nil }, "nothing to run"},
		"no schema":      {func(t *Tool) { t.Schema = nil }, "schema"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := whole
			c.spoil(&tool)
			_, err := NewSet(tool)
			if err == nil {
				t.Fatal("it is taken")
			}
			contains(t, err.Error(), c.wrong)
		})
	}
	if _, err := NewSet(whole, whole); err == nil {
		t.Error("two tools of one name are taken")
	}
}

// order is fixed: it is the order of the prompt.
var order = []string{"remind", "follow_up", "jobs", "change_job", "cancel_job", "remember", "recall", "forget", "send", "list_files", "read_file", "write_file", "web_fetch", "web_search", "run_command", "use_skill"}

// all makes every tool there is, also those that need a setting.
func all(t *testing.T) []Tool {
	t.Helper()
	tools, err := Builtin(Deps{Workspace: t.TempDir(), Web: Web{SearchURL: "http://search.example"}})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func TestBuiltinToolsAreWhole(t *testing.T) {
	set, err := NewSet(all(t)...)
	if err != nil {
		t.Fatal(err)
	}
	var names, group []string
	for _, tool := range set.All() {
		names = append(names, tool.Name)
		if tool.Group {
			group = append(group, tool.Name)
		}
		if found, ok := set.Named(tool.Name); !ok || found.About != tool.About {
			t.Errorf("%s is not found by its name", tool.Name)
		}
		if acts := tool.Effect == Acts; acts != (tool.Name == "run_command") {
			t.Errorf("%s %s: commands act, and nothing else here does", tool.Name, tool.Effect)
		}
	}
	if diff := cmp.Diff(order, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"remind", "jobs", "recall", "web_fetch", "web_search"}, group); diff != "" {
		t.Errorf("in groups: %s", diff)
	}
	if _, ok := set.Named("teleport"); ok {
		t.Error("a tool that is not there is found")
	}
}

func TestEveryPageBelongsToATool(t *testing.T) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(order) {
		t.Errorf("%d pages for %d tools: %v", len(files), len(order), files)
	}
}

// maxPrompt is what all tools together may add to a prompt, in characters.
const maxPrompt = 5500

// The fixed part of a prompt is cached by local model servers: a changed byte costs a Pi minutes.
func TestPromptOfTheToolsIsSmallAndStable(t *testing.T) {
	render := func() string {
		var b strings.Builder
		for _, tool := range all(t) {
			fmt.Fprintf(&b, "%s\n%s\n%s\n", tool.Name, tool.About, tool.Schema)
		}
		return b.String()
	}
	got := render()
	if n := len([]rune(got)); n > maxPrompt {
		t.Errorf("the tools take %d characters of the prompt and may take %d", n, maxPrompt)
	}
	if got != render() {
		t.Error("two renderings differ")
	}
	golden := filepath.Join("testdata", "tools.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the prompt has changed; if that is meant, run with -update:\n%s", diff)
	}
}
