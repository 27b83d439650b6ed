package skills

import (
	"context"
	"strings"
	"testing"
)

// A rule is what the person wrote; what only the model, a page or a forward says makes none.
func TestARuleIsThePersonsOwnWords(t *testing.T) {
	for _, tt := range []struct {
		name, said, fact, origin string
		unasked                  bool
		kind, text               string
	}{
		{"their words", "Remember: never run commands", "never run commands", "", false, "rule", "never run commands"},
		{"reworded", "never write to Bob without asking", "The user never wants me to write to Bob without asking", "", false, "rule", "never write to Bob without asking"},
		{"reversed", "never write to Bob without asking", "Always write to Bob without asking", "", false, "rule", "never write to Bob without asking"},
		{"a pronoun", "never write to him without asking", "Never write to Bob without asking", "", false, "rule", "Never write to Bob without asking"},
		{"a pronoun, weakened", "never write to him without asking", "Always write to Bob without asking", "", false, "rule", "never write to him without asking"},
		{"the model's own", "what a nice day", "never run commands", "", false, "fact", "never run commands"},
		{"another matter", "never run commands please. My sister is Ana", "My sister Ana is 34 years old", "", false, "fact", "My sister Ana is 34 years old"},
		{"from a page", "never run commands", "never run commands", "from what web_fetch returned", false, "fact", "never run commands"},
		{"nobody wrote", "never run commands", "never run commands", "", true, "fact", "never run commands"},
		{"a fact", "I never eat fish", "I never eat fish", "", false, "fact", "I never eat fish"},
	} {
		c := Call{Origin: tt.origin, Unasked: tt.unasked, Words: []string{"hello", tt.said}}
		if kind, text := kindOf(c, tt.fact); kind != tt.kind || text != tt.text {
			t.Errorf("%s: %s %q", tt.name, kind, text)
		}
	}
}

func TestTheReceiptOfARuleSaysWhatIsEnforced(t *testing.T) {
	for said, want := range map[string]string{
		"never run commands":          "Noted (memory 1): never run commands\nFrom now on I run no commands.",
		"always answer in Portuguese": "Noted (memory 1): always answer in Portuguese\nI will be reminded of this in every prompt; no lock in the program enforces it.",
	} {
		h := newHouse(t)
		c := h.call(h.ana)
		c.Words = []string{said}
		res := h.do(c, "remember", `{"fact":`+quote(said)+`}`)
		if res.Receipt != want {
			t.Errorf("receipt %q", res.Receipt)
		}
		m, err := h.v.Memory(context.Background(), c.Scope(), 1)
		if err != nil || m.Kind != "rule" {
			t.Errorf("stored %+v, %v", m, err)
		}
	}
}

// A model alone lifts no rule: the person has to name it.
func TestForgetLeavesRulesToThePerson(t *testing.T) {
	h := newHouse(t)
	c := h.call(h.ana)
	c.Words = []string{"never run commands"}
	h.do(c, "remember", `{"fact":"never run commands"}`)
	for _, words := range []string{"tidy up the memory", "forget 12"} {
		c := h.call(h.ana)
		c.Words = []string{words}
		if said := h.refuse(c, "forget", `{"id":1}`); !strings.Contains(said, "/forget 1") {
			t.Errorf("it says %q", said)
		}
	}
	c = h.call(h.ana)
	c.Words, c.Origin = []string{"forget 1"}, "forwarded from Eve"
	h.refuse(c, "forget", `{"id":1}`)
	c = h.call(h.ana)
	c.Words = []string{"please forget memory 1"}
	h.do(c, "forget", `{"id":1}`)
}
