package config

// shape is how a key's value is built.
type shape uint8

const (
	one     shape = iota // one value
	many                 // a list of values; a single value is a list of one
	table                // free names, each with one value
	section              // fixed keys
	rows                 // a list of sections
	entries              // free names, each with a section
)

// key is a row of the table below.
type key struct {
	// path joins the names with dots. "[]" and ".*" mark the keys of each element of a list and of each named entry.
	path  string
	shape shape
	kind  kind
	// preset is the default as it would be written in the file; empty when there is none or it is worked out.
	preset string
	// example stands in the example file, switched off, where there is no preset to show.
	example string
	doc     string
	restart bool     // a change takes effect only when the program starts again
	also    []string // names people try, or know from other programs
}

// permissions in order, the strictest first.
var permissions = []string{"off", "deny", "ask", "allow"}

// keys is every setting, in the order of the example file.
var keys = []key{
	{
		path: "timezone", kind: zoneKind{}, example: "Europe/Lisbon", also: []string{"tz", "time_zone", "zone"},
		doc: "Your time zone by its IANA name. Zone data is built in. Left out: the zone of this machine.",
	},

	{
		path: "people", shape: rows, also: []string{"users", "persons", "owner", "allow_from", "allowed_users"},
		doc: "Who may talk to the agent. Everybody else is a stranger and gets no answer. `hearth pair` adds people too.",
	},
	{path: "people[].name", kind: textKind{line: true}, example: "Me", doc: "Each name once."},
	{
		path: "people[].role", kind: choiceKind{values: []string{"owner", "member"}}, preset: "member",
		example: "owner", doc: "owner: sees and may do everything. member (the default): has their own reminders and memory.",
	},
	{
		path: "people[].telegram", shape: many, kind: telegramID{}, example: "123456789", also: []string{"telegram_id", "id"},
		doc: "The number Telegram knows them by, not the @name; several in a list.",
	},
	{
		path: "people[].whatsapp", shape: many, kind: phoneNumber{}, example: `"+351912345678"`, also: []string{"phone", "number"},
		doc: "Their number with the country code; several in a list.",
	},
	{
		path: "people[].timezone", kind: zoneKind{}, example: "Europe/Zurich", also: []string{"tz", "zone"},
		doc: "Where they live, if that is another zone than the household's.",
	},
	{
		path: "people[].limits", shape: section, example: "{steps_per_day: 100, minutes_per_day: 30, tokens_per_day: 500000, usd_per_day: 0.50}", also: []string{"limit", "budget"},
		doc: "What their tasks may take a day, instead of brain.limits.per_person.",
	},
	{path: "people[].limits.steps_per_day", kind: wholeKind{min: 1}, example: "100", also: []string{"steps"}, doc: "Model replies."},
	{path: "people[].limits.minutes_per_day", kind: wholeKind{min: 1}, example: "30", also: []string{"minutes"}, doc: "Minutes that models work."},
	{path: "people[].limits.tokens_per_day", kind: wholeKind{min: 1}, example: "500000", also: []string{"tokens"}, doc: "Tokens, read and written."},
	{path: "people[].limits.usd_per_day", kind: amountKind{}, example: "0.50", also: []string{"usd", "budget", "dollars"}, doc: "US dollars; 0 allows no call that costs money."},

	{path: "vault", shape: section, also: []string{"database", "db", "storage"}, doc: "Where messages, memory and reminders are kept."},
	{
		path: "vault.dir", kind: pathKind{}, preset: "~/.local/share/hearth", restart: true, also: []string{"path", "folder"},
		doc: "A folder; ~ is your home. With $XDG_DATA_HOME set the default is $XDG_DATA_HOME/hearth. A change needs a restart.",
	},
	{
		path: "vault.snapshots", kind: choiceKind{values: []string{"off", "daily", "hourly"}, off: "off"}, preset: "daily",
		also: []string{"backups", "backup"},
		doc:  "off | daily | hourly: copies kept beside the vault, made only when something changed (hourly under 64 MB).",
	},

	{path: "gateways", shape: section, also: []string{"channels", "messengers"}, doc: "The ways in and out. The terminal (`hearth chat`) is always there."},
	{
		path: "gateways.burst", kind: durationKind{zero: true, off: true, max: maxBurst}, preset: "800ms",
		doc: "Messages of one sender closer together than this are answered as one, up to 4s; 0s answers each on its own.",
	},
	{path: "gateways.telegram", shape: section, doc: "Telegram is on when there is a token."},
	{
		path: "gateways.telegram.token", kind: secretKind{telegram: true}, example: `"${TELEGRAM_BOT_TOKEN}"`, also: []string{"bot_token", "api_key", "key"},
		doc: "From @BotFather. ${NAME} takes a value from the environment; a variable that is not set is an error.",
	},
	{
		path: "gateways.telegram.api_url", kind: linkKind{}, preset: "https://api.telegram.org", also: []string{"url", "base_url"},
		doc: "Another address if you run your own Bot API server.",
	},
	{
		path: "gateways.telegram.groups", kind: choiceKind{values: []string{"off", "mention", "all"}, off: "off"}, preset: "mention",
		also: []string{"group"},
		doc:  "off | mention | all: in groups the agent is silent, answers when it is named or replied to, or answers everything.",
	},
	{path: "gateways.whatsapp", shape: section, doc: "WhatsApp is on when it has a mode. Link it with `hearth whatsapp pair`."},
	{
		path: "gateways.whatsapp.mode", kind: choiceKind{values: []string{"off", "dedicated", "self"}, off: "off"}, preset: `"off"`,
		doc: "off | dedicated (the agent has a number of its own) | self (you write to yourself). A change needs a restart.",
	},
	{
		path: "gateways.whatsapp.groups", kind: choiceKind{values: []string{"off", "mention", "all"}, off: "off"}, preset: "mention",
		also: []string{"group"},
		doc:  "off | mention | all: as for Telegram. In the mode self the agent takes part in no group.",
	},
	{path: "gateways.web", shape: section, doc: "Pages in the browser, behind a login."},
	{
		path: "gateways.web.listen", kind: listenKind{}, preset: `"off"`, restart: true, also: []string{"address", "addr", "port", "bind"},
		doc: "off, or an address and port such as 127.0.0.1:8717. A change needs a restart.",
	},

	{path: "brain", shape: section, also: []string{"agent", "llm"}, doc: "How the agent thinks, and what that may cost."},
	{
		path: "brain.persona", kind: textKind{empty: true}, preset: `""`, also: []string{"prompt", "system_prompt", "instructions"},
		doc: "Free text about its name, its tone, your household.",
	},
	{
		path: "brain.model", kind: textKind{line: true}, example: "home", also: []string{"use", "default", "default_model", "primary"},
		doc: "A name from models below, or offline. Left out: the only model there is; without models, a local Ollama if one answers, else offline.",
	},
	{
		path: "brain.fallback", shape: many, kind: textKind{line: true}, preset: "[]", also: []string{"fallbacks"},
		doc: "Tried in this order when the model does not answer, for example [cloud]; offline is always the last.",
	},
	{
		path: "brain.cloud_fallback", kind: choiceKind{values: []string{"never", "ask", "allow"}, off: "never"}, preset: "ask",
		doc: "never | ask | allow: may something that began on a model at home go on in the cloud?",
	},
	{
		path: "brain.background", kind: yesNoKind{}, preset: "true", also: []string{"summaries", "background_work"},
		doc: "Ask the model in the background too, when nobody waits: to sum up a talk that grows long. false: never unasked.",
	},
	{path: "brain.models", shape: entries, also: []string{"model_list", "providers", "backends"}, doc: "As many as you like; the names are yours. /model NAME switches in chat."},
	{
		path: "brain.models.*.provider", kind: choiceKind{values: []string{"ollama", "openai", "anthropic", Offline}}, example: "ollama",
		also: []string{"api", "type", "backend"},
		doc:  "ollama | openai (and all that speak like it) | anthropic | offline.",
	},
	{
		path: "brain.models.*.url", kind: linkKind{}, example: "http://127.0.0.1:11434", also: []string{"api_url", "base_url", "endpoint", "host", "api_base"},
		doc: "Left out: the provider's usual address.",
	},
	{path: "brain.models.*.model", kind: textKind{line: true}, example: `"qwen3:4b"`, also: []string{"name", "id"}, doc: "The name the server knows it by."},
	{
		path: "brain.models.*.api_key", kind: secretKind{}, example: `"${OPENAI_API_KEY}"`, also: []string{"key", "apikey", "token", "api_token"},
		doc: "Only if the server asks for one.",
	},
	{
		path: "brain.models.*.context", kind: wholeKind{min: 512}, example: "8192", also: []string{"num_ctx", "context_length", "context_window", "ctx"},
		doc: "Tokens it can read at once. Left out: ollama 8192, openai 32768, anthropic 200000.",
	},
	{
		path: "brain.models.*.keep_alive", kind: durationKind{zero: true, forever: true, max: maxDuration}, preset: "30m",
		doc: "How long Ollama keeps it loaded; 0s unloads it at once, forever never.",
	},
	{
		path: "brain.models.*.max_tokens", kind: wholeKind{min: 1}, preset: "1024", also: []string{"num_predict", "max_output_tokens"},
		doc: "The longest answer, in tokens.",
	},
	{path: "brain.models.*.think", kind: yesNoKind{}, preset: "false", also: []string{"thinking", "reasoning"}, doc: "Let it reason before it answers: better and much slower."},
	{
		path: "brain.models.*.temperature", kind: amountKind{max: 2}, example: "0.7", also: []string{"temp"},
		doc: "How freely it chooses its words, 0 to 2. Left out: as its server does it.",
	},
	{
		path: "brain.models.*.tools", kind: choiceKind{values: []string{"auto", "native", "schema", "off"}, off: "off"}, preset: "auto",
		doc: "auto | native | schema (for models that do not know tools) | off.",
	},
	{
		path: "brain.models.*.first_token_timeout", kind: durationKind{max: maxDuration}, preset: "10m", also: []string{"timeout"},
		doc: "A small machine may need minutes to load a model and read a long prompt.",
	},
	{path: "brain.models.*.idle_timeout", kind: durationKind{max: maxDuration}, preset: "2m", doc: "The longest silence in the middle of an answer."},
	{path: "brain.models.*.price", shape: section, also: []string{"cost", "prices"}, doc: "US dollars per million tokens, read and written; cache_read and cache_write too where a provider has them. Left out: unknown, and told so."},
	{path: "brain.models.*.price.input", kind: amountKind{}, example: "0.25", doc: "What it reads."},
	{path: "brain.models.*.price.output", kind: amountKind{}, example: "2.00", doc: "What it writes."},
	{
		path: "brain.models.*.price.cache_read", kind: amountKind{}, example: "0.03", also: []string{"cached", "cached_input", "cache"},
		doc: "What it takes from its cache of prompts. Left out: anthropic a tenth of input, others as input.",
	},
	{
		path: "brain.models.*.price.cache_write", kind: amountKind{}, example: "0.32",
		doc: "What it puts there. Left out: anthropic 1.25 times input, others as input.",
	},
	{path: "brain.embedding", shape: section, also: []string{"embeddings"}, doc: "Optional: a model for finding what was said and remembered by meaning, not only by word. All of it is sent to this address."},
	{path: "brain.embedding.provider", kind: choiceKind{values: []string{"ollama", "openai"}}, example: "ollama", also: []string{"api", "type"}, doc: "ollama | openai."},
	{path: "brain.embedding.url", kind: linkKind{}, example: "http://127.0.0.1:11434", also: []string{"api_url", "base_url", "host"}, doc: "Left out: the provider's usual address."},
	{path: "brain.embedding.model", kind: textKind{line: true}, example: "all-minilm", also: []string{"name"}, doc: "The name the server knows it by."},
	{path: "brain.embedding.api_key", kind: secretKind{}, example: `""`, also: []string{"key", "apikey", "token"}, doc: "Only if the server asks for one."},
	{
		path: "brain.limits", shape: section, also: []string{"limit", "budget"},
		doc: "Where the agent stops and asks the owner whether it may go on, whatever the model thinks. It is held against the most that the next call can take; a day ends at midnight of timezone.",
	},
	{path: "brain.limits.steps", kind: wholeKind{min: 1}, preset: "20", also: []string{"max_steps", "max_iterations"}, doc: "Model replies in one run."},
	{path: "brain.limits.minutes", kind: wholeKind{min: 1}, preset: "10", doc: "Minutes in one run, waiting for you not counted."},
	{path: "brain.limits.tokens_per_run", kind: wholeKind{min: 1}, preset: "200000", also: []string{"tokens", "max_tokens"}, doc: "Tokens in one run, read and written."},
	{path: "brain.limits.usd_per_run", kind: amountKind{}, example: "0.25", doc: "US dollars in one run. Left out: what is left of the day's."},
	{path: "brain.limits.steps_per_day", kind: wholeKind{min: 1}, example: "500", doc: "Model replies a day, of everybody together. Left out: as many as there are."},
	{path: "brain.limits.minutes_per_day", kind: wholeKind{min: 1}, example: "240", doc: "Minutes a day that models work."},
	{path: "brain.limits.tokens_per_day", kind: wholeKind{min: 1}, example: "2000000", doc: "Tokens a day, read and written."},
	{path: "brain.limits.usd_per_day", kind: amountKind{}, preset: "1.00", also: []string{"usd", "budget", "dollars"}, doc: "US dollars a day; 0 allows no call that costs money."},
	{path: "brain.limits.per_person", shape: section, also: []string{"person", "each"}, doc: "The same for what each person's tasks may take a day. Left out: no more than for everybody."},
	{path: "brain.limits.per_person.steps_per_day", kind: wholeKind{min: 1}, example: "100", also: []string{"steps"}, doc: "Model replies."},
	{path: "brain.limits.per_person.minutes_per_day", kind: wholeKind{min: 1}, example: "60", also: []string{"minutes"}, doc: "Minutes that models work."},
	{path: "brain.limits.per_person.tokens_per_day", kind: wholeKind{min: 1}, example: "500000", also: []string{"tokens"}, doc: "Tokens, read and written."},
	{path: "brain.limits.per_person.usd_per_day", kind: amountKind{}, example: "0.50", also: []string{"usd", "budget", "dollars"}, doc: "US dollars; 0 allows no call that costs money."},
	{path: "brain.limits.parallel", kind: wholeKind{min: 1}, preset: "1", also: []string{"concurrency", "workers"}, doc: "Calls to one model server at a time."},

	{path: "skills", shape: section, also: []string{"tools"}, doc: "What the agent may do."},
	{path: "skills.dir", kind: pathKind{}, preset: "~/.local/share/hearth/skills", also: []string{"path", "folder"}, doc: "Installed skills: folders with a SKILL.md each, which only you put there. Apart from the workspace."},
	{path: "skills.workspace", kind: pathKind{}, preset: "~/.local/share/hearth/workspace", doc: "The only folder whose files it reads and writes, and in which commands run."},
	{
		path: "skills.permissions", shape: table, kind: choiceKind{values: permissions, off: "off"}, preset: `{send: ask, run_command: "off", "*": allow}`,
		also: []string{"permission", "policy"},
		doc: "By tool: off (nobody sees it) | deny | ask (the owner is asked) | allow. Names may hold * and ?; the most specific name wins. " +
			"What you write adds to these defaults. In groups less is allowed. What is not on by default, as run_command, is " +
			"switched on by its own name only; commands run in a sandbox, without network.",
	},
	{path: "skills.permissions_for", shape: rows, also: []string{"permission_for", "exceptions"}, doc: "Exceptions by person and kind of chat."},
	{path: "skills.permissions_for[].person", kind: textKind{line: true}, example: "Me", also: []string{"name", "who"}, doc: "A name from people."},
	{path: "skills.permissions_for[].chat", kind: choiceKind{values: []string{"private", "group", "any"}}, preset: "any", example: "group", doc: "private | group | any (the default)."},
	{
		path: "skills.permissions_for[].tools", shape: table, kind: choiceKind{values: permissions, off: "off"}, example: "{web_fetch: deny}",
		also: []string{"permissions"}, doc: "As in permissions.",
	},
	{path: "skills.web", shape: section, doc: "What it may reach on the web."},
	{
		path: "skills.web.allow_hosts", shape: many, kind: hostKind{}, preset: "[]", also: []string{"hosts", "allowed_hosts"},
		doc: "Machines in your own network that may be fetched all the same, for example [nas.local, 192.168.1.20].",
	},
	{path: "skills.web.search_url", kind: linkKind{empty: true}, preset: `""`, also: []string{"search"}, doc: "The address of a SearXNG, for web_search."},

	{path: "scheduler", shape: section, also: []string{"schedule", "cron"}, doc: "When the agent speaks first."},
	{path: "scheduler.quiet_hours", kind: hoursKind{}, preset: `"off"`, also: []string{"quiet"}, doc: `off, or hours such as "23:00-07:00" in which it does not speak up unasked, by each person's own clock: follow-ups and notices wait, reminders come.`},
	{path: "scheduler.missed", kind: choiceKind{values: []string{"once", "skip", "all"}}, preset: "once", doc: "once | skip | all: what was due while the machine was off comes once, not at all, or as often as it was missed."},
	{
		path: "scheduler.heartbeat", kind: durationKind{zero: true, off: true, min: minHeartbeat, max: maxDuration}, preset: `"off"`,
		doc: "off, or how often it looks unasked at what an owner pinned as a rule, such as 4h. Each time costs a model call; without such a rule there is none.",
	},

	{path: "log", shape: section, also: []string{"logging", "logs"}, doc: "What `hearth run` writes to stderr."},
	{
		path: "log.level", kind: choiceKind{values: []string{"debug", "info", "warn", "error"}, words: map[string]string{"warning": "warn"}}, preset: "info",
		doc: "debug | info | warn | error.",
	},
	{path: "log.format", kind: choiceKind{values: []string{"text", "json"}}, preset: "text", doc: "text | json."},
}
