package main

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"hearth/vault"
)

// scrape reads /metrics as Prometheus does: with its own parser.
func scrape(t *testing.T, h *home) map[string]*dto.MetricFamily {
	t.Helper()
	answer, err := newClient(h.socket()).do(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(answer.Body) // the status says enough
		t.Fatalf("%s: %s", answer.Status, body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// value is that of a series with these labels, written name=value; -1 when there is none.
func value(found map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, m := range found[name].GetMetric() {
		var have []string
		for _, l := range m.GetLabel() {
			have = append(have, l.GetName()+"="+l.GetValue())
		}
		slices.Sort(have)
		if slices.Equal(have, labels) {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return -1
}

func TestMetricsTellWhatHappens(t *testing.T) {
	h := newHome(t, "", "people: [{name: Ana, role: owner}, {name: Benedikt}]\ngateways: {burst: 0s}\n")
	h.daemon()
	before := scrape(t, h)
	for _, state := range []string{"queued", "running", "waiting"} {
		if v := value(before, "hearth_runs", "state="+state); v != 0 {
			t.Errorf("%v runs are %s", v, state)
		}
	}
	ben := h.open("Benedikt")
	ben.ask("remember that the gate is blue", "one")
	ben.ask("remind me tomorrow at 9 to stretch", "two")
	var after map[string]*dto.MetricFamily
	eventually(t, "all is sent", func() bool {
		after = scrape(t, h)
		return value(after, "hearth_sends_total", "class=answer", "gateway=terminal", "outcome=sent") == 2
	})
	for _, c := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{2, "hearth_runs_total", []string{"outcome=done", "trigger=message"}},
		{2, "hearth_messages_total", []string{"gateway=terminal"}},
		{1, "hearth_calls_total", []string{"outcome=done", "tool=remember"}},
		{1, "hearth_calls_total", []string{"outcome=done", "tool=remind"}},
		{0, "hearth_tokens_in_total", []string{"model=offline"}},
		{0, "hearth_cost_usd_total", []string{"model=offline"}},
		{1, "hearth_jobs_waiting", nil},
		{0, "hearth_approvals_open", nil},
		{0, "hearth_queue_oldest_seconds", nil},
		{1, "hearth_part_up", []string{"part=brain"}},
		{0, "hearth_part_breakdowns_total", []string{"part=brain"}},
		{1, "hearth_gateway_up", []string{"gateway=terminal"}},
	} {
		if got := value(after, c.name, c.labels...); got != c.want {
			t.Errorf("%s %v is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	if v := value(after, "hearth_model_replies_total", "model=offline"); v < 2 {
		t.Errorf("%v replies of the model", v)
	}
	if v := value(after, "hearth_vault_bytes", "file=vault.db"); v < 4096 {
		t.Errorf("the vault has %v bytes", v)
	}
	if v := value(after, "hearth_vault_flushes_total") - value(before, "hearth_vault_flushes_total"); v < 4 {
		t.Errorf("%v flushes for two answers", v)
	}
	if n := len(after["hearth_build_info"].GetMetric()); n != 1 || value(after, "process_resident_memory_bytes") < 1e6 || value(after, "go_goroutines") < 1 {
		t.Errorf("%d builds, and the process is not told", n)
	}
	for name, family := range after {
		if !strings.HasPrefix(name, "hearth_") {
			continue
		}
		if family.GetHelp() == "" || !regexp.MustCompile(`^hearth_[a-z_]+$`).MatchString(name) {
			t.Errorf("%s: %s", name, family.GetHelp())
		}
		for _, m := range family.GetMetric() {
			if words := m.String(); strings.Contains(words, "Ben") || strings.Contains(words, "Ana") || strings.Contains(words, "gate is") || strings.Contains(words, "stretch") {
				t.Errorf("%s tells of a person: %s", name, words)
			}
		}
	}
	for _, f := range figures {
		if after[f.name] == nil && f.name != "hearth_outbox_parts" {
			t.Errorf("there is no %s", f.name)
		}
	}
}

// docs/metrics.md names what there is, and nothing else.
func TestMetricsAreThoseOfTheDocs(t *testing.T) {
	page := readDoc(t, "metrics.md")
	var named, there []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(hearth_[a-z_]+)(?:\\{([a-z, ]+)\\})?`").FindAllStringSubmatch(page, -1) {
		named = append(named, m[1]+" "+strings.ReplaceAll(m[2], " ", ""))
	}
	for _, f := range figures {
		there = append(there, f.name+" "+strings.Join(f.labels, ","))
	}
	slices.Sort(named)
	slices.Sort(there)
	if !slices.Equal(named, there) {
		t.Errorf("docs/metrics.md names\n%s\nand there are\n%s", strings.Join(named, "\n"), strings.Join(there, "\n"))
	}
}

// A name that a person gave, or damage, must not break the form.
func TestLabelsAreEscaped(t *testing.T) {
	var b strings.Builder
	odd := "a \"b\" \\ c\nd \xff {e=\"f\"}"
	expose(&b, []vault.Sample{
		{Series: vault.CountTokensIn, Labels: []string{odd}, Value: 1e9}, {Series: vault.NowOldest, Value: 0.25}, {Series: vault.CountTokensIn, Labels: []string{"home"}, Value: 2},
	})
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	if v := value(found, "hearth_tokens_in_total", "model="+strings.ToValidUTF8(odd, "\uFFFD")); v != 1e9 {
		t.Errorf("%v in\n%s", v, &b)
	}
	if value(found, "hearth_queue_oldest_seconds") != 0.25 || found["hearth_tokens_in_total"].GetType() != dto.MetricType_COUNTER {
		t.Errorf("it is\n%s", &b)
	}
}
