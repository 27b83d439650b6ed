package vault

import (
	"context"
	"slices"
	"strings"
)

// What an order does to the tools it speaks of. It only ever tightens what the settings allow.
const (
	OrderAsk  = "ask"  // an owner is asked each time, whatever was answered with always
	OrderDeny = "deny" // it is refused
	OrderOff  = "off"  // nobody sees the tool
)

// Order is what of a standing rule the program enforces. It holds none of the rule's words, so it can be shown anywhere.
type Order struct {
	Memory int64 // the rule
	Do     string
	Tools  []string
	People []string // the names of those it speaks of, of a tool that has a person; nil = everybody
	Vague  bool     // it speaks of somebody who is nobody known here, so it holds for everybody
	to     string   // whom it speaks of, as it was written
}

// Binds reports whether an order speaks of a use of a tool. person is the name in its arguments, "" if it has none.
func (o Order) Binds(tool, person string) bool {
	if !slices.Contains(o.Tools, tool) {
		return false
	}
	return o.People == nil || slices.ContainsFunc(o.People, func(name string) bool { return strings.EqualFold(strings.TrimSpace(person), name) })
}

// among finds who is meant. Somebody who cannot be found might be anybody: then each use is asked about.
func (o Order) among(people []Person) Order {
	if o.to == "" {
		return o
	}
	want := orderWords(o.to)
	for _, p := range people {
		name := orderWords(p.Name)
		if !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(name, w) }) {
			o.People = append(o.People, p.Name)
		}
	}
	if o.People == nil {
		o.Vague, o.Do = true, OrderAsk
	}
	return o
}

// Says tells in one clause what an order does: "I ask before each message to Bob".
func (o Order) Says() string {
	whom := "anybody"
	if o.People != nil {
		whom = strings.Join(o.People, " and ")
	}
	says, ask := map[string][2]string{
		"send":        {"I ask before each message to " + whom, "I send no message to " + whom},
		"run_command": {"I ask before each command", "I run no commands"},
		"write_file":  {"I ask before each file that I write", "I write no files"},
		"web_fetch":   {"I ask before each search of the web and each page of it", "I do not look at the web"},
	}[o.Tools[0]], o.Do == OrderAsk
	if ask {
		return says[0]
	}
	return says[1]
}

// OrderNote tells a person, in one sentence, what becomes of a memory that is a rule; "" for any other. None of its words
// stand in it, since these must go when it is forgotten.
func OrderNote(m Memory, people []Person) string {
	if !m.rules() {
		return ""
	}
	var says []string
	vague := false
	for _, o := range OrdersOf(m.Text) {
		o = o.among(people)
		if clause := o.Says(); !slices.Contains(says, clause) {
			says = append(says, clause)
		}
		vague = vague || o.Vague
	}
	switch {
	case len(says) == 0:
		return "I will be reminded of this in every prompt; no lock in the program enforces it."
	case vague:
		return "Nobody I know is called so, and therefore from now on " + strings.Join(says, ", and ") + "."
	}
	return "From now on " + strings.Join(says, ", and ") + "."
}

// rules reports whether a memory is a standing rule: a person's own words.
func (m Memory) rules() bool { return m.Kind == "rule" && m.Origin == "" && m.Source != "extracted" }

// Orders gives what of the standing rules is enforced in the runs of a scope: those of its person, wherever they write, of
// its conversation, and of the household. All of them are read: one left out would open what somebody shut.
func (v *Vault) Orders(ctx context.Context, in Scope) ([]Order, error) {
	found, err := collect(ctx, v.rdb, scanMemory, `SELECT `+prefixed(memoryColumns)+` FROM memory m WHERE m.kind = 'rule' AND m.superseded_by IS NULL
		AND (m.scope = 'household' OR m.scope = 'person' AND m.person_id = ? OR m.scope = 'conversation' AND m.conversation_id = ?) ORDER BY m.id`, in.Person, in.Conversation)
	if err != nil {
		return nil, err
	}
	var out []Order
	for _, m := range found {
		if !m.rules() {
			continue
		}
		for _, o := range OrdersOf(m.Text) {
			o.Memory = m.ID
			out = append(out, o)
		}
	}
	if !slices.ContainsFunc(out, func(o Order) bool { return o.to != "" }) {
		return out, nil
	}
	people, err := v.People(ctx)
	for i, o := range out {
		out[i] = o.among(people)
	}
	return out, err
}
