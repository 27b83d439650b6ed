package config

import "testing"

// Every value a person can get wrong says what would be right.
func TestValuesThatAreNotUnderstood(t *testing.T) {
	t.Parallel()
	checkProblems(t, []mistaken{
		{`timezone: Europe/Zurch`, []string{
			`1: timezone: "Europe/Zurch" is no time zone; it takes a zone such as Europe/Lisbon (did you mean Europe/Zurich?)`,
		}},
		{`timezone: Lisbon`, []string{
			`1: timezone: "Lisbon" is no time zone; it takes a zone such as Europe/Lisbon (did you mean Europe/Lisbon?)`,
		}},
		{`timezone: europe/lisbon`, []string{
			`1: timezone: "europe/lisbon" is no time zone; it takes a zone such as Europe/Lisbon (did you mean Europe/Lisbon?)`,
		}},
		{`timezone: UTC+2`, []string{
			`1: timezone: "UTC+2" is an offset, which knows no summer time; write the place, such as Europe/Lisbon`,
		}},
		{`timezone: Local`, []string{
			`1: timezone: "Local" is no time zone; leave timezone out to take this machine's`,
		}},
		{`timezone: 3`, []string{
			`1: timezone: "3" is no time zone; it takes a zone such as Europe/Lisbon`,
		}},
		{`timezone: [a]`, []string{
			`1: timezone: takes one value, not a list: a zone such as Europe/Lisbon`,
		}},
		{`timezone: {a: b}`, []string{
			`1: timezone: takes one value, not keys below it: a zone such as Europe/Lisbon`,
		}},
		{`people: [{name: A}, {name: a}]`, []string{
			`1: people.name: two people are called A; tell them apart`,
		}},
		{`people: [{role: owner}]`, []string{
			`1: people.name: is missing: every person needs one`,
		}},
		{`people: [{name: A, role: admin, telegram: 1.5e9, whatsapp: 0912345678}]`, []string{
			`1: people.role: "admin" is not understood; it takes owner or member`,
			`1: people.telegram: "1.5e9" is not a whole number; write every digit of the id, such as 123456789`,
			`1: people.whatsapp: "0912345678" has no country code; it takes a number with its country code such as "+351912345678"`,
		}},
		{`people: [{name: A, telegram: "@ana"}]`, []string{
			"1: people.telegram: \"@ana\" is a name, which its owner can give away; write the number, or leave it out and use `hearth pair`",
		}},
		{`people: [{name: A, telegram: ana}]`, []string{
			`1: people.telegram: "ana" is no Telegram id; it takes a number such as 123456789`,
		}},
		{`people: [{name: A, telegram: 99999999999999999999}]`, []string{
			`1: people.telegram: "99999999999999999999" is too long for a Telegram id`,
		}},
		{`people: [{name: A, telegram: "1, 2"}]`, []string{
			`1: people.telegram: "1, 2" looks like several ids; write them as a list, such as [123456789, 987654321]`,
		}},
		{`people: [{name: A, telegram: [[1]]}]`, []string{
			`1: people.telegram: takes a list of values, each a number such as 123456789`,
		}},
		{`people: [{name: A, whatsapp: 351912345678.0}]`, []string{
			`1: people.whatsapp: "351912345678.0" is not a whole number; write every digit, such as "+351912345678"`,
		}},
		{`people: [{name: A, whatsapp: 3.5e11}]`, []string{
			`1: people.whatsapp: "3.5e11" is not a whole number; write every digit, such as "+351912345678"`,
		}},
		{`gateways: {burst: 10, telegram: {token: abc, api_url: foo, groups: sometimes}}`, []string{
			`1: gateways.burst: "10" has no unit: 10 what? Write 10s, 10m or 10h`,
			`1: gateways.telegram.token: is no bot token: @BotFather gives one that begins with digits and a colon, as in 123456:ABC…`,
			`1: gateways.telegram.api_url: must begin with http:// or https://`,
			`1: gateways.telegram.groups: "sometimes" is not understood; it takes off, mention or all`,
		}},
		{`gateways: {burst: 10s}`, []string{
			`1: gateways.burst: "10s" is too long; it must be 4s or less`,
		}},
		{`gateways: {burst: -1s}`, []string{
			`1: gateways.burst: "-1s" is not understood; it takes off, or a length of time such as 800ms, 10m or 2h`,
		}},
		{`gateways: {burst: quick}`, []string{
			`1: gateways.burst: "quick" is not understood; it takes off, or a length of time such as 800ms, 10m or 2h`,
		}},
		{`gateways: {web: {listen: 8717}}`, []string{
			`1: gateways.web.listen: "8717" is a port without an address; it takes off, or an address and port such as 127.0.0.1:8717 (did you mean 127.0.0.1:8717?)`,
		}},
		{`gateways: {web: {listen: "http://x:1"}}`, []string{
			`1: gateways.web.listen: "http://x:1" has a scheme; leave out everything but the address and port, such as 127.0.0.1:8717`,
		}},
		{`gateways: {web: {listen: "x:99999"}}`, []string{
			`1: gateways.web.listen: "x:99999" is not understood; it takes off, or an address and port such as 127.0.0.1:8717`,
		}},
		{`gateways: {whatsapp: {mode: both}}`, []string{
			`1: gateways.whatsapp.mode: "both" is not understood; it takes off, dedicated or self`,
		}},
		{`brain: {model: hoem, models: {home: {provider: ollama, model: x}}}`, []string{
			`1: brain.model: "hoem" is none of the models below brain.models: home, offline (did you mean home?)`,
		}},
		{`brain: {fallback: [clowd], models: {cloud: {provider: olama, model: x}}}`, []string{
			`1: brain.models.cloud.provider: "olama" is not understood; it takes ollama, openai, anthropic or offline (did you mean ollama?)`,
			`1: brain.fallback: "clowd" is none of the models below brain.models: cloud, offline (did you mean cloud?)`,
		}},
		{`brain: {models: {a: {provider: ollama, model: x}, b: {provider: ollama, model: x}}}`, []string{
			`1: brain.model: is missing; pick one of a, b, offline`,
		}},
		{`brain: {models: {a: {provider: openai, model: x}, b: {provider: anthropic}, c: {model: y}, offline: {provider: ollama, model: x}}}`, []string{
			`1: brain.models.a.api_key: is missing; https://api.openai.com/v1 asks for one, as in api_key: "${NAME}"`,
			`1: brain.models.b.model: is missing; write the name the server knows the model by, such as "qwen3:4b"`,
			`1: brain.models.b.api_key: is missing; https://api.anthropic.com asks for one, as in api_key: "${NAME}"`,
			`1: brain.models.c.provider: is missing; it takes ollama, openai, anthropic or offline`,
			`1: brain.models.offline: is the name of the built-in model; give this one another`,
			`1: brain.model: is missing; pick one of a, b, c, offline`,
		}},
		{`brain: {models: {a: {provider: ollama, model: x, url: "ftp://x", context: 100, keep_alive: 5, max_tokens: 8192, think: maybe, tools: some, first_token_timeout: 0s, price: {input: free}}}}`, []string{
			`1: brain.models.a.url: must begin with http:// or https://, not "ftp://"`,
			`1: brain.models.a.context: "100" is too small; it must be 512 or more`,
			`1: brain.models.a.keep_alive: "5" has no unit: 5 what? Write 5s, 5m or 5h`,
			`1: brain.models.a.think: "maybe" is not understood; it takes true or false`,
			`1: brain.models.a.tools: "some" is not understood; it takes auto, native, schema or off`,
			`1: brain.models.a.first_token_timeout: "0s" is no time at all; it takes a length of time such as 800ms, 10m or 2h`,
			`1: brain.models.a.price.input: "free" is not a number; write one such as 0.25, without a currency sign`,
			`1: brain.models.a.max_tokens: is 8192, which leaves nothing of the 8192 tokens of context for the question`,
			`1: brain.models.a.price.output: is missing; a price needs input and output, in US dollars per million tokens`,
		}},
		{`brain: {models: {a b: {provider: ollama, model: x}}}`, []string{
			`1: brain.models: "a b" is no name for a model: use letters, digits, - and _, without spaces`,
		}},
		{`brain: {embedding: {url: "http://x"}}`, []string{
			`1: brain.embedding.provider: is missing; it takes ollama or openai`,
			`1: brain.embedding.model: is missing; write the name the server knows the model by, such as all-minilm`,
		}},
		{`brain: {limits: {steps: 0, minutes: 1.5, usd_per_day: -1, parallel: many, tokens_per_run: 1e99}}`, []string{
			`1: brain.limits.steps: "0" is too small; it must be 1 or more`,
			`1: brain.limits.minutes: "1.5" is not a whole number; write digits only, 1 or more`,
			`1: brain.limits.usd_per_day: "-1" is less than nothing; it must be 0 or more`,
			`1: brain.limits.parallel: "many" is not a whole number; write digits only, 1 or more`,
			`1: brain.limits.tokens_per_run: "1e99" is too large`,
		}},
		{`skills: {permissions: {web_fetch: yes, "a b": deny, x: , send: maybe}}`, []string{
			`1: skills.permissions.web_fetch: "yes" is not understood; it takes off, deny, ask or allow`,
			`1: skills.permissions: "a b" is no tool name: use letters, digits, _ and -, with * and ? for any`,
			`1: skills.permissions.x: has no value; it takes off, deny, ask or allow`,
			`1: skills.permissions.send: "maybe" is not understood; it takes off, deny, ask or allow`,
		}},
		{`
skills: {permissions_for: [{person: Gest, tools: {a: deny}}], web: {allow_hosts: ["http://x"], search_url: x}}
people: [{name: Guest}]
`, []string{
			`1: skills.web.allow_hosts: "http://x" is not a host; write one name or IP address, without http://, port or path, such as nas.local or 192.168.1.20`,
			`1: skills.web.search_url: must begin with http:// or https://`,
			`1: skills.permissions_for.person: "Gest" is none of the people (did you mean Guest?)`,
		}},
		{`skills: {permissions_for: [{chat: all}]}`, []string{
			`1: skills.permissions_for.chat: "all" is not understood; it takes private, group or any`,
			`1: skills.permissions_for.person: is missing; write a name from people`,
			`1: skills.permissions_for.tools: is missing; write what changes, such as {web_fetch: deny}`,
		}},
		{`skills: {dir: ~bob/x}`, []string{
			`1: skills.dir: "~bob/x" is another user's home; write the folder in full`,
		}},
		{`scheduler: {quiet_hours: 23, missed: never, heartbeat: on}`, []string{
			`1: scheduler.quiet_hours: "23" is not understood; it takes off, or hours such as "23:00-07:00"`,
			`1: scheduler.missed: "never" is not understood; it takes once, skip or all`,
			`1: scheduler.heartbeat: "on" is not understood; it takes off, or a length of time such as 800ms, 10m or 2h`,
		}},
		{`scheduler: {quiet_hours: "25:00-07:00"}`, []string{
			`1: scheduler.quiet_hours: "25:00-07:00" is not understood; it takes off, or hours such as "23:00-07:00"`,
		}},
		{`scheduler: {quiet_hours: "07:00-07:00", heartbeat: 5}`, []string{
			`1: scheduler.quiet_hours: "07:00-07:00" begins and ends at the same time; write off, or hours such as "23:00-07:00"`,
			`1: scheduler.heartbeat: "5" has no unit: 5 what? Write 5s, 5m or 5h`,
		}},
		{`scheduler: {heartbeat: 10s}`, []string{
			`1: scheduler.heartbeat: "10s" is too short; it must be 1m or more`,
		}},
		{`log: {level: loud, format: xml}`, []string{
			`1: log.level: "loud" is not understood; it takes debug, info, warn or error`,
			`1: log.format: "xml" is not understood; it takes text or json`,
		}},
		{`brain: {persona: "${FOO} ${} ${BAR:-x}"}`, []string{
			`1: brain.persona: takes its value from ${FOO}, and the environment variable FOO is not set`,
			`1: brain.persona: has an empty ${}; write the name of an environment variable in it`,
			`1: brain.persona: has ${BAR:-x}, which is not a name; only ${NAME} is understood`,
		}},
		{`gateways: {telegram: {token: "${UNSET}"}}`, []string{
			`1: gateways.telegram.token: takes its value from ${UNSET}, and the environment variable UNSET is not set`,
		}},
	})
}
