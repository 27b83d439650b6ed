package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/brain"
)

// fake is an Ollama server of which a test scripts the parts it is about.
type fake struct {
	*httptest.Server
	chat   func(w http.ResponseWriter, r *http.Request, body []byte)
	show   http.HandlerFunc
	showOf func(model string) (answer string, ok bool) // instead of show, when set
	ps     string
	tags   string
	pull   http.HandlerFunc

	mu    sync.Mutex
	chats [][]byte // bodies, in order
	shown int      // how often /api/show was asked
}

const (
	showTools   = `{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960},"capabilities":["completion","tools","thinking"]}`
	showNoTools = `{"model_info":{"general.architecture":"phi","phi.context_length":2048},"capabilities":["completion"]}`
	okStream    = `{"model":"qwen3:4b","message":{"role":"assistant","content":"Hello"},"done":false}` + "\n" +
		`{"model":"qwen3:4b","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":2}` + "\n"
)

func newFake(t testing.TB) *fake {
	f := &fake{ps: `{"models":[]}`, tags: `{"models":[]}`}
	f.chat = answer(okStream)
	f.show = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, showTools) }
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // whole, since only then a server notices that the client hangs up
	switch r.URL.Path {
	case "/api/chat":
		f.mu.Lock()
		f.chats = append(f.chats, body)
		f.mu.Unlock()
		f.chat(w, r, body)
	case "/api/show":
		f.mu.Lock()
		f.shown++
		f.mu.Unlock()
		if f.showOf == nil {
			f.show(w, r)
			return
		}
		var asked struct{ Model string }
		_ = json.Unmarshal(body, &asked)
		about, ok := f.showOf(asked.Model)
		if !ok {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, about)
	case "/api/ps":
		_, _ = io.WriteString(w, f.ps)
	case "/api/tags":
		_, _ = io.WriteString(w, f.tags)
	case "/api/version":
		_, _ = io.WriteString(w, `{"version":"0.32.6"}`)
	case "/api/pull":
		f.pull(w, r)
	default:
		http.NotFound(w, r)
	}
}

// asked gives the chat requests so far.
func (f *fake) asked() []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []map[string]any
	for _, body := range f.chats {
		var one map[string]any
		if err := json.Unmarshal(body, &one); err != nil {
			panic(err)
		}
		out = append(out, one)
	}
	return out
}

func (f *fake) shows() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shown
}

func (f *fake) host() string { return strings.TrimPrefix(f.URL, "http://") }

func answer(stream string) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, stream)
	}
}

func status(code int, body string, headers ...string) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// client makes one for the fake; change may be nil.
func (f *fake) client(t testing.TB, change func(*Options)) *Client {
	o := Options{Name: "home", URL: f.URL, Model: "qwen3:4b", HTTP: f.Client(), Now: fixedNow}
	if testing.Verbose() {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	if change != nil {
		change(&o)
	}
	return New(o)
}

func fixedNow() time.Time { return time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC) }

// remind is a request of the usual form.
func remind() brain.Request {
	return brain.Request{
		System: "You are Hearth.",
		Tools: []brain.ToolSpec{
			{Name: "remind", About: "Says a text at a time.", Schema: json.RawMessage(`{
				"type": "object",
				"properties": {"when": {"type": "string", "description": "own words"}, "text": {"type": "string"}},
				"required": ["when", "text"]
			}`)},
			{Name: "jobs", About: "Lists what is planned.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
		Messages: []brain.Msg{
			{Role: "user", Text: "[Now: Fri 4 Dec 2026.]\n\nremind me at 9 <b>& be quick</b>"},
			{Role: "assistant", Text: "One moment.", Calls: []brain.ToolCall{{ID: "call-7", Name: "remind", Args: json.RawMessage(`{"text":"tea","when":"at 9","n":12345678901234567}`)}}},
			{Role: "tool", CallID: "call-7", Tool: "remind", Text: "Done.\nReminder 7"},
			{Role: "assistant", Text: "It is set."},
			{Role: "user", Text: "thanks ☕"},
		},
		MaxTokens: 512,
	}
}

// plain is a request without tools.
func plain(words string) brain.Request {
	return brain.Request{Messages: []brain.Msg{{Role: "user", Text: words}}}
}

// faultOf checks that an error is what the brain was promised, and gives it.
func faultOf(t testing.TB, err error, kind brain.FaultKind) brain.ModelError {
	t.Helper()
	var fault *brain.ModelError
	if !errors.As(err, &fault) {
		t.Fatalf("got %v (%T), want a *brain.ModelError", err, err)
	}
	if fault.Kind != kind {
		t.Errorf("got kind %q of %v, want %q", fault.Kind, err, kind)
	}
	if problem := unfit(fault.Human); problem != "" {
		t.Errorf("the sentence %q %s", fault.Human, problem)
	}
	return *fault
}

var machinery = regexp.MustCompile(`[{}\[\]\n]|</?\w+>|HTTP \d|https?://127|\bnull\b|Traceback`)

// unfit says why a sentence must not be shown to a person.
func unfit(human string) string {
	switch {
	case human == "":
		return "is empty"
	case machinery.MatchString(human):
		return "shows machinery"
	case !strings.HasSuffix(human, ".") && !strings.HasSuffix(human, "?"):
		return "has no end"
	}
	return ""
}

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond makes a response for a roundTrip.
func respond(body io.Reader) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}
}

func line(format string, args ...any) []byte {
	return append(fmt.Appendf(nil, format, args...), '\n')
}

func quotedJSON(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// lastMessages gives the messages of a request as "role: content".
func lastMessages(asked map[string]any) []string {
	var out []string
	for _, m := range asked["messages"].([]any) {
		m := m.(map[string]any)
		out = append(out, fmt.Sprintf("%v: %v", m["role"], m["content"]))
	}
	return out
}

func mustJSON(t testing.TB, raw []byte) any {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("this is no JSON: %v\n%s", err, raw)
	}
	return v
}
