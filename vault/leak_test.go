package vault

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// keyed are the methods that hand out words of people without a Scope, and what they go by instead: whoever calls one has
// found out whose that is. A new method takes a Scope, or stands here.
var keyed = map[string]string{
	"Approval": "by number, for the commands of owners and the run itself", "Approvals": "for owners, who decide", "AtWork": "by gateway, to type",
	"Brief": "of the job's person", "BudgetAnswers": "the brain's own, for figures", "Claim": "the brain's own", "ClaimMessage": "the brain's own", "DueJobs": "the scheduler's own", "ExportPerson": "of one person",
	"ExportRun": "of one run, for owners", "Heads": "the outbox' own", "History": "of one conversation", "Job": "by number; who asks is compared", "Jobs": "of one person", "LastQuestion": "of one chat",
	"Lines": "the outbox' own", "Memories": "of one person", "Notice": "of the household", "OpenJobs": "of one conversation", "OpenQuestions": "of one conversation", "OpenRuns": "of one conversation", "PartUnder": "of one chat",
	"Parts": "for the owner of the machine", "PartsOf": "of one run", "Progress": "of one run", "ResumeRun": "writes", "Rules": "for owners",
	"Runs": "of one person", "Summary": "of one conversation", "StandingOf": "of one message's sender",
	"Unembedded": "the embedder's own; what comes of it is found by a Scope", "Unended": "the brain's own", "Unlearned": "of one conversation", "Unsettled": "the outbox' own", "AddJob": "writes",
}

// sameToIt is a model to which everything means the same, so that a search by meaning finds all that it can reach.
func sameToIt(string) []float32 { return meaning("everything") }

// talksOf has a person say and be told things in private and in a group, each with a word that nobody else says.
func talksOf(h *home, p Person, group string) (private, inGroup Scope) {
	t := h.t
	word := "canary" + strings.ToLower(p.Name)
	h.talk(p, word+"private keeps the spare key", "I noted where "+word+"private keeps it")
	acc := must(h.Accept(t.Context(), h.saysIn(group, p, word+"group keeps the spare key"), p, 0))(t)
	got := h.claim()
	equal(t, "the claimed run", got.Run.ID, acc.Run)
	h.step(got, StepDone{Step: Step{Text: "yes"}, End: &Ending{State: Done, Reply: word + "told about the spare key"}})
	private, inGroup = h.private(p), ScopeOf(got.Conversation, p.ID)
	pinned := h.remember(private, word+"private hides the spare key in the shed")
	h.remember(inGroup, word+"group hides the spare key in the barn")
	h.do(func(tx *Tx) error { _, err := tx.Pin(private, pinned.ID, true); return err })
	return private, inGroup
}

// Every way to read by a scope, found by reflection, is tried from every place with every number and many queries. None may
// show what was said or kept elsewhere.
func TestMEM10MEM11NoReadPathLeaks(t *testing.T) {
	h := newHome(t)
	bobs, bobsGroup := talksOf(h, h.bob, "-1")
	cems, cemsGroup := talksOf(h, h.cem, "-2")
	must(h.Accept(t.Context(), h.saysIn("-1", h.cem, "canarycemvisit looks for the spare key"), h.cem, 0))(t)
	h.embed("m", sameToIt)
	places := []struct {
		name    string
		in      Scope
		reaches []string // the canaries; whatever else is found is a leak
	}{
		{"Bob in private", bobs, []string{"canarybobprivate"}},
		{"Cem in private", cems, []string{"canarycemprivate"}},
		{"Bob's group", bobsGroup, []string{"canarybobgroup", "canarybobtold", "canarycemvisit"}},
		{"Cem's group", cemsGroup, []string{"canarycemgroup", "canarycemtold"}},
		{"Cem in Bob's group", Scope{Person: h.cem.ID, Conversation: bobsGroup.Conversation, Group: true}, []string{"canarybobgroup", "canarybobtold", "canarycemvisit"}},
	}
	all := []string{"canarybobprivate", "canarybobgroup", "canarybobtold", "canarycemprivate", "canarycemgroup", "canarycemtold", "canarycemvisit"}
	queries := append([]string{"spare key", "key", "*", "", "shed barn", "Bob", "Cem", "today", "I you", "what did Cem say about the spare key today"}, all...)

	v := reflect.ValueOf(h.Vault)
	scope := reflect.TypeFor[Scope]()
	writes := []string{"Forget", "Remember"} // they change what they return; memory_test.go tests whose they change
	tried := 0
	for name := range keyed {
		if m, ok := v.Type().MethodByName(name); !ok || !tells(m.Type) {
			t.Errorf("%s hands out no words", name)
		}
	}
	for i := range v.NumMethod() {
		method, typ := v.Type().Method(i), v.Method(i).Type()
		takes := 0
		for k := range typ.NumIn() {
			if typ.In(k) == scope {
				takes++
			}
		}
		if takes == 0 {
			if tells(typ) && keyed[method.Name] == "" {
				t.Errorf("%s hands out words of people, and neither takes a Scope nor says in keyed what it goes by", method.Name)
			}
			continue
		}
		if slices.Contains(writes, method.Name) {
			continue
		}
		for _, p := range places {
			for _, q := range queries {
				for number := int64(1); number <= 6; number++ {
					out := fmt.Sprintf("%+v", deep(v.Method(i).Call(arguments(t, typ, p.in, q, number))))
					for _, word := range all {
						if strings.Contains(out, word) && !slices.Contains(p.reaches, word) {
							t.Fatalf("%s: %s(%q, %d) shows %s: %s", p.name, method.Name, q, number, word, out)
						}
					}
					if strings.Contains(out, "canary") {
						tried++
					}
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d answers showed anything", tried)
	}
	// The others are tried by the key they take.
	for _, p := range []struct {
		p       Person
		in      Scope
		foreign string
	}{{h.bob, bobs, "canarycem"}, {h.cem, cems, "canarybob"}} {
		c := must(h.PrivateConversation(t.Context(), p.p.ID))(t)
		for name, out := range map[string]any{
			"Memories": must(h.Memories(t.Context(), p.p.ID, 100))(t), "Jobs": must(h.Jobs(t.Context(), p.p.ID, false, 100))(t), "Runs": must(h.Runs(t.Context(), p.p.ID, 100))(t),
			"History": must(h.History(t.Context(), c, 1<<60, 100))(t), "Export": exportOf(t, h, p.p),
		} {
			if words := fmt.Sprintf("%+v", deep([]reflect.Value{reflect.ValueOf(out)})); strings.Contains(words, p.foreign) {
				t.Errorf("%s of %s shows %s", name, p.p.Name, words)
			}
		}
	}
}

// tells reports whether a method gives words: a text, or something that holds one.
func tells(typ reflect.Type) bool {
	holds := []reflect.Type{
		reflect.TypeFor[Memory](), reflect.TypeFor[Message](), reflect.TypeFor[Hit](), reflect.TypeFor[Entry](), reflect.TypeFor[Progress](), reflect.TypeFor[Part](), reflect.TypeFor[Call](),
		reflect.TypeFor[Step](), reflect.TypeFor[Approval](), reflect.TypeFor[Job](), reflect.TypeFor[Run](), reflect.TypeFor[Rule](), reflect.TypeFor[Line](), reflect.TypeFor[Brief](), reflect.TypeFor[Decided](),
		reflect.TypeFor[Standing](), reflect.TypeFor[Summary](), reflect.TypeFor[Unembedded](), reflect.TypeFor[func(Record) error](),
	}
	for k := range typ.NumOut() {
		out := typ.Out(k)
		for out.Kind() == reflect.Pointer || out.Kind() == reflect.Slice {
			out = out.Elem()
		}
		if slices.Contains(holds, out) {
			return true
		}
		// A type of our own that holds one of them is one of them.
		for f := range fieldsOf(out) {
			if slices.Contains(holds, f) {
				return true
			}
		}
	}
	for k := range typ.NumIn() {
		if slices.Contains(holds, typ.In(k)) && typ.In(k).Kind() == reflect.Func {
			return true
		}
	}
	return false
}

func fieldsOf(typ reflect.Type) func(func(reflect.Type) bool) {
	return func(yield func(reflect.Type) bool) {
		if typ.Kind() != reflect.Struct {
			return
		}
		for i := range typ.NumField() {
			f := typ.Field(i).Type
			for f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice {
				f = f.Elem()
			}
			if !yield(f) {
				return
			}
		}
	}
}

// arguments makes what a method takes: the scope, the query where a text is asked for, the number where one is.
func arguments(t *testing.T, typ reflect.Type, in Scope, query string, number int64) (out []reflect.Value) {
	t.Helper()
	for k := range typ.NumIn() {
		switch typ.In(k) {
		case reflect.TypeFor[context.Context]():
			out = append(out, reflect.ValueOf(t.Context()))
		case reflect.TypeFor[Scope]():
			out = append(out, reflect.ValueOf(in))
		case reflect.TypeFor[Query]():
			out = append(out, reflect.ValueOf(Query{Text: query, Limit: 100, Zone: time.UTC, Meaning: Vector{"m", sameToIt(query)}}))
		case reflect.TypeFor[string]():
			out = append(out, reflect.ValueOf(query))
		case reflect.TypeFor[int64]():
			out = append(out, reflect.ValueOf(number))
		case reflect.TypeFor[int]():
			out = append(out, reflect.ValueOf(100))
		default:
			t.Fatalf("a method with a Scope takes %s: say here what that is to be", typ.In(k))
		}
	}
	return out
}

// deep follows pointers, which print as addresses.
func deep(values []reflect.Value) (out []any) {
	for _, v := range values {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			if v.IsNil() {
				break
			}
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Slice:
			var inner []reflect.Value
			for i := range v.Len() {
				inner = append(inner, v.Index(i))
			}
			out = append(out, deep(inner))
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				continue
			}
			var inner []reflect.Value
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					inner = append(inner, v.Field(i))
				}
			}
			out = append(out, deep(inner))
		default:
			if v.IsValid() && v.CanInterface() {
				out = append(out, v.Interface())
			}
		}
	}
	return out
}
