package brain

import (
	"path"
	"strings"

	"hearth/skills"
	"hearth/vault"
)

// Permission says what may become of a call.
type Permission string

// The permissions.
const (
	Off   Permission = "off"  // nobody sees the tool
	Deny  Permission = "deny" // it is refused
	Ask   Permission = "ask"  // an owner decides each time
	Allow Permission = "allow"
)

// Permissions is the policy of the YAML file: by tool name, * and ? as wildcards, and exceptions by person and chat.
type Permissions struct {
	Tools map[string]Permission
	For   []PermissionsFor
}

// PermissionsFor is an exception.
type PermissionsFor struct {
	Person string // a name; "" = anybody
	Chat   string // private, group or any
	Tools  map[string]Permission
}

// defaults hold where the YAML file is silent.
var defaultPermissions = map[string]Permission{"send": Ask, "run_command": Off}

// Of says what a person may do with a tool in a kind of chat. An exception goes before the general rule, a later exception
// before an earlier one, and the most specific name before a wildcard. In groups, where others read along, only tools that
// answer there are on by default.
func (p Permissions) Of(t skills.Tool, person vault.Person, chat vault.ChatKind) Permission {
	found, how := Permission(""), -1
	for _, except := range p.For {
		if except.Person != "" && !strings.EqualFold(except.Person, person.Name) || except.Chat != "" && except.Chat != "any" && except.Chat != string(chat) {
			continue
		}
		if perm, specific := lookup(except.Tools, t.Name); specific >= how && perm != "" {
			found, how = perm, specific
		}
	}
	if found != "" && !loosens(found, how, t.Name) {
		return found
	}
	general, specific := lookup(p.Tools, t.Name)
	if chat == vault.Group && !t.Group && (general == Allow || general == "") {
		return Off // a general "allow" was said with a private chat in mind
	}
	if general != "" && !loosens(general, specific, t.Name) {
		return general
	}
	if perm, ok := defaultPermissions[t.Name]; ok {
		return perm
	}
	return Allow
}

// loosens reports whether a wildcard would open what is shut by default: only the tool's own name does that. It may shut
// more.
func loosens(perm Permission, specific int, name string) bool {
	def, ok := defaultPermissions[name]
	return ok && specific < len(name) && !stricter(perm, def)
}

// lookup finds the most specific entry for a name: the exact one, else the pattern with the most plain characters.
func lookup(tools map[string]Permission, name string) (found Permission, specific int) {
	specific = -1
	for pattern, perm := range tools {
		if pattern == name {
			return perm, len(name)
		}
		ok, err := path.Match(pattern, name)
		if err != nil || !ok {
			continue
		}
		n := len(strings.NewReplacer("*", "", "?", "").Replace(pattern))
		if n > specific || n == specific && stricter(perm, found) {
			found, specific = perm, n
		}
	}
	return found, specific
}

// stricter decides between two patterns of the same weight, whatever the order of a map.
func stricter(a, b Permission) bool {
	rank := map[Permission]int{Off: 0, Deny: 1, Ask: 2, Allow: 3, "": 4}
	return rank[a] < rank[b]
}

// ruled reports whether an owner has answered "always" to this use of a tool for this person and kind of chat.
func ruled(rules []vault.Rule, tool string, person int64, chat vault.ChatKind, about string) bool {
	for _, r := range rules {
		if r.Tool == tool && r.Person == person && (r.Chat == "any" || r.Chat == string(chat)) && (r.About == "" || r.About == about) {
			return true
		}
	}
	return false
}
