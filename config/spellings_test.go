package config

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCFG02IdsInEverySpellingAreOnePerson(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]string{
		`1234567890`:             "1234567890",
		`"1234567890"`:           "1234567890",
		`'1234567890'`:           "1234567890",
		`[1234567890]`:           "1234567890",
		`"${OWNER}"`:             "1234567890",
		`${OWNER}`:               "1234567890",
		`" 1234567890 "`:         "1234567890",
		`-1001234500001`:         "-1001234500001",
		`"-1001234500001"`:       "-1001234500001",
		`[1, "2", -1003]`:        "1,2,-1003",
		`4503599627370495`:       "4503599627370495", // the largest the Bot API promises
		"\n      - 1\n      - 2": "1,2",
	} {
		text := "people:\n  - name: Ana\n    role: owner\n    telegram: " + spelling + "\n"
		if strings.HasPrefix(spelling, "${") {
			text = "people:\n  - {name: Ana, role: owner, telegram: \"" + spelling + "\"}\n"
		}
		c := load(t, text, "OWNER=1234567890")
		if got := strings.Join(c.People[0].Telegram, ","); got != want {
			t.Errorf("telegram: %s gives %s, want %s", spelling, got, want)
		}
		for _, shown := range []string{c.Show(), fmt.Sprintf("%v", c.People), strings.Join(Diff(load(t, ""), c), "\n")} {
			if regexp.MustCompile(`[0-9]e\+?[0-9]`).MatchString(shown) {
				t.Errorf("telegram: %s is shown in exponent form: %s", spelling, shown)
			}
		}
	}
}

func TestCFG02IdsThatAreNone(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]string{
		"4503599627370496": `"4503599627370496" is too long for a Telegram id`, "1.23e+09": `"1.23e+09" is not a whole number; write every digit of the id, such as 123456789`,
		"1234567890.0": `"1234567890.0" is not a whole number; write every digit of the id, such as 123456789`, "0": `"0" is no Telegram id; it takes a number such as 123456789`,
		"0x1F": `"0x1F" is no Telegram id; it takes a number such as 123456789`, `""`: "is empty; it takes a number such as 123456789",
	} {
		got := problems(t, "people: [{name: Ana, telegram: "+spelling+"}]\n")
		if diff := cmp.Diff([]string{"hearth.yaml:1: people.telegram: " + want}, got); diff != "" {
			t.Errorf("telegram: %s (-want +got):\n%s", spelling, diff)
		}
	}
}

func TestCFG02IdThroughAnOverride(t *testing.T) {
	t.Parallel()
	c := load(t, "people: [{name: Somebody, telegram: 1}]\n", `HEARTH_PEOPLE=[{name: Ana, role: owner, telegram: 1234567890}]`)
	want := []Person{{Name: "Ana", Role: "owner", Telegram: []string{"1234567890"}}}
	if diff := cmp.Diff(want, c.People); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
}

func TestPhoneNumbersAreOneForm(t *testing.T) {
	t.Parallel()
	for _, spelling := range []string{
		`"+351912345678"`, `+351912345678`, `351912345678`, `"351912345678"`, `"+351 912 345 678"`, `+351 912-345-678`,
		`"00351912345678"`, `"(+351) 912.345.678"`, `["+351912345678"]`, `351912345678@s.whatsapp.net`,
	} {
		c := load(t, "people:\n  - name: Ana\n    whatsapp: "+spelling+"\n")
		if diff := cmp.Diff([]string{"+351912345678"}, c.People[0].WhatsApp); diff != "" {
			t.Errorf("whatsapp: %s (-want +got):\n%s", spelling, diff)
		}
	}
	for _, spelling := range []string{`12`, `"+35191234567890123"`, `call me`, `"+0351912345678"`, `group@g.us`, `""`} {
		if got := problems(t, "people: [{name: Ana, whatsapp: "+spelling+"}]\n"); !strings.Contains(got[0], "people.whatsapp") {
			t.Errorf("whatsapp: %s: %s", spelling, got[0])
		}
	}
}

func TestCFG14HeartbeatIsOffInEveryForm(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		"", "scheduler:\n", "scheduler: {}\n", "scheduler: {heartbeat: off}\n", "scheduler: {heartbeat: \"off\"}\n", "scheduler: {heartbeat: Off}\n",
		"scheduler: {heartbeat: false}\n", "scheduler: {heartbeat: \"false\"}\n", "scheduler: {heartbeat: 0}\n", "scheduler: {heartbeat: \"0\"}\n",
		"scheduler: {heartbeat: 0s}\n", "scheduler: {heartbeat: no}\n", "scheduler: {heartbeat: never}\n", "scheduler: {heartbeat: none}\n",
		"scheduler: {heartbeat: \"\"}\n", "scheduler:\n  heartbeat:\n", "scheduler: {heartbeat: ~}\n", "scheduler: {heartbeat: null}\n",
		"scheduler: {heartbeat: {}}\n", "scheduler: {heartbeat: []}\n", "scheduler: {heartbeat: disabled}\n",
	} {
		if c := load(t, form); c.Scheduler.Heartbeat != 0 {
			t.Errorf("%q gives a heartbeat every %s", form, c.Scheduler.Heartbeat)
		}
	}
	if c := load(t, "scheduler: {heartbeat: 4h}\n"); c.Scheduler.Heartbeat != 4*time.Hour {
		t.Errorf("4h gives %s", c.Scheduler.Heartbeat)
	}
	for _, form := range []string{"on", "true", "yes", "10", "-1h", "often", "00:30", "30s", "1e9"} {
		got := problems(t, "scheduler: {heartbeat: "+form+"}\n")
		if !strings.HasPrefix(got[0], "hearth.yaml:1: scheduler.heartbeat: \""+form+"\"") {
			t.Errorf("heartbeat: %s: %s", form, got[0])
		}
	}
}

func TestOffMeansOffWhateverYAMLThinks(t *testing.T) {
	t.Parallel()
	for _, off := range []string{"off", `"off"`, "OFF", "no", "No", "false", `"false"`, "none", "never", "0"} {
		c := load(t, fmt.Sprintf(`
vault: {snapshots: %[1]s}
gateways: {burst: %[1]s, telegram: {groups: %[1]s}, whatsapp: {mode: %[1]s}, web: {listen: %[1]s}}
brain: {cloud_fallback: %[1]s, background: %[1]s, models: {home: {provider: ollama, model: x, tools: %[1]s, think: %[1]s}}}
skills: {permissions: {run_command: %[1]s}, web: {search_url: %[1]s}}
scheduler: {quiet_hours: %[1]s}
`, off))
		home := c.Brain.Models["home"]
		got := []any{
			c.Vault.Snapshots, c.Gateways.Burst, c.Gateways.Telegram.Groups, c.Gateways.WhatsApp.Mode, c.Gateways.Web.Listen, c.Brain.CloudFallback, c.Brain.Background,
			home.Tools, home.Think, c.Skills.Permissions["run_command"], c.Skills.Web.SearchURL.Reveal(), c.Scheduler.QuietHours.Off(),
		}
		want := []any{"off", time.Duration(0), "off", "off", "", "never", false, "off", false, "off", "", true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", off, diff)
		}
	}
}

func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]int{"10": 10, `"10"`: 10, "010": 10, "1e3": 1000, "2_000": 2000, "+7": 7, "3.0": 3, `"${N}"`: 12} {
		if c := load(t, "brain: {limits: {tokens_per_run: "+spelling+"}}\n", "N=12"); c.Brain.Limits.TokensPerRun != want {
			t.Errorf("%s gives %d, want %d", spelling, c.Brain.Limits.TokensPerRun, want)
		}
	}
	for _, spelling := range []string{"0x10", "0o17", "0b1", "1:30", "ten", "1.5", ".inf", ".nan", "-5", "99999999999", `"1,000"`, "true", "1e999"} {
		if got := problems(t, "brain: {limits: {tokens_per_run: "+spelling+"}}\n"); !strings.HasPrefix(got[0], "hearth.yaml:1: brain.limits.tokens_per_run: ") {
			t.Errorf("%s: %s", spelling, got[0])
		}
	}
	if c := load(t, "brain: {limits: {usd_per_day: 0}}\n"); c.Brain.Limits.USDPerDay != 0 {
		t.Errorf("usd_per_day: 0 gives %v; nothing may be spent is a limit too", c.Brain.Limits.USDPerDay)
	}
}

func TestDurationsNeedAUnit(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]time.Duration{
		"800ms": 800 * time.Millisecond, "10m": 10 * time.Minute, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "2 minutes": 2 * time.Minute,
		"90 Sec": 90 * time.Second, "1d": 24 * time.Hour, "0s": 0, "forever": Forever, "-1": Forever, "0": 0, "1h 5min": 65 * time.Minute,
	} {
		c := load(t, "brain: {models: {home: {provider: ollama, model: x, keep_alive: "+spelling+"}}}\n")
		if got := c.Brain.Models["home"].KeepAlive; got != want {
			t.Errorf("%s gives %s, want %s", spelling, got, want)
		}
	}
	for spelling, want := range map[string]string{
		"10":      `"10" has no unit: 10 what? Write 10s, 10m or 10h`,
		"1.5":     `"1.5" has no unit: 1.5 what? Write 1.5s, 1.5m or 1.5h`,
		"10x":     `"10x" is not understood; it takes a length of time such as 800ms, 10m or 2h, or forever`,
		"-5m":     `"-5m" is not understood; it takes a length of time such as 800ms, 10m or 2h, or forever`,
		"900000h": `"900000h" is too long; it must be 365d or less`,
		"9e99h":   `"9e99h" is not understood; it takes a length of time such as 800ms, 10m or 2h, or forever`,
		"999999999999h999999999999h999999999999h": `"999999999999h999999999999h999999999999h" is too long; it must be 365d or less`,
	} {
		got := problems(t, "brain: {models: {home: {provider: ollama, model: x, keep_alive: "+spelling+"}}}\n")
		if diff := cmp.Diff([]string{"hearth.yaml:1: brain.models.home.keep_alive: " + want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spelling, diff)
		}
	}
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]Hours{
		`"23:00-07:00"`: {23 * time.Hour, 7 * time.Hour},
		"23:00-07:00":   {23 * time.Hour, 7 * time.Hour},
		"23:00 - 7:30":  {23 * time.Hour, 7*time.Hour + 30*time.Minute},
		"22-6":          {22 * time.Hour, 6 * time.Hour},
		"1:15 to 5":     {75 * time.Minute, 5 * time.Hour},
		"20:00–24:00":   {20 * time.Hour, 0},
		`""`:            {},
		"":              {},
	} {
		c := load(t, "scheduler:\n  quiet_hours: "+spelling+"\n")
		if c.Scheduler.QuietHours != want {
			t.Errorf("%s gives %s, want %s", spelling, c.Scheduler.QuietHours, want)
		}
	}
	for _, spelling := range []string{"23:00", "23:60-07:00", "24:30-07:00", "11pm-7am", "night", "23:00-23:00", "23:0-7:00"} {
		if got := problems(t, "scheduler:\n  quiet_hours: "+spelling+"\n"); !strings.HasPrefix(got[0], `hearth.yaml:2: scheduler.quiet_hours: "`+spelling) {
			t.Errorf("%s: %s", spelling, got[0])
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]string{
		"127.0.0.1:8717": "127.0.0.1:8717", `"[::1]:8717"`: "[::1]:8717", "localhost:80": "localhost:80", `":8717"`: ":8717", "Pi.Local:08717": "pi.local:8717", `""`: "",
	} {
		if c := load(t, "gateways:\n  web:\n    listen: "+spelling+"\n"); c.Gateways.Web.Listen != want {
			t.Errorf("listen: %s gives %q, want %q", spelling, c.Gateways.Web.Listen, want)
		}
	}
	c := load(t, "skills: {web: {allow_hosts: [NAS.local, 192.168.1.20, \"[fd00::1]\", \"fd00::2\"], search_url: http://localhost:8888/}}\n")
	if diff := cmp.Diff([]string{"nas.local", "192.168.1.20", "fd00::1", "fd00::2"}, c.Skills.Web.AllowHosts); diff != "" {
		t.Errorf("allow_hosts (-want +got):\n%s", diff)
	}
	if got := c.Skills.Web.SearchURL.Reveal(); got != "http://localhost:8888" {
		t.Errorf("search_url is %s", got)
	}
	for _, spelling := range []string{"*.local", "nas:80", "10.0.0.0/8", "a b", "-x"} {
		if got := problems(t, "skills: {web: {allow_hosts: \""+spelling+"\"}}\n"); !strings.Contains(got[0], "is not a host") {
			t.Errorf("allow_hosts: %s: %s", spelling, got[0])
		}
	}
}
