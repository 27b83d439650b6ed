package vault

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// notAPersons are the tables that no export holds, and why. A new table stands here or in exports.
var notAPersons = map[string]string{
	"counter":     "numbers of the program",
	"quarantine":  "bytes of which nobody knows whose they are; gone after seven days",
	"setting":     "what the household chose, and how far the program has come",
	"stranger":    "ids of people who are not known",
	"tombstone":   "keyed hashes of what was forgotten, which nobody can read",
	"memory_fts":  "the words of memory once more, to find them by",
	"message_fts": "the words of message once more, to find them by",
	"embedding":   "how far the program has come with vectors",
	"vector":      "the words of memory and message once more, as numbers to find them by",
	"vector_due":  "what of these is to be made anew",
}

func exportOf(t testing.TB, h *home, p Person) []Record {
	t.Helper()
	var lines []Record
	check(t, h.ExportPerson(t.Context(), p.ID, func(l Record) error { lines = append(lines, l); return nil }))
	return lines
}

func (l Record) field(name string) any {
	for _, f := range l.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// The schema itself says which tables and columns there are: what is added later is exported, or this fails.
func TestNoTableWithAPersonsDataIsMissingFromAnExport(t *testing.T) {
	h := newHome(t)
	fill(h)
	must3(h.NewPairCode(t.Context(), "ann", Member))(t)
	found := map[string][]Record{}
	for _, l := range exportOf(t, h, h.ann) {
		found[l.Kind] = append(found[l.Kind], l)
	}
	tables := must(collect(t.Context(), h.rdb, scanString, `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`))(t)
	if len(tables) < 20 {
		t.Fatalf("only %d tables: is this the schema?", len(tables))
	}
	for _, table := range tables {
		if strings.HasPrefix(table, "sqlite_") || strings.HasPrefix(table, "memory_fts_") || strings.HasPrefix(table, "message_fts_") {
			continue
		}
		i := slices.IndexFunc(exports, func(e exported) bool { return e.table == table })
		if why := notAPersons[table]; why != "" {
			if i >= 0 {
				t.Errorf("%s is exported, and said not to be: %s", table, why)
			}
			refers := must(collect(t.Context(), h.rdb, scanString, `SELECT "table" FROM pragma_foreign_key_list(?)`, table))(t)
			if len(refers) > 0 {
				t.Errorf("%s refers to %v, so it holds something of a person", table, refers)
			}
			continue
		}
		if i < 0 {
			t.Errorf("%s is neither exported nor said to hold nothing of a person", table)
			continue
		}
		lines := found[table]
		if len(lines) == 0 {
			t.Errorf("nothing of %s is exported, though the vault holds rows of Ann there", table)
			continue
		}
		for _, c := range must(columnsOf(t.Context(), h.rdb, table))(t) {
			name := strings.Replace(strings.TrimSuffix(c.name, "_id"), "worked", "worked_ms", 1)
			there := slices.ContainsFunc(lines[0].Fields, func(f Field) bool { return f.Name == name })
			if there == slices.Contains(unexported[table], c.name) {
				t.Errorf("%s.%s: exported is %v", table, c.name, there)
			}
		}
	}
}

// A number this large is an instant that nobody has turned into one.
func TestInstantsOfAnExportAreInstants(t *testing.T) {
	h := newHome(t)
	fill(h)
	instants := 0
	for _, l := range exportOf(t, h, h.ann) {
		for _, f := range l.Fields {
			switch v := f.Value.(type) {
			case int64:
				if v > 1e11 {
					t.Errorf("%s.%s is %d", l.Kind, f.Name, v)
				}
			case time.Time:
				instants++
				if v.Year() != 2026 {
					t.Errorf("%s.%s is %s", l.Kind, f.Name, v)
				}
			}
		}
	}
	if instants < 20 {
		t.Errorf("only %d instants", instants)
	}
	run := must(oneLine(h, "run"))(t)
	for name, want := range map[string]any{"id": int64(1), "person": "Ann", "state": "done", "usd": nil, "tokens_in": int64(100), "worked_ms": int64(0), "conversation": int64(1), "job": nil, "started": monday} {
		if got := run.field(name); got != want {
			t.Errorf("run.%s is %#v, want %#v", name, got, want)
		}
	}
	asked := must(oneLine(h, "approval"))(t)
	if asked.field("decided_by") != "Ann" || asked.field("choice") != "always" || asked.field("arguments") != Document(`{"person":"Bob","text":"dinner at eight"}`) {
		t.Errorf("the decision is %+v", asked)
	}
}

func oneLine(h *home, kind string) (found Record, err error) {
	for _, l := range exportOf(h.t, h, h.ann) {
		if l.Kind == kind {
			return l, nil
		}
	}
	return found, ErrNotFound
}

// live gives somebody a row in every table that the events of a day fill, in their own chat and in a group, each with the
// person's word in it. It gives the runs.
func live(h *home, p Person, word string) (private, group int64) {
	t, ctx := h.t, h.t.Context()
	for i, in := range []Inbound{h.says(p, word+" says hello"), h.saysIn("-7", p, word+" says hello to all")} {
		must(h.Accept(ctx, in, p, 0))(t)
		got := h.claim()
		h.step(got, StepDone{
			Step: Step{Text: word + " thinks"}, Park: true,
			Calls: []Call{{Tool: "send", Args: fmt.Sprintf(`{"text":%q}`, word), Effect: "acts", Ask: &Question{Text: word + "?", Choices: []string{"approve", "deny"}}}},
		})
		h.do(func(tx *Tx) error {
			_, err := tx.Decide(must(h.Approvals(ctx, true, 1))(t)[0].ID, h.ann, "deny")
			return err
		})
		got = h.claim()
		h.step(got, StepDone{Step: Step{Text: "end"}, End: &Ending{State: Done, Reply: word + " has an answer"}})
		if i == 0 {
			private = got.Run.ID
		} else {
			group = got.Run.ID
		}
		_, _, err := h.Remember(ctx, Memory{Text: word + " likes tea", Source: "command", SourceRun: got.Run.ID}, ScopeOf(got.Conversation, p.ID))
		check(t, err)
	}
	c := must(h.PrivateConversation(ctx, p.ID))(t)
	job := must(h.AddJob(ctx, Job{Key: word, Kind: Say, Person: p.ID, Conversation: c.ID, To: Address{"telegram", "bot", fmt.Sprint(p.ID), ""}, Text: word + " stretches", Zone: "UTC", Next: h.clock.now()}))(t)
	check(t, h.Fire(ctx, job, Firing{Due: job.Next, Words: word + " stretches"}))
	must(h.Post(ctx, Part{To: Address{"telegram", "bot", fmt.Sprint(p.ID), ""}, Class: Notice, Text: word + " is told"}))(t)
	return private, group
}

// MEM-10: own things only, also in exports.
func TestMEM10AnExportHoldsNothingOfOthers(t *testing.T) {
	h := newHome(t)
	_, bobs := live(h, h.bob, "bobword")
	_, cems := live(h, h.cem, "cemword")
	for _, c := range []struct {
		p            Person
		own, foreign string
	}{{h.bob, "bobword", "cemword"}, {h.cem, "cemword", "bobword"}} {
		kinds := map[string]int{}
		for _, l := range exportOf(t, h, c.p) {
			words := fmt.Sprintf("%+v", l)
			if strings.Contains(words, c.foreign) || strings.Contains(words, "Bob") && c.p.Name == "Cem" {
				t.Errorf("the export of %s holds %s", c.p.Name, words)
			}
			if strings.Contains(words, c.own) {
				kinds[l.Kind]++
			}
		}
		// Two messages and their answers, and the reminder; two questions, two answers, the reminder and the notice.
		for kind, n := range map[string]int{"message": 5, "step": 2, "call": 2, "approval": 2, "job": 1, "memory": 2, "outbox": 6} {
			if kinds[kind] != n {
				t.Errorf("the export of %s holds %d of %s, want %d", c.p.Name, kinds[kind], kind, n)
			}
		}
	}
	// Who was asked has the question in the own export.
	if n := len(slices.DeleteFunc(exportOf(t, h, h.ann), func(l Record) bool { return l.Kind != "approval" })); n != 4 {
		t.Errorf("the export of Ann holds %d questions", n)
	}

	kinds := map[string]int{}
	check(t, h.ExportRun(t.Context(), bobs, func(l Record) error {
		kinds[l.Kind]++
		if strings.Contains(fmt.Sprintf("%+v", l), "cemword") {
			t.Errorf("the record of run %d holds %+v", bobs, l)
		}
		return nil
	}))
	if want := map[string]int{"run": 1, "conversation": 1, "message": 2, "step": 2, "call": 1, "approval": 1, "outbox": 2, "memory": 1, "spend": 2}; fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("the record of a run has %v, want %v", kinds, want)
	}
	wantErr(t, h.ExportRun(t.Context(), cems+100, func(Record) error { return nil }), ErrNotFound)
}

func TestWhoWasRemovedCanStillBeExported(t *testing.T) {
	h := newHome(t)
	live(h, h.bob, "bobword")
	check(t, h.RemovePerson(t.Context(), "Bob"))
	p := must(h.PersonEver(t.Context(), " bob "))(t)
	if lines := exportOf(t, h, p); len(lines) < 20 || lines[0].field("gone") != monday {
		t.Errorf("%d lines, the first is %+v", len(lines), lines[0])
	}
}

// Pages follow each other without a gap, a repeat or a sort, and what is in memory does not grow with the vault.
func TestAnExportOfManyMessagesIsAStream(t *testing.T) {
	h := newHome(t)
	private, _ := live(h, h.bob, "bobword")
	const more = 60_000
	h.do(func(tx *Tx) error {
		for i, query := range []string{
			`INSERT INTO step(run_id, n, kind, text, started, ended) SELECT m.run_id, 10 + n, 'model', 'more', 1, 1`,
			`INSERT INTO message(conversation_id, run_id, pos, role, person_id, gateway, account, chat, thread, sender, ext, kind, text, sent, received)
				SELECT m.conversation_id, m.run_id, 1000 + n, m.role, m.person_id, m.gateway, m.account, m.chat, '', m.sender, 'many' || n, 'text', printf('%%.*c', 400, 'x'), m.sent, m.received`,
		} {
			if _, err := tx.exec(`WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < ?2) `+strings.ReplaceAll(query, "%%", "%")+` FROM up, message m WHERE m.run_id = ?1 AND m.role = 'user'`, private, more/(50-49*i)); err != nil {
				return err
			}
		}
		return nil
	})
	p := watched(h)
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before, most uint64
	count, seen := 0, map[string]int{}
	last := int64(0)
	check(t, h.ExportPerson(t.Context(), h.bob.ID, func(l Record) error {
		seen[l.Kind]++
		if l.Kind != "message" {
			return nil
		}
		number := l.field("id").(int64)
		if number <= last {
			t.Fatalf("message %d after %d", number, last)
		}
		last = number
		if count++; count == 1000 {
			before = held()
		} else if count%20_000 == 0 {
			most = max(most, held())
		}
		return nil
	}))
	if seen["message"] != more+5 || seen["step"] != more/50+4 {
		t.Errorf("%d messages, %d steps", seen["message"], seen["step"])
	}
	if most > before+2<<20 {
		t.Errorf("the heap grows from %d to %d bytes", before, most)
	}
	sorts := regexp.MustCompile(`TEMP B-TREE`)
	read := 0
	for query, plan := range p.plans {
		if !strings.Contains(query, " LIMIT 200") {
			continue
		}
		read++
		if sorts.MatchString(strings.Join(plan, "\n")) {
			t.Errorf("%s\n%s", query, strings.Join(plan, "\n"))
		}
	}
	if read < len(exports) {
		t.Errorf("only %d statements were seen", read)
	}
}
