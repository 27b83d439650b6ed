package config

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
)

// Warnings are sentences about what is allowed and still worth a look, for check and doctor. They never keep the program
// from starting.
func (c *Config) Warnings() []string { return slices.Clone(c.source.warnings) }

// builtInTools are the names of the contract. A skill may bring others, so an unknown one is no error; one that is
// nearly a known one is most likely a slip, and a rule that silently rules nothing.
var builtInTools = []string{
	"remind", "follow_up", "jobs", "change_job", "cancel_job", "remember", "recall", "forget", "send", "list_files",
	"read_file", "write_file", "web_fetch", "web_search", "run_command", "use_skill",
}

func (c *Config) warnings(secretsInFile, zoneKnown bool) []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	f := c.source.file
	if f.found && secretsInFile && f.mode&0o044 != 0 {
		warn("%s holds secrets and can be read by other users of this machine (mode %04o): run chmod 600 %s", f.path, f.mode, f.path)
	}
	if !zoneKnown {
		warn("timezone is not set and this machine does not tell its own, so times are in UTC: set timezone in %s", filepath.Base(f.path))
	}
	if len(c.People) > 0 && !slices.ContainsFunc(c.People, func(p Person) bool { return p.Role == "owner" }) {
		warn("nobody in people has role: owner, so nobody there can answer the agent's questions")
	}
	if c.Gateways.Telegram.Token.IsZero() && c.IsSet("gateways.telegram") {
		for _, key := range []string{"token", "api_url", "groups"} {
			if c.IsSet("gateways.telegram."+key) && (key != "groups" || c.Gateways.Telegram.Groups != "off") {
				warn("gateways.telegram has no token, so Telegram is off")
				break
			}
		}
	}
	if host, _, err := net.SplitHostPort(c.Gateways.Web.Listen); err == nil && host != "localhost" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			warn("gateways.web.listen is %s, so other machines can reach the pages: their passwords and what they show cross the network in clear", c.Gateways.Web.Listen)
		}
	}
	rules := []map[string]string{c.Skills.Permissions}
	for _, e := range c.Skills.PermissionsFor {
		rules = append(rules, e.Tools)
	}
	for _, tools := range rules {
		for _, tool := range slices.Sorted(maps.Keys(tools)) {
			near, ok := nearest(tool, builtInTools)
			if ok && near != tool && !strings.ContainsAny(tool, "*?") {
				warn("the permission for %s rules nothing unless a skill brings such a tool (did you mean %s?)", tool, near)
			}
		}
	}
	return out
}
