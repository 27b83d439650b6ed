package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Redactor masks secrets in any text that leaves the program: log lines, chat messages, errors of other people's code.
// It never changes, and many goroutines may use it at once.
type Redactor struct {
	long  *strings.Replacer
	short []string
	forms []string // all of them
	texts []string // what it masks, for also
}

// NewRedactor masks the secrets of these configurations. After a reload give it the old one too: what was said before
// may still be on its way.
func NewRedactor(configs ...*Config) *Redactor {
	r := (&Redactor{}).also()
	for _, c := range configs {
		r = r.also(c.secrets()...)
	}
	return r
}

// Redact masks every secret of this configuration in a text; see Redactor. Code that does it often keeps a Redactor.
func (c *Config) Redact(text string) string { return NewRedactor(c).Redact(text) }

// secrets are all texts that must not be shown.
func (c *Config) secrets() []string {
	found := reveal(c.source.proxies)
	c.settings(func(s setting) {
		found = append(found, s.secrets...)
	})
	return found
}

func reveal(secrets []Secret) []string {
	texts := make([]string, len(secrets))
	for i, s := range secrets {
		texts[i] = s.Reveal()
	}
	return texts
}

// shortSecret is the length below which a secret is masked only where it stands as a word of its own: masking every
// "abc" would spoil the text, and tell more than it hides.
const shortSecret = 6

// also returns a redactor for more secrets, with the other ways in which they may be written.
func (r *Redactor) also(secrets ...string) *Redactor {
	out := &Redactor{texts: slices.Clone(r.texts)}
	for _, s := range secrets {
		if s = strings.TrimSpace(s); s == "" || s == mask {
			continue
		}
		out.texts = append(out.texts, s)
		// The half of a bot token behind the colon is the secret one, and some errors show it alone.
		if _, half, ok := strings.Cut(s, ":"); ok && botToken.MatchString(s) {
			out.texts = append(out.texts, half)
		}
	}
	var pairs []string
	for _, s := range out.texts {
		for _, form := range spellings(s) {
			out.forms = append(out.forms, form)
			if utf8.RuneCountInString(s) < shortSecret {
				out.short = append(out.short, form)
			} else {
				pairs = append(pairs, form)
			}
		}
	}
	longest := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }
	slices.SortFunc(pairs, longest) // so that a secret that holds another is masked whole
	slices.SortFunc(out.short, longest)
	var replace []string
	for _, form := range slices.Compact(pairs) {
		replace = append(replace, form, mask)
	}
	out.long, out.short = strings.NewReplacer(replace...), slices.Compact(out.short)
	return out
}

// spellings are the forms in which a text shows up in addresses and encoded errors.
func spellings(s string) []string {
	forms := []string{s, url.QueryEscape(s), url.PathEscape(s), strings.TrimPrefix(url.UserPassword("", s).String(), ":")}
	if encoded, err := json.Marshal(s); err == nil {
		forms = append(forms, string(encoded[1:len(encoded)-1]))
	}
	quoted := strconv.Quote(s) // as in most errors
	forms = append(forms, quoted[1:len(quoted)-1])
	return forms
}

var (
	secretParam = regexp.MustCompile(`(?i)^(api[-_]?key|key|token|access[-_]?token|auth|secret|client[-_]?secret|sig|signature|password|passwd|pass|pwd)$`)
	inQuery     = regexp.MustCompile(`(?i)([?&;](?:api[-_]?key|key|token|access[-_]?token|auth|secret|client[-_]?secret|sig|signature|password|passwd|pass|pwd)=)[^&\s"'#<>]+`)
	inUserinfo  = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*://)[^/?#\s"'<>@]+@`)
	inBotPath   = regexp.MustCompile(`(/bot)[0-9]{4,}(?::|%3[Aa])[A-Za-z0-9_-]{10,}`)
)

// Redact returns the text with *** for every secret it knows, and for what is plainly one in any address: the part
// before an @, a query value named key, token or the like, a bot token in a path.
func (r *Redactor) Redact(text string) string {
	text = r.long.Replace(text)
	for _, s := range r.short {
		text = replaceWord(text, s)
	}
	text = inUserinfo.ReplaceAllString(text, "${1}"+mask+"@")
	text = inQuery.ReplaceAllString(text, "${1}"+mask)
	return inBotPath.ReplaceAllString(text, "${1}"+mask)
}

// RedactPart is Redact for a text whose end is still to come: its last word and whatever else at its end may become a secret
// are left out.
func (r *Redactor) RedactPart(text string) string {
	text = text[:len(text)-len(lastWord(text))]
	for again := true; again; {
		again = false
		for _, form := range r.forms {
			for n := min(len(text), len(form)-1); n > 0; n-- {
				if strings.HasSuffix(text, form[:n]) {
					text, again = text[:len(text)-n], true
					break
				}
			}
		}
	}
	return r.Redact(strings.TrimRightFunc(text, unicode.IsSpace))
}

// lastWord is what follows the last blank.
func lastWord(text string) string {
	at := strings.LastIndexFunc(text, unicode.IsSpace)
	if at < 0 {
		return text
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return text[at+size:]
}

// Format prints none of what the redactor knows.
func (r *Redactor) Format(f fmt.State, verb rune) { formatMasked(f, verb, "redactor") }

// replaceWord masks a short secret where no letter or digit touches it.
func replaceWord(text, word string) string {
	var out strings.Builder
	for at := 0; ; {
		next := strings.Index(text[at:], word)
		if next < 0 {
			out.WriteString(text[at:])
			return out.String()
		}
		next += at
		end := next + len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:next])
		after, _ := utf8.DecodeRuneInString(text[end:])
		out.WriteString(text[at:next])
		if isWordRune(before) || isWordRune(after) {
			_, size := utf8.DecodeRuneInString(text[next:])
			end = next + size
			out.WriteString(text[next:end])
		} else {
			out.WriteString(mask)
		}
		at = end
	}
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
