package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShowSaysWhereEachValueIsFrom(t *testing.T) {
	t.Parallel()
	c := load(t, `
people: [{name: Ana, role: owner, telegram: [1, 2]}]
brain:
  persona: "two\nlines"
  models: {home: {provider: ollama, model: x, keep_alive: forever}}
skills: {permissions: {send: allow}}
`, "HEARTH_LOG__LEVEL=debug")
	shown := strings.Split(c.Show(), "\n")
	for _, want := range []string{
		"people.Ana.telegram: [1, 2]  # line 2",
		`people.Ana.timezone: ""`,
		`brain.persona: "two\nlines"  # line 4`,
		"brain.model: home",
		"brain.models.home.keep_alive: forever  # line 5",
		"brain.models.home.first_token_timeout: 10m",
		"brain.models.home.url: http://127.0.0.1:11434",
		"skills.permissions.send: allow  # line 6",
		"skills.permissions.run_command: off",
		"scheduler.heartbeat: off",
		"log.level: debug  # HEARTH_LOG__LEVEL",
	} {
		found := false
		for _, line := range shown {
			found = found || line == want
		}
		if !found {
			t.Errorf("%q is not among\n%s", want, c.Show())
		}
	}
}

func TestDiffTellsWhatChanged(t *testing.T) {
	t.Parallel()
	before := load(t, `
people: [{name: Ana, telegram: 1}, {name: Ben}]
vault: {dir: /a}
gateways: {telegram: {token: "1:old-token"}, web: {listen: "127.0.0.1:1"}}
brain:
  models:
    home: {provider: ollama, model: x, url: "http://bob:old-password@127.0.0.1:1"}
    gone: {provider: ollama, model: y}
  model: home
`)
	after := load(t, `
people: [{name: Zoe}, {name: Ana, telegram: 2}]
vault: {dir: /b}
gateways: {telegram: {token: "1:new-token"}, web: {listen: off}}
brain:
  persona: kind
  models:
    home: {provider: ollama, model: x, url: "http://bob:new-password@127.0.0.1:1", price: {input: 1, output: 2}}
    cloud: {provider: openai, model: z, api_key: sk-cloud, price: {input: 1, output: 2}}
  model: cloud
  embedding: {provider: ollama, model: e}
skills: {permissions: {web_fetch: deny, "*": ask}}
`)
	want := []string{
		"people.Zoe: added",
		"people.Ana.telegram: [1] → [2]",
		"vault.dir: /a → /b (takes effect after a restart)",
		"gateways.telegram.token: changed",
		"gateways.web.listen: 127.0.0.1:1 → off (takes effect after a restart)",
		"brain.persona: (nothing) → kind",
		"brain.model: home → cloud",
		"brain.models.cloud: added",
		"brain.models.home.url: changed",
		"brain.models.home.price.input: added, 1",
		"brain.models.home.price.output: added, 2",
		"brain.embedding: added",
		"skills.permissions.*: allow → ask",
		"skills.permissions.web_fetch: added, deny",
		"people.Ben: removed",
		"brain.models.gone: removed",
	}
	if diff := cmp.Diff(want, Diff(before, after)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if same := Diff(before, before); len(same) > 0 {
		t.Errorf("nothing changed, and it is told: %v", same)
	}
	back := strings.Join(Diff(after, before), "\n")
	for _, want := range []string{"people.Zoe: removed", "brain.embedding: removed", "brain.models.home.price.input: removed", "skills.permissions.web_fetch: removed"} {
		if !strings.Contains(back, want) {
			t.Errorf("the way back lacks %q:\n%s", want, back)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	path := ""
	warn := func(text string, mode os.FileMode, env ...string) []string {
		t.Helper()
		path = write(t, text)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, home(env...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Warnings()
	}
	const token = "gateways: {telegram: {token: \"1:a\"}}\n"
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{token, 0o600, ""},
		{token, 0o644, "PATH holds secrets and can be read by other users of this machine (mode 0644): run chmod 600 PATH"},
		{token, 0o640, "PATH holds secrets and can be read by other users of this machine (mode 0640): run chmod 600 PATH"},
		{"gateways: {telegram: {token: \"${T}\"}}\n", 0o644, ""},
		{"gateways: {telegram: {api_url: \"http://a:b@h\", token: \"${T}\"}}\n", 0o644, "PATH holds secrets and can be read by other users of this machine (mode 0644): run chmod 600 PATH"},
		{"log: {level: info}\n", 0o644, ""},
		{"people: [{name: A}]\n", 0o600, "nobody in people has role: owner, so nobody there can answer the agent's questions"},
		{"people: [{name: A}, {name: B, role: owner}]\n", 0o600, ""},
		{"gateways: {telegram: {groups: all}}\n", 0o600, "gateways.telegram has no token, so Telegram is off"},
		{"gateways: {telegram: {groups: off}}\n", 0o600, ""},
		{"gateways: {web: {listen: \"127.0.0.2:80\"}}\n", 0o600, ""},
		{"gateways: {web: {listen: \"localhost:80\"}}\n", 0o600, ""},
		{"gateways: {web: {listen: \":80\"}}\n", 0o600, "gateways.web.listen is :80, so other machines can reach the pages: their passwords and what they show cross the network in clear"},
		{"skills: {permissions: {web_fetsh: deny, mcp_x: ask, web_fetch: deny}}\n", 0o600, "the permission for web_fetsh rules nothing unless a skill brings such a tool (did you mean web_fetch?)"},
	} {
		got := strings.ReplaceAll(strings.Join(warn(c.text, c.mode, "T=1:a"), "\n"), path, "PATH")
		if got != c.want {
			t.Errorf("%s with mode %o warns\n%s\nwant\n%s", c.text, c.mode, got, c.want)
		}
	}
}
