package main

import (
	"testing"

	"hearth/gateways/activity"
	"hearth/skills"
	"hearth/vault"
)

// TestEveryToolIsCalledByAWordOfOurs while it is used.
func TestEveryToolIsCalledByAWordOfOurs(t *testing.T) {
	v, err := vault.Open(t.Context(), t.TempDir(), vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	tools, err := skills.Builtin(skills.Deps{Vault: v, Workspace: t.TempDir(), Web: skills.Web{SearchURL: "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	unknown := activity.Doing("no such tool")
	for _, tool := range tools {
		if activity.Doing(tool.Name) == unknown {
			t.Errorf("%s is %q", tool.Name, unknown)
		}
	}
}
