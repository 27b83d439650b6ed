package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

const (
	root       = "../.." // of the checkout: a test runs in its package's folder
	module     = "hearth"
	onlySQLite = "github.com/mattn/go-sqlite3"
)

// importTable is the import table of docs/ARCHITECTURE.md: what each folder, with all below it, may import of ours beside
// itself. The longest folder that matches a file is the one that counts. Tests are held to it as well.
var importTable = map[string][]string{
	"config":         {},
	"vault":          {},
	"scheduler/when": {},
	"scheduler":      {"vault", "scheduler/when"},
	"skills":         {"vault", "scheduler/when"},
	"brain":          {"vault", "skills", "scheduler/when"},
	"gateways":       {"vault", "scheduler/when"},
	"cmd":            {"config", "vault", "scheduler/when", "scheduler", "skills", "brain", "gateways"},
}

// topFolders are the folders of the top level; there are no others, and no Go files beside them.
var (
	goFolders  = []string{"brain", "cmd", "config", "gateways", "scheduler", "skills", "vault"}
	topFolders = append([]string{"docs", "bin", "dist"}, goFolders...) // bin and dist: what make builds, never committed
)

// otherSQLite are libraries that bring an SQLite of their own and do not say so in their path. Two SQLite libraries in one
// process that open the same file drop each other's locks and corrupt it.
var otherSQLite = []string{
	"github.com/glebarez",
	"github.com/mutecomm/go-sqlcipher",
	"github.com/tursodatabase/go-libsql",
}

func TestOnlyAllowedImports(t *testing.T) {
	for _, complaint := range checkImports(t, os.DirFS(root)) {
		t.Error(complaint)
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	for _, complaint := range checkTopLevel(t, os.DirFS(root)) {
		t.Error(complaint)
	}
}

func TestOneSQLite(t *testing.T) {
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range secondSQLite(requirements(gomod)) {
		t.Errorf("go.mod requires %s: %s is the only SQLite here", p, onlySQLite)
	}

	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-test", "-tags", "sqlite_fts5", "./...")
	list.Dir = root
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	deps := strings.Split(strings.TrimSpace(string(out)), "\n")
	if !slices.Contains(deps, onlySQLite) {
		t.Errorf("go list names %d packages and %s is not among them: is this the whole program?", len(deps), onlySQLite)
	}
	for _, p := range secondSQLite(deps) {
		t.Errorf("the program links %s: %s is the only SQLite here", p, onlySQLite)
	}
}

// The linter's depguard rules and importTable say the same.
func TestLinterKnowsTheImportTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Linters struct {
			Enable   []string
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Mode  string `yaml:"list-mode"`
						Files []string
						Allow []string
						Deny  []struct{ Pkg, Desc string }
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(file.Linters.Enable, "depguard") {
		t.Error("depguard is not enabled")
	}
	got := map[string][]string{"cmd": importTable["cmd"]} // cmd may import everything and has no rule
	for name, rule := range file.Linters.Settings.Depguard.Rules {
		if name == "one-sqlite" {
			continue
		}
		if rule.Mode != "lax" || len(rule.Deny) != 1 || rule.Deny[0].Pkg != module {
			t.Errorf("rule %s must be lax and deny %q, so that all of ours is refused but what it allows", name, module)
		}
		if want := "${config-path}/" + name + "/**"; len(rule.Files) == 0 || rule.Files[0] != want {
			t.Errorf("rule %s is for %q, want %s", name, rule.Files, want)
		}
		got[name] = []string{}
		for _, pkg := range rule.Allow {
			if folder := strings.TrimPrefix(pkg, module+"/"); folder != name {
				got[name] = append(got[name], folder)
			}
		}
	}
	if diff := cmp.Diff(importTable, got); diff != "" {
		t.Errorf(".golangci.yml differs from importTable (-table +linter):\n%s", diff)
	}
}

// The checks themselves, on trees made up for it: one that keeps every rule, and one broken rule at a time.
func TestImportChecksBite(t *testing.T) {
	clean := map[string]string{
		"brain/brain.go":                `import ("context"; "hearth/skills"; "hearth/vault"; "hearth/scheduler/when")`,
		"brain/ollama/ollama.go":        `import "hearth/brain"`,
		"cmd/hearth/main.go":            `import ("hearth/brain"; "hearth/config"; "hearth/gateways/telegram"; "hearth/vault")`,
		"config/config.go":              `import "github.com/knadh/koanf/v2"`,
		"docs/notes.md":                 "",
		"gateways/gateway.go":           `import ("hearth/vault"; "hearth/scheduler/when")`,
		"gateways/telegram/telegram.go": `import ("hearth/gateways"; "hearth/gateways/markup")`,
		"scheduler/scheduler.go":        `import ("hearth/vault"; "hearth/scheduler/when")`,
		"scheduler/when/when.go":        `import "time"`,
		"skills/skills.go":              `import ("hearth/vault"; "hearth/scheduler/when")`,
		"skills/testdata/bad.go":        `import "hearth/brain"`, // the go command does not see it either
		"vault/vault.go":                `import "github.com/mattn/go-sqlite3"`,
		"vault/vault_test.go":           `import "hearth/vault"`,
	}
	cases := []struct {
		name, file, text, want string
	}{
		{"as it should be", "brain/more.go", `import "hearth/vault"`, ""},
		{"config imports vault", "config/bad.go", `import "hearth/vault"`, "config/bad.go:1: config may not import vault"},
		{"vault imports config", "vault/bad.go", `import "hearth/config"`, "vault/bad.go:1: vault may not import config"},
		{"when imports vault", "scheduler/when/bad.go", `import "hearth/vault"`, "scheduler/when/bad.go:1: scheduler/when may not import vault"},
		{"when imports scheduler", "scheduler/when/bad.go", `import "hearth/scheduler"`, "scheduler/when/bad.go:1: scheduler/when may not import scheduler"},
		{"vault imports when", "vault/bad.go", `import "hearth/scheduler/when"`, "vault/bad.go:1: vault may not import scheduler/when"},
		{"scheduler imports brain", "scheduler/bad.go", `import "hearth/brain"`, "scheduler/bad.go:1: scheduler may not import brain"},
		{"skills import scheduler", "skills/bad.go", `import "hearth/scheduler"`, "skills/bad.go:1: skills may not import scheduler"},
		{"skills import brain", "skills/mcp/bad.go", `import "hearth/brain"`, "skills/mcp/bad.go:1: skills may not import brain"},
		{"brain imports gateways", "brain/bad.go", `import "hearth/gateways"`, "brain/bad.go:1: brain may not import gateways"},
		{"brain imports scheduler", "brain/openai/bad.go", `import "hearth/scheduler"`, "brain/openai/bad.go:1: brain may not import scheduler"},
		{"gateways import skills", "gateways/inbox/bad.go", `import "hearth/skills"`, "gateways/inbox/bad.go:1: gateways may not import skills"},
		{"gateways import config", "gateways/bad.go", `import "hearth/config"`, "gateways/bad.go:1: gateways may not import config"},
		{"a test imports what its package may not", "gateways/bad_test.go", `import "hearth/brain"`, "gateways/bad_test.go:1: gateways may not import brain"},
		{"a file for another system", "vault/bad_windows.go", `import "hearth/brain"`, "vault/bad_windows.go:1: vault may not import brain"},
		{"a name that only begins alike", "scheduler/bad.go", `import "hearth/vaultage"`, "scheduler/bad.go:1: scheduler may not import vaultage"},
		{"the module itself", "brain/bad.go", `import "hearth"`, "brain/bad.go:1: brain may not import the top level"},
		{"cmd is imported", "brain/bad.go", `import "hearth/cmd/hearth/socket"`, "brain/bad.go:1: brain may not import cmd/hearth/socket"},
		{"Go at the top level", "tools.go", `import "fmt"`, "tools.go: no Go file belongs here"},
		{"Go in docs", "docs/gen.go", `import "fmt"`, "docs/gen.go: no Go file belongs here"},
		{"an unknown folder", "internal/x/x.go", `import "fmt"`, "internal: not a folder of the top level\ninternal/x/x.go: no Go file belongs here"},
		{"an unknown folder without Go", "assets/logo.txt", "", "assets: not a folder of the top level"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for file, text := range clean {
				tree[file] = &fstest.MapFile{Data: []byte("package p; " + text)}
			}
			tree[c.file] = &fstest.MapFile{Data: []byte("package p; " + c.text)}
			got := strings.Join(append(checkTopLevel(t, tree), checkImports(t, tree)...), "\n")
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	t.Run("a folder that is gone", func(t *testing.T) {
		tree := fstest.MapFS{}
		for file, text := range clean {
			if !strings.HasPrefix(file, "skills/") {
				tree[file] = &fstest.MapFile{Data: []byte("package p; " + text)}
			}
		}
		if diff := cmp.Diff([]string{"skills: the folder is missing"}, checkTopLevel(t, tree)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSecondSQLiteIsSeen(t *testing.T) {
	gomod := []byte(`module hearth

require github.com/ncruces/go-sqlite3 v0.30.0

require (
	github.com/mattn/go-sqlite3 v1.14.53
	modernc.org/sqlite v1.40.0 // indirect
	// crawshaw.io/sqlite v0.3.2
	"zombiezen.com/go/sqlite" v1.4.2
	github.com/glebarez/go-driver v1.0.0
	golang.org/x/sys v0.50.0
)

replace golang.org/x/sys => crawshaw.io/sqlite v0.3.2
`)
	want := []string{
		"github.com/ncruces/go-sqlite3", "modernc.org/sqlite", "zombiezen.com/go/sqlite", "github.com/glebarez/go-driver", "crawshaw.io/sqlite",
	}
	if diff := cmp.Diff(want, secondSQLite(requirements(gomod))); diff != "" {
		t.Error(diff)
	}
	packages := []string{"fmt", "github.com/mattn/go-sqlite3", "hearth/vault", "hearth/vault/sqlitetest [hearth/vault.test]", "modernc.org/sqlite/lib"}
	if diff := cmp.Diff([]string{"modernc.org/sqlite/lib"}, secondSQLite(packages)); diff != "" {
		t.Error(diff)
	}
}

// checkImports reports every import of ours in the tree that importTable does not allow, and every Go file outside it,
// whatever its build tags, sorted by file.
func checkImports(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var complaints []string
	files := token.NewFileSet()
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && ignoredByGo(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" || ignoredByGo(entry.Name()) {
			return nil
		}
		folder := ruleFor(name)
		if folder == "" {
			complaints = append(complaints, name+": no Go file belongs here")
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(files, name, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if of := ofOurs(imported); of != "" && !mayImport(folder, of) {
				line := files.Position(spec.Pos()).Line
				complaints = append(complaints, fmt.Sprintf("%s:%d: %s may not import %s", name, line, folder, of))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return complaints
}

// ignoredByGo tells whether the go command passes over a folder or file of this name.
func ignoredByGo(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata"
}

// ruleFor is the longest folder of importTable that holds the file, or "".
func ruleFor(file string) string {
	best := ""
	for folder := range importTable {
		if len(folder) > len(best) && within(file, folder) {
			best = folder
		}
	}
	return best
}

// ofOurs is an import path of this module relative to the module ("vault"), or "" for anybody else's.
func ofOurs(imported string) string {
	if imported == module {
		return "the top level"
	}
	rest, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		return ""
	}
	return rest
}

// mayImport tells whether files under folder may import the package. Both are taken by their longest folder of importTable:
// who may have the scheduler does not on that account have scheduler/when, nor the other way round.
func mayImport(folder, imported string) bool {
	target := ruleFor(imported)
	return target == folder || target != "" && slices.Contains(importTable[folder], target)
}

func within(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}

// checkTopLevel reports folders of the top level that should not be there, and those that should and are not.
// Hidden ones hold no Go and are of no concern here.
func checkTopLevel(t *testing.T, tree fs.FS) []string {
	t.Helper()
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		t.Fatal(err)
	}
	var complaints []string
	seen := map[string]bool{}
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		seen[entry.Name()] = true
		if !slices.Contains(topFolders, entry.Name()) {
			complaints = append(complaints, entry.Name()+": not a folder of the top level")
		}
	}
	for _, folder := range goFolders {
		if !seen[folder] {
			complaints = append(complaints, folder+": the folder is missing")
		}
	}
	return complaints
}

// secondSQLite returns those of the module or package paths that bring an SQLite other than the one we use.
func secondSQLite(paths []string) []string {
	var found []string
	for _, p := range paths {
		if within(p, module) || within(p, onlySQLite) {
			continue
		}
		listed := slices.ContainsFunc(otherSQLite, func(other string) bool { return within(p, other) })
		if listed || strings.Contains(strings.ToLower(p), "sqlite") {
			found = append(found, p)
		}
	}
	return found
}

// requirements returns the module paths that a go.mod requires or puts in the place of others, in its order.
func requirements(gomod []byte) []string {
	var paths []string
	lines := bufio.NewScanner(bytes.NewReader(gomod))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "//")
		if _, put, replaced := strings.Cut(line, "=>"); replaced {
			line = put
		}
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == "require" {
			fields = fields[1:]
		}
		if len(fields) == 2 && strings.HasPrefix(fields[1], "v") {
			paths = append(paths, strings.Trim(fields[0], "\"`"))
		}
	}
	return paths
}
