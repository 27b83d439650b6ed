package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	goccy "github.com/goccy/go-yaml"
)

func TestCFG10SecretsShowAsStars(t *testing.T) {
	t.Parallel()
	const canary = "sk-CANARY"
	c := load(t, `
gateways: {telegram: {token: "123456:sk-CANARY-token", api_url: "http://bob:sk-CANARY-pw@127.0.0.1:1/x"}}
brain:
  models: {home: {provider: openai, model: x, url: "http://127.0.0.1:1/v1?api_key=sk-CANARY-query&page=2", api_key: sk-CANARY-key}}
skills: {web: {search_url: "http://sk-CANARY-user@127.0.0.1:2"}}
`)
	home := c.Brain.Models["home"]
	held := struct {
		hidden  Secret
		address URL
		Shown   Secret
	}{home.APIKey, home.URL, home.APIKey}
	var out bytes.Buffer
	for _, v := range []any{home.APIKey, &home.APIKey, home.URL, &home.URL, home, *c, c, held, &held, []Secret{home.APIKey}, map[string]URL{"x": home.URL}, NewRedactor(c)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		fmt.Fprintln(&out, v)
		if text, err := json.Marshal(v); err == nil {
			out.Write(text)
		}
		if text, err := goccy.Marshal(v); err == nil {
			out.Write(text)
		}
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("hello", "value", v)
		}
	}
	out.WriteString(c.Show())
	out.WriteString(strings.Join(Diff(load(t, ""), c), "\n") + strings.Join(Diff(c, load(t, "")), "\n"))
	for line := range strings.Lines(out.String()) {
		for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary)} {
			if strings.Contains(line, form) {
				t.Fatalf("shown in clear: %.300s", line)
			}
		}
	}
	for _, want := range []string{
		"gateways.telegram.token: ***", "gateways.telegram.api_url: http://***@127.0.0.1:1/x", "brain.models.home.api_key: ***",
		"brain.models.home.url: http://127.0.0.1:1/v1?api_key=***&page=2", "skills.web.search_url: http://***@127.0.0.1:2",
	} {
		if !strings.Contains(c.Show(), want) {
			t.Errorf("the settings lack %q:\n%s", want, c.Show())
		}
	}
	for verb, want := range map[string]string{"%v": "***", "%s": "***", "%#v": `"***"`, "%q": `"***"`} {
		if got := fmt.Sprintf(verb, home.APIKey); got != want {
			t.Errorf("%s shows %s, want %s", verb, got, want)
		}
	}
	if got := fmt.Sprint(Secret{}); got != "" {
		t.Errorf("no secret shows as %q", got)
	}
	if home.APIKey.Reveal() != "sk-CANARY-key" || !strings.Contains(home.URL.Reveal(), "sk-CANARY-query") {
		t.Error("Reveal does not give the text")
	}
}

func TestCFG10AnyTextIsRedacted(t *testing.T) {
	t.Parallel()
	c := load(t, `
gateways: {telegram: {token: "123456:ab$cd/ef-ABCDEFGHIJK", api_url: "http://bob:p%40ssw0rd@127.0.0.1:1"}}
brain:
  models:
    home: {provider: openai, model: x, url: "http://127.0.0.1:1/v1?key=urlkey99", api_key: "key<&>\"q\""}
    tiny: {provider: anthropic, model: x, api_key: abc}
  model: home
`, "HTTPS_PROXY=http://proxy:proxypass1@10.0.0.1:3128", "http_proxy=me:otherpass2@10.0.0.1")
	r := NewRedactor(c)
	for text, want := range map[string]string{
		`Post "https://api.telegram.org/bot123456:ab$cd/ef-ABCDEFGHIJK/getUpdates": EOF`:           `Post "https://api.telegram.org/bot***/getUpdates": EOF`,
		"escaped " + url.PathEscape("123456:ab$cd/ef-ABCDEFGHIJK") + " too":                        "escaped *** too",
		"query=" + url.QueryEscape("123456:ab$cd/ef-ABCDEFGHIJK"):                                  "query=***",
		"the half ab$cd/ef-ABCDEFGHIJK alone":                                                      "the half *** alone",
		`Authorization: Bearer key<&>"q", json "key\u003c\u0026\u003e\"q\"", quoted "key<&>\"q\""`: `Authorization: Bearer ***, json "***", quoted "***"`,

		"p@ssw0rd and p%40ssw0rd":                                                         "*** and ***",
		"Basic Ym9iOnBAc3N3MHJk":                                                          "Basic ***",
		"urlkey99 proxypass1 otherpass2":                                                  "*** *** ***",
		"abc, abcd, xabc, 'abc' abc":                                                      "***, abcd, xabc, '***' ***",
		"http://eve:hunter2@example.org/?token=zzz&x=1&API_KEY=q#f":                       "http://***@example.org/?token=***&x=1&API_KEY=***#f",
		"https://api.telegram.org/bot999999:ZYXWVUTSRQPONMLKJIH_gfedcba/sendMessage":      "https://api.telegram.org/bot***/sendMessage",
		"https://api.telegram.org/file/bot999999%3AZYXWVUTSRQPONMLKJIH_gfedcba/photo.jpg": "https://api.telegram.org/file/bot***/photo.jpg",
		"mail ana@example.org about the key=board":                                        "mail ana@example.org about the key=board",
		"": "",
	} {
		if got := r.Redact(text); got != want {
			t.Errorf("%s\nshows as\n%s\nwant\n%s", text, got, want)
		}
		if got := c.Redact(text); got != want {
			t.Errorf("the configuration itself shows %s as %s", text, got)
		}
	}
	both := NewRedactor(c, load(t, "gateways: {telegram: {token: \"1:old-token-1\"}}\n"))
	if got := both.Redact("1:old-token-1 urlkey99"); got != "*** ***" {
		t.Errorf("two configurations show %s", got)
	}
	if got := c.Redact("tok123456:ab$cd/ef-ABCDEFGHIJKen"); got != "tok***en" {
		t.Errorf("a secret inside a word shows as %s", got)
	}
	if got := NewRedactor().Redact("nothing is secret"); got != "nothing is secret" {
		t.Errorf("an empty redactor shows %s", got)
	}
}

func TestCFG11ProblemsDoNotShowSecrets(t *testing.T) {
	t.Parallel()
	const canary = "CANARY"
	for _, text := range []string{
		"gateways: {telegram: {token: \"CANARY-token\"}}\n",
		"gateways: {telegram: {token: CANARY token}}\n",
		"gateways: {telegram: {token: {CANARY: x}}}\n",
		"gateways: {telegram: {token: [1:CANARY]}}\n",
		"gateways:\n  telegram: token:1:CANARY\n",
		"gateways:\n  telegram:\n    token:1:CANARY\n",
		"gateways:\n  telegram:\n    token: \"1:CANARY\n",
		"gateways:\n  telegram:\n    token: 1:CANARY: x\n",
		"gateways: {telegram: {token: \"1:CANARY\", api_url: \"1:CANARY\"}}\n",
		"gateways: {telegram: {api_url: \"http://bob:CANARY@[::1\"}}\n",
		"gateways: {telegram: {api_url: \"ftp://bob:CANARY@example.org\"}}\n",
		"skills: {web: {search_url: \"http://x y/?key=CANARY\"}}\n",
		"gateways: {web: {listen: \"http://bob:CANARY@127.0.0.1:1\"}}\n",
		"brain: {models: {a: {provider: openai, model: x, api_key: CANARY-1}}, model: CANARY-1}\n",
		"log: {level: \"${CANARY_VALUE}\"}\ntimezone: \"${CANARY_VALUE}\"\nvault: {dir: \"~${CANARY_VALUE}\"}\n",
	} {
		for _, line := range problems(t, text, "CANARY_VALUE=CANARY-of-env") {
			if strings.Contains(strings.ReplaceAll(line, "${CANARY_VALUE}", ""), canary) && !strings.Contains(line, "takes one value, not keys") {
				t.Errorf("%q is told with its secret: %s", text, line)
			}
		}
	}
}
