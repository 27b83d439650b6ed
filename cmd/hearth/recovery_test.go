package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // fills a vault faster than a life would

	"hearth/vault"
)

// aLife fills the vault of a home with 1,000,000 messages in 500,000 runs and 100,000 memories, and leaves one more run in
// the middle, as a cut would.
func aLife(b *testing.B, h *home) {
	b.Helper()
	h.ok("chat", "-m", "remember that the gate is blue")
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(h.vault(), "vault.db")+"?_journal_mode=OFF&_synchronous=OFF")
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1) // a temporary table is of one connection
	const columns = `conversation_id, person_id, trigger, gateway, account, chat, thread, sender, priority, pos, ready_at, steps, queued, started`
	for _, query := range []string{
		`BEGIN`,
		// The index is filled by functions that only the vault knows; so here it is done by hand, and the triggers come back.
		`CREATE TEMP TABLE made AS SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger' AND tbl_name = 'message'`,
		`DROP TRIGGER message_fts_insert`, `DROP TRIGGER message_fts_delete`, `DROP TRIGGER message_fts_update`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
			INSERT INTO run(` + columns + `, state, ended) SELECT conversation_id, person_id, trigger, gateway, account, chat, thread, sender, priority, 3 * i + 100, 0, 1, i * 1000, i * 1000, 'done', i * 1000
			FROM n, (SELECT * FROM run WHERE id = 1)`,
		`INSERT INTO message(conversation_id, run_id, step, pos, role, person_id, gateway, account, chat, thread, sender, ext, kind, text, sent, received)
			SELECT conversation_id, id, 0, pos, 'user', person_id, gateway, account, chat, thread, sender, 'old' || id, 'text', 'what is in box ' || id || ' of the ' || (id % 977) || ' that stand in the shed?', queued, queued FROM run WHERE id > 1`,
		`INSERT INTO message(conversation_id, run_id, pos, role, gateway, account, chat, thread, sender, ext, kind, text, sent, received)
			SELECT conversation_id, id, pos + 1, 'assistant', gateway, account, chat, thread, '', '', 'text', 'In box ' || id || ' there are ' || (id % 31) || ' apples and a pear, as far as I know.', queued, queued FROM run WHERE id > 1`,
		`INSERT INTO step(run_id, n, kind, text, model, started, ended) SELECT id, 0, 'model', 'words', 'offline', queued, queued FROM run WHERE id > 1`,
		`INSERT INTO outbox(run_id, conversation_id, gateway, account, chat, thread, class, state, text, created)
			SELECT id, conversation_id, gateway, account, chat, thread, 'answer', 'sent', 'In the box there are apples.', queued FROM run WHERE id > 1`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
			INSERT INTO memory(person_id, scope, kind, text, norm, source, created, updated)
			SELECT person_id, 'person', 'fact', t, t, 'command', 0, 0 FROM (SELECT person_id, 'thing ' || i || ' of the ' || (i % 500) || ' lies on shelf ' || (i * 7919 % 2000) AS t FROM n, (SELECT person_id FROM run WHERE id = 1))`,
		`INSERT INTO memory_fts(rowid, tokens) SELECT id, norm FROM memory WHERE id > 1`,
		`UPDATE counter SET value = 2000000 WHERE name = 'pos'`,
		`INSERT INTO run(` + columns + `, state, claimed) SELECT conversation_id, person_id, trigger, gateway, account, chat, thread, sender, priority, 1900000, 0, 0, queued, started, 'running', started FROM run WHERE id = 1`,
		`INSERT INTO message(conversation_id, run_id, pos, role, person_id, gateway, account, chat, thread, sender, ext, kind, text, sent, received)
			SELECT conversation_id, id, pos, 'user', person_id, gateway, account, chat, thread, sender, 'inhand', 'text', 'remember that the cut came now', queued, queued FROM run WHERE state = 'running'`,
		`INSERT INTO message_fts(rowid, tokens, who) SELECT (conversation_id << 40) | id, lower(replace(replace(text, '?', ''), ',', '')), coalesce('p' || person_id, '') FROM message WHERE id > 2 ORDER BY 1`,
		`COMMIT`,
	} {
		if _, err := db.ExecContext(b.Context(), query); err != nil {
			b.Fatalf("%v\n%s", err, query)
		}
	}
	var made []string
	rows, err := db.QueryContext(b.Context(), `SELECT sql FROM made`)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var query string
		if err := rows.Scan(&query); err != nil {
			b.Fatal(err)
		}
		made = append(made, query)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	for _, query := range made {
		if _, err := db.ExecContext(b.Context(), query); err != nil {
			b.Fatalf("%v\n%s", err, query)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	file, err := os.Open(filepath.Join(h.vault(), "vault.db"))
	if err == nil {
		err = errors.Join(file.Sync(), file.Close()) // or the first flush of the daemon would pay for it
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRecovery is the time from the start of the process until a run that a cut left in the middle has its answer, in a
// vault with 1,000,000 messages and 100,000 memories; how long the daemon then looks through the file; and the longest
// answer while it makes a snapshot of it.
func BenchmarkRecovery(b *testing.B) {
	h := newHome(b, "", "").clocked("2026-03-10T08:00:00Z")
	aLife(b, h)
	path := filepath.Join(h.vault(), "vault.db")
	began := time.Now()
	p := h.begin(nil, "run")
	answered := func() bool {
		if !h.ready() {
			return false
		}
		return slices.ContainsFunc(ask(h, viewRuns, query{Limit: 1}), func(r runRow) bool { return r.State == string(vault.Done) && r.ID > 500_000 })
	}
	eventually(b, "the run in the middle is done", answered)
	took := time.Since(began)
	for b.Loop() {
	}
	b.ReportMetric(took.Seconds(), "s-to-work")
	b.ReportMetric(float64(size(b, path)>>20), "MB-vault")
	began = time.Now()
	patiently(b, "it has looked through the file", func() bool { return strings.Contains(p.log.String(), "the vault is sound") })
	b.ReportMetric(time.Since(began).Seconds(), "s-check-beside")

	ana := h.open("Ana")
	worst := func(until func() bool) (longest time.Duration, n int) {
		for ; n < 20 || !until(); n++ {
			began := time.Now()
			ana.ask(fmt.Sprintf("remind me tomorrow at 9 to look at %d", len(ana.all())), fmt.Sprintf("w%d", len(ana.all())))
			longest = max(longest, time.Since(began))
		}
		return longest, n
	}
	calm, _ := worst(func() bool { return true })
	b.ReportMetric(float64(calm.Milliseconds()), "ms-longest-answer")
	h.setClock("2026-03-10T09:00:00Z")
	began = time.Now()
	busy, n := worst(func() bool {
		found, err := vault.Snapshots(h.vault())
		return errors.Join(err) == nil && len(found) == 1 || time.Since(began) > 5*time.Minute
	})
	b.ReportMetric(time.Since(began).Seconds(), "s-snapshot")
	b.ReportMetric(float64(busy.Milliseconds()), "ms-longest-answer-beside-snapshot")
	b.ReportMetric(float64(n), "answers-beside-snapshot")
	b.ReportMetric(0, "ns/op")
	if code := p.term(); code != 0 {
		b.Errorf("exit %d:\n%s", code, p.log)
	}
}

func size(b *testing.B, path string) int64 {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// patiently is eventually for what takes minutes on a slow disk.
func patiently(b *testing.B, what string, is func() bool) {
	b.Helper()
	limit := time.Now().Add(5 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		<-tick.C
		if time.Now().After(limit) {
			b.Fatalf("not within 5 minutes: %s", what)
		}
	}
}
