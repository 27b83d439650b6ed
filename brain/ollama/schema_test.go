package ollama

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

func TestAnswersInSchemaModeAreRead(t *testing.T) {
	for _, c := range []struct {
		in   string
		cut  bool
		want brain.Response
	}{
		{in: `{"tool": "remind", "args": {"when": "at 9", "text": "tea"}}`, want: brain.Response{Calls: calls("remind", `{"when": "at 9", "text": "tea"}`)}},
		{in: ` {"say": "Good \"morning\" ☕"} `, want: brain.Response{Text: `Good "morning" ☕`}},
		{in: `{"say": ""}`, want: brain.Response{}},
		{in: `{"tool":"jobs"}`, want: brain.Response{Calls: calls("jobs", "null")}},
		{in: `{"tool":"jobs","args":"{}","say":"Let me see."}`, want: brain.Response{Text: "Let me see.", Calls: calls("jobs", "{}")}},
		// A server that forces nothing.
		{in: "Good morning.", want: brain.Response{Text: "Good morning."}},
		{in: "<think>a plan with {braces}</think>\n{\"say\":\"hi\"}", want: brain.Response{Text: "hi"}},
		{in: `{"say":"<think>a plan</think>hi"}`, want: brain.Response{Text: "hi"}},
		{in: `{"other": 1}`, want: brain.Response{Lost: true}},
		{in: `{"tool": "remind", "args": {"when":`, want: brain.Response{Lost: true}},
		{in: `{"say": 5}`, want: brain.Response{Lost: true}},
		// Cut at the length limit: words are saved, calls are not.
		{in: `{"say": "A long answ`, cut: true, want: brain.Response{Text: "A long answ", Cut: true}},
		{in: `{ "say" :"A pair \ud83d`, cut: true, want: brain.Response{Text: "A pair ", Cut: true}},
		{in: `{"say":"A line\`, cut: true, want: brain.Response{Text: "A line", Cut: true}},
		{in: `{"say":"`, cut: true, want: brain.Response{Cut: true, Lost: true}},
		{in: `{"tool": "remind", "args": {"when":`, cut: true, want: brain.Response{Cut: true, Lost: true}},
	} {
		f := newFake(t)
		reason := "stop"
		if c.cut {
			reason = "length"
		}
		half := len(c.in) / 2
		for half > 0 && c.in[half]&0xc0 == 0x80 {
			half--
		}
		f.chat = answer(string(line(`{"message":{"content":%s}}`, quotedJSON(c.in[:half]))) + string(line(`{"message":{"content":%s}}`, quotedJSON(c.in[half:]))) +
			string(line(`{"message":{"content":""},"done":true,"done_reason":%q}`, reason)))
		var streamed strings.Builder
		got, err := f.client(t, func(o *Options) { o.Tools = brain.ToolsSchema }).Generate(t.Context(), remind(), func(s string) { streamed.WriteString(s) })
		if err != nil {
			t.Fatal(err)
		}
		c.want.Model = "qwen3:4b"
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
		if streamed.String() != got.Text {
			t.Errorf("%s: streamed %q", c.in, streamed.String())
		}
	}
}

func TestTheSchemaOfAnAnswer(t *testing.T) {
	var schema struct {
		AnyOf []struct {
			Type       string
			Properties map[string]json.RawMessage
			Required   []string
		}
	}
	if err := json.Unmarshal(wire.AnswerSchema(remind().Tools), &schema); err != nil {
		t.Fatal(err)
	}
	if len(schema.AnyOf) != 3 {
		t.Fatalf("got %d forms of an answer", len(schema.AnyOf))
	}
	for i, spec := range remind().Tools {
		form := schema.AnyOf[i]
		if got := string(form.Properties["tool"]); got != `{"const":"`+spec.Name+`"}` || len(form.Required) != 2 {
			t.Errorf("got %+v", form)
		}
		if diff := cmp.Diff(mustJSON(t, spec.Schema), mustJSON(t, form.Properties["args"])); diff != "" {
			t.Error(diff)
		}
	}
	if got := string(schema.AnyOf[2].Properties["say"]); got != `{"type":"string"}` {
		t.Errorf("got %s", got)
	}
}

func FuzzSchemaMode(f *testing.F) {
	f.Add(`{"say":"a\ud83d`, true, `{"type":"object","properties":{"a":{"type":"string"}}}`)
	f.Add(`{"tool":"a","args":"{}"}`, false, `{"type":"object"}`)
	f.Add(`<think>{</think>{"tool":1}`, false, ``)
	f.Fuzz(func(t *testing.T, text string, cut bool, schema string) {
		words, calls, lost := wire.ReadSaid(text, cut)
		if lost && (words != "" || len(calls) > 0) {
			t.Fatalf("lost, and yet %q, %v", words, calls)
		}
		for _, call := range calls {
			if call.Name == "" || !json.Valid(call.Args) {
				t.Fatalf("got %+v", call)
			}
		}
		specs := []brain.ToolSpec{{Name: text, About: text, Schema: json.RawMessage(schema)}}
		if format := wire.AnswerSchema(specs); !json.Valid(format) {
			t.Fatalf("this is no JSON: %s", format)
		}
		req := brain.Request{Tools: specs, Messages: []brain.Msg{{Role: "assistant", Text: text, Calls: []brain.ToolCall{{Name: text, Args: json.RawMessage(schema)}}}}}
		for _, how := range []mode{modeNone, modeNative, modeSchema} {
			if body, _, err := New(Options{}).body(req, how, thinkFalse); err != nil || !json.Valid(body) {
				t.Fatalf("got %s, %v", body, err)
			}
		}
	})
}
