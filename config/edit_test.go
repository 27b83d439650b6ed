package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
		key, value       string
	}{
		{
			name: "a value in its place, with the remark behind it", key: "brain.model", value: "other",
			text: "# mine\nbrain:\n  model:   home   # swap here\n  persona: \"a # b\"\n", want: "# mine\nbrain:\n  model:   other   # swap here\n  persona: \"a # b\"\n",
		},
		{
			name: "a quoted value", key: "gateways.telegram.token", value: "2:b",
			text: "gateways:\n  telegram:\n    token: \"1:\\\"a\" # the bot\n", want: "gateways:\n  telegram:\n    token: \"2:b\" # the bot\n",
		},
		{
			name: "a value in single quotes", key: "brain.persona", value: "terse",
			text: "brain: {persona: 'it''s, me', model: offline}\n", want: "brain: {persona: terse, model: offline}\n",
		},
		{
			name: "a new key at the top of its section", key: "gateways.telegram.token", value: "1:a",
			text: "gateways:\n  # quick\n  burst: 0s\n  telegram:  # the phone\n    # groups are noisy\n    groups: \"off\"\n\n# the end\n",
			want: "gateways:\n  # quick\n  burst: 0s\n  telegram:  # the phone\n    # From @BotFather. ${NAME} takes a value from the environment; a variable that is not set is an error.\n    token: \"1:a\"\n    # groups are noisy\n    groups: \"off\"\n\n# the end\n",
		},
		{
			name: "a new section at the end, and a key nobody here knows", key: "timezone", value: "Europe/Lisbon",
			text: "novelty: {deep: [1, 2]}", want: "novelty: {deep: [1, 2]}\n\n# Your time zone by its IANA name. Zone data is built in. Left out: the zone of this machine.\ntimezone: Europe/Lisbon\n",
		},
		{
			name: "in braces", key: "gateways.telegram.token", value: "${TELEGRAM_BOT_TOKEN}",
			text: "gateways: {burst: 0s, telegram: {groups: all}} # one line\n", want: "gateways: {burst: 0s, telegram: {token: \"${TELEGRAM_BOT_TOKEN}\", groups: all}} # one line\n",
		},
		{
			name: "a section in braces that is not there yet", key: "gateways.telegram.token", value: "1:a",
			text: "gateways: {}\n", want: "gateways: {telegram: {token: \"1:a\"}}\n",
		},
		{
			name: "a key without a value", key: "timezone", value: "UTC",
			text: "timezone: # where?\nlog: {level: info}\n", want: "timezone: UTC # where?\nlog: {level: info}\n",
		},
		{
			name: "a section without keys", key: "brain.model", value: "offline",
			text: "brain:\n#  model: home\nlog: {level: info}\n",
			want: "brain:\n  # A name from models below, or offline. Left out: the only model there is; without models, a local Ollama if one\n  # answers, else offline.\n  model: offline\n#  model: home\nlog: {level: info}\n",
		},
		{
			name: "the ends of Windows' lines", key: "log.level", value: "debug",
			text: "timezone: UTC\r\nlog:\r\n  format: text\r\n", want: "timezone: UTC\r\nlog:\r\n  # debug | info | warn | error.\r\n  level: debug\r\n  format: text\r\n",
		},
		{
			name: "a mark at the beginning, accents before the value", key: "brain.models.käse.model", value: "qwen3:8b",
			text: "\ufeffbrain: {models: {käse: {provider: ollama, model: \"é:1\"}}}\n", want: "\ufeffbrain: {models: {käse: {provider: ollama, model: \"qwen3:8b\"}}}\n",
		},
	} {
		got, err := Edit([]byte(c.text), Setting{strings.Split(c.key, "."), c.value})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestEditMakesAWholeFile(t *testing.T) {
	t.Parallel()
	got, err := Edit([]byte("# Hearth's settings.\n"),
		Setting{[]string{"gateways", "telegram", "token"}, "1:a"},
		Setting{[]string{"timezone"}, "Europe/Lisbon"},
		Setting{[]string{"brain", "model"}, "home"},
		Setting{[]string{"brain", "models", "home", "provider"}, "ollama"},
		Setting{[]string{"brain", "models", "home", "url"}, "http://127.0.0.1:11434"},
		Setting{[]string{"brain", "models", "home", "model"}, "qwen3:4b"},
	)
	if err != nil {
		t.Fatal(err)
	}
	c := load(t, string(got))
	if c.Timezone != "Europe/Lisbon" || c.Gateways.Telegram.Token.Reveal() != "1:a" || c.Brain.Model != "home" || c.Brain.Models["home"].Model != "qwen3:4b" {
		t.Errorf("it reads as %s", c.Show())
	}
	var order []string
	for line := range strings.Lines(string(got)) {
		if word := strings.TrimSpace(line); word != "" && !strings.HasPrefix(word, "#") {
			order = append(order, line[:strings.Index(line, ":")])
		}
	}
	want := []string{"timezone", "gateways", "  telegram", "    token", "brain", "  model", "  models", "    home", "      provider", "      url", "      model"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("in another order (-want +got):\n%s\n%s", diff, got)
	}
	if !strings.HasPrefix(string(got), "# Hearth's settings.\n\n# Your time zone") {
		t.Errorf("it begins otherwise:\n%s", got)
	}
}

// The example file is a fine one to begin with.
func TestEditTheExample(t *testing.T) {
	t.Parallel()
	got, err := Edit(Example(), Setting{[]string{"brain", "models", "home", "model"}, "qwen3:4b"}, Setting{[]string{"brain", "models", "home", "provider"}, "ollama"},
		Setting{[]string{"gateways", "telegram", "token"}, "1:a"}, Setting{[]string{"timezone"}, "Asia/Tokyo"})
	if err != nil {
		t.Fatal(err)
	}
	c := load(t, string(got))
	if c.Timezone != "Asia/Tokyo" || c.Gateways.Telegram.Token.Reveal() != "1:a" || c.Brain.Models["home"].Model != "qwen3:4b" {
		t.Errorf("it reads as %s", c.Show())
	}
	rest := string(got)
	for line := range strings.Lines(string(Example())) {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("a line is lost or elsewhere: %q", line)
		}
		rest = after
	}
}

// Where a change could hit something else, there is none.
func TestEditRefusesWhatItCannotChangeSafely(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a value over several lines":       "brain:\n  persona: >\n    long\n    words\n",
		"a quoted value over two lines":    "brain:\n  persona: \"long\n    words\"\n",
		"plain words over two lines":       "brain:\n  persona: long\n    words\n",
		"an anchor":                        "brain: &b\n  model: home\n",
		"a value that stands elsewhere":    "log: &l {level: info}\nbrain: *l\n",
		"a list in the section's place":    "brain: [a]\n",
		"a word in the section's place":    "brain: off\n",
		"a key twice":                      "brain:\n  persona: a\n  persona: b\n",
		"two documents":                    "brain: {}\n---\nlog: {}\n",
		"no YAML":                          "brain: {persona: a\n",
		"a bare word":                      "hello\n",
		"a null that is written out":       "brain: null\n",
		"an end of the document, and more": "log: {level: info}\n...\n",
	} {
		got, err := Edit([]byte(text), Setting{[]string{"brain", "persona"}, "kind"})
		if !errors.Is(err, ErrNoEdit) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if _, err := Edit(nil, Setting{[]string{"brain", "persona"}, "a\nb"}); !errors.Is(err, ErrNoEdit) {
		t.Errorf("a value with a line break: %v", err)
	}
}

func TestZoneName(t *testing.T) {
	t.Parallel()
	if zone, err := ZoneName("Europe/Lisbon"); err != nil || zone != "Europe/Lisbon" {
		t.Errorf("%q, %v", zone, err)
	}
	if _, err := ZoneName("lisbon"); err == nil || !strings.HasSuffix(err.Error(), "(did you mean Europe/Lisbon?)") {
		t.Errorf("lisbon: %v", err)
	}
	if _, err := ZoneName("+01:00"); err == nil {
		t.Error("an offset is taken for a zone")
	}
}

// Whatever a file looks like: it is left alone, or one key is set and all others mean what they meant.
func FuzzEdit(f *testing.F) {
	f.Add("brain:\n  model: home # swap\n", "other")
	f.Add("brain: {model: 'a', persona: \"x\"}\n", "a: b # c")
	f.Add("# only words\n", `q"\`)
	f.Add("log:\n- a\n", "${HOME}")
	f.Add("brain:\n\n  # c\n  models:\n    a: {x: 1}", "on")
	f.Add("? brain\n: model: x\n", "y")
	f.Add("brain: {\n model: x }\n", "- y")
	f.Fuzz(func(t *testing.T, text, value string) {
		key := []string{"brain", "model"}
		got, err := Edit([]byte(text), Setting{key, value})
		if err != nil {
			if !errors.Is(err, ErrNoEdit) {
				t.Fatal(err)
			}
			return
		}
		before, err := parse([]byte(text), func(m *mistake) { t.Fatal(m) })
		if err != nil {
			t.Fatal(err)
		}
		after, err := parse(got, func(m *mistake) { t.Fatal(m) })
		if err != nil {
			t.Fatal(err)
		}
		if v := after.get("brain").value.get("model").value; v.text != value {
			t.Errorf("%q became %q", value, v.text)
		}
		for _, p := range before.pairs {
			if p.name != "brain" && !sameTree(p.value, after.get(p.name).value) {
				t.Errorf("%s has changed:\n%s", p.name, got)
			}
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") && !strings.Contains(string(got), strings.TrimSpace(line)) {
				t.Errorf("a comment is lost: %q", line)
			}
		}
	})
}
