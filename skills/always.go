package skills

import (
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
)

// What an owner's "always" covers is as narrow as what was asked about: a word given for one person or one host opens no
// other. Arguments that cannot be read cover nothing but themselves.

func everyLetter(args json.RawMessage) string {
	var a sendArgs
	if err := json.Unmarshal(args, &a); err != nil || strings.TrimSpace(a.Person) == "" {
		return "use of " + string(args)
	}
	name := []rune(strings.ToLower(strings.TrimSpace(a.Person))) // people's names differ in more than their capitals
	name[0] = unicode.ToUpper(name[0])
	return "message to " + string(name)
}

func everyPage(args json.RawMessage) string {
	var a fetchArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return "use of " + string(args)
	}
	u, err := url.Parse(strings.TrimSpace(a.URL))
	if err != nil || u.Hostname() == "" {
		return "use of " + string(args)
	}
	return "page of " + strings.ToLower(u.Hostname())
}
