package vault

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata anew: only before a schema version is released")

// fill puts at least one row into every table, by the events that do so in life.
func fill(h *home) {
	t, ctx := h.t, h.t.Context()
	h.boot = "a machine" // so that the file does not depend on where it is made
	check(t, h.Quarantine(ctx, "telegram", "bot", "no such update", []byte("{")))
	check(t, h.Stranger(ctx, Inbound{Gateway: "telegram", Account: "bot", Chat: "9", ChatKind: Private, Sender: "9"}, "This is a private assistant."))
	must3(h.NewPairCode(ctx, "Dan", Member))(t)

	p := h.claimed(h.ann, "write to Bob that dinner is at eight")
	h.step(p, StepDone{
		Step: Step{Text: "I will.", Model: "m", TokensIn: 100, TokensOut: 20, USD: 0.01, USDKnown: true}, Park: true,
		Calls: []Call{{Tool: "send", Args: `{"person":"Bob","text":"dinner at eight"}`, Effect: "acts", Ask: &Question{Text: "Send this?", Choices: []string{"approve", "deny", "always"}, About: "message to Bob", Expires: h.clock.now().Add(time.Hour)}}},
	})
	h.do(func(tx *Tx) error { _, err := tx.Decide(1, h.ann, "always"); return err })
	p = h.claim()
	check(t, h.StartCall(ctx, p.Calls[0]))
	done := p.Calls[0]
	done.State, done.Result = Finished, "sent"
	check(t, h.FinishCall(ctx, done))
	check(t, must2(h.SaveContext(ctx, p.Run.ID, "Known: dinner is at eight."))(t))
	p = h.progress(p.Run.ID)
	h.step(p, StepDone{Step: Step{Text: "Done."}, End: &Ending{State: Done, Reply: "Done: I wrote to Bob."}})
	h.send()

	c := must(h.PrivateConversation(ctx, h.ann.ID))(t)
	m, _, err := h.Remember(ctx, Memory{Text: "my sister is allergic to nuts", Source: "message", SourceMessage: 1, SourceRun: p.Run.ID}, ScopeOf(c, h.ann.ID))
	check(t, err)
	old, _, err := h.Remember(ctx, Memory{Text: "my sister eats everything", Source: "command"}, ScopeOf(c, h.ann.ID))
	check(t, err)
	h.do(func(tx *Tx) error {
		if _, err := tx.Pin(ScopeOf(c, h.ann.ID), m.ID, true); err != nil {
			return err
		}
		if _, err := tx.exec(`UPDATE memory SET superseded_by = ? WHERE id = ?`, m.ID, old.ID); err != nil {
			return err
		}
		if err := tx.bury(Memory{Text: "it rained", Person: h.ann.ID, Scope: "person"}); err != nil {
			return err
		}
		_, err := tx.insert(`INSERT INTO summary(conversation_id, from_pos, to_pos, text, model, created) VALUES(?,1,2,'They spoke of dinner.','m',?)`, c.ID, tx.now.UnixMilli())
		return err
	})
	h.embed("m", func(text string) []float32 { return meaning(text)[:64] })
	h.do(func(tx *Tx) error {
		_, err := tx.exec(`UPDATE memory SET text = text WHERE id = ?`, old.ID)
		return err
	})
	job := must(h.AddJob(ctx, Job{Key: "k", Kind: Say, Person: h.ann.ID, Conversation: c.ID, To: Address{"telegram", "bot", "1", ""}, Text: "stretch", Zone: "Europe/Lisbon", Next: h.clock.now().Add(time.Minute)}))(t)
	h.clock.add(time.Minute)
	check(t, h.Fire(ctx, job, Firing{Due: job.Next, Words: "stretch"}))
	h.do(func(tx *Tx) error { return tx.Pause(true) })
}

// must2 and must3 are must for calls that give more.
func must2[A any](_ A, err error) func(testing.TB) error {
	return func(testing.TB) error { return err }
}

func must3[A, B any](a A, b B, err error) func(testing.TB) (A, B) {
	return func(t testing.TB) (A, B) {
		t.Helper()
		check(t, err)
		return a, b
	}
}

// rowAsText writes a row with the names of its columns, but for those that a made-up migration adds.
func rowAsText(s scanner) (string, error) {
	columns, err := s.(*sql.Rows).Columns()
	if err != nil {
		return "", err
	}
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	err = s.Scan(to...)
	var text []string
	for i, v := range values {
		if !strings.HasPrefix(columns[i], "new_") {
			text = append(text, fmt.Sprintf("%s=%v", columns[i], v))
		}
	}
	return strings.Join(text, " "), err
}

// dump gives every row of every table as text, but for what opening a vault changes.
func dump(t *testing.T, path string) map[string][]string {
	t.Helper()
	db := must(sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1"))(t)
	defer closing(t, db)
	tables := must(collect(t.Context(), db, scanString, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('sqlite_sequence', 'message_fts') ORDER BY name`))(t)
	out := map[string][]string{}
	for _, table := range tables {
		lines := must(collect(t.Context(), db, rowAsText, `SELECT * FROM `+table))(t)
		out[table] = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "name=clock ") })
	}
	return out
}

const golden = "testdata/vault-1.db"

// withGolden puts a copy of the golden file into a folder of its own.
func withGolden(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "vault.db"), must(os.ReadFile(golden))(t), 0o600))
	return dir
}

func TestGoldenVaultOpensAndKeepsEveryRow(t *testing.T) {
	if *update {
		h := newHome(t)
		fill(h)
		check(t, removeIfThere(golden))
		check(t, os.MkdirAll(filepath.Dir(golden), 0o755))
		check(t, h.Backup(t.Context(), golden))
	}
	before := dump(t, golden)
	for table, rows := range before {
		if len(rows) == 0 && !strings.Contains(table, "_fts") {
			t.Errorf("the golden vault has no row of %s", table)
		}
	}
	dir := withGolden(t)
	v := must(Open(t.Context(), dir, Options{Now: func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }}))(t)
	check(t, v.Check(t.Context()))
	ann := must(v.PersonBy(t.Context(), "telegram", "1"))(t)
	found := must(v.Recall(t.Context(), Scope{Person: ann.ID}, "allergy", 5))(t)
	if len(found) != 1 || !found[0].Pinned {
		t.Errorf("recall finds %v", found)
	}
	equal(t, "parts", len(must(v.Parts(t.Context(), false, 100))(t)), 4)
	check(t, v.Close())
	if diff := cmp.Diff(before, dump(t, filepath.Join(dir, "vault.db"))); diff != "" {
		t.Error(diff)
	}
}

// A migration that has been released is never changed: what it makes is what the golden file holds.
func TestMigrationsMakeTheGoldenSchema(t *testing.T) {
	schema := func(path string) []string {
		db := must(sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1"))(t)
		defer closing(t, db)
		return must(collect(t.Context(), db, scanString, `SELECT coalesce(sql, name) FROM sqlite_master ORDER BY name`))(t)
	}
	h := newEmpty(t, Options{})
	check(t, h.Close())
	h.Vault = nil
	want := schema(filepath.Join(h.folder, "vault.db"))
	if diff := cmp.Diff(want, schema(golden)); diff != "" {
		t.Errorf("migrations/0001 and %s differ (before its release: go test -update):\n%s", golden, diff)
	}
}

func TestGoldenVaultOfADifferentAgeIsNoNews(t *testing.T) {
	_, err := os.Stat(fmt.Sprintf("testdata/vault-%d.db", len(migrations)))
	if errors.Is(err, os.ErrNotExist) {
		t.Errorf("schema %d has no golden vault", len(migrations))
	}
	check(t, err)
}
