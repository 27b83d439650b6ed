package openai

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

func text(t testing.TB, v any) string {
	t.Helper()
	out, err := wire.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestTheRequest(t *testing.T) {
	f := newFake(t, ok)
	warm := 0.3
	if _, err := f.client(func(o *Options) { o.Temperature = &warm }).Generate(t.Context(), remind(), nil); err != nil {
		t.Fatal(err)
	}
	want := `{"chat_template_kwargs":{"enable_thinking":false},"max_tokens":512,"messages":[{"content":"You are Hearth.","role":"system"},{"content":"remind me at 9 <b>& be quick</b>","role":"user"},` +
		`{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"text\":\"tea\",\"when\":\"at 9\"}","name":"remind"},"id":"c00000007","type":"function"}]},` +
		`{"content":"Reminder 7","role":"tool","tool_call_id":"c00000007"},{"content":"It is set.","role":"assistant"},{"content":"thanks","role":"user"}],` +
		`"model":"some-model","stream":true,"stream_options":{"include_usage":true},"temperature":0.3,"tools":[` +
		`{"function":{"description":"Says a text at a time.","name":"remind","parameters":{"properties":{"text":{"type":"string"},"when":{"type":"string"}},"required":["when","text"],"type":"object"}},"type":"function"},` +
		`{"function":{"description":"Lists what is planned.","name":"jobs","parameters":{"properties":{},"type":"object"}},"type":"function"}]}`
	if diff := cmp.Diff(want, text(t, f.requests()[0])); diff != "" {
		t.Error(diff)
	}
	if got := f.heads[0].Get("Authorization"); got != "Bearer "+secret {
		t.Errorf("the key is sent as %q", got)
	}
	f.client(func(o *Options) { o.APIKey = "" }).Generate(t.Context(), remind(), nil) //nolint:errcheck // the request is looked at
	if got := f.heads[1].Get("Authorization"); got != "" {
		t.Errorf("without a key %q is sent", got)
	}
}

// The beginning of a request stays, byte for byte, while the conversation grows: the server's cache lives on that.
func TestTheBeginningOfARequestStays(t *testing.T) {
	c := New(Options{Name: "x", Model: "m", URL: "http://127.0.0.1"})
	for _, how := range []mode{modeNative, modeSchema, modeNone} {
		before := ""
		for _, n := range []int{1, 3, 4, 5} {
			req := remind()
			req.Messages = req.Messages[:n]
			body, err := c.body(req, how, refused{})
			if err != nil {
				t.Fatal(err)
			}
			now := strings.TrimSuffix(string(body), "]}")
			if !strings.HasPrefix(now, before) {
				t.Errorf("mode %d: %s does not begin with %s", how, now, before)
			}
			before = now
		}
	}
}

// Each thing that a server refuses is left out of the next try, and of all that follow.
func TestWhatAServerRefusesIsLeftOut(t *testing.T) {
	warm := 0.3
	all := func(o *Options) { o.Temperature, o.Tools = &warm, brain.ToolsAuto }
	for name, c := range map[string]struct {
		code       int
		said       string
		gone, came string // keys
		change     func(*Options)
	}{
		"the old name of the limit": {code: 400, said: `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}`, gone: "max_tokens", came: "max_completion_tokens"},
		"usage":                     {code: 400, said: `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`, gone: "stream_options"},
		"usage, said by Mistral":    {code: 422, said: `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, gone: "stream_options"},
		"temperature":               {code: 400, said: `{"error":{"message":"Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.","param":"temperature"}}`, gone: "temperature"},
		"thinking":                  {code: 400, said: `{"error":{"message":"property 'chat_template_kwargs' is unsupported"}}`, gone: "chat_template_kwargs"},
		"tools, said by llama.cpp":  {code: 500, said: `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, gone: "tools", came: "response_format"},
		"tools, said by vLLM":       {code: 400, said: `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}`, gone: "tools", came: "response_format"},
		"tools, said by OpenRouter": {code: 404, said: `{"error":{"message":"No endpoints found that support tool use.","code":404}}`, gone: "tools", came: "response_format"},
		"tools, said by Ollama":     {code: 400, said: `{"error":{"message":"some-model does not support tools","type":"invalid_request_error"}}`, gone: "tools", came: "response_format"},
		"a schema":                  {code: 400, said: `{"error":{"message":"'response_format.type' must be 'text'"}}`, gone: "response_format", change: func(o *Options) { o.Tools = brain.ToolsSchema }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, inOrder(status(c.code, c.said), ok))
			client := f.client(func(o *Options) {
				all(o)
				if c.change != nil {
					c.change(o)
				}
			})
			for range 2 {
				if got, err := client.Generate(t.Context(), remind(), nil); err != nil || got.Text != "Hello" {
					t.Fatalf("got %+v, %v", got, err)
				}
			}
			asked := f.requests()
			if len(asked) != 3 {
				t.Fatalf("%d requests, want 3", len(asked))
			}
			if asked[0][c.gone] == nil || c.came != "" && asked[0][c.came] != nil {
				t.Errorf("the first request is %v", asked[0])
			}
			for _, one := range asked[1:] {
				if one[c.gone] != nil || c.came != "" && one[c.came] == nil {
					t.Errorf("a later request is %v", one)
				}
			}
		})
	}
}

// A server that refuses everything comes to an end too.
func TestRefusingEverythingEnds(t *testing.T) {
	f := newFake(t, status(400, `{"error":{"message":"unsupported: max_tokens stream_options temperature chat_template_kwargs response_format does not support tools"}}`))
	warm := 0.3
	_, err := f.client(func(o *Options) { o.Tools, o.Temperature = brain.ToolsAuto, &warm }).Generate(t.Context(), remind(), nil)
	faultOf(t, err, brain.Permanent)
	if n := len(f.requests()); n > 8 {
		t.Errorf("%d requests", n)
	}
	f = newFake(t, status(400, `{"error":{"message":"some-model does not support tools"}}`))
	_, err = f.client(nil).Generate(t.Context(), remind(), nil) // native is what the owner wants
	if fault := faultOf(t, err, brain.Permanent); len(f.requests()) != 1 || !strings.Contains(fault.Human, "set brain.models.cloud.tools to schema") {
		t.Errorf("%d requests, %q", len(f.requests()), fault.Human)
	}
}

// A model without tools gets the same ones through the form of its answers, because its server says that it has none.
func TestToolsByWhatTheServerReports(t *testing.T) {
	for name, c := range map[string]struct {
		models, tools string
		schema        bool
	}{
		"no word of it":          {`{"data":[{"id":"some-model"}]}`, brain.ToolsAuto, false},
		"it has tools":           {`{"data":[{"id":"some-model","supported_parameters":["tools","temperature"]}]}`, brain.ToolsAuto, false},
		"it has none":            {`{"data":[{"id":"other","supported_parameters":["tools"]},{"id":"some-model","supported_parameters":["temperature"]}]}`, brain.ToolsAuto, true},
		"another has none":       {`{"data":[{"id":"other","supported_parameters":["temperature"]},{"id":"more"}]}`, brain.ToolsAuto, false},
		"no list":                {``, brain.ToolsAuto, false},
		"schema is wanted":       {``, brain.ToolsSchema, true},
		"native is wanted":       {`{"data":[{"id":"some-model","supported_parameters":["temperature"]}]}`, brain.ToolsNative, false},
		"the list is no JSON":    {`<html>`, brain.ToolsAuto, false},
		"the list is a surprise": {`{"data":{"id":7}}`, brain.ToolsAuto, false},
	} {
		f := newFake(t, ok)
		f.models = c.models
		if c.schema {
			f.chat = stream(piece(`{"content":"{\"tool\": \"remind\", "}`), piece(`{"content":"\"args\": {\"when\":\"at 9\"}}"}`), finish("stop"), tokens, done)
		}
		client := f.client(func(o *Options) { o.Tools = c.tools })
		for range 2 {
			got, err := client.Generate(t.Context(), remind(), nil)
			if err != nil || len(got.Calls) == 1 != c.schema {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		}
		one := f.requests()[0]
		if (one["tools"] == nil) != c.schema || (one["response_format"] != nil) != c.schema {
			t.Errorf("%s: the request is %v", name, one)
		}
		if c.schema && (!strings.Contains(text(t, one["messages"]), "- remind: Says a text") || strings.Contains(text(t, one["messages"]), `"role":"tool"`)) {
			t.Errorf("%s: the messages are %v", name, one["messages"])
		}
		if f.lists > 1 {
			t.Errorf("%s: the list was asked for %d times", name, f.lists)
		}
	}
	f := newFake(t, ok)
	if _, err := f.client(func(o *Options) { o.Tools = brain.ToolsOff }).Generate(t.Context(), remind(), nil); err != nil {
		t.Fatal(err)
	}
	if one := f.requests()[0]; one["tools"] != nil || !strings.Contains(text(t, one["messages"]), "no tools here") {
		t.Errorf("off: %v", one)
	}
}

func TestContextIsWhatTheServerTakes(t *testing.T) {
	for models, want := range map[string]int{
		``: 32768, `{"data":[{"id":"some-model"}]}`: 32768, `{"data":[{"id":"some-model","context_length":1000000}]}`: 32768,
		`{"data":[{"id":"some-model","context_length":8000},{"id":"b"}]}`: 8000, `{"data":[{"id":"some-model","max_model_len":4096}]}`: 4096,
		`{"data":[{"id":"/models/x.gguf","meta":{"n_ctx":2048,"n_ctx_train":40960}}]}`:      2048, // llama.cpp has one model, under any name
		`{"data":[{"id":"other","context_length":100},{"id":"more","context_length":100}]}`: 32768,
	} {
		f := newFake(t, ok)
		f.models = models
		if got := f.client(nil).Context(t.Context()); got != want {
			t.Errorf("%s: %d tokens, want %d", models, got, want)
		}
	}
}

func TestAnAnswerThatIsGzippedUnasked(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") == "gzip" {
			t.Error("it is asked for")
		}
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		rec := httptest.NewRecorder()
		ok(rec, r)
		_, _ = io.Copy(zip, rec.Body)
		_ = zip.Close()
	})
	if got, err := f.client(nil).Generate(t.Context(), remind(), nil); err != nil || got.Text != "Hello" {
		t.Errorf("got %+v, %v", got, err)
	}
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, _ = zip.Write([]byte(`{"error":{"message":"boom"}}`))
	_ = zip.Close()
	f = newFake(t, status(500, zipped.String(), "Content-Encoding", "gzip"))
	_, err := f.client(nil).Generate(t.Context(), remind(), nil)
	if faultOf(t, err, brain.Transient); !strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
	f = newFake(t, status(200, "no gzip", "Content-Encoding", "gzip"))
	_, err = f.client(nil).Generate(t.Context(), remind(), nil)
	faultOf(t, err, brain.Transient)
}

func TestBothVersionsOfHTTP(t *testing.T) {
	for _, two := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if (r.ProtoMajor == 2) != two {
				t.Errorf("it comes as %s", r.Proto)
			}
			ok(w, r)
		}))
		s.EnableHTTP2 = two
		s.StartTLS()
		defer s.Close()
		own := wire.NewHTTP()
		own.Transport.(*http.Transport).TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		own.Transport.(*http.Transport).TLSClientConfig.NextProtos = nil
		got, err := New(Options{Name: "x", Model: "m", URL: s.URL + "/v1", HTTP: own, Tools: brain.ToolsNative}).Generate(t.Context(), remind(), nil)
		if err != nil || got.Text != "Hello" {
			t.Errorf("got %+v, %v", got, err)
		}
		own.CloseIdleConnections()
	}
}

// slowly answers with events, each after a pause, in a bubble's time.
func slowly(pause time.Duration, events ...string) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		pr, pw := io.Pipe()
		go func() {
			for _, e := range events {
				select {
				case <-time.After(pause):
				case <-r.Context().Done():
					_ = pw.CloseWithError(r.Context().Err())
					return
				}
				_, _ = io.WriteString(pw, e+"\n\n")
			}
			<-r.Context().Done()
			_ = pw.CloseWithError(r.Context().Err())
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: pr}, nil
	})}
}

func TestSilenceIsLimited(t *testing.T) {
	words, comment := "data: "+piece(`{"content":"x"}`), ": still here"
	for name, c := range map[string]struct {
		pause  time.Duration
		events []string
		want   error
		after  time.Duration
		human  string
	}{
		"nothing comes":              {time.Second, nil, wire.ErrFirstToken, 5 * time.Minute, "had not begun to answer after 5 minutes (brain.models.x.first_token_timeout)"},
		"only signs of life":         {time.Minute, []string{comment, comment, comment, comment, comment, comment, comment}, wire.ErrFirstToken, 5 * time.Minute, "first_token_timeout"},
		"it stops in the middle":     {time.Second, []string{words, words}, wire.ErrIdle, time.Minute + 2*time.Second, "fell silent in the middle of its answer for 1 minute or more (brain.models.x.idle_timeout)"},
		"signs of life are no words": {50 * time.Second, []string{words, comment, comment, comment}, wire.ErrIdle, 110 * time.Second, "idle_timeout"},
		"slow and steady":            {50 * time.Second, []string{words, words, words, words, "data: [DONE]"}, nil, 250*time.Second + wire.DrainTime, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			client := New(Options{Name: "x", Model: "m", Tools: brain.ToolsSchema, FirstToken: 5 * time.Minute, Idle: time.Minute, HTTP: slowly(c.pause, c.events...)})
			_, err := client.Generate(t.Context(), remind(), nil)
			if took := time.Since(began); took != c.after {
				t.Errorf("%s: it took %v, want %v (%v)", name, took, c.after, err)
			}
			if c.want == nil {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
			if fault := faultOf(t, err, brain.Transient); !strings.Contains(fault.Human, c.human) {
				t.Errorf("%s: %q", name, fault.Human)
			}
		})
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("call-7", `{"a":1}`, "words", "remind")
	f.Add("", "[", "", "")
	f.Fuzz(func(t *testing.T, id, args, words, name string) {
		req := remind()
		req.Messages = append(req.Messages, brain.Msg{Role: "assistant", Text: words, Calls: []brain.ToolCall{{ID: id, Name: name, Args: json.RawMessage(args)}}}, brain.Msg{Role: "tool", CallID: id, Text: words})
		req.Tools[0].Schema = json.RawMessage(args)
		for _, how := range []mode{modeNone, modeNative, modeSchema} {
			body, err := New(Options{}).body(req, how, refused{})
			if err != nil || !json.Valid(body) {
				t.Fatalf("got %s, %v", body, err)
			}
		}
	})
}
