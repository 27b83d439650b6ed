package brain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"hearth/brain"
	"hearth/skills"
	"hearth/vault"
)

// The first request of a conversation, as it goes over each wire, in characters: all tools of the program, full and lean.
func TestTheFirstRequestIsSmall(t *testing.T) {
	for _, wire := range wires {
		for _, tt := range []struct{ context, limit, fixed int }{{8192, 10_000, 2500}, {4096, 5000, 1200}, {2048, 5000, 1200}} {
			synctest.Test(t, func(t *testing.T) {
				s, m := newServer(t, wire, reply{text: "Hello."})
				h := newHouse(t, brain.Settings{Model: "m", Backends: map[string]brain.Backend{"m": {Name: "m", Model: m, Context: tt.context, Local: true}}}, builtin)
				if got := h.reply(h.say("hello")); got != "Hello." {
					t.Fatalf("the answer is %q", got)
				}
				var doc struct{ Messages, System, Tools json.RawMessage }
				if err := json.Unmarshal([]byte(s.asked[0].text), &doc); err != nil {
					t.Fatal(err)
				}
				n := len(doc.Messages) + len(doc.System) + len(doc.Tools)
				if n > tt.limit {
					t.Errorf("%s with %d tokens: the first request has %d characters, the limit is %d", wire, tt.context, n, tt.limit)
				}
				// English text and JSON have about four characters a token.
				if fixed := (len(doc.Tools) + len(system(doc.Messages, doc.System))) / 4; fixed > tt.fixed {
					t.Errorf("%s with %d tokens: the fixed part takes about %d tokens, the limit is %d", wire, tt.context, fixed, tt.fixed)
				}
				t.Logf("%s with %d tokens: %d characters", wire, tt.context, n)
				for _, name := range []string{"remind", "follow_up", "cancel_job", "remember", "recall", "write_file"} {
					if !strings.Contains(string(doc.Tools), `"`+name+`"`) {
						t.Errorf("%s with %d tokens: no tool %s", wire, tt.context, name)
					}
				}
			})
		}
	}
}

// The lean profile holds the same tools with the same arguments, told in fewer words, and is the same for every request.
func TestTheLeanProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests []brain.Request
		m := asking(func(req brain.Request) brain.Response {
			requests = append(requests, req)
			return brain.Response{Text: "ok", In: 1, Out: 1}
		})
		b := brain.Backend{Name: "m", Model: m, Context: 4097, Local: true}
		s := brain.Settings{Model: "m", Backends: map[string]brain.Backend{"m": b}, Persona: strings.Repeat("be dry ", 100)}
		h := newHouse(t, s, builtin)
		h.say("full")
		b.Context = 4096
		s.Backends = map[string]brain.Backend{"m": b}
		h.brain.Configure(s)
		h.say("lean")
		h.say("lean again")
		full, lean, again := requests[0], requests[1], requests[2]
		if len(lean.Tools) != len(full.Tools) || len(lean.System)*2 > len(full.System)+100 {
			t.Errorf("lean has %d tools and %d characters, full %d and %d", len(lean.Tools), len(lean.System), len(full.Tools), len(full.System))
		}
		for i, tool := range lean.Tools {
			type arguments struct {
				Properties map[string]struct{ Type, Description string }
				Required   []string
			}
			var a, b arguments
			if json.Unmarshal(tool.Schema, &a) != nil || json.Unmarshal(full.Tools[i].Schema, &b) != nil || len(a.Properties) != len(b.Properties) || len(a.Required) != len(b.Required) {
				t.Errorf("%s: %s instead of %s", tool.Name, tool.Schema, full.Tools[i].Schema)
			}
			for name, p := range a.Properties {
				if p.Type != b.Properties[name].Type || p.Description != "" {
					t.Errorf("%s: %s is %+v", tool.Name, name, p)
				}
			}
			if tool.About == "" || len(tool.About) > 95 {
				t.Errorf("%s is told as %q", tool.Name, tool.About)
			}
		}
		if lean.System != again.System || string(quoted(lean.Tools)) != quoted(again.Tools) {
			t.Error("two lean requests begin differently")
		}
	})
}

// system is the system text of a request, which Anthropic has apart.
func system(messages, apart json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if len(apart) > 0 || json.Unmarshal(messages, &all) != nil || len(all) == 0 {
		return apart
	}
	return all[0]
}

// builtin are the tools of the program.
func builtin(v *vault.Vault) ([]skills.Tool, error) {
	return skills.Builtin(skills.Deps{Vault: v, Workspace: "/nowhere", Web: skills.Web{SearchURL: "http://127.0.0.1"}})
}
