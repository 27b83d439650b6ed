package config

import "testing"

// A misspelt key, a section that is not indented, a value where a section belongs: each names the line, the key and
// what was probably meant.
func TestCFG01MisplacedKeysAreRefused(t *testing.T) {
	t.Parallel()
	checkProblems(t, []mistaken{
		{`
gateways:
skills:
web: {}
`, []string{
			`3: web: belongs to skills: indent it below "skills:" on line 2`,
		}},
		{`
skills:
gateways:
  burst: 1s
web: {}
`, []string{
			`4: web: belongs to skills: indent it below "skills:" on line 1`,
		}},
		{`
brain:
  modle: home
`, []string{
			`2: brain.modle: unknown key (did you mean model?)`,
		}},
		{`
gateways:
burst: 150ms
telegram:
  token: "1:a"
web:
  listen: 127.0.0.1:1
brain:
  model: offline
`, []string{
			`2: burst: belongs to gateways: indent it below "gateways:" on line 1`,
			`3: telegram: belongs to gateways: indent it below "gateways:" on line 1`,
			`5: web: belongs to gateways: indent it below "gateways:" on line 1`,
		}},
		{`
brain:
  models:
  home:
    provider: ollama
    model: x
`, []string{
			`3: brain.home: belongs to models: indent it below "models:" on line 2`,
		}},
		{`
brain:
  models:
    home:
    provider: ollama
    model: x
`, []string{
			`4: brain.models.provider: belongs to home: indent it below "home:" on line 3`,
			`5: brain.models.model: belongs to home: indent it below "home:" on line 3`,
		}},
		{`
brain:
  models:
    provider: ollama
    model: x
`, []string{
			`3: brain.models.provider: is a setting of one model; give the model a name, such as "home:", and indent its settings below that`,
			`4: brain.models.model: is a setting of one model; give the model a name, such as "home:", and indent its settings below that`,
		}},
		{`
skills:
  permissions:
  web_fetch: deny
`, []string{
			`3: skills.web_fetch: belongs to permissions: indent it below "permissions:" on line 2`,
		}},
		{`
brain:
  model: offline
  log:
    level: debug
`, []string{
			`3: brain.log: is indented too far: it belongs at the left edge, not in brain`,
		}},
		{`
brain:
  limits:
    steps: 3
    fallback: [x]
`, []string{
			`4: brain.limits.fallback: is indented too far: it belongs to brain, not to limits`,
		}},
		{`token: abc`, []string{
			`1: token: unknown key here (did you mean gateways.telegram.token?)`,
		}},
		{`foo: 1`, []string{
			`1: foo: unknown key; here belong timezone, people, vault, gateways, brain, skills, scheduler, log`,
		}},
		{`
brain:
  stepz: 1
`, []string{
			`2: brain.stepz: unknown key (did you mean brain.limits.steps?)`,
		}},
		{`
brain:
  steps: 1
`, []string{
			`2: brain.steps: unknown key here (did you mean brain.limits.steps?)`,
		}},
		{`Timezone: UTC`, []string{
			`1: Timezone: unknown key (did you mean timezone?)`,
		}},
		{`brain: {models: {h: {num_ctx: 1}}}`, []string{
			`1: brain.models.h.num_ctx: unknown key (did you mean context?)`,
			`1: brain.models.h.provider: is missing; it takes ollama, openai, anthropic or offline`,
		}},
		{`vault: x`, []string{
			`1: vault: is a section with keys below it: dir, snapshots; it is not one value`,
		}},
		{`vault: [x]`, []string{
			`1: vault: is a section with keys below it: dir, snapshots; it is not a list`,
		}},
		{`people: x`, []string{
			`1: people: is a list, each entry with keys: name, role, telegram, whatsapp, timezone, limits; begin each entry with "- "`,
		}},
		{`people: {name: x}`, []string{
			`1: people: is a list, each entry with keys: name, role, telegram, whatsapp, timezone, limits; begin each entry with "- "`,
		}},
		{`people: [x]`, []string{
			`1: people: has an entry that is not a section; begin it with "- name: …"`,
		}},
		{`
people:
  -
`, []string{
			`2: people: has an entry that is not a section; begin it with "- name: …"`,
		}},
		{`people: [{name: A, telegram: 1}, {name: B, telegram: [2, 1]}]`, []string{
			`1: people.telegram: 1 belongs to A already; an id can be one person's only`,
		}},
		{`brain: {models: [a]}`, []string{
			`1: brain.models: takes names, each with keys below it: provider, url, model, api_key, context, keep_alive, max_tokens, think, temperature, tools, first_token_timeout, idle_timeout, price`,
		}},
		{`brain: {models: {a: b}}`, []string{
			`1: brain.models.a: is a section with keys below it: provider, url, model, api_key, context, keep_alive, max_tokens, think, temperature, tools, first_token_timeout, idle_timeout, price; it is not one value`,
		}},
		{`skills: {permissions: [a]}`, []string{
			`1: skills.permissions: takes names, each with off, deny, ask or allow`,
		}},
		{`a: ${X`, []string{
			`1: a: unknown key; here belong timezone, people, vault, gateways, brain, skills, scheduler, log`,
		}},
		{`
log:
  level:info
`, []string{
			`2: log: has "level:" without a space behind the colon; write "level: …"`,
		}},
	})
}
