package main_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// testOnly are packages that stand in for what the program talks with. They are for tests, and none of them is linked.
var testOnly = []string{"hearth/brain/ollama/live", "hearth/gateways/gatewaytest", "hearth/gateways/telegram/tgfake", "hearth/gateways/whatsapp/wafake"}

func TestTheProgramHasNothingMadeForTests(t *testing.T) {
	list := func(args ...string) []string {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-tags", "sqlite_fts5"}, args...)...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	all, linked := list("./..."), list("-deps", "./cmd/hearth")
	for _, name := range testOnly {
		if !slices.Contains(all, name) {
			t.Errorf("%s is no package: is it called something else now?", name)
		}
		if slices.Contains(linked, name) {
			t.Errorf("the program links %s, which is for tests", name)
		}
	}
}
