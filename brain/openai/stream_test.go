package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// calls are those of a response: name, arguments, name, arguments …
func calls(pairs ...string) []brain.ToolCall {
	var out []brain.ToolCall
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, brain.ToolCall{ID: wire.CallID(i / 2), Name: pairs[i], Args: json.RawMessage(pairs[i+1])})
	}
	return out
}

func TestAnswersAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		want   brain.Response
	}{
		"words": {[]string{piece(`{"role":"assistant"}`), piece(`{"content":"Hel"}`), piece(`{"content":"lo"}`), finish("stop"), tokens, done}, brain.Response{Text: "Hello"}},
		"a call in pieces": {[]string{
			piece(`{"content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"remind","arguments":""}}]}`),
			piece(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"when\":"}}]}`), piece(`{"tool_calls":[{"index":0,"function":{"arguments":"\"at 9\"}"}}]}`),
			finish("tool_calls"), tokens, done,
		}, brain.Response{Calls: calls("remind", `{"when":"at 9"}`)}},
		"parallel calls, their pieces mixed": {[]string{
			piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"remind","arguments":""}},{"index":1,"id":"b","function":{"name":"jobs","arguments":""}}]}`),
			piece(`{"tool_calls":[{"index":1,"function":{"arguments":"{"}},{"index":0,"function":{"arguments":"{\"n\""}}]}`),
			piece(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`), piece(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}`),
			finish("tool_calls"), tokens, done,
		}, brain.Response{Calls: calls("remind", `{"n":1}`, "jobs", `{}`)}},
		"every call at index 0, without ids": {[]string{
			piece(`{"tool_calls":[{"index":0,"function":{"name":"look","arguments":"{\"n\":1}"}}]}`), piece(`{"tool_calls":[{"index":0,"function":{"name":"look","arguments":"{\"n\":2}"}}]}`),
			piece(`{"tool_calls":[{"index":0,"function":{"name":"jobs","arguments":"{}"}}]}`), finish("tool_calls"), tokens, done,
		}, brain.Response{Calls: calls("look", `{"n":1}`, "look", `{"n":2}`, "jobs", `{}`)}},
		"one id for all": {[]string{
			piece(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"look","arguments":"{\"n\":1}"}}]}`), piece(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"look","arguments":"{\"n\":2}"}}]}`),
			piece(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"jobs","arguments":""}}]}`), finish("tool_calls"), tokens, done,
		}, brain.Response{Calls: calls("look", `{"n":1}`, "look", `{"n":2}`, "jobs", `null`)}},
		"no index": {[]string{
			piece(`{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{\"n\""}}]}`), piece(`{"tool_calls":[{"id":"a","function":{"arguments":":1}"}}]}`),
			piece(`{"tool_calls":[{"id":"b","function":{"name":"look","arguments":"{}"}}]}`), finish("tool_calls"), tokens, done,
		}, brain.Response{Calls: calls("look", `{"n":1}`, "look", `{}`)}},
		"id and name with every piece": {[]string{
			piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"n\""}}]}`), piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":":1}"}}]}`),
			finish("tool_calls"), tokens, done,
		}, brain.Response{Calls: calls("look", `{"n":1}`)}},
		"arguments as an object": {[]string{piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":{"n": 1}}}]}`), finish("stop"), tokens, done}, brain.Response{Calls: calls("look", `{"n": 1}`)}},
		"broken arguments":       {[]string{piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"n\": "}}]}`), finish("tool_calls"), tokens, done}, brain.Response{Calls: calls("look", `{"n":`)}},
		"words and a call":       {[]string{piece(`{"content":"One moment."}`), piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"jobs","arguments":"{}"}}]}`), finish("tool_calls"), tokens, done}, brain.Response{Text: "One moment.", Calls: calls("jobs", "{}")}},
		"thoughts of llama.cpp":  {[]string{piece(`{"reasoning_content":"They want tea."}`), piece(`{"content":"Tea."}`), finish("stop"), tokens, done}, brain.Response{Text: "Tea."}},
		"thoughts of OpenRouter": {[]string{piece(`{"reasoning":"They want tea.","reasoning_details":[{"type":"x"}]}`), piece(`{"content":"Tea."}`), finish("stop"), tokens, done}, brain.Response{Text: "Tea."}},
		"thoughts in the words":  {[]string{piece(`{"content":"<thi"}`), piece(`{"content":"nk>They want tea.</think>\n\nTea."}`), finish("stop"), tokens, done}, brain.Response{Text: "Tea."}},
		"thoughts as parts":      {[]string{piece(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`), piece(`{"content":[{"type":"text","text":"Tea."}]}`), finish("stop"), tokens, done}, brain.Response{Text: "Tea."}},
		"thoughts alone":         {[]string{piece(`{"reasoning_content":"hm"}`), finish("stop"), tokens, done}, brain.Response{}},
		"cut at the limit":       {[]string{piece(`{"content":"A long"}`), finish("length"), tokens, done}, brain.Response{Text: "A long", Cut: true}},
		"calls that never came":  {[]string{piece(`{"content":""}`), finish("tool_calls"), tokens, done}, brain.Response{Lost: true}},
		"tokens and nothing":     {[]string{finish("stop"), tokens, done}, brain.Response{Lost: true}},
		"usage in every event":   {[]string{`{"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":90,"completion_tokens":1}}`, finish("stop"), tokens, done}, brain.Response{Text: "x"}},
		"a second choice":        {[]string{`{"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":"yes"}}]}`, finish("stop"), tokens, done}, brain.Response{Text: "yes"}},
		"a refusal":              {[]string{piece(`{"refusal":"I cannot help with that."}`), finish("stop"), tokens, done}, brain.Response{Text: "I cannot help with that."}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, stream(c.events...))
			var streamed strings.Builder
			got, err := f.client(nil).Generate(t.Context(), remind(), func(s string) { streamed.WriteString(s) })
			if err != nil {
				t.Fatal(err)
			}
			c.want.In, c.want.Out = 90, 12
			if c.want.Model = "m-1"; !strings.Contains(strings.Join(c.events, ""), "m-1") {
				c.want.Model = "some-model"
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if streamed.String() != got.Text {
				t.Errorf("streamed %q", streamed.String())
			}
		})
	}
}

// Whatever came before it: without [DONE] an answer is not whole.
func TestACutStreamIsNoAnswer(t *testing.T) {
	whole := []string{piece(`{"content":"Half"}`), piece(`{"content":" an answer"}`), finish("stop"), tokens}
	for n := range len(whole) + 1 {
		f := newFake(t, stream(whole[:n]...))
		_, err := f.client(nil).Generate(t.Context(), remind(), nil)
		if fault := faultOf(t, err, brain.Transient); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(fault.Human, "broke off in the middle") {
			t.Errorf("after %d events: %v, %q", n, err, fault.Human)
		}
	}
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		stream(whole[0])(w, r)
		_, _ = io.WriteString(w, `data: {"choices":[{"ind`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler) // the connection is reset
	})
	_, err := f.client(nil).Generate(t.Context(), remind(), nil)
	if faultOf(t, err, brain.Transient); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a reset: %v", err)
	}
}

// A server that does not know stream_options is counted all the same: what is not counted is not limited.
func TestTokensThatAreNotToldAreEstimated(t *testing.T) {
	f := newFake(t, stream(piece(`{"content":"`+strings.Repeat("word ", 60)+`"}`), finish("stop"), done))
	got, err := f.client(nil).Generate(t.Context(), remind(), nil)
	if err != nil || got.Out != 100 || got.In < 200 || got.In > 500 {
		t.Errorf("%d in, %d out, %v", got.In, got.Out, err)
	}
}

func TestAServerThatDoesNotStream(t *testing.T) {
	f := newFake(t, status(200, `{"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello","tool_calls":[{"id":"a","function":{"name":"jobs","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5,"completion_tokens":6}}`, "Content-Type", "application/json; charset=utf-8"))
	got, err := f.client(nil).Generate(t.Context(), remind(), nil)
	if diff := cmp.Diff(brain.Response{Text: "Hello", Calls: calls("jobs", "{}"), Model: "m-1", In: 5, Out: 6}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, body := range []string{`{"choices":`, `{}`, `[]`, `"x"`} {
		f := newFake(t, status(200, body, "Content-Type", "application/json"))
		_, err := f.client(nil).Generate(t.Context(), remind(), nil)
		faultOf(t, err, brain.Transient)
	}
	f = newFake(t, status(200, `{"error":{"message":"boom","code":500}}`, "Content-Type", "application/json"))
	_, err = f.client(nil).Generate(t.Context(), remind(), nil)
	faultOf(t, err, brain.Transient)
}

func TestAnAnswerWithoutAnEnd(t *testing.T) {
	for name, body := range map[string]io.Reader{
		"one line":     io.MultiReader(strings.NewReader("data: "), endless(strings.Repeat("x", 1<<16))),
		"many events":  endless("data: " + piece(`{"content":"`+strings.Repeat("x", 1<<20)+`"}`) + "\n\n"),
		"calls":        endless("data: " + piece(`{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"`+strings.Repeat("x", 1<<20)+`"}}]}`) + "\n\n"),
		"hidden words": endless("data: " + piece(`{"reasoning_content":"`+strings.Repeat("x", 1<<20)+`"}`) + "\n\n"),
	} {
		c := New(Options{Name: "cloud", URL: "http://127.0.0.1/v1", Model: "m", HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
		})}, Tools: brain.ToolsNative})
		_, err := c.Generate(t.Context(), remind(), nil)
		if fault := faultOf(t, err, brain.BadReply); !strings.Contains(fault.Human, "larger") {
			t.Errorf("%s: %q", name, fault.Human)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// endless repeats a text for ever.
func endless(text string) io.Reader {
	rest := ""
	return readFunc(func(p []byte) (int, error) {
		if rest == "" {
			rest = text
		}
		n := copy(p, rest)
		rest = rest[n:]
		return n, nil
	})
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzStream(f *testing.F) {
	for _, events := range [][]string{
		{piece(`{"content":"x"}`), finish("stop"), tokens, done},
		{piece(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"n\""}}]}`), piece(`{"tool_calls":[{"function":{"arguments":{"n":1}}}]}`), finish("length"), done},
		{`{"error":{"message":"no","code":502}}`},
		{piece(`{"content":[{"type":"text","text":"y"}],"reasoning":{}}`), done},
		{"[", done},
		{"null", done},
	} {
		f.Add("data: "+strings.Join(events, "\n\ndata: ")+"\n\n", false)
		f.Add("data: "+strings.Join(events, "\r\ndata: ")+"\r\n", true)
	}
	api := (&wire.API{Now: fixedNow, Setting: "brain.models.x", Secrets: []string{secret}}).At("http://127.0.0.1")
	f.Fuzz(func(t *testing.T, text string, schema bool) {
		r := reply{how: modeNative, told: api.ReadTold}
		if schema {
			r.how = modeSchema
		}
		if err := r.read(strings.NewReader(text), func() {}); err != nil {
			fault := api.StreamFault(err, New(Options{Name: "x", Model: "m"}).sort)
			if fault.Human == "" || machinery.MatchString(fault.Human) {
				t.Fatalf("%q: the sentence %q", text, fault.Human)
			}
			return
		}
		if !r.done || !strings.Contains(text, done) {
			t.Fatalf("%q is taken for whole", text)
		}
		got, err := r.finish()
		if err != nil {
			return
		}
		for i, one := range got.Calls {
			if one.ID != wire.CallID(i) {
				t.Fatalf("%q: call %d has the id %s", text, i, one.ID)
			}
		}
		if _, err := json.Marshal(got.Text); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHangingUpIsSeenByTheServer(t *testing.T) {
	began, gone := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		close(began)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	stopped := errors.New("a person stopped it")
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		<-began
		stop(stopped)
	}()
	_, err := f.client(nil).Generate(ctx, remind(), nil)
	if !errors.Is(err, stopped) || errors.As(err, new(*brain.ModelError)) {
		t.Errorf("got %v", err)
	}
	<-gone
}

// What a real server (Ollama 0.17.4, which speaks this too) answered, with a model that answers on cue. A call that it could
// not read it swallows, and reports a good end.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "fixtures", "*.resp"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		recorded, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, answer, _ := strings.Cut(string(recorded), "\n")
		if head != "HTTP 200" {
			t.Fatalf("%s begins with %q", file, head)
		}
		got, err := newFake(t, status(200, answer, "Content-Type", "text/event-stream")).client(nil).Generate(t.Context(), remind(), nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var made []string
		for _, c := range got.Calls {
			made = append(made, c.Name+" "+string(c.Args))
		}
		want, ok := map[string][]string{
			"tool_one":        {`get_weather {"unit":"C","city":"Oslo"}`},
			"tool_parallel":   {`get_weather {"city":"Bergen"}`, `get_time {"zone":"Europe/Oslo"}`},
			"tool_after_text": {`get_weather {"city":"Tromso"}`},
		}[strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "v1_"), ".resp")]
		if diff := cmp.Diff(want, made); diff != "" || got.Lost == ok || got.Model != "scripted" || got.In < 250 || got.Out < 3 {
			t.Errorf("%s: %+v, %s", file, got, diff)
		}
	}
}
