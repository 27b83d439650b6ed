package brain

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"hearth/skills"
	"hearth/vault"
)

// newJudge judges with the test tools: note is asked about, act is denied, send is off.
func newJudge(t testing.TB) judge {
	set, err := skills.NewSet((&toolbox{}).all()...)
	if err != nil {
		t.Fatal(err)
	}
	return judge{tools: set, expires: time.Unix(1000, 0), permit: func(tool skills.Tool, _ string) Permission {
		return map[string]Permission{"note": Ask, "act": Deny, "send": Off}[tool.Name]
	}}
}

func TestJudgeProposes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		calls  []string // name, arguments …
		states []vault.CallState
		asks   int
		park   bool
		result string // of the last call
	}{
		{name: "allowed", calls: []string{"look", `{"text":"a"}`}, states: []vault.CallState{vault.Proposed}},
		{name: "asked", calls: []string{"note", `{"text":"a"}`}, states: []vault.CallState{vault.Proposed}, asks: 1, park: true},
		{name: "asked beside allowed", calls: []string{"note", `{"text":"a"}`, "look", `{"text":"a"}`}, states: []vault.CallState{vault.Proposed, vault.Proposed}, asks: 1},
		{name: "asked beside refused", calls: []string{"note", `{"text":"a"}`, "act", `{"text":"a"}`}, states: []vault.CallState{vault.Proposed, vault.Denied}, asks: 1, park: true},
		{name: "denied", calls: []string{"act", `{"text":"a"}`}, states: []vault.CallState{vault.Denied}, result: "do not allow this here"},
		{name: "off", calls: []string{"send", `{"text":"a"}`}, states: []vault.CallState{vault.Broken}, result: `no tool called "send" here`},
		{name: "unknown", calls: []string{"teleport", `{"where":"home"}`}, states: []vault.CallState{vault.Broken}, result: `no tool called "teleport". The tools are: look, note, remind, act, jobs.`},
		{name: "no name", calls: []string{"", `{}`}, states: []vault.CallState{vault.Broken}, result: `no tool called ""`},
		{name: "bad arguments", calls: []string{"look", `{"path":"a"}`}, states: []vault.CallState{vault.Broken}, result: `look has no argument "path"; expected {"text": string}`},
		{name: "twice", calls: []string{"look", `{"text":"a"}`, "look", `{ "text":"a" }`}, states: []vault.CallState{vault.Proposed}},
		{name: "twice with a question", calls: []string{"note", `{"text":"a"}`, "note", `{"text":"a"}`}, states: []vault.CallState{vault.Proposed}, asks: 1, park: true},
		{name: "almost twice", calls: []string{"look", `{"text":"a"}`, "look", `{"text":"b"}`}, states: []vault.CallState{vault.Proposed, vault.Proposed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := newJudge(t).step(vault.Progress{}, want(tt.calls...))
			if len(v.calls) != len(tt.states) || v.park != tt.park || v.end != nil || v.note != "" {
				t.Fatalf("%d calls, park %v, end %v, note %q", len(v.calls), v.park, v.end, v.note)
			}
			asks := 0
			for i, c := range v.calls {
				if c.State != tt.states[i] {
					t.Errorf("call %d is %s, want %s", i, c.State, tt.states[i])
				}
				if c.Ask != nil {
					asks++
					if !c.Ask.Expires.Equal(time.Unix(1000, 0)) || !strings.Contains(c.Ask.Text, "text: a") || len(c.Ask.Choices) != 3 {
						t.Errorf("the question is %+v", *c.Ask)
					}
				}
			}
			if asks != tt.asks {
				t.Errorf("%d questions, want %d", asks, tt.asks)
			}
			if got := v.calls[len(v.calls)-1].Result; !strings.Contains(got, tt.result) {
				t.Errorf("the model is told %q, want %q in it", got, tt.result)
			}
		})
	}
}

func TestJudgeBoundsTheCallsOfOneReply(t *testing.T) {
	var pairs []string
	for i := range maxCalls + 5 {
		pairs = append(pairs, "look", fmt.Sprintf(`{"text":"%d"}`, i))
	}
	v := newJudge(t).step(vault.Progress{}, want(pairs...))
	runnable := 0
	for _, c := range v.calls {
		if !c.State.Ended() {
			runnable++
		} else if !strings.Contains(c.Result, "no more than 16 calls") {
			t.Errorf("a call too many is told %q", c.Result)
		}
	}
	if runnable != maxCalls || len(v.calls) != maxCalls+5 {
		t.Errorf("%d of %d calls may run", runnable, len(v.calls))
	}
}

func TestDescribeShowsEveryArgumentWhole(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`{}`, "send"},
		{`{"text":"hi","person":"Ben"}`, "send\nperson: Ben\ntext: hi"},
		{`{"id":1000000000}`, "send\nid: 1000000000"},
		{`{"person":"Eve","text":"hi\nperson: Ben"}`, "send\nperson: Eve\ntext: hi\n    person: Ben"},
		{`{"text":"abc\u202edcba\u0007"}`, "send\ntext: abc<U+202E>dcba<U+0007>"},
		{`{"text":"` + strings.Repeat("long ", 500) + `end"}`, "send\ntext: " + strings.Repeat("long ", 500) + "end"},
	} {
		if got := describe("send", json.RawMessage(tt.args)); got != tt.want {
			t.Errorf("describe(%s) = %q, want %q", tt.args, got, tt.want)
		}
	}
}

// A tool's name that a model made up must not spoil the history for servers that check names.
func TestLOOP14InventedNamesAreTame(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"", "nameless"}, {"teleport", "teleport"}, {"functions.remind", "functions_remind"}, {"天气 now", "___now"}, {strings.Repeat("x", 90), strings.Repeat("x", 60)},
	} {
		v := newJudge(t).step(vault.Progress{}, want(tt.name, `{}`))
		if got := v.calls[0].Tool; got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.name, got, tt.want)
		}
	}
}

// LOOP-13: broken arguments never run a tool, the fault is named, and a good call then works.
func TestLOOP13BrokenArguments(t *testing.T) {
	for _, tt := range []struct{ name, args, fault string }{
		{"broken JSON", `text=x`, "not complete JSON"},
		{"cut off", `{"text": "half of it`, "not complete JSON"},
		{"a string in a string", `"{\"text\": 5}"`, "must be of type string"},
		{"a wrong type", `{"text": ["a"]}`, "must be of type string"},
		{"empty", `null`, `expected {"text": string}`},
		{"an array", `[]`, "not a JSON object"},
		{"a missing argument", `{}`, "needs the argument text"},
		{"an unknown argument", `{"text": "a", "mode": "x"}`, `no argument "mode"`},
		{"two objects", `{"text": "a"}{"text": "b"}`, "followed by something"},
		{"a key twice", `{"text": "a", "text": "b"}`, "there twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				m := record(steps(want("act", tt.args), want("act", `{"text":"good"}`), say("Written.")))
				w.use(m)
				w.start()
				run := w.say("write it down")
				if got := strings.Join(w.tools.acted, ","); got != "good" {
					t.Errorf("the tool ran with %q, want only good", got)
				}
				if got := results(m.requests[1]); len(got) != 1 || !strings.Contains(got[0], tt.fault) {
					t.Errorf("the model is told %q, want %q in it", got, tt.fault)
				}
				if got := w.answer(run); got != "Written." {
					t.Errorf("the answer is %q", got)
				}
			})
		})
	}
}

// LOOP-13: a server that could not read its own model's call is asked again, a model whose call got lost is told.
func TestLOOP13CallsThatTheServerLost(t *testing.T) {
	inBubble(t, func(w *world) {
		m := inOrder(fault(BadReply), Response{Lost: true, Out: 9}, want("act", `{"text":"good"}`), say("Written."))
		w.use(m)
		w.start()
		run := w.say("write it down")
		if got := w.answer(run); got != "Written." || len(w.tools.acted) != 1 {
			t.Errorf("it answers %q and acted %q", got, w.tools.acted)
		}
		if last := m.requests[2].Messages[len(m.requests[2].Messages)-1]; last.Role != "user" || !strings.Contains(last.Text, noteLost) {
			t.Errorf("the model is not told that its call got lost: %+v", last)
		}
	})
}

// LOOP-13: the tries are of each step, so that a long task does not use them up.
func TestLOOP13EachStepHasItsTries(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(inOrder(fault(BadReply), fault(BadReply), want("look", `{"text":"x"}`), fault(BadReply), say("Done.")))
		w.start()
		if got := w.answer(w.say("do it")); got != "Done." {
			t.Errorf("the answer is %q", got)
		}
	})
}

// LOOP-13: after one or two more tries the person is told.
func TestLOOP13GivesUpInWords(t *testing.T) {
	inBubble(t, func(w *world) {
		m := inOrder(fault(BadReply))
		w.use(m)
		w.start()
		run := w.say("write it down")
		if got := w.answer(run); !strings.Contains(got, "The model server says no.") {
			t.Errorf("the answer is %q", got)
		}
		if m.count() != 1+maxResamples {
			t.Errorf("%d requests", m.count())
		}
	})
}

var machinery = regexp.MustCompile(`[{}]|tool_call|"arguments"|\bnull\b`)

// LOOP-14: a call written as text is understood under the same checks, or asked for again, and never shown.
func TestLOOP14CallsWrittenAsText(t *testing.T) {
	raw := `{"name": "remind", "arguments": {"text": "feed the hens"}}`
	for _, tt := range []struct {
		name, text string
		stored     bool
	}{
		{"tagged", "<tool_call>\n" + raw + "\n</tool_call>", true},
		{"tagged with prose", "Sure!\n<tool_call>" + raw + "</tool_call> One moment.", true},
		{"fenced", "```json\n" + raw + "\n```", true},
		{"bare", raw, true},
		{"as a function", `{"type": "function", "function": {"name": "remind", "arguments": {"text": "feed the hens"}}}`, true},
		{"with parameters", `{"tool": "remind", "parameters": {"text": "feed the hens"}}`, true},
		{"arguments in a string", `{"name": "remind", "arguments": "{\"text\": \"feed the hens\"}"}`, true},
		{"unknown tool", `{"name": "teleport", "arguments": {"where": "home"}}`, false},
		{"half of it", `{"name": "remind", "arguments": {"text": "feed the`, false},
		{"half, tagged", "<tool_call>\n" + `{"name": "remind", "arguments": {"te`, false},
		{"behind prose", "I will do that now: " + raw, false},
		{"an array", "[" + raw + "]", false},
		{"no arguments", `{"name": "remind"}`, false},
		{"bad arguments", `{"name": "remind", "arguments": {"words": "feed the hens"}}`, false},
		{"a hidden tool", `{"name": "send", "arguments": {"text": "feed the hens"}}`, false},
	} {
		for _, stubborn := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stubborn=%v", tt.name, stubborn), func(t *testing.T) {
				inBubble(t, func(w *world) {
					m := record(script(func(_ context.Context, req Request) (Response, error) {
						if stubborn && len(results(req)) == 0 || replied(req) == 0 {
							return say(tt.text), nil
						}
						return say("It is noted."), nil
					}))
					w.use(m)
					w.settings.Permissions = Permissions{Tools: map[string]Permission{"send": Off}}
					w.start()
					run := w.say("feed the hens tomorrow")
					got := w.answer(run)
					if machinery.MatchString(got) || strings.TrimSpace(got) == "" {
						t.Errorf("the person reads %q", got)
					}
					if stored := w.tools.count("remind") == 1; stored != tt.stored {
						t.Errorf("stored is %v: %+v", stored, w.progress(run).Calls)
					}
					if tt.stored != strings.Contains(got, "Reminder 1: ") {
						t.Errorf("the person reads %q", got)
					}
					if !tt.stored && m.count() < 2 {
						t.Error("the model was not asked again")
					}
					if len(w.tools.acted) > 0 {
						t.Errorf("a hidden tool ran: %q", w.tools.acted)
					}
				})
			})
		}
	}
}

// LOOP-14: whoever asks for JSON gets it, and template marks cost nothing but themselves.
func TestLOOP14WordsThatAreNoCall(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"name": "Bob", "age": 5}`, `{"name": "Bob", "age": 5}`},
		{"```json\n{\"name\": \"Bob\", \"age\": 5}\n```", "```json\n{\"name\": \"Bob\", \"age\": 5}\n```"},
		{"[1, 2, 3]", "[1, 2, 3]"},
		{"All fine.<|im_end|>", "All fine."},
		{"<think>\nThe user wants a hello.\n</think>\n\nHello!", "Hello!"},
		{"The user wants a hello.</think>Hello!", "Hello!"},
		{"Use {braces} as you like.", "Use {braces} as you like."},
	} {
		v := newJudge(t).step(vault.Progress{}, say(tt.text))
		if v.end == nil || v.end.Reply != tt.want || len(v.calls) > 0 {
			t.Errorf("%q becomes %+v, calls %v, note %q", tt.text, v.end, v.calls, v.note)
		}
	}
}

// LOOP-16: empty answers still give the person something true, once.
func TestLOOP16EmptyAnswers(t *testing.T) {
	for _, tt := range []struct {
		name     string
		replies  []Response
		want     string
		state    vault.RunState
		requests int
	}{
		{"empty", []Response{say("")}, `gave me no answer, also when asked again`, vault.Failed, 2},
		{"blank", []Response{say("  \n \n")}, `gave me no answer`, vault.Failed, 2},
		{"only thoughts", []Response{say("<think>hmm")}, `gave me no answer`, vault.Failed, 2},
		{"cut before a word", []Response{{Cut: true, Out: 1024}}, `gave me no answer`, vault.Failed, 2},
		{"empty, then words", []Response{say(""), say("Here I am.")}, `^Here I am\.$`, vault.Done, 2},
		{"only a tool with a receipt", []Response{want("remind", `{"text":"hens"}`), say("")}, `^Reminder 1: .*hens$`, vault.Done, 2},
		{"only a tool without one", []Response{want("note", `{"text":"x"}`), say("")}, `I had used note`, vault.Failed, 3},
		{"a tool, empty, then words", []Response{want("note", `{"text":"x"}`), say(""), say("Noted it for you.")}, `^Noted it for you\.$`, vault.Done, 3},
		{"words that were cut", []Response{{Text: "It was a dark and", Cut: true}}, `^It was a dark and … \(cut off`, vault.Done, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				m := inOrder(func() (out []any) {
					for _, r := range tt.replies {
						out = append(out, r)
					}
					return out
				}()...)
				w.use(m)
				w.start()
				run := w.say("hello")
				if got := w.answer(run); !regexp.MustCompile(tt.want).MatchString(got) {
					t.Errorf("the person reads %q, want %s", got, tt.want)
				}
				if s := w.state(run); s != tt.state {
					t.Errorf("the run is %s, want %s", s, tt.state)
				}
				if m.count() != tt.requests {
					t.Errorf("%d requests, want %d", m.count(), tt.requests)
				}
			})
		})
	}
}

// Each objection is made once a run, whatever the model answers.
func TestObjectionsAreMadeOnce(t *testing.T) {
	j := newJudge(t)
	for _, note := range []string{noteEmpty, noteLost, noteCut, noteClaim, noteRaw, noteDenial} {
		resp := map[string]Response{noteDenial: say("I have no clue; I don't have any tools."), noteEmpty: say(""), noteLost: {Lost: true}, noteCut: {Cut: true}, noteClaim: say("I've set a reminder."), noteRaw: say("<tool_call>")}[note]
		first := j.step(vault.Progress{}, resp)
		if !strings.HasPrefix(first.note, note) || first.end != nil {
			t.Errorf("the first time it says %q, not %q", first.note, note)
		}
		told := vault.Progress{Steps: []vault.Step{{N: 0, Kind: "model"}, {N: 1, Kind: "note", Text: first.note}}}
		second := j.step(told, resp)
		if second.note != "" || second.end == nil || second.end.Reply == "" {
			t.Errorf("%q: the second time it says %q and ends with %+v", note, second.note, second.end)
		}
	}
}

// A model that says that it has no tools is told which it has, once; what it says then stands.
func TestLOOP14AModelThatDeniesItsTools(t *testing.T) {
	for words, denies := range map[string]bool{
		"I'm sorry, I don't have access to a reminder tool.": true, "I do not have any tools for that.": true, "Unfortunately I cannot set reminders.": true, "I'm unable to set a reminder.": true,
		"No such tool is available.": true, "You have no tools in the shed.": false, "The garden tool is rusty.": false, "I don't have an answer.": false, "I can't see the note.": false,
	} {
		inBubble(t, func(w *world) {
			m := record(func(_ context.Context, req Request) (Response, error) {
				if replied(req) == 0 {
					return say(words), nil
				}
				return say("Well then."), nil
			})
			w.use(m)
			w.start()
			run := w.say("remind me")
			want := words
			if denies {
				want = "Well then."
			}
			if got := w.answer(run); got != want {
				t.Errorf("%q: the answer is %q", words, got)
			}
			if denies {
				last := m.last().Messages[len(m.last().Messages)-1].Text
				if !strings.Contains(last, "You do have tools.") || !strings.Contains(last, "The tools are: look, note, remind, act, send, jobs.") {
					t.Errorf("%q: the model is told %q", words, last)
				}
			}
		})
	}
	inBubble(t, func(w *world) {
		m := record(steps(say("I do not have any tools for that.")))
		w.use(m)
		w.start()
		if got := w.answer(w.say("hello")); got != "I do not have any tools for that." || m.count() != 2 {
			t.Errorf("%q after %d requests", got, m.count())
		}
	})
}
