package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// exportedLines reads a stream: every line is an object of its own.
func exportedLines(t *testing.T, stream string) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(stream) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		lines = append(lines, row)
	}
	return lines
}

func ofType(lines []map[string]any, kind string) (found []map[string]any) {
	for _, l := range lines {
		if l["type"] == kind {
			found = append(found, l)
		}
	}
	return found
}

func TestExportOfAPersonIsAllOfThemAndEndsWithItsEnd(t *testing.T) {
	s, _ := lived(t, "the token is hunter22, keep it")
	ctx := t.Context()
	o, err := s.exporting(ctx, query{Person: "ben"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.export(ctx, o, &b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hunter22") || !strings.Contains(b.String(), "the token is ***, keep it") {
		t.Errorf("a secret is not masked: %s", &b)
	}
	lines := exportedLines(t, b.String())
	head, end := lines[0], lines[len(lines)-1]
	if head["type"] != "export" || head["person"] != "Ben" || head["run"] != nil || head["zone"] != "Asia/Tokyo" || head["version"] != 1.0 {
		t.Errorf("it begins with %v", head)
	}
	if end["type"] != "end" || end["lines"] != float64(len(lines)-2) {
		t.Errorf("it ends with %v after %d lines", end, len(lines))
	}
	want := `{"type":"call","id":1,"run":1,"step":0,"i":0,"tool":"send","args":{"person":"Ana","text":"hi"},`
	if !strings.Contains(b.String(), want) {
		t.Errorf("it has no %s:\n%s", want, &b)
	}
	run := ofType(lines, "run")[0]
	if run["queued"] != "2026-07-01T17:00:00+09:00" || run["person"] != "Ben" || run["usd"] != 0.5 || run["job"] != nil {
		t.Errorf("the run is %v", run)
	}
	if asked := ofType(lines, "approval")[0]; asked["decided_by"] != "Ana" || asked["choice"] != "approve" || len(asked["choices"].([]any)) != 3 {
		t.Errorf("the question is %v", asked)
	}

	if o, err = s.exporting(ctx, query{ID: 1}); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := s.export(ctx, o, &b); err != nil {
		t.Fatal(err)
	}
	lines = exportedLines(t, b.String())
	if lines[0]["run"] != 1.0 || len(ofType(lines, "step")) != 2 || len(ofType(lines, "outbox")) != 2 || len(ofType(lines, "person")) != 0 {
		t.Errorf("the record of the run is %s", &b)
	}
}

func TestExportSaysWhatItCannotDo(t *testing.T) {
	s, _ := lived(t, "hello")
	for _, c := range []struct {
		q    query
		want string
	}{
		{query{}, "This is `hearth export --person NAME` or `hearth export --run N`."},
		{query{Person: "Ana", ID: 1}, "This is `hearth export --person NAME` or `hearth export --run N`."},
		{query{Person: "Cleo"}, "Nobody is called Cleo. Known are: Ana and Ben."},
		{query{ID: 9}, "There is no run 9; `hearth runs` shows them."},
	} {
		_, err := s.exporting(t.Context(), c.q)
		if _, sentence := explain(err); err == nil || sentence != c.want {
			t.Errorf("%+v: %q", c.q, sentence)
		}
	}
}

// docs/export.md names every kind of line.
func TestKindsOfLinesAreThoseOfTheDocs(t *testing.T) {
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(readDoc(t, "export.md"), -1) {
		named = append(named, m[1])
	}
	s, _ := lived(t, "hello")
	tables := s.vault.ExportedKinds()
	want := append([]string{"export"}, append(tables, "end")...)
	if !slices.Equal(named, want) {
		t.Errorf("docs/export.md names %v, there are %v", named, want)
	}
}

// Through the daemon and beside it the same is written, in the right zone and with the secrets of the file masked.
func TestExportThroughTheDaemon(t *testing.T) {
	h := newHome(t, "", "people: [{name: Ana, role: owner, timezone: Asia/Tokyo}]\ngateways: {burst: 0s, telegram: {token: \"1234567:AAHsecretsecretsecretsecretsecret00\", api_url: \"http://127.0.0.1:9\"}}\n").clocked("2026-03-10T07:00:00Z")
	daemon := h.daemon()
	ana := h.open("Ana")
	ana.ask("remember that the code is AAHsecretsecretsecretsecretsecret00", "one")
	ana.ask("remind me tomorrow at 9 to stretch", "two")
	through := h.ok("export", "--person", "ANA")
	if code, out, stderr := h.run("export", "--run", "9"); code != 1 || out != "" || !strings.Contains(stderr, "There is no run 9") {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	if n := len(exportedLines(t, h.ok("export", "--run", "1"))); n < 7 {
		t.Errorf("the record of a run has %d lines", n)
	}
	var head struct{ Type string }
	if err := newClient(h.socket()).get(t.Context(), "export", query{Person: "Ana"}.values(), &head); err != nil || head.Type != "export" {
		t.Errorf("%+v, %v", head, err)
	}
	answer, err := newClient(h.socket()).do(t.Context(), http.MethodGet, "/api/export?person=Nobody", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusConflict {
		t.Errorf("it answers %s", answer.Status)
	}
	daemon.term()
	beside := h.ok("export", "--person", "Ana")
	if strings.Contains(through+beside, "AAHsecret") || !strings.Contains(through, "that the code is ***") {
		t.Errorf("the secret is not masked: %s", through)
	}
	lines := exportedLines(t, through)
	if kinds := exportedLines(t, beside); len(kinds) != len(lines) || lines[len(lines)-1]["type"] != "end" {
		t.Errorf("%d lines through the daemon, %d beside it", len(lines), len(kinds))
	}
	for kind, n := range map[string]int{"person": 1, "message": 4, "job": 1, "memory": 1, "run": 2} {
		if found := ofType(lines, kind); len(found) != n {
			t.Errorf("%d of %s", len(found), kind)
		}
	}
	if next := ofType(lines, "job")[0]["next"]; next != "2026-03-11T09:00:00+09:00" {
		t.Errorf("the job's next is %v", next)
	}
}
