// Package config turns one YAML file and the environment into one plain, validated struct.
//
// It is strict where loaders are usually lenient: an unknown key, a section that is not indented, a duplicate, a value
// that could mean two things is refused, and all problems of a file are told at once, each with its line. The table in
// keys.go is the single source of truth: what is read, what the environment may override, what is suggested for a
// misspelling, what the example file shows and what [Config.Show] prints all come from it.
//
// The layers are merged by koanf: defaults, then the file, then HEARTH_ variables. koanf alone accepts misspelt keys in
// silence and loses the line numbers, so each layer is read against the table before koanf sees it.
//
// Only the command line imports this package; everybody else is handed values.
package config

import (
	"slices"
	"time"
	_ "time/tzdata" // machines without zone files are common among small servers and containers
)

// Config is everything that can be set. A value in it has been checked: enumerations hold one of the words of the
// contract in lower case, paths are absolute, names refer to something that exists.
type Config struct {
	// Timezone is an IANA name that loads; the system's zone when the file names none.
	Timezone  string    `koanf:"timezone"`
	People    []Person  `koanf:"people"`
	Vault     Vault     `koanf:"vault"`
	Gateways  Gateways  `koanf:"gateways"`
	Brain     Brain     `koanf:"brain"`
	Skills    Skills    `koanf:"skills"`
	Scheduler Scheduler `koanf:"scheduler"`
	Log       Log       `koanf:"log"`

	source source
}

// Person is somebody the agent knows.
type Person struct {
	Name string `koanf:"name"`
	Role string `koanf:"role"` // owner or member
	// Telegram holds ids in decimal digits, never in exponent form; a group's begins with a minus.
	Telegram []string `koanf:"telegram"`
	// WhatsApp holds numbers as + and digits.
	WhatsApp []string `koanf:"whatsapp"`
	// Timezone is an IANA name, empty for the one of the household.
	Timezone string     `koanf:"timezone"`
	Limits   *DayLimits `koanf:"limits"` // nil: those of Brain.Limits.PerPerson
}

// Vault says where everything is kept.
type Vault struct {
	Dir       string `koanf:"dir"`
	Snapshots string `koanf:"snapshots"` // off, daily or hourly
}

// Gateways are the messengers.
type Gateways struct {
	// Burst is the longest pause between messages that make one run; 0 turns bundling off.
	Burst    time.Duration `koanf:"burst"`
	Telegram Telegram      `koanf:"telegram"`
	WhatsApp WhatsApp      `koanf:"whatsapp"`
	Web      Web           `koanf:"web"`
}

// Telegram is off while it has no token.
type Telegram struct {
	Token  Secret `koanf:"token"`
	APIURL URL    `koanf:"api_url"`
	Groups string `koanf:"groups"` // off, mention or all
}

// WhatsApp is off unless it has a mode.
type WhatsApp struct {
	Mode   string `koanf:"mode"`   // off, dedicated or self
	Groups string `koanf:"groups"` // off, mention or all; in the mode self the agent is in none
}

// Web is off while it has no address to listen on.
type Web struct {
	Listen string `koanf:"listen"` // host:port, or empty
}

// Brain is how the agent thinks, and what it may spend.
type Brain struct {
	Persona string `koanf:"persona"`
	// Model names an entry of Models, or is "offline". Whether it was chosen by a person tells IsSet("brain.model").
	Model         string   `koanf:"model"`
	Fallback      []string `koanf:"fallback"`
	CloudFallback string   `koanf:"cloud_fallback"` // never, ask or allow
	// Background: a model may be asked something that nobody has asked for.
	Background bool             `koanf:"background"`
	Models     map[string]Model `koanf:"models"`
	Embedding  *Embedding       `koanf:"embedding"` // nil: none
	Limits     Limits           `koanf:"limits"`
}

// Model is one way to reach a language model.
type Model struct {
	Provider  string        `koanf:"provider"` // ollama, openai, anthropic or offline
	URL       URL           `koanf:"url"`
	Model     string        `koanf:"model"`
	APIKey    Secret        `koanf:"api_key"`
	Context   int           `koanf:"context"`    // tokens
	KeepAlive time.Duration `koanf:"keep_alive"` // Forever never unloads, 0 unloads at once
	MaxTokens int           `koanf:"max_tokens"`
	Think     bool          `koanf:"think"`
	// Temperature is nil when the server's own holds.
	Temperature *float64 `koanf:"temperature"`
	Tools       string   `koanf:"tools"` // auto, native, schema or off
	// FirstTokenTimeout covers waiting, loading and reading the prompt; IdleTimeout the pauses after the first word.
	FirstTokenTimeout time.Duration `koanf:"first_token_timeout"`
	IdleTimeout       time.Duration `koanf:"idle_timeout"`
	Price             *Price        `koanf:"price"` // nil: unknown, which is not free
}

// Price is in US dollars per million tokens.
type Price struct {
	Input  float64 `koanf:"input"`
	Output float64 `koanf:"output"`
	// What is read from the provider's cache of prompts, and written to it; nil: as that provider has it, else Input.
	CacheRead  *float64 `koanf:"cache_read"`
	CacheWrite *float64 `koanf:"cache_write"`
}

// Embedding is the model that turns a memory into numbers for searching by meaning.
type Embedding struct {
	Provider string `koanf:"provider"` // ollama or openai
	URL      URL    `koanf:"url"`
	Model    string `koanf:"model"`
	APIKey   Secret `koanf:"api_key"`
}

// Limits bound one run, and the day. A number that is 0 and an amount that is nil are no limit.
type Limits struct {
	Steps         int        `koanf:"steps"`
	Minutes       int        `koanf:"minutes"`
	TokensPerRun  int        `koanf:"tokens_per_run"`
	USDPerRun     *float64   `koanf:"usd_per_run"`
	StepsPerDay   int        `koanf:"steps_per_day"`
	MinutesPerDay int        `koanf:"minutes_per_day"`
	TokensPerDay  int        `koanf:"tokens_per_day"`
	USDPerDay     float64    `koanf:"usd_per_day"` // 0: nothing may be spent
	PerPerson     *DayLimits `koanf:"per_person"`
	Parallel      int        `koanf:"parallel"` // model calls at a time, per backend
}

// DayLimits bound what one person's runs take in a day. A number that is 0 and an amount that is nil are no limit.
type DayLimits struct {
	StepsPerDay   int      `koanf:"steps_per_day"`
	MinutesPerDay int      `koanf:"minutes_per_day"`
	TokensPerDay  int      `koanf:"tokens_per_day"`
	USDPerDay     *float64 `koanf:"usd_per_day"` // 0: nothing may be spent
}

// Skills is what the agent may do.
type Skills struct {
	Dir       string `koanf:"dir"`
	Workspace string `koanf:"workspace"`
	// Permissions maps a tool's name, which may hold * and ?, to off, deny, ask or allow. The defaults are in it.
	Permissions    map[string]string `koanf:"permissions"`
	PermissionsFor []Exception       `koanf:"permissions_for"`
	Web            Fetch             `koanf:"web"`
}

// Exception is a set of permissions for one person in one kind of chat.
type Exception struct {
	Person string            `koanf:"person"` // a name in People, spelt as it is there
	Chat   string            `koanf:"chat"`   // private, group or any
	Tools  map[string]string `koanf:"tools"`
}

// Fetch is what the agent may reach on the web.
type Fetch struct {
	AllowHosts []string `koanf:"allow_hosts"` // private hosts that may be fetched all the same: names or IP addresses
	SearchURL  URL      `koanf:"search_url"`  // a SearXNG address, or empty
}

// Scheduler is about when the agent speaks first.
type Scheduler struct {
	QuietHours Hours         `koanf:"quiet_hours"`
	Missed     string        `koanf:"missed"`    // once, skip or all
	Heartbeat  time.Duration `koanf:"heartbeat"` // 0: off
}

// Log is how the program reports to whoever runs it.
type Log struct {
	Level  string `koanf:"level"`  // debug, info, warn or error
	Format string `koanf:"format"` // text or json
}

// Offline is the name of the built-in model that needs nothing; it is always there.
const Offline = "offline"

// Forever as keep_alive keeps a model loaded until its server stops.
const Forever time.Duration = -1

// Location is the zone of Timezone.
func (c *Config) Location() *time.Location {
	zone, err := time.LoadLocation(c.Timezone)
	if err != nil {
		return time.UTC // a loaded Config names a zone that loads
	}
	return zone
}

// complete fills in what depends on other values.
func (c *Config) complete() {
	for name, m := range c.Brain.Models {
		if m.URL.IsZero() {
			m.URL = newURL(providerURLs[m.Provider])
		}
		if m.Context == 0 {
			m.Context = providerContexts[m.Provider]
		}
		c.Brain.Models[name] = m
	}
	if e := c.Brain.Embedding; e != nil && e.URL.IsZero() {
		e.URL = newURL(providerURLs[e.Provider])
	}
	if c.Brain.Model == "" && len(c.Brain.Models) == 0 {
		c.Brain.Model = Offline
	}
	if c.Brain.Model == "" && len(c.Brain.Models) == 1 {
		for name := range c.Brain.Models {
			c.Brain.Model = name
		}
	}
	c.completePermissions()
}

// completePermissions keeps the built-in rules from arguing with what a person wrote: a pattern of theirs that names the
// tool replaces the built-in rule, and their "*" may make it stricter, never looser. So "*": deny leaves no send: ask
// behind, and "*": allow does not switch run_command on.
func (c *Config) completePermissions() {
	rules := c.Skills.Permissions
	for tool, builtIn := range builtInPermissions() {
		if tool == "*" || c.IsSet("skills.permissions."+tool) {
			continue
		}
		replaced, strict := false, builtIn
		for pattern, permission := range rules {
			switch {
			case !c.IsSet("skills.permissions."+pattern) || !matchTool(pattern, tool):
			case pattern != "*":
				replaced = true
			case slices.Index(permissions, permission) < slices.Index(permissions, strict):
				strict = permission
			}
		}
		if rules[tool] = strict; replaced {
			delete(rules, tool)
		}
	}
}

var (
	providerURLs = map[string]string{
		"ollama":    "http://127.0.0.1:11434",
		"openai":    "https://api.openai.com/v1",
		"anthropic": "https://api.anthropic.com",
	}
	// Behind the openai protocol is anything from a phone-sized model to a cloud, hence the modest guess.
	providerContexts = map[string]int{"ollama": 8192, "openai": 32768, "anthropic": 200000, Offline: 8192}
)
