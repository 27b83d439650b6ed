package config

import (
	"strings"
	"testing"
)

// What is still being written shows no piece of a secret, wherever it was cut.
func TestAPartShowsNoBeginningOfASecret(t *testing.T) {
	r := NewRedactor().also("correct horse battery staple", "sk-secret", "123456:ab$cd/ef-ABCDEFGHIJK")
	for text, want := range map[string]string{
		"the key is sk-sec":               "the key is",
		"the key is sk-secret":            "the key is",
		"the key is sk-secret and":        "the key is ***",
		"it is correct horse battery st":  "it is",
		"it is correct horse battery ":    "it is",
		"it is correct horse battery\n":   "it is correct horse battery",
		"it is correct horse races":       "it is", // one word later it shows
		"see http://me:pass@host/x":       "see",
		"see http://me:pass@host/x there": "see http://***@host/x",
		"hello":                           "",
		"hello there":                     "hello",
		"hello\u00a0there":                "hello",
		"":                                "",
	} {
		if got := r.RedactPart(text); got != want {
			t.Errorf("%q shows as %q, want %q", text, got, want)
		}
	}
}

func FuzzRedactPart(f *testing.F) {
	f.Add("correct horse", "it is ", " and more")
	f.Add("sk-secret", "", "")
	f.Add("a b\u00a0c d", "\xff", "a ")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		secret = strings.TrimSpace(secret)
		r := NewRedactor().also(secret)
		whole := before + " " + secret + " " + after
		for at := range len(whole) + 1 {
			got := r.RedactPart(whole[:at])
			if len(got) > len(r.Redact(whole[:at])) {
				t.Fatalf("%q shows more in part: %q", whole[:at], got)
			}
			if n := len(before) + 1 + len(secret); at > len(before)+3 && at < n && secret != "" && len(secret) >= shortSecret {
				begun := whole[len(before)+1 : at]
				if strings.HasSuffix(got, begun) && !strings.HasSuffix(before, begun) && !strings.Contains(mask, begun) && strings.Count(before, begun) == 0 {
					t.Fatalf("%q shows the beginning of a secret: %q", whole[:at], got)
				}
			}
		}
	})
}
