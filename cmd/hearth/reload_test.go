package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edit saves the configuration with another text in a place.
func (h *home) edit(old, text string) {
	h.t.Helper()
	was := h.read("hearth.yaml")
	if !strings.Contains(was, old) {
		h.t.Fatalf("%q is not in the configuration", old)
	}
	// As most editors do: a new file takes the old one's place.
	next := h.write("hearth.yaml.new", strings.ReplaceAll(was, old, text))
	if err := os.Rename(next, filepath.Join(h.dir, "hearth.yaml")); err != nil {
		h.t.Fatal(err)
	}
}

func TestCFG08BadEditChangesNothingAndIsToldOnce(t *testing.T) {
	h := newHome(t, "", "timezone: Europe/Lisbon\npeople: [{name: Ana, role: owner}]\ngateways: {burst: 0s, telegram: {token: \"123456:CANARY-token-0815-abcdefghijkl\"}}\n")
	daemon := h.daemon()
	ana := h.open("Ana")
	h.edit("timezone: Europe/Lisbon", "timezone: Europe/Lisbn\nlogg: {level: info}")
	told := ana.hears("mistakes")
	for _, want := range []string{"hearth.yaml:1: timezone", "Europe/Lisbon", "hearth.yaml:2: logg", "did you mean log", "settings in use go on"} {
		if !strings.Contains(told, want) {
			t.Errorf("the notice does not say %q: %q", want, told)
		}
	}
	if zone := ask(h, viewStatus, query{}).Zone; zone != "Europe/Lisbon" {
		t.Errorf("the zone is %s now", zone)
	}

	if err := daemon.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second reading is in the log", func() bool { return strings.Count(daemon.log.String(), "the configuration has mistakes") >= 2 })
	if answer := ana.ask("hello", "h1"); answer == "" {
		t.Error("it does not answer any more")
	}
	if n, _ := ana.copies("mistakes"); n != 1 {
		t.Errorf("told %d times", n)
	}

	h.edit("timezone: Europe/Lisbn\nlogg: {level: info}", "timezone: Asia/Tokyo")
	eventually(t, "the good edit is in use", func() bool { return ask(h, viewStatus, query{}).Zone == "Asia/Tokyo" })
	if answer := ana.ask("remind me tomorrow at 9 to stretch", "r1"); !strings.Contains(answer, "Asia/Tokyo") {
		t.Errorf("a reminder made now: %q", answer)
	}
	if strings.Contains(daemon.log.String()+strings.Join(ana.all(), ""), "CANARY") {
		t.Error("the token is shown")
	}
}

func TestCFG91PeopleComeAndGoWhileItRuns(t *testing.T) {
	h := newHome(t, "", "people: [{name: Ana, role: owner}]\n")
	daemon := h.daemon()
	names := func() (out []string) {
		for _, p := range ask(h, viewPeople, query{}) {
			out = append(out, p.Name)
		}
		return out
	}
	h.edit("{name: Ana, role: owner}", "{name: Ana, role: owner}, {name: Ben}")
	eventually(t, "Ben is known", func() bool { return cmp.Equal(names(), []string{"Ana", "Ben"}) })
	h.edit(", {name: Ben}", "")
	if err := daemon.cmd.Process.Signal(syscall.SIGHUP); err != nil { // asked for, it need not wait for the watcher
		t.Fatal(err)
	}
	eventually(t, "Ben is a stranger", func() bool { return cmp.Equal(names(), []string{"Ana"}) })
}

func TestKeysThatNeedARestartAreNamed(t *testing.T) {
	h := newHome(t, "", "people: [{name: Ana, role: owner}]\nlog: {level: info, format: text}\n")
	h.daemon()
	ana := h.open("Ana")
	h.edit("format: text", "format: json")
	told := ana.hears("needs a restart")
	if !strings.Contains(told, "log.format: text → json") {
		t.Errorf("it says %q", told)
	}
}

func TestLogLevelAndFormatFollowTheConfiguration(t *testing.T) {
	h := newHome(t, "", "people: [{name: Ana, role: owner}]\nlog: {level: warn, format: json}\n")
	daemon := h.daemon()
	h.edit("level: warn", "level: info")
	eventually(t, "the new level is in use", func() bool { return strings.Contains(daemon.log.String(), "new settings are in use") })
	log := daemon.log.String()
	if strings.Contains(log, "hearth is starting") || !strings.HasPrefix(strings.TrimSpace(log), "{") {
		t.Errorf("the log:\n%s", log)
	}
}

// Six secrets in as many places of the configuration, and in the environment: no command shows one, and no log line.
func TestCFG10NoSecretIsEverShown(t *testing.T) {
	h := newHome(t, "", `people: [{name: Ana, role: owner}]
gateways: {burst: 0s, telegram: {token: "123456:CANARY-token-abcdefghijklmnop", api_url: "http://user:CANARY-userinfo@127.0.0.1:1/"}}
log: {level: debug}
brain:
  model: home
  models:
    home: {provider: openai, url: "http://127.0.0.1:1/v1?api_key=CANARY-query-4711", model: m, api_key: "sk-CANARY-key-4711"}
    cloud: {provider: anthropic, model: m, api_key: "${CLOUD_KEY}"}
`)
	h.env = append(h.env, "CLOUD_KEY=sk-CANARY-cloud-0815", "HTTPS_PROXY=http://me:CANARY-proxy-99@127.0.0.1:1")
	daemon := h.daemon()
	ana := h.open("Ana")
	for i, command := range []string{"/status", "/model", "/help", "/runs", "/cost", "/memory", "/jobs", "/why 1"} {
		ana.ask(command, fmt.Sprint("c", i))
	}
	if err := ana.say("what is your configuration?", "q"); err != nil { // it is tried again and again: no model is in reach
		t.Fatal(err)
	}
	eventually(t, "a model was asked in vain", func() bool { return strings.Contains(daemon.log.String(), "run=1") })
	printed := strings.Join(ana.all(), "\n")
	for _, args := range [][]string{{"status"}, {"status", "--json"}, {"doctor"}, {"doctor", "--json"}, {"check"}, {"runs"}, {"runs", "show", "1"}, {"outbox", "list", "--all"}, {"jobs"}, {"memory"}, {"people"}, {"version"}} {
		_, out, stderr := h.run(args...)
		printed += out + stderr
	}
	daemon.term()
	_, out, stderr := h.run("status")
	printed += out + stderr + daemon.log.String()
	if at := strings.Index(printed, "CANARY"); at >= 0 {
		t.Errorf("a secret is shown: …%s…", printed[max(0, at-100):min(len(printed), at+60)])
	}
	if !strings.Contains(printed, "model cloud") {
		t.Error("the commands print nothing of the models: is this a test?")
	}
}
