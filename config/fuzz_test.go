package config

import (
	"errors"
	"strings"
	"testing"
)

func FuzzLoad(f *testing.F) {
	f.Add([]byte(contract))
	f.Add(Example())
	f.Add(off.ReplaceAll(Example(), []byte("$1")))
	for _, seed := range []string{
		"", "a", "- a", "{", "[[[[", "? a\n: b", "&a [*a]", "a: &a\nb: *a", "log: !!str x", "log:\n  <<: *x", "---\n---\na: 1", "people: [[{}]]", "\t", "\"", "a: \"\\0\"",
		"timezone: \"${A}${B}${}\"", "brain: {models: {\"\\0\": {provider: ollama}, \"a/b\": {}}}", "skills: {permissions: {\"[\": deny}}", "~: ~", "vault: {dir: ~}",
		"people:\n  - {name: A, telegram: [1e9, -1, 0x1, ~]}", "gateways: {web: {listen: \"[::1\"}, telegram: {api_url: \"http://%zz@\"}}", "%YAML 1.1\n---\na: b", "log: |\n  x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		env := environment(home("A=x", "TELEGRAM_BOT_TOKEN=1:x"))
		read := file{path: "/etc/hearth.yaml", found: true, text: text} // as Load reads it
		c, err := build(read, env, Options{})
		soundOrRefused(t, read.path, c, err)
		if err != nil {
			return
		}
		if again, err := build(read, env, Options{}); err != nil || len(Diff(c, again)) > 0 {
			t.Errorf("the same file twice: %v, %v", err, Diff(c, again))
		}
	})
}

func FuzzOverrides(f *testing.F) {
	for _, seed := range [][2]string{
		{"BRAIN", "x"},
		{"BRAIN__MODELS__HOME__MODEL", "y"},
		{"PEOPLE", "[{name: A, telegram: 1}]"},
		{"SKILLS__PERMISSIONS", "{\"*\": deny}"},
		{"__", ""},
		{"LOG__", "{level: info}"},
		{"BRAIN__MODELS__A B__MODEL", "z"},
		{"BRAIN__FALLBACK", "[home, [x]]"},
		{"brain__limits__STEPS", "1e1"},
		{"GATEWAYS__TELEGRAM__TOKEN", "1:a"},
		{"BRAIN__MODELS", "{home: ~}"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		read := file{path: "/etc/hearth.yaml", found: true, text: []byte("brain: {models: {home: {provider: ollama, model: x}}}\n")}
		c, err := build(read, environment(home("HEARTH_"+name+"="+text)), Options{})
		soundOrRefused(t, read.path, c, err)
	})
}

// soundOrRefused holds for whatever is loaded: a list of problems that name their place, or settings that keep their word.
func soundOrRefused(t *testing.T, path string, c *Config, err error) {
	t.Helper()
	if err != nil {
		var all *Error
		if !errors.As(err, &all) || len(all.Problems) == 0 || c != nil {
			t.Fatalf("neither settings nor problems: %v", err)
		}
		for _, p := range all.Problems {
			if p.Text == "" || !strings.HasPrefix(p.String(), path+":") && !strings.HasPrefix(p.String(), "HEARTH_") {
				t.Errorf("a problem without a place: %s", p)
			}
		}
		return
	}
	if !isZone(c.Timezone) || c.Brain.Limits.Steps < 1 || c.Vault.Dir == "" || c.Scheduler.Heartbeat < 0 {
		t.Errorf("unsound settings: %+v", c)
	}
	if _, ok := c.Brain.Models[c.Brain.Model]; !ok && c.Brain.Model != Offline {
		t.Errorf("the model %q is none", c.Brain.Model)
	}
	for _, p := range c.People {
		if p.Name == "" || p.Role != "owner" && p.Role != "member" {
			t.Errorf("unsound person: %+v", p)
		}
	}
	if c.Show() == "" || len(Diff(c, c)) > 0 {
		t.Error("the settings cannot be shown, or differ from themselves")
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("sk-secret", "Bearer sk-secret, http://a:b@c/?key=d")
	f.Add("abc", "abc xabc")
	f.Add("1:\xff", "\xff")
	f.Fuzz(func(t *testing.T, secret, text string) {
		r := NewRedactor().also(secret)
		got := r.Redact(text + " " + secret + " " + text)
		trimmed := strings.TrimSpace(secret)
		if len([]rune(trimmed)) >= shortSecret && strings.Contains(got, trimmed) && !strings.Contains(mask+" ***@", trimmed) && !strings.Contains(trimmed, "*") {
			t.Errorf("%q is left in %q", secret, got)
		}
	})
}
