package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// recorded is what a real server of version 0.17.4 was asked and answered.
type recorded struct {
	path   string
	asked  brain.Request
	raw    map[string]any // the request as it was sent
	status int
	answer []byte
}

func fixture(t testing.TB, name string) recorded {
	t.Helper()
	read := func(ext string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", "fixtures", name+ext))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var req struct {
		Path string
		Body struct {
			Messages []struct{ Role, Content string }
			Tools    []struct {
				Function struct {
					Name, Description string
					Parameters        json.RawMessage
				}
			}
			Options struct {
				NumPredict int `json:"num_predict"`
			}
		}
	}
	if err := json.Unmarshal(read(".req.json"), &req); err != nil {
		t.Fatal(err)
	}
	out := recorded{path: req.Path, asked: brain.Request{MaxTokens: req.Body.Options.NumPredict}}
	for _, m := range req.Body.Messages {
		out.asked.Messages = append(out.asked.Messages, brain.Msg{Role: m.Role, Text: m.Content})
	}
	for _, tool := range req.Body.Tools {
		out.asked.Tools = append(out.asked.Tools, brain.ToolSpec{Name: tool.Function.Name, About: tool.Function.Description, Schema: tool.Function.Parameters})
	}
	var whole struct{ Body map[string]any }
	if err := json.Unmarshal(read(".req.json"), &whole); err != nil {
		t.Fatal(err)
	}
	out.raw = whole.Body
	head, body, _ := bytes.Cut(read(".resp"), []byte("\n"))
	code, err := strconv.Atoi(strings.TrimPrefix(string(head), "HTTP "))
	if err != nil {
		t.Fatal(err)
	}
	out.status, out.answer = code, body
	return out
}

// replay has the fake answer as the real server did.
func (f *fake) replay(r recorded) {
	f.chat = func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.WriteHeader(r.status)
		_, _ = w.Write(r.answer)
	}
}

func calls(pairs ...string) []brain.ToolCall {
	var out []brain.ToolCall
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, brain.ToolCall{ID: fmt.Sprintf("call_%d", i/2+1), Name: pairs[i], Args: json.RawMessage(pairs[i+1])})
	}
	return out
}

func TestRecordedAnswersAreRead(t *testing.T) {
	for _, c := range []struct {
		name  string
		think bool
		want  brain.Response
	}{
		{name: "text", want: brain.Response{Text: "Hello from the scripted model.", Model: "scripted", In: 12, Out: 5}},
		{name: "tool_one", want: brain.Response{Calls: calls("get_weather", `{"unit":"C","city":"Oslo"}`), Model: "scripted", In: 268, Out: 6}},
		{name: "tool_parallel", want: brain.Response{Calls: calls("get_weather", `{"city":"Bergen"}`, "get_time", `{"zone":"Europe/Oslo"}`), Model: "scripted", In: 268, Out: 8}},
		{name: "tool_after_text", want: brain.Response{Text: "Let me look that up.\n", Calls: calls("get_weather", `{"city":"Tromso"}`), Model: "scripted", In: 268, Out: 7}},
		// What the brain's own reader of written calls is for.
		{name: "json_as_text", want: brain.Response{Text: `{"name": "get_weather", "parameters": {"city": "Molde"}}`, Model: "scripted", In: 259, Out: 4}},
		{name: "json_tool_brace_template", want: brain.Response{Calls: calls("get_weather", `{"city":"Molde"}`), Model: "brace", In: 252, Out: 4}},
		{name: "tool_malformed_swallowed", want: brain.Response{Model: "scripted", In: 268, Out: 5, Lost: true}},
		{name: "tool_noargs_swallowed", want: brain.Response{Model: "scripted", In: 268, Out: 4, Lost: true}},
		{name: "tool_unknown_swallowed", want: brain.Response{Model: "scripted", In: 268, Out: 5, Lost: true}},
		{name: "thinking", think: true, want: brain.Response{Text: "Forty two.", Model: "thinking", In: 11, Out: 8}},
		{name: "thinking_tool", think: true, want: brain.Response{Calls: calls("get_weather", `{"city":"Narvik"}`), Model: "thinking", In: 252, Out: 8}},
		{name: "thinking_budget_gone", think: true, want: brain.Response{Model: "thinking", In: 11, Out: 12, Cut: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			r := fixture(t, c.name)
			f.replay(r)
			var streamed strings.Builder
			got, err := f.client(t, func(o *Options) { o.Think = c.think }).Generate(t.Context(), r.asked, func(s string) { streamed.WriteString(s) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if streamed.String() != got.Text {
				t.Errorf("streamed %q, but the text is %q", streamed.String(), got.Text)
			}
			sent := f.asked()[0]
			for _, key := range []string{"messages", "tools"} { // the server saw what the real one saw
				if diff := cmp.Diff(r.raw[key], sent[key]); diff != "" {
					t.Errorf("%s: %s", key, diff)
				}
			}
		})
	}
}

func TestRecordedErrorsAreSorted(t *testing.T) {
	for _, c := range []struct {
		name, human string
		kind        brain.FaultKind
		mark        error
	}{
		{name: "err_context", kind: brain.TooLong, human: "What there is to say has become too long for the model, also after I had shortened it."},
		{name: "err_no_model", kind: brain.Permanent, mark: errNoModel, human: "The model qwen3:4b is not installed: /model home in chat has it pulled, or run `ollama pull qwen3:4b`."},
		{name: "err_no_tools", kind: brain.Permanent, mark: errNoTools, human: "The model qwen3:4b knows no tools: set brain.models.home.tools to schema, or choose another model."},
		{name: "err_no_thinking", kind: brain.Permanent, mark: errNoThinking, human: "The model qwen3:4b cannot think before it answers: set brain.models.home.think to false."},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			r := fixture(t, c.name)
			f.replay(r) // also when it is asked again in another way
			_, err := f.client(t, nil).Generate(t.Context(), r.asked, nil)
			fault := faultOf(t, err, c.kind)
			if fault.Human != c.human {
				t.Errorf("got %q, want %q", fault.Human, c.human)
			}
			if c.mark != nil && !errors.Is(err, c.mark) {
				t.Errorf("%v is not %v", err, c.mark)
			}
		})
	}
}

// The recorded server ignores nothing, but it was asked without truncate:false: 9,000 tokens, an answer, no word of it.
func TestAPromptThatWasCutWithoutAWordIsTooLong(t *testing.T) {
	f := newFake(t)
	r := fixture(t, "cut_context")
	f.replay(r)
	_, err := f.client(t, func(o *Options) { o.Context = 4096 }).Generate(t.Context(), r.asked, nil)
	faultOf(t, err, brain.TooLong)
	if !errors.Is(err, wire.ErrSilentCut) {
		t.Errorf("got %v, want %v", err, wire.ErrSilentCut)
	}
	if _, err := f.client(t, func(o *Options) { o.Context = 8192 }).Generate(t.Context(), r.asked, nil); err != nil {
		t.Errorf("with room to spare: %v", err)
	}
}

func TestRecordedFactsAreRead(t *testing.T) {
	f := newFake(t)
	r := fixture(t, "show")
	f.show = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(r.answer) }
	c := f.client(t, nil)
	got, err := c.about(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got.lacksTools() || got.context != 32768 || got.remote != "" {
		t.Errorf("got %+v", got)
	}
}

// A load is not an answer, but it ends like one.
func TestRecordedLoadIsAWholeStream(t *testing.T) {
	r := fixture(t, "load")
	var got reply
	last, err := got.read(bytes.NewReader(r.answer), func() {})
	if err != nil || last.DoneReason != "load" {
		t.Errorf("got %+v, %v", last, err)
	}
}
