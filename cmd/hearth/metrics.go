package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	exposition "github.com/VictoriaMetrics/metrics"

	"hearth/vault"
)

// metrics answers Prometheus. The figures come from the vault and from the parts at the moment they are asked for; nobody
// counts along. No label names a person, a chat, or what was said.
type metrics struct {
	agent *agent
	meter *vault.Meter
}

// figure is a series as it is exposed, with the names of its labels.
type figure struct {
	name, kind, help string
	labels           []string
}

func counter(name, help string, labels ...string) figure {
	return figure{"hearth_" + name, "counter", help, labels}
}

func gauge(name, help string, labels ...string) figure {
	return figure{"hearth_" + name, "gauge", help, labels}
}

// Series that do not come from the vault.
const (
	partUp    = "part_up"
	partBroke = "part_broke"
	gatewayUp = "gateway_up"
	buildInfo = "build_info"
)

// figures are all series. Counters begin at zero when the daemon starts, as Prometheus expects; what was ever done is in
// the vault.
var figures = map[string]figure{
	vault.CountRuns:      counter("runs_total", "Runs that ended: done, failed or stopped.", "trigger", "outcome"),
	vault.CountRunWait:   counter("run_wait_seconds_total", "Time that ended runs had waited for their beginning."),
	vault.CountRunWork:   counter("run_work_seconds_total", "Time that ended runs were at work."),
	vault.CountSteps:     counter("model_replies_total", "Replies of models.", "model"),
	vault.CountTokensIn:  counter("tokens_in_total", "Tokens that models read.", "model"),
	vault.CountTokensOut: counter("tokens_out_total", "Tokens that models wrote.", "model"),
	vault.CountDollars:   counter("cost_usd_total", "What models cost, as far as their price is known.", "model"),
	vault.CountCalls:     counter("calls_total", "Uses of tools that came to an end.", "tool", "outcome"),
	vault.CountSends:     counter("sends_total", "Outgoing parts that came to an end: sent, repeat (sent again and marked), unknown, failed, dropped.", "gateway", "class", "outcome"),
	vault.CountMessages:  counter("messages_total", "Messages taken in.", "gateway"),
	vault.CountFlushes:   counter("vault_flushes_total", "Commits that were flushed to the disk."),
	vault.NowRuns:        gauge("runs", "Runs that have not ended: queued, running, or waiting for a person.", "state"),
	vault.NowOldest:      gauge("queue_oldest_seconds", "How long the oldest queued run has waited."),
	vault.NowParts:       gauge("outbox_parts", "Outgoing parts: waiting, sending, unknown or failed.", "gateway", "state"),
	vault.NowOldestPart:  gauge("outbox_oldest_seconds", "How long the oldest unsent part has waited."),
	vault.NowJobs:        gauge("jobs_waiting", "Reminders and other wake-ups to come."),
	vault.NowApprovals:   gauge("approvals_open", "Questions that wait for an owner's answer."),
	vault.NowBytes:       gauge("vault_bytes", "Size of the vault's files.", "file"),
	partUp:               gauge("part_up", "Whether a part of the agent runs.", "part"),
	partBroke:            counter("part_breakdowns_total", "How often a part of the agent broke down and was started again.", "part"),
	gatewayUp:            gauge("gateway_up", "Whether a messenger is connected.", "gateway"),
	buildInfo:            gauge("build_info", "The program; always 1.", "version", "goversion"),
}

// newMetrics begins to count.
func newMetrics(ctx context.Context, a *agent) (http.Handler, error) {
	meter, err := a.vault.Meter(ctx, func(tool string) bool {
		_, known := a.tools.Named(tool)
		return known
	})
	return &metrics{agent: a, meter: meter}, err
}

// readPatience is how long the vault may take; who collects the figures gives up after ten seconds or so.
const readPatience = 5 * time.Second

// ServeHTTP writes all figures.
func (m *metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readPatience)
	defer cancel()
	samples, err := m.read(ctx)
	if err != nil {
		if r.Context().Err() == nil {
			m.agent.log.Error("cannot read the figures", "error", err)
		}
		http.Error(w, "The vault does not answer.", http.StatusServiceUnavailable)
		return
	}
	var b bytes.Buffer
	expose(&b, samples)
	exposition.WriteProcessMetrics(&b)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // a client that has gone needs no answer
}

func (m *metrics) read(ctx context.Context) ([]vault.Sample, error) {
	samples, err := m.meter.Read(ctx)
	if err != nil {
		return nil, err
	}
	add := func(series string, value float64, labels ...string) {
		samples = append(samples, vault.Sample{Series: series, Labels: labels, Value: value})
	}
	// A series that comes and goes is hard to draw.
	for _, state := range []vault.RunState{vault.Queued, vault.Running, vault.Waiting} {
		if !slices.ContainsFunc(samples, func(s vault.Sample) bool { return s.Series == vault.NowRuns && s.Labels[0] == string(state) }) {
			add(vault.NowRuns, 0, string(state))
		}
	}
	states, _ := m.agent.partStates()
	for _, p := range states {
		add(partUp, yes(p.state == running), p.name)
		add(partBroke, float64(p.broke), p.name)
	}
	for _, g := range m.agent.gatewayRows() {
		add(gatewayUp, yes(g.Error == ""), g.Name)
	}
	add(buildInfo, 1, programVersion(), runtime.Version())
	return samples, nil
}

// expose writes samples in Prometheus' text form: all of one series together, in a fixed order.
func expose(w io.Writer, samples []vault.Sample) {
	order := func(s vault.Sample) string { return figures[s.Series].name + "\x00" + strings.Join(s.Labels, "\x00") }
	slices.SortFunc(samples, func(a, b vault.Sample) int { return strings.Compare(order(a), order(b)) })
	last := ""
	for _, s := range samples {
		f := figures[s.Series]
		if s.Series != last {
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
			last = s.Series
		}
		exposition.WriteGaugeFloat64(w, f.of(s.Labels), s.Value) // the same line for a counter
	}
}

// labelValue escapes what stands between quotes, as the text form asks for.
var labelValue = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// of writes the series with the values of its labels. Prometheus takes valid UTF-8 only.
func (f figure) of(values []string) string {
	if len(values) == 0 {
		return f.name
	}
	pairs := make([]string, len(values))
	for i, v := range values {
		pairs[i] = f.labels[i] + `="` + labelValue.Replace(strings.ToValidUTF8(v, "\uFFFD")) + `"`
	}
	return f.name + "{" + strings.Join(pairs, ",") + "}"
}

func yes(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
