package brain

import (
	"testing"

	"hearth/skills"
	"hearth/vault"
)

func TestPermissionsOf(t *testing.T) {
	type perms = map[string]Permission
	me, guest := vault.Person{ID: 1, Name: "Me", Role: vault.Owner}, vault.Person{ID: 2, Name: "Guest", Role: vault.Member}
	private, group := vault.Private, vault.Group
	for _, tt := range []struct {
		name   string
		p      Permissions
		tool   string
		inside bool // the tool is one for groups
		who    vault.Person
		chat   vault.ChatKind
		want   Permission
	}{
		// Defaults.
		{name: "silent", tool: "remember", who: me, chat: private, want: Allow},
		{name: "send asks", tool: "send", who: me, chat: private, want: Ask},
		{name: "commands are off", tool: "run_command", who: me, chat: private, want: Off},
		{name: "a member has the same defaults", tool: "send", who: guest, chat: private, want: Ask},
		{name: "group tool in a group", tool: "recall", inside: true, who: me, chat: group, want: Allow},
		{name: "other tool in a group", tool: "remember", who: me, chat: group, want: Off},
		{name: "send in a group", tool: "send", who: me, chat: group, want: Off},
		{name: "commands in a group", tool: "run_command", who: me, chat: group, want: Off},
		// The general rule.
		{name: "by name", p: Permissions{Tools: perms{"web_fetch": Deny}}, tool: "web_fetch", who: me, chat: private, want: Deny},
		{name: "by name goes before a wildcard", p: Permissions{Tools: perms{"*": Deny, "jobs": Allow}}, tool: "jobs", who: me, chat: private, want: Allow},
		{name: "the longer pattern", p: Permissions{Tools: perms{"*": Deny, "web_*": Ask, "w*": Off}}, tool: "web_fetch", who: me, chat: private, want: Ask},
		{name: "a question mark", p: Permissions{Tools: perms{"job?": Ask}}, tool: "jobs", who: me, chat: private, want: Ask},
		{name: "of two like patterns the stricter", p: Permissions{Tools: perms{"web_*": Ask, "*fetc": Allow, "web?fet*": Deny, "*b_fet*": Ask}}, tool: "web_fetch", who: me, chat: private, want: Deny},
		{name: "a broken pattern is none", p: Permissions{Tools: perms{"[": Deny}}, tool: "jobs", who: me, chat: private, want: Allow},
		// What is shut by default is opened by its own name only.
		{name: "* does not open send", p: Permissions{Tools: perms{"*": Allow}}, tool: "send", who: me, chat: private, want: Ask},
		{name: "* does not open commands", p: Permissions{Tools: perms{"*": Allow}}, tool: "run_command", who: me, chat: private, want: Off},
		{name: "a pattern does not open commands", p: Permissions{Tools: perms{"run_*": Allow}}, tool: "run_command", who: me, chat: private, want: Off},
		{name: "its name opens send", p: Permissions{Tools: perms{"*": Deny, "send": Allow}}, tool: "send", who: me, chat: private, want: Allow},
		{name: "its name opens commands", p: Permissions{Tools: perms{"run_command": Ask}}, tool: "run_command", who: me, chat: private, want: Ask},
		{name: "* shuts send", p: Permissions{Tools: perms{"*": Deny}}, tool: "send", who: me, chat: private, want: Deny},
		{name: "* hides send", p: Permissions{Tools: perms{"*": Off}}, tool: "send", who: me, chat: private, want: Off},
		{name: "* does not show commands", p: Permissions{Tools: perms{"*": Ask}}, tool: "run_command", who: me, chat: private, want: Off},
		// Groups.
		{name: "allow was said with a private chat in mind", p: Permissions{Tools: perms{"remember": Allow}}, tool: "remember", who: me, chat: group, want: Off},
		{name: "* opens nothing in groups", p: Permissions{Tools: perms{"*": Allow}}, tool: "write_file", who: me, chat: group, want: Off},
		{name: "ask by name holds in groups", p: Permissions{Tools: perms{"remember": Ask}}, tool: "remember", who: me, chat: group, want: Ask},
		{name: "deny holds in groups", p: Permissions{Tools: perms{"recall": Deny}}, tool: "recall", inside: true, who: me, chat: group, want: Deny},
		// Exceptions.
		{name: "by person", p: Permissions{For: []PermissionsFor{{Person: "guest", Chat: "any", Tools: perms{"web_fetch": Deny}}}}, tool: "web_fetch", who: guest, chat: private, want: Deny},
		{name: "not for another", p: Permissions{For: []PermissionsFor{{Person: "Guest", Chat: "any", Tools: perms{"web_fetch": Deny}}}}, tool: "web_fetch", who: me, chat: private, want: Allow},
		{name: "by chat", p: Permissions{For: []PermissionsFor{{Chat: "group", Tools: perms{"remember": Allow}}}}, tool: "remember", who: me, chat: group, want: Allow},
		{name: "not in another chat", p: Permissions{For: []PermissionsFor{{Chat: "group", Tools: perms{"remember": Deny}}}}, tool: "remember", who: me, chat: private, want: Allow},
		{name: "no chat is any", p: Permissions{For: []PermissionsFor{{Person: "Me", Tools: perms{"remember": Deny}}}}, tool: "remember", who: me, chat: group, want: Deny},
		{name: "before the general rule", p: Permissions{Tools: perms{"web_fetch": Deny}, For: []PermissionsFor{{Person: "Me", Tools: perms{"*": Allow}}}}, tool: "web_fetch", who: me, chat: private, want: Allow},
		{name: "the more specific exception", p: Permissions{For: []PermissionsFor{{Person: "Me", Tools: perms{"web_fetch": Allow}}, {Tools: perms{"web_*": Deny}}}}, tool: "web_fetch", who: me, chat: private, want: Allow},
		{name: "the later of two", p: Permissions{For: []PermissionsFor{{Person: "Me", Tools: perms{"web_fetch": Deny}}, {Tools: perms{"web_fetch": Ask}}}}, tool: "web_fetch", who: me, chat: private, want: Ask},
		{name: "an exception's * does not open commands", p: Permissions{For: []PermissionsFor{{Person: "Me", Tools: perms{"*": Allow}}}}, tool: "run_command", who: me, chat: private, want: Off},
		{name: "an exception's * leaves the general rule", p: Permissions{Tools: perms{"send": Allow}, For: []PermissionsFor{{Person: "Me", Tools: perms{"*": Allow}}}}, tool: "send", who: me, chat: private, want: Allow},
		{name: "an exception's * shuts", p: Permissions{Tools: perms{"send": Allow}, For: []PermissionsFor{{Person: "Guest", Tools: perms{"*": Off}}}}, tool: "send", who: guest, chat: private, want: Off},
		{name: "an exception by name opens commands", p: Permissions{For: []PermissionsFor{{Person: "Me", Chat: "private", Tools: perms{"run_command": Ask}}}}, tool: "run_command", who: me, chat: private, want: Ask},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 20 { // maps have no order
				if got := tt.p.Of(skills.Tool{Name: tt.tool, Group: tt.inside}, tt.who, tt.chat); got != tt.want {
					t.Fatalf("%s is %q, want %q", tt.tool, got, tt.want)
				}
			}
		})
	}
}

func TestRuled(t *testing.T) {
	rules := []vault.Rule{
		{Tool: "send", Person: 1, Chat: "private"},
		{Tool: "act", Person: 1, Chat: "any"},
		{Tool: "note", Person: 1, Chat: "private", About: "use of h"},
	}
	for _, tt := range []struct {
		tool   string
		person int64
		chat   vault.ChatKind
		about  string
		want   bool
	}{
		{"send", 1, vault.Private, "x", true},
		{"send", 1, vault.Group, "x", false},
		{"send", 2, vault.Private, "x", false},
		{"look", 1, vault.Private, "x", false},
		{"act", 1, vault.Group, "x", true},
		{"act", 2, vault.Group, "x", false},
		{"note", 1, vault.Private, "use of h", true},
		{"note", 1, vault.Private, "x", false},
	} {
		if got := ruled(rules, tt.tool, tt.person, tt.chat, tt.about); got != tt.want {
			t.Errorf("ruled(%s, person %d, %s, %s) = %v, want %v", tt.tool, tt.person, tt.chat, tt.about, got, tt.want)
		}
	}
}
