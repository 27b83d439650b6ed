package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// Sample is one figure about the vault. Labels are values in the order that the series names; none of them is a person, a
// chat or a text.
type Sample struct {
	Series string
	Labels []string
	Value  float64
}

// The series that a Meter counts, with their labels.
const (
	CountRuns        = "runs"         // ended runs by trigger, state
	CountRunWait     = "run_wait"     // seconds from the trigger to the beginning, summed over ended runs
	CountRunWork     = "run_work"     // seconds at work, summed over ended runs
	CountSteps       = "steps"        // model replies by model
	CountTokensIn    = "tokens_in"    // by model
	CountTokensOut   = "tokens_out"   // by model
	CountDollars     = "usd"          // by model; what is known of it
	CountCalls       = "calls"        // ended calls by tool, state
	CountSends       = "sends"        // parts that came to an end by gateway, class, outcome: sent, repeat (sent, marked), unknown, failed, dropped
	CountMessages    = "messages"     // messages taken in by gateway
	CountFlushes     = "flushes"      // commits that were flushed to the disk
	NowRuns          = "runs_open"    // by state: queued, running, waiting
	NowOldest        = "queue_oldest" // seconds that the oldest queued run has waited; 0 when none is queued
	NowParts         = "outbox"       // by gateway, state: waiting, sending, unknown, failed
	NowOldestPart    = "outbox_oldest"
	NowJobs          = "jobs"           // wake-ups to come
	NowApprovals     = "approvals_open" // questions without an answer
	NowBytes         = "bytes"          // by file: vault.db, vault.db-wal
	runOpen, runOver = `state IN ('queued','running','waiting')`, `state IN ('done','failed','stopped')`
)

// count is a query over the rows between two numbers (?1 inclusive, ?2 exclusive): labels first, then a value a series.
type count struct {
	of     int // what the numbers are of: an index of marks
	labels int
	series []string
	query  string
}

// marks find the oldest row that has not come to its end, or the number that the next row will have.
var marks = []string{
	`SELECT coalesce((SELECT min(id) FROM run WHERE ` + runOpen + `), (SELECT coalesce(max(id), 0) + 1 FROM run))`,
	`SELECT coalesce((SELECT min(id) FROM outbox WHERE state IN ('waiting','sending')), (SELECT coalesce(max(id), 0) + 1 FROM outbox))`,
	`SELECT coalesce(max(id), 0) + 1 FROM message`,
}

var counts = []count{
	{0, 2, []string{CountRuns}, `SELECT trigger, state, count(*) FROM run WHERE id >= ?1 AND id < ?2 AND +` + runOver + ` GROUP BY 1, 2`},
	{0, 0, []string{CountRunWait, CountRunWork}, `SELECT total(max(0, coalesce(started, queued) - queued)) / 1000.0, total(worked) / 1000.0 FROM run WHERE id >= ?1 AND id < ?2 AND +` + runOver},
	{0, 1, []string{CountSteps, CountTokensIn, CountTokensOut, CountDollars}, `SELECT model, count(*), total(tokens_in), total(tokens_out), total(usd) FROM step WHERE run_id >= ?1 AND run_id < ?2 AND kind = 'model' GROUP BY 1`},
	{0, 2, []string{CountCalls}, `SELECT tool, state, count(*) FROM call WHERE run_id >= ?1 AND run_id < ?2 AND state NOT IN ('proposed','waiting','approved','started') GROUP BY 1, 2`},
	{1, 3, []string{CountSends}, `SELECT gateway, class, CASE WHEN state = 'sent' AND marked THEN 'repeat' ELSE state END, count(*) FROM outbox WHERE id >= ?1 AND id < ?2 AND +state NOT IN ('waiting','sending') GROUP BY 1, 2, 3`},
	{2, 1, []string{CountMessages}, `SELECT gateway, count(*) FROM message WHERE id >= ?1 AND id < ?2 AND role = 'user' GROUP BY 1`},
}

// Meter counts what happens in a vault from the moment it is made. It keeps no row: it knows up to which one everything has
// come to its end, and at each reading looks at those behind it only, so a reading costs the same in a vault of many years.
// A run that is taken up again after it ended, or a part that is sent again after it failed, counts once.
type Meter struct {
	v     *Vault
	known func(tool string) bool

	mu      sync.Mutex
	mark    []int64
	settled map[string]Sample // before the marks
	base    map[string]Sample // what stood behind the marks when it was made
	shown   map[string]Sample // a counter never falls
}

// Meter begins to count. A tool that is not known, since a model made up its name, is counted as "other": a model must not
// be able to fill the memory of whoever collects the figures.
func (v *Vault) Meter(ctx context.Context, known func(tool string) bool) (*Meter, error) {
	m := &Meter{v: v, known: known, settled: map[string]Sample{}, base: map[string]Sample{}, shown: map[string]Sample{}, mark: make([]int64, len(marks))}
	return m, v.glance(ctx, func(q querier) (err error) {
		if m.mark, err = m.next(ctx, q); err != nil {
			return err
		}
		for _, c := range counts {
			if err := m.add(ctx, q, c, m.mark[c.of], behindAll, m.base); err != nil {
				return err
			}
		}
		return nil
	})
}

// behindAll is a number that no row reaches.
const behindAll = 1 << 62

// Read gives the counters since the meter was made, and the gauges of this moment.
func (m *Meter) Read(ctx context.Context) (out []Sample, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	total := map[string]Sample{}
	err = m.v.glance(ctx, func(q querier) error {
		next, err := m.next(ctx, q)
		if err != nil {
			return err
		}
		settled := clone(m.settled)
		for _, c := range counts {
			if err := m.add(ctx, q, c, m.mark[c.of], next[c.of], settled); err != nil {
				return err
			}
		}
		total = clone(settled)
		for _, c := range counts {
			if err := m.add(ctx, q, c, next[c.of], behindAll, total); err != nil {
				return err
			}
		}
		m.mark, m.settled = next, settled
		out, err = m.v.gauges(ctx, q)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read figures: %w", err)
	}
	for key, s := range total {
		s.Value -= m.base[key].Value
		s.Value = max(s.Value, m.shown[key].Value)
		m.shown[key] = s
	}
	for _, s := range m.shown {
		out = append(out, s)
	}
	return append(out, Sample{Series: CountFlushes, Value: float64(m.v.flushed.Load())}), nil
}

// next gives the marks, which never go back.
func (m *Meter) next(ctx context.Context, q querier) ([]int64, error) {
	next := make([]int64, len(marks))
	for i, query := range marks {
		n, err := one(ctx, q, scanInt, query)
		if err != nil {
			return nil, err
		}
		next[i] = max(n, m.mark[i])
	}
	return next, nil
}

// glance reads one state of the vault.
func (v *Vault) glance(ctx context.Context, look func(querier) error) error {
	tx, err := v.rdb.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(look(tx), tx.Rollback())
}

func clone(from map[string]Sample) map[string]Sample {
	to := make(map[string]Sample, len(from))
	for key, s := range from {
		to[key] = s
	}
	return to
}

func (m *Meter) add(ctx context.Context, q querier, c count, from, to int64, sums map[string]Sample) error {
	found, err := collect(ctx, q, c.scan, c.query, from, to)
	if err != nil {
		return err
	}
	for _, row := range found {
		for _, s := range row {
			if s.Series == CountCalls && !m.known(s.Labels[0]) {
				s.Labels = []string{"other", s.Labels[1]}
			}
			key := s.Series + "\x00" + strings.Join(s.Labels, "\x00")
			s.Value += sums[key].Value
			sums[key] = s
		}
	}
	return nil
}

func (c count) scan(s scanner) ([]Sample, error) {
	labels, out := make([]string, c.labels), make([]Sample, len(c.series))
	var to []any
	for i := range labels {
		to = append(to, &labels[i])
	}
	for i, series := range c.series {
		out[i] = Sample{Series: series, Labels: labels}
		to = append(to, &out[i].Value)
	}
	return out, s.Scan(to...)
}

// gauges are read through indexes that hold only what is open.
func (v *Vault) gauges(ctx context.Context, q querier) (out []Sample, err error) {
	now := v.now().UnixMilli()
	for _, g := range []struct {
		count
		args []any
	}{
		{count{0, 1, []string{NowRuns}, `SELECT state, count(*) FROM run WHERE ` + runOpen + ` GROUP BY 1`}, nil},
		{count{0, 0, []string{NowOldest}, `SELECT coalesce(max(0, ? - min(queued)), 0) / 1000.0 FROM run WHERE state = 'queued' AND task = ''`}, []any{now}},
		{count{0, 2, []string{NowParts}, `SELECT gateway, state, count(*) FROM outbox WHERE state IN ('waiting','sending') GROUP BY 1, 2`}, nil},
		{count{0, 2, []string{NowParts}, `SELECT gateway, state, count(*) FROM outbox WHERE state IN ('unknown','failed') GROUP BY 1, 2`}, nil},
		{count{0, 0, []string{NowOldestPart}, `SELECT coalesce(max(0, ? - min(created)), 0) / 1000.0 FROM outbox WHERE state IN ('waiting','sending') AND held IS NULL`}, []any{now}},
		{count{0, 0, []string{NowJobs}, `SELECT (SELECT count(*) FROM job INDEXED BY job_next WHERE next IS NOT NULL AND held IS NULL AND state IN ('waiting','firing')) + (SELECT count(*) FROM job WHERE held IS NOT NULL AND state IN ('waiting','firing'))`}, nil},
		{count{0, 0, []string{NowApprovals}, `SELECT count(*) FROM approval WHERE state = 'open'`}, nil},
	} {
		found, err := collect(ctx, q, g.scan, g.query, g.args...)
		if err != nil {
			return nil, err
		}
		for _, row := range found {
			out = append(out, row...)
		}
	}
	for _, name := range []string{"vault.db", "vault.db-wal"} {
		info, err := os.Stat(strings.TrimSuffix(v.Path(), "vault.db") + name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Sample{Series: NowBytes, Labels: []string{name}, Value: float64(info.Size())})
	}
	return out, nil
}
