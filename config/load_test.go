package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// home is the environment of most tests: nothing of the machine they run on gets in.
func home(more ...string) []string {
	return append([]string{"HOME=/home/ana", "TZ=UTC"}, more...)
}

// write puts a config file into a folder of its own and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hearth.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load loads a text that has nothing wrong with it.
func load(t *testing.T, text string, env ...string) *Config {
	t.Helper()
	c, err := Load(write(t, text), home(env...), Options{})
	if err != nil {
		t.Fatalf("load:\n%v\n--- of\n%s", err, text)
	}
	return c
}

// problems loads a text with something wrong with it, and returns the lines, the file's folder taken away.
func problems(t *testing.T, text string, env ...string) []string {
	t.Helper()
	path := write(t, text)
	c, err := Load(path, home(env...), Options{})
	var all *Error
	if !errors.As(err, &all) {
		t.Fatalf("load gives %v, want an *Error, of\n%s", err, text)
	}
	if c != nil {
		t.Error("load gives a Config beside the error")
	}
	return strings.Split(strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""), "\n")
}

// mistaken is a file with something wrong with it, and what is said: line: key: sentence.
type mistaken struct {
	text string
	want []string
}

func checkProblems(t *testing.T, cases []mistaken) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.want[0], func(t *testing.T) {
			t.Parallel()
			text := strings.TrimPrefix(c.text, "\n")
			var got []string
			for _, line := range problems(t, text) {
				got = append(got, strings.TrimPrefix(line, "hearth.yaml:"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("problems of\n%s\n(-want +got):\n%s", text, diff)
			}
		})
	}
}

func TestNothingSetIsNotAMistake(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := Load("", []string{"HOME=" + dir, "TZ=Europe/Lisbon"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Timezone: "Europe/Lisbon",
		Vault:    Vault{Dir: dir + "/.local/share/hearth", Snapshots: "daily"},
		Gateways: Gateways{
			Burst:    800 * time.Millisecond,
			Telegram: Telegram{APIURL: newURL("https://api.telegram.org"), Groups: "mention"},
			WhatsApp: WhatsApp{Mode: "off", Groups: "mention"},
		},
		Brain: Brain{
			Model: "offline", Fallback: []string{}, CloudFallback: "ask", Background: true, Models: map[string]Model{},
			Limits: Limits{Steps: 20, Minutes: 10, TokensPerRun: 200000, USDPerDay: 1, Parallel: 1},
		},
		Skills: Skills{
			Dir: dir + "/.local/share/hearth/skills", Workspace: dir + "/.local/share/hearth/workspace",
			Permissions: map[string]string{"send": "ask", "run_command": "off", "*": "allow"},
			Web:         Fetch{AllowHosts: []string{}},
		},
		Scheduler: Scheduler{Missed: "once"},
		Log:       Log{Level: "info", Format: "text"},
	}
	if diff := cmp.Diff(want, *c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if path, found := c.File(); found || path != dir+"/.config/hearth/hearth.yaml" {
		t.Errorf("file is %s, found %v", path, found)
	}
	if c.IsSet("brain.model") || c.IsSet("brain") {
		t.Error("the model counts as chosen, though nobody chose it")
	}
	if got := c.Location().String(); got != "Europe/Lisbon" {
		t.Errorf("location is %s", got)
	}
}

// The configuration of the contract, as it stands there.
const contract = `
timezone: Europe/Lisbon
people:
  - {name: Me, role: owner, telegram: 123456789, whatsapp: "+351912345678"}
vault:    {dir: ~/.local/share/hearth, snapshots: daily}
gateways:
  burst: 800ms
  telegram: {token: "${TELEGRAM_BOT_TOKEN}", api_url: https://api.telegram.org, groups: mention}
  whatsapp: {mode: dedicated}
  web:      {listen: 127.0.0.1:8717}
brain:
  persona: ""
  model: home
  fallback: [cloud]
  cloud_fallback: ask
  models:
    home:  {provider: ollama, url: http://127.0.0.1:11434, model: "qwen3:4b", context: 8192, keep_alive: 30m,
            max_tokens: 1024, think: false, tools: auto, first_token_timeout: 10m, idle_timeout: 2m}
    cloud: {provider: openai, url: https://api.openai.com/v1, model: some-model, api_key: "${OPENAI_API_KEY}", price: {input: 0.25, output: 2.00}}
    other: {provider: anthropic, model: some-model, api_key: "${ANTHROPIC_API_KEY}"}
  embedding: {provider: ollama, url: http://127.0.0.1:11434, model: all-minilm}
  limits: {steps: 20, minutes: 10, tokens_per_run: 200000, usd_per_day: 1.00, parallel: 1}
skills:
  dir: ~/.local/share/hearth/skills
  workspace: ~/.local/share/hearth/workspace
  permissions: {web_fetch: allow, send: ask, "*": allow, run_command: "off"}
  permissions_for:
    - {person: Guest, chat: any, tools: {web_fetch: deny}}
  web: {allow_hosts: [], search_url: ""}
scheduler: {quiet_hours: "23:00-07:00", missed: once, heartbeat: "off"}
log: {level: info, format: text}
`

// contractEnv is what the contract's ${NAME}s need.
var contractEnv = []string{"TELEGRAM_BOT_TOKEN=123456:tg-secret", "OPENAI_API_KEY=sk-openai", "ANTHROPIC_API_KEY=sk-anthropic"}

func TestTheContractLoads(t *testing.T) {
	t.Parallel()
	text := strings.Replace(contract, "vault:   ", "  - name: Guest\nvault:   ", 1)
	c := load(t, text, contractEnv...)
	cloud := func(provider, url, key string, context int, price *Price) Model {
		return Model{
			Provider: provider, URL: newURL(url), Model: "some-model", APIKey: NewSecret(key), Context: context, KeepAlive: 30 * time.Minute,
			MaxTokens: 1024, Tools: "auto", FirstTokenTimeout: 10 * time.Minute, IdleTimeout: 2 * time.Minute, Price: price,
		}
	}
	models := map[string]Model{
		"home": {
			Provider: "ollama", URL: newURL("http://127.0.0.1:11434"), Model: "qwen3:4b", Context: 8192, KeepAlive: 30 * time.Minute,
			MaxTokens: 1024, Tools: "auto", FirstTokenTimeout: 10 * time.Minute, IdleTimeout: 2 * time.Minute,
		},
		"cloud": cloud("openai", "https://api.openai.com/v1", "sk-openai", 32768, &Price{Input: 0.25, Output: 2}),
		"other": cloud("anthropic", "https://api.anthropic.com", "sk-anthropic", 200000, nil),
	}
	if diff := cmp.Diff(models, c.Brain.Models); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	people := []Person{{Name: "Me", Role: "owner", Telegram: []string{"123456789"}, WhatsApp: []string{"+351912345678"}}, {Name: "Guest", Role: "member"}}
	if diff := cmp.Diff(people, c.People); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	if got := c.Gateways.Telegram.Token.Reveal(); got != "123456:tg-secret" {
		t.Errorf("token is %q", got)
	}
	if diff := cmp.Diff(&Embedding{Provider: "ollama", URL: newURL("http://127.0.0.1:11434"), Model: "all-minilm"}, c.Brain.Embedding); diff != "" {
		t.Errorf("embedding (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Exception{{Person: "Guest", Chat: "any", Tools: map[string]string{"web_fetch": "deny"}}}, c.Skills.PermissionsFor); diff != "" {
		t.Errorf("exceptions (-want +got):\n%s", diff)
	}
	if got := c.Scheduler.QuietHours.String(); got != "23:00-07:00" {
		t.Errorf("quiet hours are %s", got)
	}
}

func TestEnvironmentOverFileOverDefaults(t *testing.T) {
	t.Parallel()
	c := load(t, "log: {level: warn, format: json}\nbrain: {limits: {steps: 5}}\n", "HEARTH_LOG__LEVEL=debug")
	if got, want := c.Log, (Log{Level: "debug", Format: "json"}); got != want {
		t.Errorf("log is %v, want %v", got, want)
	}
	if got, want := c.Brain.Limits, (Limits{Steps: 5, Minutes: 10, TokensPerRun: 200000, USDPerDay: 1, Parallel: 1}); got != want {
		t.Errorf("limits are %v, want %v", got, want)
	}
}

func TestWhichFileCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, level string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("log: {level: "+level+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flag, variable := put("flag.yaml", "debug"), put("variable.yaml", "warn")
	put("xdg/hearth/hearth.yaml", "error")
	env := []string{"HOME=" + dir, "TZ=UTC", "XDG_CONFIG_HOME=" + dir + "/xdg"}
	for _, c := range []struct {
		flag string
		env  []string
		want string
	}{
		{flag, append(env, "HEARTH_CONFIG="+variable), "debug"},
		{"", append(env, "HEARTH_CONFIG="+variable), "warn"},
		{"", append(env, "HEARTH_CONFIG=~/variable.yaml"), "warn"},
		{"", append(env, "HEARTH_CONFIG="), "error"},
		{"", env, "error"},
		{"", []string{"HOME=" + dir, "TZ=UTC", "XDG_CONFIG_HOME=relative"}, "info"},
	} {
		got, err := Load(c.flag, c.env, Options{})
		if err != nil || got.Log.Level != c.want {
			t.Errorf("flag %q, %v: %v, %v, want level %s", c.flag, c.env, got, err, c.want)
		}
	}
	for _, path := range []string{filepath.Join(dir, "missing.yaml"), dir} {
		_, err := Load(path, env, Options{})
		var all *Error
		if !errors.As(err, &all) || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("load %s: %v", path, err)
		}
		_, fromEnv := Load("", append(env, "HEARTH_CONFIG="+path), Options{})
		if fromEnv == nil || fromEnv.Error() != err.Error() {
			t.Errorf("load HEARTH_CONFIG=%s: %v, want %v", path, fromEnv, err)
		}
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	path := write(t, "vault: {dir: data}\nskills: {dir: ~/s, workspace: ~/w/../x}\n")
	c, err := Load(path, home(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{c.Vault.Dir, c.Skills.Dir, c.Skills.Workspace}
	if diff := cmp.Diff([]string{filepath.Join(filepath.Dir(path), "data"), "/home/ana/s", "/home/ana/x"}, got); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
	c = load(t, "", "XDG_DATA_HOME=/data")
	got = []string{c.Vault.Dir, c.Skills.Dir, c.Skills.Workspace}
	if diff := cmp.Diff([]string{"/data/hearth", "/data/hearth/skills", "/data/hearth/workspace"}, got); diff != "" {
		t.Errorf("folders with XDG_DATA_HOME (-want +got):\n%s", diff)
	}
	_, err = Load(write(t, "vault: {dir: ~/x}\n"), []string{"TZ=UTC"}, Options{})
	for _, want := range []string{
		`hearth.yaml:1: vault.dir: "~/x" needs HOME, which is not set; write the folder in full, or set HOME`,
		`hearth.yaml: skills.dir: has no default, since neither HOME nor XDG_DATA_HOME is set; set one of them, or write the folder in full`,
		`hearth.yaml: skills.workspace: has no default, since neither HOME nor XDG_DATA_HOME is set; set one of them, or write the folder in full`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without a home: %v, want %s", err, want)
		}
	}
}

func TestCFG04OnlyBracesAreExpanded(t *testing.T) {
	t.Parallel()
	c := load(t, `
gateways: {telegram: {token: "12:ab$cd$HOME-xyz"}}
brain: {persona: "$ $$ $A {A} ${A}${B}: $${A} %A% \\${A}"}
`, "A=x: [y]", "B=${A}")
	if got := c.Gateways.Telegram.Token.Reveal(); got != "12:ab$cd$HOME-xyz" {
		t.Errorf("token is %s", got)
	}
	// What a variable holds is not looked into again, and brings no YAML with it.
	if got, want := c.Brain.Persona, `$ $$ $A {A} x: [y]${A}: $x: [y] %A% \x: [y]`; got != want {
		t.Errorf("persona is %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		`gateways: {telegram: {token: "1:${UNSET}"}}`: "hearth.yaml:1: gateways.telegram.token: takes its value from ${UNSET}, and the environment variable UNSET is not set",
		`gateways: {telegram: {token: "${EMPTY}"}}`:   `hearth.yaml:1: gateways.telegram.token: is empty: the variable in "${EMPTY}" is set to nothing`,
		`brain: {persona: "${A"}`:                     "hearth.yaml:1: brain.persona: has a ${ without a closing }",
	} {
		if got := problems(t, text+"\n", "EMPTY="); got[0] != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, got[0], want)
		}
	}
}

func TestCFG08AllProblemsAtOnceInOrder(t *testing.T) {
	t.Parallel()
	got := problems(t, `people: [{role: owner}]
log: {level: loud}
timezone: Europe/Lisbn
brain:
  models:
    home:
      provider: olama
gateways:
  burst: quick
`, "HEARTH_SCHEDULER__MISSED=perhaps", "HEARTH_BRAIN__LIMITS__STEPS=0")
	want := []string{
		`hearth.yaml:1: people.name: is missing: every person needs one`,
		`hearth.yaml:2: log.level: "loud" is not understood; it takes debug, info, warn or error`,
		`hearth.yaml:3: timezone: "Europe/Lisbn" is no time zone; it takes a zone such as Europe/Lisbon (did you mean Europe/Lisbon?)`,
		`hearth.yaml:7: brain.models.home.provider: "olama" is not understood; it takes ollama, openai, anthropic or offline (did you mean ollama?)`,
		`hearth.yaml:9: gateways.burst: "quick" is not understood; it takes off, or a length of time such as 800ms, 10m or 2h`,
		`HEARTH_BRAIN__LIMITS__STEPS: brain.limits.steps: "0" is too small; it must be 1 or more`,
		`HEARTH_SCHEDULER__MISSED: scheduler.missed: "perhaps" is not understood; it takes once, skip or all`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestPermissionsAddToTheBuiltInOnes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{
		`{web_fetch: deny}`:      {"web_fetch": "deny", "send": "ask", "run_command": "off", "*": "allow"},
		`{"*": deny}`:            {"send": "deny", "run_command": "off", "*": "deny"},
		`{"*": ask}`:             {"send": "ask", "run_command": "off", "*": "ask"},
		`{"*": allow}`:           {"send": "ask", "run_command": "off", "*": "allow"},
		`{"run_*": allow}`:       {"run_*": "allow", "send": "ask", "*": "allow"},
		`{send: allow}`:          {"send": "allow", "run_command": "off", "*": "allow"},
		`{"s*": off, "*": deny}`: {"s*": "off", "run_command": "off", "*": "deny"},
	} {
		c := load(t, "skills: {permissions: "+text+"}\n")
		if diff := cmp.Diff(want, c.Skills.Permissions); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestExceptionsNameAPersonInAnyCase(t *testing.T) {
	t.Parallel()
	c := load(t, "people: [{name: Guest}]\nskills: {permissions_for: [{person: guest, tools: {send: off}}]}\n")
	if got := c.Skills.PermissionsFor[0].Person; got != "Guest" {
		t.Errorf("the person is %s", got)
	}
}

func TestTheSameProblemIsToldOnce(t *testing.T) {
	t.Parallel()
	got := problems(t, "brain: {fallback: [x, x]}\n")
	if diff := cmp.Diff([]string{`hearth.yaml:1: brain.fallback: "x" is none of the models below brain.models: offline`}, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestTheOnlyModelIsTheModel(t *testing.T) {
	t.Parallel()
	c := load(t, "brain: {models: {big: {provider: ollama, model: x}}}\n")
	if c.Brain.Model != "big" || c.IsSet("brain.model") {
		t.Errorf("model is %q, set: %v", c.Brain.Model, c.IsSet("brain.model"))
	}
}

func TestFilesFromOtherEditors(t *testing.T) {
	t.Parallel()
	c := load(t, "\ufefflog:\r\n  level: warn\r\n  format: json\r\n")
	if got, want := c.Log, (Log{Level: "warn", Format: "json"}); got != want {
		t.Errorf("log is %v, want %v", got, want)
	}
	c = load(t, "brain:\r\n  persona: |\r\n    one\r\n    two\r\n")
	if got := c.Brain.Persona; got != "one\ntwo\n" {
		t.Errorf("persona is %q", got)
	}
	c = load(t, "log: &l {level: warn}\nbrain: {models: {a: &m {provider: ollama, model: x}, b: *m}, model: b}\n")
	if c.Brain.Models["b"].Model != "x" {
		t.Errorf("an alias gives %v", c.Brain.Models["b"])
	}
	if got := problems(t, strings.Repeat("# much too long\n", 5000)); got[0] != "hearth.yaml:1: the file is larger than 64 KB, which no settings need; is it the right file?" {
		t.Error(got[0])
	}
}
