package config

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// mask stands for a secret wherever one would be shown.
const mask = "***"

// Secret is a token or key. However it is printed, logged or encoded it shows as ***; only Reveal gives its text.
type Secret struct {
	// A pointer, because fmt prints the strings in unexported fields of other structs without asking for our methods.
	text *string
}

// NewSecret hides a text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Reveal returns the text itself, empty when there is none. It is for handing it to where it belongs, never for showing.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

// Equal compares the texts.
func (s Secret) Equal(other Secret) bool { return s.Reveal() == other.Reveal() }

// String returns ***, or nothing when there is no secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return mask
}

// Format prints what String returns for every verb, %#v, %x and %d among them.
func (s Secret) Format(f fmt.State, verb rune) { formatMasked(f, verb, s.String()) }

// LogValue logs what String returns.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText encodes what String returns, for JSON, YAML and whatever else asks for text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML encodes what String returns.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// UnmarshalText hides a text.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// URL is an address that may hold a user, a password or a key. It shows without them; only Reveal gives all of it.
type URL struct{ text *string }

func newURL(text string) URL {
	if text == "" {
		return URL{}
	}
	return URL{text: &text}
}

// Reveal returns the whole address, empty when there is none.
func (u URL) Reveal() string {
	if u.text == nil {
		return ""
	}
	return *u.text
}

// IsZero reports whether there is no address.
func (u URL) IsZero() bool { return u.text == nil }

// Equal compares the whole addresses.
func (u URL) Equal(other URL) bool { return u.Reveal() == other.Reveal() }

// String returns the address with *** for what is secret in it.
func (u URL) String() string { return NewRedactor().also(urlSecrets(u.Reveal())...).Redact(u.Reveal()) }

// Format prints what String returns for every verb.
func (u URL) Format(f fmt.State, verb rune) { formatMasked(f, verb, u.String()) }

// LogValue logs what String returns.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText encodes what String returns.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// MarshalYAML encodes what String returns.
func (u URL) MarshalYAML() (any, error) { return u.String(), nil }

// UnmarshalText takes an address.
func (u *URL) UnmarshalText(text []byte) error {
	*u = newURL(string(text))
	return nil
}

func formatMasked(f fmt.State, verb rune, text string) {
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = `"` + text + `"`
	}
	_, _ = f.Write([]byte(text)) // fmt keeps its own account of errors
}

// urlSecrets finds what must not be shown of an address: its password, or its user when there is no password; that pair
// as a header carries it; and query values under a name that promises a secret.
func urlSecrets(text string) []string {
	link, err := url.Parse(text)
	if err != nil {
		return nil
	}
	var found []string
	if link.User != nil {
		user := link.User.Username()
		password, has := link.User.Password()
		if !has {
			password = user
		}
		if password != "" {
			found = append(found, password, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
		}
	}
	for name, values := range link.Query() {
		if secretParam.MatchString(name) {
			found = append(found, values...)
		}
	}
	return found
}

// proxySecrets are the passwords of the proxies that Go's HTTP client takes from the environment.
func proxySecrets(env map[string]string) []Secret {
	var found []Secret
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		for _, text := range []string{env[name], env[strings.ToLower(name)]} {
			if text != "" && !strings.Contains(text, "://") {
				text = "http://" + text // as Go's client reads it
			}
			for _, secret := range urlSecrets(text) {
				found = append(found, NewSecret(secret))
			}
		}
	}
	return found
}
