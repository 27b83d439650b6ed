package skills

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
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

// everyCommand covers the very same command: one more letter makes another of it. A long one, or one that does not look
// like what it is, goes by its hash.
func everyCommand(args json.RawMessage) string {
	var a runCommandArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return "use of " + string(args)
	}
	plain := !strings.ContainsFunc(a.Command, func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf || r == 0x7f })
	if plain && len(a.Command) <= 60 {
		return "run of exactly " + a.Command
	}
	return fmt.Sprintf("run of exactly the command whose SHA-256 begins with %.16x", sha256.Sum256([]byte(a.Command)))
}
