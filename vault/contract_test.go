package vault

import (
	"reflect"
	"strings"
	"testing"
)

// What docs/contract.md promises of each listing, and the row and the type it is made from.
var shapes = []struct {
	table  string
	row    any
	fields string
}{
	{"job", Job{}, "id kind person conversation gateway text spec zone next state last_due last_result created_by_run"},
	{"memory", Memory{}, "id person scope kind text pinned source source_message created updated superseded_by"},
	{"run", Run{}, "id conversation trigger state reason steps calls tokens_in tokens_out usd model queued started ended"},
	{"approval", Approval{}, "id run call kind tool arguments choices state asked decided decided_by choice"},
	{"outbox", Part{}, "id run conversation gateway class state attempts ref text error"},
}

func TestEveryFieldOfTheContractHasAColumnAndAGoField(t *testing.T) {
	h := newEmpty(t, Options{})
	for _, s := range shapes {
		columns := must(collect(t.Context(), h.rdb, scanString, `SELECT name FROM pragma_table_info(?)`, s.table))(t)
		names := " " + strings.Join(columns, " ") + " "
		typ := reflect.TypeOf(s.row)
		for _, field := range strings.Fields(s.fields) {
			if !strings.Contains(names, " "+field+" ") && !strings.Contains(names, " "+field+"_id ") {
				t.Errorf("%s has no column for %s", s.table, field)
			}
			if !hasField(typ, strings.ReplaceAll(field, "_", "")) {
				t.Errorf("%s has no field for %s", typ, field)
			}
		}
	}
}

// hasField looks for a field by name, whatever the case; an address stands for its gateway.
func hasField(typ reflect.Type, name string) bool {
	_, ok := typ.FieldByNameFunc(func(f string) bool { return strings.EqualFold(f, name) })
	if !ok && name == "gateway" {
		_, ok = typ.FieldByName("To")
	}
	return ok
}

func TestStatesOfTheContractAreAccepted(t *testing.T) {
	h := newHome(t)
	fill(h)
	for _, s := range []struct{ column, values string }{
		{"job.state", "waiting firing paused done cancelled failed"},
		{"job.kind", "say do"},
		{"job.missed", "once skip all"},
		{"memory.scope", "person conversation household"},
		{"memory.kind", "fact preference person place rule"},
		{"memory.source", "message command extracted"},
		{"run.state", "queued running waiting done failed stopped"},
		{"run.trigger", "message job system"},
		{"approval.kind", "call unknown budget cloud"},
		{"approval.state", "open approved denied answered expired"},
		{"outbox.class", "answer reminder message notice progress question"},
		{"outbox.state", "waiting sending sent unknown failed dropped"},
		{"call.effect", "reads sets acts"},
		{"person.role", "owner member"},
	} {
		table, column, _ := strings.Cut(s.column, ".")
		set := func(value string) error {
			return h.Do(t.Context(), "test", func(tx *Tx) error {
				_, err := tx.exec(`UPDATE `+table+` SET `+column+` = ?`, value)
				return err
			})
		}
		for _, value := range strings.Fields(s.values) {
			if err := set(value); err != nil {
				t.Errorf("%s = %s: %v", s.column, value, err)
			}
		}
		if set("nonsense") == nil {
			t.Errorf("%s takes nonsense", s.column)
		}
	}
}
