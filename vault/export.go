package vault

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Record is one row of an export. Kind is the table's name; a column that ends in _id names the row of another kind and
// loses that ending.
type Record struct {
	Kind   string
	Fields []Field
}

// Field is one column. Value is nil, bool, int64, float64, string, []byte, Document, or time.Time in UTC. An empty text is
// nil, save in the column text. A column that names a person holds the name.
type Field struct {
	Name  string
	Value any
}

// Document is a text that is JSON, unless a person had words in it forgotten.
type Document string

// exported says which rows of a table are a person's, and which belong to the record of a run: ?1 is the person or the run,
// t the table. Columns carry a + so that SQLite walks the table in the order of its key, page by page, and sorts nothing.
type exported struct{ table, person, run string }

const (
	ownTalk = ` IN (SELECT c.id FROM conversation c WHERE c.kind = 'private' AND c.person_id = ?1)`
	ownRun  = `EXISTS (SELECT 1 FROM run r WHERE r.id = t.run_id AND (r.person_id = ?1 OR r.conversation_id` + ownTalk + `))`
	ownJob  = `EXISTS (SELECT 1 FROM job j WHERE j.id = t.job_id AND (j.person_id = ?1 OR j.conversation_id` + ownTalk + `))`
	talksIn = ` IN (SELECT c.id FROM conversation c WHERE c.person_id = ?1 OR EXISTS (SELECT 1 FROM message m WHERE m.conversation_id = c.id AND m.person_id = ?1))`
)

// exports are the tables that hold something of a person, in the order in which they are written. All columns of them are
// exported, save those of unexported. In a group what a person said and what was answered is theirs, and nothing else.
var exports = []exported{
	{"person", `t.id = ?1`, ``},
	{"identity", `t.person_id = ?1`, ``},
	{"pair_code", `t.person = (SELECT name FROM person WHERE id = ?1) COLLATE NOCASE`, ``},
	{"conversation", `t.id` + talksIn, `t.id = (SELECT conversation_id FROM run WHERE id = ?1)`},
	{"chat", `+t.conversation_id` + talksIn, ``},
	{"run", `+t.person_id = ?1 OR +t.conversation_id` + ownTalk, `t.id = ?1`},
	{"message", `+t.person_id = ?1 OR +t.conversation_id` + ownTalk + ` OR ` + ownRun, `t.run_id = ?1`},
	{"step", ownRun, `t.run_id = ?1`},
	{"call", ownRun, `t.run_id = ?1`},
	{"spend", `t.person_id = ?1 OR ` + ownRun, `t.run_id = ?1`},
	{"approval", `+t.person_id = ?1 OR +t.decided_by = ?1 OR ` + ownRun, `t.run_id = ?1`},
	{"rule", `t.person_id = ?1 OR t.created_by = ?1`, `EXISTS (SELECT 1 FROM approval a WHERE a.id = t.approval_id AND a.run_id = ?1)`},
	{"outbox", `+t.conversation_id` + ownTalk + ` OR ` + ownRun + ` OR ` + ownJob + ` OR EXISTS (SELECT 1 FROM chat h WHERE h.gateway = t.gateway AND h.account = t.account AND h.chat = t.chat AND h.thread = t.thread AND h.conversation_id` + ownTalk + `)
		OR EXISTS (SELECT 1 FROM identity i WHERE i.gateway = t.gateway AND i.ext = t.chat AND i.person_id = ?1) OR t.gateway = 'terminal' AND t.chat = CAST(?1 AS TEXT)`, `t.run_id = ?1`},
	{"job", `+t.person_id = ?1 OR +t.conversation_id` + ownTalk, `+t.created_by_run = ?1`},
	{"fire", ownJob, `+t.run_id = ?1`},
	{"memory", `+t.person_id = ?1 OR +t.conversation_id` + ownTalk, `+t.source_run = ?1`},
	{"summary", `+t.conversation_id` + ownTalk, ``},
}

// unexported columns: a code that lets somebody in, and copies of the text that only serve to find it.
var unexported = map[string][]string{"pair_code": {"code"}, "memory": {"gist", "norm"}}

// What the columns hold that SQLite knows as numbers and texts only.
var (
	instantColumns = []string{
		"active", "asked", "at", "burst_end", "changed", "claimed", "created", "decided", "dropped", "due", "ended", "expires", "gone", "last_due", "mentioned", "next", "next_try",
		"noticed", "queued", "ready_at", "received", "sent", "started", "told", "updated", "used",
	}
	truthColumns    = []string{"edited", "marked", "pinned"}
	documentColumns = []string{"args", "arguments", "buttons", "choices", "entities"}
	personColumnsIn = []string{"created_by", "decided_by", "person_id"}
)

// exportPage is how many rows are in memory at a time.
const exportPage = 200

// PersonEver gives a person by name, also one that was removed. ErrNotFound.
func (v *Vault) PersonEver(ctx context.Context, name string) (Person, error) {
	return one(ctx, v.rdb, scanPerson, `SELECT `+personColumns+` FROM person WHERE name = ?`, strings.TrimSpace(name))
}

// ExportPerson hands over every row that is a person's, table by table. It reads page by page, so that whoever takes the
// lines slowly holds up nobody: what is written meanwhile may or may not be among them.
func (v *Vault) ExportPerson(ctx context.Context, person int64, take func(Record) error) error {
	return v.export(ctx, person, func(e exported) string { return e.person }, take)
}

// ExportRun hands over every row of the record of a run. ErrNotFound.
func (v *Vault) ExportRun(ctx context.Context, run int64, take func(Record) error) error {
	if _, err := one(ctx, v.rdb, scanInt, `SELECT id FROM run WHERE id = ?`, run); err != nil {
		return err
	}
	return v.export(ctx, run, func(e exported) string { return e.run }, take)
}

func (v *Vault) export(ctx context.Context, of int64, which func(exported) string, take func(Record) error) error {
	type named struct {
		id   int64
		name string
	}
	people, err := collect(ctx, v.rdb, func(s scanner) (n named, err error) { err = s.Scan(&n.id, &n.name); return n, err }, `SELECT id, name FROM person`)
	if err != nil {
		return err
	}
	names := map[int64]string{}
	for _, p := range people {
		names[p.id] = p.name
	}
	for _, e := range exports {
		if which(e) == "" {
			continue
		}
		if err := v.exportTable(ctx, e.table, which(e), of, names, take); err != nil {
			return fmt.Errorf("export %s: %w", e.table, err)
		}
	}
	return nil
}

// column is one of a table, and its place in the primary key; 0 = not part of it.
type column struct {
	name string
	key  int
}

func columnsOf(ctx context.Context, q querier, table string) ([]column, error) {
	return collect(ctx, q, func(s scanner) (c column, err error) { err = s.Scan(&c.name, &c.key); return c, err }, `SELECT name, pk FROM pragma_table_info(?) ORDER BY cid`, table)
}

func (v *Vault) exportTable(ctx context.Context, table, where string, of int64, names map[int64]string, take func(Record) error) error {
	columns, err := columnsOf(ctx, v.rdb, table)
	if err != nil {
		return err
	}
	var all []string
	keys := make([]int, 0, len(columns)) // where the key's columns stand, in the key's order
	for n := 1; n <= len(columns); n++ {
		if i := slices.IndexFunc(columns, func(c column) bool { return c.key == n }); i >= 0 {
			keys = append(keys, i)
		}
	}
	for _, c := range columns {
		all = append(all, "t."+c.name)
	}
	var order, marks []string
	for i, k := range keys {
		order, marks = append(order, all[k]), append(marks, fmt.Sprintf("?%d", i+2))
	}
	query := `SELECT ` + strings.Join(all, ", ") + ` FROM ` + table + ` t WHERE (` + where + `)`
	end := ` ORDER BY ` + strings.Join(order, ", ") + fmt.Sprintf(` LIMIT %d`, exportPage)
	args := []any{of}
	for {
		page, err := collect(ctx, v.rdb.slowly(), func(s scanner) ([]any, error) { return scanAll(s, len(columns)) }, query+end, args...)
		if err != nil {
			return err
		}
		for _, row := range page {
			if err := take(lineOf(table, columns, row, names)); err != nil {
				return err
			}
		}
		if len(page) < exportPage {
			return nil
		}
		if len(args) == 1 {
			end = ` AND (` + strings.Join(order, ", ") + `) > (` + strings.Join(marks, ", ") + `)` + end
		}
		args = args[:1]
		for _, k := range keys {
			args = append(args, page[len(page)-1][k])
		}
	}
}

func scanAll(s scanner, n int) ([]any, error) {
	row, to := make([]any, n), make([]any, n)
	for i := range row {
		to[i] = &row[i]
	}
	if err := s.Scan(to...); err != nil {
		return nil, err
	}
	return row, nil
}

func lineOf(table string, columns []column, row []any, names map[int64]string) Record {
	line := Record{Kind: table}
	for i, c := range columns {
		if slices.Contains(unexported[table], c.name) {
			continue
		}
		name := strings.TrimSuffix(c.name, "_id")
		if c.name == "worked" {
			name = "worked_ms"
		}
		line.Fields = append(line.Fields, Field{name, valueOf(c.name, row[i], names)})
	}
	return line
}

func valueOf(column string, value any, names map[int64]string) any {
	switch n := value.(type) {
	case string:
		if n == "" && column != "text" {
			return nil
		}
		if slices.Contains(documentColumns, column) {
			return Document(n)
		}
	case int64:
		switch {
		case slices.Contains(instantColumns, column):
			if n == 0 {
				return nil
			}
			return time.UnixMilli(n).UTC()
		case slices.Contains(truthColumns, column):
			return n != 0
		case slices.Contains(personColumnsIn, column):
			if name, ok := names[n]; ok {
				return name
			}
		}
	}
	return value
}

// ExportedKinds are the kinds of lines there can be, in the order in which they are written.
func (v *Vault) ExportedKinds() []string {
	kinds := make([]string, len(exports))
	for i, e := range exports {
		kinds[i] = e.table
	}
	return kinds
}
