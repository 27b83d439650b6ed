package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCFG07OtherVariablesAreIgnored(t *testing.T) {
	t.Parallel()
	c := load(t, "brain: {models: {home: {provider: ollama, model: x}}}\n", "MODEL=surprise", "BRAIN=surprise", "AGENT_MODEL=surprise", "GATEWAYS__BURST=9s",
		"HEARTHSTONE=1", "HEARTH_TEST_CLOCK=/x", "HEARTH_TEST_ANYTHING=1", "HEARTH_CRASH_AT=step", "HEARTH_CONFIG=/nowhere", "=odd", "odd")
	if c.Brain.Models["home"].Model != "x" || c.Brain.Model != "home" {
		t.Errorf("brain is %+v", c.Brain)
	}
}

func TestCFG07OverridesThatDoNotFitNameTheVariable(t *testing.T) {
	t.Parallel()
	const file = "brain: {models: {home: {provider: ollama, model: x}, Big-One: {provider: ollama, model: y}}, model: home}\n"
	for variable, want := range map[string]string{
		"HEARTH_BRAIN=surprise":                        "HEARTH_BRAIN: brain: is a section and takes no value; set a key in it, such as HEARTH_BRAIN__PERSONA",
		"HEARTH_GATEWAYS=surprise":                     "HEARTH_GATEWAYS: gateways: is a section and takes no value; set a key in it, such as HEARTH_GATEWAYS__BURST",
		"HEARTH_GATEWAYS=":                             "HEARTH_GATEWAYS: gateways: is empty; it is a section with keys below it: burst, telegram, whatsapp, web",
		"HEARTH_PEOPLE=surprise":                       `HEARTH_PEOPLE: people: is a list, each entry with keys: name, role, telegram, whatsapp, timezone, limits; begin each entry with "- "`,
		"HEARTH_PEOPLE=[{name: A, telegram: x}]":       `HEARTH_PEOPLE: people.telegram: "x" is no Telegram id; it takes a number such as 123456789`,
		"HEARTH_PEOPLE=[{name: A, rule: owner}]":       "HEARTH_PEOPLE: people.rule: unknown key (did you mean role?)",
		"HEARTH_PEOPLE=[{name: A":                      "HEARTH_PEOPLE: people: is not valid YAML; it takes a list, each entry with keys: name, role, telegram, whatsapp, timezone, limits",
		"HEARTH_PEOPLE__0__NAME=A":                     "HEARTH_PEOPLE__0__NAME: addresses an entry of people, which is a list; set the whole list with HEARTH_PEOPLE",
		"HEARTH_BRAIN__FALLBACK__0=home":               "HEARTH_BRAIN__FALLBACK__0: addresses an entry of brain.fallback, which is a list; set the whole list with HEARTH_BRAIN__FALLBACK",
		"HEARTH_BRAIN__MODLE=x":                        "HEARTH_BRAIN__MODLE: matches no setting; names are like HEARTH_GATEWAYS__TELEGRAM__TOKEN, with two underscores between section and key (did you mean HEARTH_BRAIN__MODEL?)",
		"HEARTH_GATEWAYS_TELEGRAM_TOKEN=1:a":           "HEARTH_GATEWAYS_TELEGRAM_TOKEN: matches no setting; names are like HEARTH_GATEWAYS__TELEGRAM__TOKEN, with two underscores between section and key (did you mean HEARTH_GATEWAYS__TELEGRAM__TOKEN?)",
		"HEARTH_BRAIN__MODELS__HOME__MODLE=x":          "HEARTH_BRAIN__MODELS__HOME__MODLE: matches no setting; names are like HEARTH_GATEWAYS__TELEGRAM__TOKEN, with two underscores between section and key (did you mean HEARTH_BRAIN__MODELS__HOME__MODEL?)",
		"HEARTH_SOMETHING=1":                           "HEARTH_SOMETHING: matches no setting; names are like HEARTH_GATEWAYS__TELEGRAM__TOKEN, with two underscores between section and key",
		"HEARTH_LOG__LEVEL__X=1":                       "HEARTH_LOG__LEVEL__X: matches no setting; names are like HEARTH_GATEWAYS__TELEGRAM__TOKEN, with two underscores between section and key (did you mean HEARTH_LOG__LEVEL?)",
		"HEARTH_=1":                                    "HEARTH_: matches no setting; names are like HEARTH_GATEWAYS__TELEGRAM__TOKEN, with two underscores between section and key",
		"HEARTH_BRAIN__MODEL=hoem":                     `HEARTH_BRAIN__MODEL: brain.model: "hoem" is none of the models below brain.models: Big-One, home, offline (did you mean home?)`,
		"HEARTH_BRAIN__FALLBACK=[home, clowd]":         `HEARTH_BRAIN__FALLBACK: brain.fallback: "clowd" is none of the models below brain.models: Big-One, home, offline`,
		"HEARTH_TIMEZONE=Europe/Lisbn":                 `HEARTH_TIMEZONE: timezone: "Europe/Lisbn" is no time zone; it takes a zone such as Europe/Lisbon (did you mean Europe/Lisbon?)`,
		"HEARTH_LOG__LEVEL=":                           "HEARTH_LOG__LEVEL: log.level: is empty; it takes debug, info, warn or error",
		"HEARTH_GATEWAYS__BURST=10":                    `HEARTH_GATEWAYS__BURST: gateways.burst: "10" has no unit: 10 what? Write 10s, 10m or 10h`,
		"HEARTH_SKILLS__PERMISSIONS=deny":              "HEARTH_SKILLS__PERMISSIONS: skills.permissions: takes names, each with off, deny, ask or allow",
		"HEARTH_SKILLS__PERMISSIONS__=deny":            "HEARTH_SKILLS__PERMISSIONS__: matches no setting; names are like HEARTH_GATEWAYS__TELEGRAM__TOKEN, with two underscores between section and key (did you mean HEARTH_SKILLS__PERMISSIONS?)",
		"HEARTH_BRAIN__MODELS__NEW__MODEL=z":           "HEARTH_BRAIN__MODELS__NEW__MODEL: brain.models.new.provider: is missing; it takes ollama, openai, anthropic or offline",
		"HEARTH_BRAIN__MODELS__HOME__PRICE={input: 1}": "HEARTH_BRAIN__MODELS__HOME__PRICE: brain.models.home.price.output: is missing; a price needs input and output, in US dollars per million tokens",
	} {
		if diff := cmp.Diff([]string{want}, problems(t, file, variable)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", variable, diff)
		}
	}
	got := problems(t, "", "HEARTH_LOG__LEVEL=debug", "HEARTH_log__level=info")
	if diff := cmp.Diff([]string{"HEARTH_log__level: log.level: is set by HEARTH_LOG__LEVEL too; keep one of them"}, got); diff != "" {
		t.Errorf("one key twice (-want +got):\n%s", diff)
	}
	got = problems(t, "brain: {models: {a-b: {provider: ollama, model: x}, a_b: {provider: ollama, model: y}}, model: a-b}\n", "HEARTH_BRAIN__MODELS__A_B__MODEL=z")
	if diff := cmp.Diff([]string{"HEARTH_BRAIN__MODELS__A_B__MODEL: could mean a-b or a_b; rename one of them"}, got); diff != "" {
		t.Errorf("two models that read the same (-want +got):\n%s", diff)
	}
}

func TestOverridesOfEveryShape(t *testing.T) {
	t.Parallel()
	c := load(t, `
brain:
  model: home
  fallback: [home]
  models:
    home: {provider: ollama, model: x, keep_alive: 5m}
    Big-One: {provider: ollama, model: y}
skills: {permissions: {web_fetch: deny, remind: ask}}
`,
		"HEARTH_GATEWAYS__TELEGRAM__TOKEN=12:ab$cd${HOME}#'\"",
		"HEARTH_brain__Models__Home__Model=from: env",
		"HEARTH_BRAIN__MODELS__BIG_ONE__CONTEXT=4096",
		"HEARTH_BRAIN__MODELS__NEW={provider: ollama, model: z}",
		"HEARTH_BRAIN__MODELS__NEW__CONTEXT=2048",
		"HEARTH_BRAIN__FALLBACK=[new, Big-One]",
		"HEARTH_SKILLS__PERMISSIONS__WEB_FETCH=allow",
		`HEARTH_SKILLS__PERMISSIONS={send: allow, "*": ask}`,
		"HEARTH_SKILLS__WEB__ALLOW_HOSTS=nas.local",
		"HEARTH_SCHEDULER={heartbeat: 4h}",
		"HEARTH_LOG__LEVEL=DEBUG",
		"HEARTH_LOG__LEVEL=ignored, since the first of a name counts",
	)
	if got := c.Gateways.Telegram.Token.Reveal(); got != "12:ab$cd${HOME}#'\"" {
		t.Errorf("token is %s; the text of a variable is taken as it is", got)
	}
	if home := c.Brain.Models["home"]; home.Model != "from: env" || home.KeepAlive != 5*time.Minute {
		t.Errorf("home is %+v", home)
	}
	if got := []int{c.Brain.Models["Big-One"].Context, c.Brain.Models["new"].Context}; got[0] != 4096 || got[1] != 2048 {
		t.Errorf("contexts are %v", got)
	}
	if diff := cmp.Diff([]string{"new", "Big-One"}, c.Brain.Fallback); diff != "" {
		t.Errorf("fallback (-want +got):\n%s", diff)
	}
	want := map[string]string{"web_fetch": "allow", "remind": "ask", "send": "allow", "run_command": "off", "*": "ask"}
	if diff := cmp.Diff(want, c.Skills.Permissions); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"nas.local"}, c.Skills.Web.AllowHosts); diff != "" {
		t.Errorf("allow_hosts (-want +got):\n%s", diff)
	}
	if c.Scheduler.Heartbeat != 4*time.Hour || c.Log.Level != "debug" {
		t.Errorf("heartbeat %s, level %s", c.Scheduler.Heartbeat, c.Log.Level)
	}
	c = load(t, "gateways: {telegram: {token: \"1:a\"}}\nbrain: {fallback: [offline]}\n", "HEARTH_GATEWAYS__TELEGRAM__TOKEN=", "HEARTH_BRAIN__FALLBACK=")
	if !c.Gateways.Telegram.Token.IsZero() || len(c.Brain.Fallback) > 0 {
		t.Errorf("an empty variable leaves token %t and fallback %v", !c.Gateways.Telegram.Token.IsZero(), c.Brain.Fallback)
	}
}

func TestVariablesThatTheFileNamesAreNotOverrides(t *testing.T) {
	t.Parallel()
	c := load(t, "brain: {persona: \"${HEARTH_PERSONA}\"}\n", "HEARTH_PERSONA=kind")
	if c.Brain.Persona != "kind" {
		t.Errorf("persona is %q", c.Brain.Persona)
	}
	if got := problems(t, "", "HEARTH_PERSONA=kind"); !strings.HasPrefix(got[0], "HEARTH_PERSONA: matches no setting") {
		t.Error(got[0])
	}
}
