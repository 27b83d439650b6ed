package brain_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
	"hearth/vault"
)

var wires = []string{"ollama", "openai", "anthropic"}

// talk is a scripted conversation: what is said, and what the server answers to that, request by request.
var talk = []struct {
	say     string
	replies []reply
}{
	{"a tool", []reply{{calls: []string{"look", `{"text":"x"}`}}, {text: "Looked at it."}}},
	{"two at once", []reply{{text: "One moment.", calls: []string{"look", `{"text":"a"}`, "note", `{"text":"b"}`}}, {text: "Both."}}},
	{"the same twice over", []reply{{calls: []string{"look", `{"text":"a"}`, "look", `{"text":"b"}`}}, {text: "Both again."}}},
	{"a tool that fails", []reply{{calls: []string{"look", `{"text":"fail"}`}}, {text: "It did not work."}}},
	{"broken arguments", []reply{{calls: []string{"note", `{"text": `}}, {calls: []string{"note", `{"text":["a"]}`}}, {calls: []string{"note", `{"text":"good"}`}}, {text: "Written."}}},
	{"an unknown tool", []reply{{calls: []string{"teleport", `{"to":"home"}`}}, {text: "That I cannot do."}}},
	{"a call as text", []reply{{text: "<tool_call>\n{\"name\": \"note\", \"arguments\": {\"text\": \"hens\"}}\n</tool_call>"}, {text: "Noted."}}},
	{"thinking", []reply{{thinking: "They want tea.", text: "Tea."}}},
	{"thinking in the words", []reply{{text: "<think>They want tea.</think>\n\nTea again."}}},
	{"nothing", []reply{{out: 1}, {text: "Here I am."}}},
	{"nothing at all", []reply{{out: 1}, {text: " \n", out: 1}}},
	{"too many requests", []reply{{status: 429, after: "20", body: `{"error":{"type":"rate_limit_error","message":"slow down"}}`}, {text: "After the wait."}}},
	{"a failure", []reply{{status: 500, body: `{"error":{"type":"api_error","message":"boom"}}`}, {text: "After the failure."}}},
	{"a cut", []reply{{text: "Half an answer", cut: true}, {text: "A whole answer."}}},
	{"a cut in a call", []reply{{calls: []string{"note", `{"text":"lost"}`}, cut: true}, {text: "No call."}}},
	{"a hang", []reply{{hang: true}, {text: "After the hang."}}},
	{"too long", []reply{{status: 400, body: `{"error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens exceed the maximum context length of 8192 tokens"}}`}, {text: "Shorter."}}},
	{"no key", []reply{{status: 401, body: `{"error":{"type":"authentication_error","message":"invalid x-api-key"}}`}}},
}

// outcome is what stands in the vault of a run, without what only the server's kind decides.
func outcome(h *house, p vault.Progress) []string {
	out := []string{fmt.Sprintf("%s: %d in, %d out, $%.6f", p.Run.State, p.Run.TokensIn, p.Run.TokensOut, p.Run.USD)}
	for _, s := range p.Steps {
		out = append(out, s.Kind+" "+s.Text)
		for _, c := range p.Calls {
			if c.Step == s.N {
				out = append(out, fmt.Sprintf("call %s %s %s: %s", c.Tool, c.Args, c.State, c.Result))
			}
		}
	}
	if reply := h.reply(p); p.Run.State == vault.Done {
		out = append(out, "says "+reply)
	} else if reply == "" {
		out = append(out, "says nothing")
	}
	return out
}

// The same conversation through every wire format leaves the same in the vault.
func TestOneConversationOverThreeWires(t *testing.T) {
	all := map[string][][]string{}
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var replies []reply
				for _, turn := range talk {
					replies = append(replies, turn.replies...)
				}
				s, m := newServer(t, wire, replies...)
				h := newHouse(t, brain.Settings{Model: "m", Backends: map[string]brain.Backend{"m": {Name: "m", Model: m, Context: 8192, Local: true, Price: &brain.Price{Input: 3, Output: 15, CacheRead: 3, CacheWrite: 3}}}})
				n := 0
				for _, turn := range talk {
					all[wire] = append(all[wire], append([]string{turn.say}, outcome(h, h.say(turn.say))...))
					if n += len(turn.replies); len(s.asked) != n {
						t.Fatalf("%s: after %q the server was asked %d times, not %d", wire, turn.say, len(s.asked), n)
					}
				}
				for _, one := range s.asked {
					if strings.Contains(one.text, "They want tea") {
						t.Fatal("thoughts come back in a prompt")
					}
				}
			})
		})
	}
	for _, wire := range wires[1:] {
		if diff := cmp.Diff(all[wires[0]], all[wire]); diff != "" {
			t.Errorf("%s and %s (-+): %s", wires[0], wire, diff)
		}
	}
	want := map[string][]string{
		"a tool":           {"done: 200 in, 20 out, $0.000900", "model ", `call look {"text":"x"} done: look did {"text":"x"}`, "model Looked at it.", "says Looked at it."},
		"broken arguments": {"done: 400 in, 40 out, $0.001800", "model ", `call note {} failed: Not done: the arguments of note are not complete JSON; expected {"text": string}.`, "model ", "call note {} failed: Not done: argument text of note must be of type string.", "model ", `call note {"text":"good"} done: note did {"text":"good"}`, "model Written.", "says Written."},
		"a cut in a call":  {"done: 100 in, 10 out, $0.000450", "model No call.", "says No call."},
		"thinking":         {"done: 100 in, 10 out, $0.000450", "model Tea.", "says Tea."},
		"nothing at all":   {"failed: 200 in, 2 out, $0.000630", "model ", "note Your reply was empty. Answer the person in one or two sentences.", "model "},
		"too long":         {"done: 100 in, 10 out, $0.000450", "model Shorter.", "says Shorter."},
		"no key":           {"failed: 0 in, 0 out, $0.000000"},
	}
	for _, got := range all[wires[0]] {
		if one, ok := want[got[0]]; ok {
			if diff := cmp.Diff(one, got[1:]); diff != "" {
				t.Errorf("%s: %s", got[0], diff)
			}
		}
	}
}

// A model is swapped for another in the middle of a run, after two calls: nothing is done twice, nothing is lost, and the
// new server reads a history that it takes.
func TestASwapInTheMiddleOfARun(t *testing.T) {
	for _, from := range wires {
		for _, to := range wires {
			t.Run(from+" to "+to, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					calls := reply{text: "One moment.", calls: []string{"look", `{"text":"a"}`, "note", `{"text":"b"}`}}
					old, oldModel := newServer(t, from, calls)
					fresh, freshModel := newServer(t, to, reply{calls: []string{"note", `{"text":"c"}`}}, reply{text: "All done."}, reply{text: "You are welcome."})
					s := brain.Settings{Model: "old", Backends: map[string]brain.Backend{"old": {Name: "old", Model: oldModel, Context: 8192}, "new": {Name: "new", Model: freshModel, Context: 8192}}}
					h := newHouse(t, s)
					old.before = func(int) {
						s := s
						s.Model = "new"
						h.brain.Configure(s)
					}
					p := h.say("do three things")
					if got := h.reply(p); got != "All done." || p.Run.State != vault.Done {
						t.Errorf("it is %s and answers %q", p.Run.State, got)
					}
					var models []string
					for _, step := range p.Steps {
						models = append(models, step.Model)
					}
					if diff := cmp.Diff([]string{"old", "new", "new"}, models); diff != "" {
						t.Errorf("the steps are of %s", diff)
					}
					if len(p.Calls) != 3 {
						t.Errorf("%d calls", len(p.Calls))
					}
					h.say("thanks")
					for i, want := range []int{2, 3, 3} {
						one := fresh.asked[i]
						if diff := cmp.Diff(one.calls, one.results); diff != "" || len(one.calls) != want {
							t.Errorf("request %d has the calls %v and the results %v", i, one.calls, one.results)
						}
						for _, words := range []string{"One moment.", `look did {\"text\":\"a\"}`, `note did {\"text\":\"b\"}`} {
							if !strings.Contains(one.text, words) {
								t.Errorf("request %d lacks %s", i, words)
							}
						}
					}
				})
			})
		}
	}
}
