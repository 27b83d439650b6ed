package markup

import (
	"strings"
	"testing"
)

func TestWhatsApp(t *testing.T) {
	for in, want := range map[string]string{
		"**b** *i* ~~s~~ `c`":    "*b* _i_ ~s~ `c`",
		"**b _i_**":              "*b _i_*",
		"**two\nlines**":         "*two*\n*lines*",
		"```go\na\nb\n```":       "```a\nb```",
		"> a\n> b\n\nc":          "> a\n> b\n\nc",
		"> **a\n> b**":           "> *a*\n> *b*",
		"[words](https://e.org)": "words (https://e.org)",
		"[https://e.org](https://e.org) [a@b](mailto:a@b)": "https://e.org a@b",
		"# Head\n- **a** 😀 *b*":                            "*Head*\n\n• *a* 😀 _b_",
	} {
		if got := Render(in).WhatsApp(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	// A cut may leave white space at the edge of a style.
	if got := (Text{Plain: "a  b  c", Entities: []Entity{{Type: Bold, Offset: 1, Length: 5}}}).WhatsApp(); got != "a  *b*  c" {
		t.Error(got)
	}
}

func TestTerminal(t *testing.T) {
	in := Render("**b `c` d** *i* ~~s~~\n> q\n\n[w](https://e.org)\n```\np\n```")
	if got, want := in.Terminal(false), "b c d i s\n\n| q\n\nw (https://e.org)\np"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := "\x1b[1mb \x1b[36mc\x1b[39m d\x1b[22m \x1b[3mi\x1b[23m \x1b[9ms\x1b[29m\n\n| q\n\nw (https://e.org)\n\x1b[36mp\x1b[39m"
	if got := in.Terminal(true); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTerminalTakesNoOrders hands over a text that was never cleaned, as one from the vault may be.
func TestTerminalTakesNoOrders(t *testing.T) {
	hostile := "a\x1b]0;title\x07b\u009b2Jc\u202ed\u2066e\u200ff\x00g\x7fh\ti\nj"
	text := Text{Plain: hostile, Entities: []Entity{{Type: Link, Offset: 0, Length: 1, URL: "http://x\x1b[31m\u202e\u009by"}, {Type: Bold, Offset: 0, Length: 3}}}
	for name, got := range map[string]string{"plain": text.Terminal(false), "styled": text.Terminal(true), "whatsapp": text.WhatsApp()} {
		bare := strings.NewReplacer("\x1b[1m", "", "\x1b[22m", "").Replace(got)
		if strings.ContainsAny(bare, "\x1b\x07\x00\x7f\u009b\u202e\u2066\u200f") {
			t.Errorf("%s: %q", name, got)
		}
		if !strings.Contains(bare, "h\ti\nj") || !strings.Contains(bare, "http://x") {
			t.Errorf("%s lost words: %q", name, got)
		}
	}
}
