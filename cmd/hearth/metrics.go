package main

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hearth/vault"
)

// metrics answers Prometheus. The figures come from the vault and from the parts at the moment they are asked for; nobody
// counts along. No label names a person, a chat, or what was said.
type metrics struct {
	agent *agent
	meter *vault.Meter
}

// figure is how a series of the vault is exposed.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("hearth_"+name, help, labels, nil)
}

// Counters begin at zero when the daemon starts, as Prometheus expects; what was ever done is in the vault.
var figures = map[string]figure{
	vault.CountRuns:      {describe("runs_total", "Runs that ended: done, failed or stopped.", "trigger", "outcome"), prometheus.CounterValue},
	vault.CountRunWait:   {describe("run_wait_seconds_total", "Time that ended runs had waited for their beginning."), prometheus.CounterValue},
	vault.CountRunWork:   {describe("run_work_seconds_total", "Time that ended runs were at work."), prometheus.CounterValue},
	vault.CountSteps:     {describe("model_replies_total", "Replies of models.", "model"), prometheus.CounterValue},
	vault.CountTokensIn:  {describe("tokens_in_total", "Tokens that models read.", "model"), prometheus.CounterValue},
	vault.CountTokensOut: {describe("tokens_out_total", "Tokens that models wrote.", "model"), prometheus.CounterValue},
	vault.CountDollars:   {describe("cost_usd_total", "What models cost, as far as their price is known.", "model"), prometheus.CounterValue},
	vault.CountCalls:     {describe("calls_total", "Uses of tools that came to an end.", "tool", "outcome"), prometheus.CounterValue},
	vault.CountSends: {
		describe("sends_total", "Outgoing parts that came to an end: sent, repeat (sent again and marked), unknown, failed, dropped.", "gateway", "class", "outcome"), prometheus.CounterValue,
	},
	vault.CountMessages: {describe("messages_total", "Messages taken in.", "gateway"), prometheus.CounterValue},
	vault.CountFlushes:  {describe("vault_flushes_total", "Commits that were flushed to the disk."), prometheus.CounterValue},
	vault.NowRuns:       {describe("runs", "Runs that have not ended: queued, running, or waiting for a person.", "state"), prometheus.GaugeValue},
	vault.NowOldest:     {describe("queue_oldest_seconds", "How long the oldest queued run has waited."), prometheus.GaugeValue},
	vault.NowParts:      {describe("outbox_parts", "Outgoing parts: waiting, sending, unknown or failed.", "gateway", "state"), prometheus.GaugeValue},
	vault.NowOldestPart: {describe("outbox_oldest_seconds", "How long the oldest unsent part has waited."), prometheus.GaugeValue},
	vault.NowJobs:       {describe("jobs_waiting", "Reminders and other wake-ups to come."), prometheus.GaugeValue},
	vault.NowApprovals:  {describe("approvals_open", "Questions that wait for an owner's answer."), prometheus.GaugeValue},
	vault.NowBytes:      {describe("vault_bytes", "Size of the vault's files.", "file"), prometheus.GaugeValue},
}

var (
	partUp    = describe("part_up", "Whether a part of the agent runs.", "part")
	partBroke = describe("part_breakdowns_total", "How often a part of the agent broke down and was started again.", "part")
	gatewayUp = describe("gateway_up", "Whether a messenger is connected.", "gateway")
	buildInfo = describe("build_info", "The program; always 1.", "version", "goversion")
)

// newMetrics begins to count.
func newMetrics(ctx context.Context, a *agent) (http.Handler, error) {
	meter, err := a.vault.Meter(ctx, func(tool string) bool {
		_, known := a.tools.Named(tool)
		return known
	})
	if err != nil {
		return nil, err
	}
	r := prometheus.NewRegistry()
	r.MustRegister(&metrics{agent: a, meter: meter}, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelError), ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: 2,
	}), nil
}

// Describe names every series there can be, so that a second one of the same name is refused at the start.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, f := range figures {
		to <- f.desc
	}
	for _, d := range []*prometheus.Desc{partUp, partBroke, gatewayUp, buildInfo} {
		to <- d
	}
}

// readPatience is how long the vault may take; a collector gives up after ten seconds or so.
const readPatience = 5 * time.Second

// Collect reads all figures.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readPatience)
	defer cancel()
	samples, err := m.meter.Read(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(buildInfo, err)
		return
	}
	samples = append(samples, idle(samples)...)
	for _, s := range samples {
		f := figures[s.Series]
		to <- prometheus.MustNewConstMetric(f.desc, f.kind, s.Value, labels(s.Labels)...)
	}
	states, _ := m.agent.partStates()
	for _, p := range states {
		to <- prometheus.MustNewConstMetric(partUp, prometheus.GaugeValue, yes(p.state == running), p.name)
		to <- prometheus.MustNewConstMetric(partBroke, prometheus.CounterValue, float64(p.broke), p.name)
	}
	for _, g := range m.agent.gatewayRows() {
		to <- prometheus.MustNewConstMetric(gatewayUp, prometheus.GaugeValue, yes(g.Error == ""), g.Name)
	}
	to <- prometheus.MustNewConstMetric(buildInfo, prometheus.GaugeValue, 1, programVersion(), runtime.Version())
}

// idle are the states of runs that no run is in: a series that comes and goes is hard to draw.
func idle(samples []vault.Sample) (out []vault.Sample) {
	for _, state := range []vault.RunState{vault.Queued, vault.Running, vault.Waiting} {
		if !slices.ContainsFunc(samples, func(s vault.Sample) bool { return s.Series == vault.NowRuns && s.Labels[0] == string(state) }) {
			out = append(out, vault.Sample{Series: vault.NowRuns, Labels: []string{string(state)}})
		}
	}
	return out
}

// labels makes label values of what stands in the vault: Prometheus takes valid UTF-8 only.
func labels(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strings.ToValidUTF8(v, "\uFFFD")
	}
	return out
}

func yes(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
