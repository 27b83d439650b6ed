package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a tool may touch holds neither the vault nor the configuration, and a model cannot install skills.
func TestSEC17FoldersOfToolsAreApart(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, filepath.Join(home, "etc", "link")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "etc", "hearth.yaml")
	for text, want := range map[string]string{
		"skills: {workspace: ~}":                                    "skills.workspace: holds the vault",
		"skills: {workspace: /}":                                    "skills.workspace: holds the vault",
		"skills: {workspace: ~/.local/share/hearth}":                "skills.workspace: holds the vault",
		"skills: {workspace: ~/etc/link/.local/share/hearth/../..}": "skills.workspace: holds the vault",
		"skills: {workspace: ~/etc/link}":                           "skills.workspace: holds the vault",
		"skills: {workspace: ~/etc}":                                "skills.workspace: holds this file",
		"skills: {dir: ~/.local}":                                   "skills.dir: holds the vault",
		"skills: {dir: ~/ws/skills, workspace: ~/ws}":               "skills.dir: and skills.workspace lie one in the other",
		"skills: {dir: ~/ws, workspace: ~/ws}":                      "skills.dir: and skills.workspace lie one in the other",
		"skills: {dir: ~/sk, workspace: ~/sk/ws}":                   "skills.dir: and skills.workspace lie one in the other",
		"skills: {workspace: ~/ws, dir: ~/ws2}":                     "",
		"skills: {workspace: ~/..ws}":                               "",
		"vault: {dir: ~/v}":                                         "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(file, []string{"HOME=" + home, "TZ=Europe/Lisbon"}, Options{})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), "hearth.yaml:1: "+want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
