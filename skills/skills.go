// Package skills is what the agent can do: its built-in tools. Each is a pair of files, NAME.go and NAME.md; the second
// holds what the model and a maintainer read. A tool declares its effect and what happens when nobody knows whether it
// had it; one that does not is refused at start.
package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hearth/vault"
)

// Effect says what a call does to the world.
type Effect string

// The effects. After a crash Reads and Sets are run again with the same key; Acts never without a person's word.
const (
	Reads Effect = "reads" // changes nothing
	Sets  Effect = "sets"  // the same key twice leaves what once leaves
	Acts  Effect = "acts"  // happens again when it is run again
)

// Call is one use of a tool: whose, where, when.
type Call struct {
	Key          string // the same for every repeat of this call
	Run          int64
	Person       vault.Person
	Conversation vault.Conversation
	To           vault.Address // where the run's answer goes
	Now          time.Time     // in Zone
	Said         time.Time     // when the person said what led to this, in Zone; relative words count from here
	Zone         *time.Location
	Message      int64    // the newest message of the run; 0 when none began it
	Origin       string   // whose words are in the run besides the person's own, e.g. "forwarded from Eve"; "" = nobody's
	Job          int64    // the job that began the run; 0 = none did
	Unasked      bool     // nobody wrote: a job or the clock began the run
	Chain        int      // how many wake-ups in a row led to this run
	Words        []string // what the person wrote in this run, oldest first
}

// Scope is which memories the call reaches.
func (c Call) Scope() vault.Scope { return vault.ScopeOf(c.Conversation, c.Person.ID) }

// Result is what came of a call.
type Result struct {
	Text    string // for the model
	Receipt string // for the person, in the program's words; "" when nothing was stored or done
	Silent  bool   // the run may end without a word: a structured decision, never a magic word
}

// Tool is something the model can call.
type Tool struct {
	Name    string
	About   string          // for the model
	Schema  json.RawMessage // JSON Schema of the arguments: one flat object
	Effect  Effect
	Unknown string // what becomes of a call whose outcome nobody knows
	Group   bool   // usable in a group unless the owner says otherwise
	// Always says which uses of the tool an owner allows who answers "always" to this one: "message to Bob". The arguments are
	// canonical. nil = every use.
	Always func(args json.RawMessage) string
	// Catalogue is what more the model is told, about what is installed just now; "" = there is nothing the tool could be
	// used for, so nobody sees it. nil: there is no more to tell.
	Catalogue func() string
	// Run does it. An error is told to the model, so it is a sentence that says what is wrong with the call.
	Run func(ctx context.Context, c Call, args json.RawMessage) (Result, error)
}

// Told gives what the model is told of a tool; false when it does not see it.
func (t Tool) Told() (about string, ok bool) {
	if t.Catalogue == nil {
		return t.About, true
	}
	more := t.Catalogue()
	return t.About + " " + more, more != ""
}

// Set is a number of tools with different names, in a fixed order.
type Set struct{ tools []Tool }

// NewSet checks that every tool declares what it must.
func NewSet(tools ...Tool) (Set, error) {
	var errs []error
	seen := map[string]bool{}
	for _, t := range tools {
		switch {
		case t.Name == "" || seen[t.Name]:
			errs = append(errs, fmt.Errorf("register tool %q: its name is empty or taken", t.Name))
		case t.Effect != Reads && t.Effect != Sets && t.Effect != Acts:
			errs = append(errs, fmt.Errorf("register tool %s: it declares no effect", t.Name))
		case t.Unknown == "":
			errs = append(errs, fmt.Errorf("register tool %s: it does not say what happens when its outcome is unknown", t.Name))
		case t.About == "" || t.Run == nil:
			errs = append(errs, fmt.Errorf("register tool %s: it has no description or nothing to run", t.Name))
		}
		if _, err := parseSchema(t.Schema); err != nil {
			errs = append(errs, fmt.Errorf("register tool %s: %w", t.Name, err))
		}
		seen[t.Name] = true
	}
	return Set{tools: slices.Clone(tools)}, errors.Join(errs...)
}

// All gives the tools in their order.
func (s Set) All() []Tool { return slices.Clone(s.tools) }

// Named finds a tool.
func (s Set) Named(name string) (Tool, bool) {
	for _, t := range s.tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
