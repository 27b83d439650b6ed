package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hearth/skills"
)

// script is a model that decides from the request alone.
type script func(ctx context.Context, req Request) (Response, error)

func (f script) Generate(ctx context.Context, req Request, _ func(string)) (Response, error) {
	return f(ctx, req)
}

// say is a reply in words.
func say(text string) Response { return Response{Text: text, In: 100, Out: 10} }

// want is a reply that calls tools: name, arguments, name, arguments …
func want(pairs ...string) Response {
	r := Response{In: 100, Out: 10}
	for i := 0; i < len(pairs); i += 2 {
		r.Calls = append(r.Calls, ToolCall{ID: "x", Name: pairs[i], Args: json.RawMessage(pairs[i+1])})
	}
	return r
}

// current gives the messages of the present run: those from its changing block on.
func current(req Request) []Msg {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if m := req.Messages[i]; m.Role == "user" && strings.HasPrefix(m.Text, "[Now: ") {
			return req.Messages[i:]
		}
	}
	return req.Messages
}

// results gives what the present run's calls answered.
func results(req Request) []string {
	var out []string
	for _, m := range current(req) {
		if m.Role == "tool" {
			out = append(out, m.Text)
		}
	}
	return out
}

// replied counts the model's replies in the present run.
func replied(req Request) int {
	n := 0
	for _, m := range current(req) {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// steps replies by the number of replies that the prompt shows; the last reply is repeated.
func steps(replies ...Response) script {
	return func(_ context.Context, req Request) (Response, error) {
		return replies[min(replied(req), len(replies)-1)], nil
	}
}

// inOrder replies in the order of asking.
func inOrder(replies ...any) *recorder {
	r := &recorder{}
	r.model = func(_ context.Context, _ Request) (Response, error) {
		switch next := replies[min(len(r.requests)-1, len(replies)-1)].(type) {
		case Response:
			return next, nil
		case error:
			return Response{}, next
		default:
			return Response{}, fmt.Errorf("the script holds a %T", next)
		}
	}
	return r
}

// recorder keeps the requests a model got.
type recorder struct {
	mu       sync.Mutex
	model    script
	requests []Request
	at       []time.Time
}

func (r *recorder) Generate(ctx context.Context, req Request, _ func(string)) (Response, error) {
	r.mu.Lock()
	req.Messages = slices.Clone(req.Messages)
	r.requests = append(r.requests, req)
	r.at = append(r.at, time.Now())
	r.mu.Unlock()
	return r.model(ctx, req)
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

func (r *recorder) last() Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[len(r.requests)-1]
}

func record(m script) *recorder { return &recorder{model: m} }

// hang answers only when its context ends.
func hang(ctx context.Context, _ Request) (Response, error) {
	<-ctx.Done()
	return Response{}, ctx.Err()
}

// slow answers after a while.
func slow(d time.Duration, m script) script {
	return func(ctx context.Context, req Request) (Response, error) {
		if err := waitFor(ctx, d); err != nil {
			return Response{}, err
		}
		return m(ctx, req)
	}
}

func fault(kind FaultKind) *ModelError {
	return &ModelError{Kind: kind, Human: "The model server says no.", Err: errors.New("scripted")}
}

// toolbox holds tools whose effects are counted. It outlives the brain, as the world does.
type toolbox struct {
	mu    sync.Mutex
	ran   map[string]int                               // how often each tool ran
	acted []string                                     // arguments of act and send, each time
	notes map[string]string                            // note: by the call's key
	calls []skills.Call                                // of every run of a tool
	hook  func(ctx context.Context, tool string) error // before the effect
	extra []skills.Tool
}

const textSchema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`

func (b *toolbox) all() []skills.Tool {
	tool := func(name, schema string, effect skills.Effect, group bool, effectOf func(c skills.Call, text string) skills.Result) skills.Tool {
		return skills.Tool{
			Name: name, About: "Does " + name + ".", Schema: json.RawMessage(schema), Effect: effect, Unknown: "asked", Group: group,
			Run: func(ctx context.Context, c skills.Call, args json.RawMessage) (skills.Result, error) {
				if b.hook != nil {
					if err := b.hook(ctx, name); err != nil {
						return skills.Result{}, err
					}
				}
				var a struct{ Text string }
				if err := json.Unmarshal(args, &a); err != nil {
					return skills.Result{}, err
				}
				b.mu.Lock()
				defer b.mu.Unlock()
				if b.ran == nil {
					b.ran, b.notes = map[string]int{}, map[string]string{}
				}
				b.ran[name]++
				b.calls = append(b.calls, c)
				return effectOf(c, a.Text), nil
			},
		}
	}
	tools := []skills.Tool{
		tool("look", textSchema, skills.Reads, true, func(_ skills.Call, text string) skills.Result {
			return skills.Result{Text: "looked at " + text}
		}),
		tool("note", textSchema, skills.Sets, false, func(c skills.Call, text string) skills.Result {
			b.notes[c.Key] = text
			return skills.Result{Text: "noted " + text}
		}),
		tool("remind", textSchema, skills.Sets, true, func(c skills.Call, text string) skills.Result {
			b.notes[c.Key] = text
			receipt := fmt.Sprintf("Reminder %d: Fri 4 Dec 2026, 09:00 (UTC): %s", len(b.notes), text)
			return skills.Result{Text: "Done. " + receipt, Receipt: receipt}
		}),
		tool("act", textSchema, skills.Acts, false, func(_ skills.Call, text string) skills.Result {
			b.acted = append(b.acted, text)
			return skills.Result{Text: "acted " + text}
		}),
		tool("send", textSchema, skills.Acts, false, func(_ skills.Call, text string) skills.Result {
			b.acted = append(b.acted, text)
			return skills.Result{Text: "sent " + text}
		}),
		tool("jobs", `{"type":"object","properties":{}}`, skills.Reads, true, func(skills.Call, string) skills.Result {
			return skills.Result{Text: "There are no reminders."}
		}),
	}
	return append(tools, b.extra...)
}

func (b *toolbox) count(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ran[name]
}

// failing is a tool that always answers with an error.
func failing(name string, say func(n int) string) skills.Tool {
	n := 0
	return skills.Tool{
		Name: name, About: "Fails.", Schema: json.RawMessage(textSchema), Effect: skills.Reads, Unknown: "again",
		Run: func(context.Context, skills.Call, json.RawMessage) (skills.Result, error) {
			n++
			return skills.Result{}, errors.New(say(n))
		},
	}
}
