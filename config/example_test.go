package config

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const exampleFile = "../docs/hearth.example.yaml"

var update = flag.Bool("update", false, "write "+exampleFile)

func TestTheExampleFileIsUpToDate(t *testing.T) {
	if *update {
		if err := os.WriteFile(exampleFile, Example(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(Example()), string(text)); diff != "" {
		t.Errorf("run go test ./config -update (-want +got):\n%s", diff)
	}
}

func TestTheExampleShowsTheDefaults(t *testing.T) {
	t.Parallel()
	c, err := Load(exampleFile, home(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(load(t, ""), c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("without a file (-), with the example (+):\n%s", diff)
	}
	schema.walk(func(f *field) {
		if f.preset != "" && !strings.ContainsAny(f.path, "[*") && !c.IsSet(f.path) {
			t.Errorf("%s has a default, and the example does not show it", f.path)
		}
	})
}

// off finds what a person would take away: the # at the left edge of a setting, not of a sentence.
var off = regexp.MustCompile(`(?m)^#( {2,}|[a-z])`)

func TestTheExampleLoadsWithEverythingOn(t *testing.T) {
	t.Parallel()
	text := off.ReplaceAll(Example(), []byte("$1"))
	c := load(t, string(text), contractEnv...)
	schema.walk(func(f *field) {
		if f == schema {
			return
		}
		paths := []string{strings.ReplaceAll(f.path, "[]", "[0]")}
		if strings.Contains(f.path, ".*") {
			paths = []string{strings.Replace(f.path, "*", "home", 1), strings.Replace(f.path, "*", "cloud", 1)}
		}
		for _, path := range paths {
			if c.IsSet(path) {
				return
			}
		}
		t.Errorf("%s is not in the example", f.path)
	})
	for _, line := range bytes.Split(Example(), []byte("\n")) {
		if len(line) > 120 || bytes.HasSuffix(line, []byte(" ")) {
			t.Errorf("too long, or ends in a space: %s", line)
		}
	}
}

// What the contract writes for a key is in the example, as the default or as what to switch on.
func TestTheExampleHasTheKeysOfTheContract(t *testing.T) {
	t.Parallel()
	root, err := parse([]byte(contract), func(m *mistake) { t.Error(m) })
	if err != nil {
		t.Fatal(err)
	}
	var check func(f *field, n *node)
	check = func(f *field, n *node) {
		for _, item := range n.items {
			check(f, item)
		}
		for _, p := range n.pairs {
			switch {
			case f.shape == table:
			case f.shape == entries:
				check(&field{key: key{shape: section}, fields: f.fields}, p.value)
			case f.child(p.name) == nil:
				t.Errorf("line %d: there is no key %s in %s", p.line, p.name, f.path)
			default:
				check(f.child(p.name), p.value)
			}
		}
	}
	check(schema, root)
}
