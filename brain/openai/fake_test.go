package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/brain"
)

const secret = "sk-very-secret-key"

// fake is a server of which a test scripts the answers.
type fake struct {
	*httptest.Server
	chat   http.HandlerFunc
	models string // answer of GET /v1/models; "" = 404

	mu    sync.Mutex
	asked []map[string]any
	heads []http.Header
	lists int
}

func newFake(t testing.TB, chat http.HandlerFunc) *fake {
	f := &fake{chat: chat}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/v1/chat/completions":
		var one map[string]any
		if err := json.Unmarshal(body, &one); err != nil {
			panic(err)
		}
		f.mu.Lock()
		f.asked, f.heads = append(f.asked, one), append(f.heads, r.Header)
		f.mu.Unlock()
		f.chat(w, r)
	case "/v1/models":
		f.mu.Lock()
		f.lists++
		f.mu.Unlock()
		if f.models == "" {
			http.NotFound(w, r)
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, f.models)
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) requests() []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// client makes one for the fake; change may be nil.
func (f *fake) client(change func(*Options)) *Client {
	o := Options{Name: "cloud", URL: f.URL + "/v1", Model: "some-model", APIKey: secret, Tools: brain.ToolsNative, Now: fixedNow}
	if change != nil {
		change(&o)
	}
	return New(o)
}

func fixedNow() time.Time { return time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC) }

// stream answers with events.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}
}

func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// inOrder answers with one after the other; the last one repeats.
func inOrder(answers ...http.HandlerFunc) http.HandlerFunc {
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		n++
		answers[min(n, len(answers))-1](w, r)
	}
}

// piece is an event with a delta.
func piece(delta string) string {
	return `{"model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const (
	tokens = `{"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":12,"total_tokens":102}}`
	done   = "[DONE]"
)

var ok = stream(piece(`{"role":"assistant","content":""}`), piece(`{"content":"Hello"}`), finish("stop"), tokens, done)

// remind is a request of the usual form.
func remind() brain.Request {
	return brain.Request{
		System: "You are Hearth.",
		Tools: []brain.ToolSpec{
			{Name: "remind", About: "Says a text at a time.", Schema: json.RawMessage(`{"type":"object","properties":{"when":{"type":"string"},"text":{"type":"string"}},"required":["when","text"]}`)},
			{Name: "jobs", About: "Lists what is planned.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
		Messages: []brain.Msg{
			{Role: "user", Text: "remind me at 9 <b>& be quick</b>"},
			{Role: "assistant", Calls: []brain.ToolCall{{ID: "call-7", Name: "remind", Args: json.RawMessage(`{"text":"tea","when":"at 9"}`)}}},
			{Role: "tool", CallID: "call-7", Tool: "remind", Text: "Reminder 7"},
			{Role: "assistant", Text: "It is set."},
			{Role: "user", Text: "thanks"},
		},
		MaxTokens: 512,
	}
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
	if machinery.MatchString(fault.Human) || !strings.HasSuffix(fault.Human, ".") && !strings.HasSuffix(fault.Human, "?") {
		t.Errorf("the sentence %q shows machinery or has no end", fault.Human)
	}
	if strings.Contains(fault.Human+err.Error(), secret) {
		t.Errorf("the key is in %q or %q", fault.Human, err)
	}
	return *fault
}

var machinery = regexp.MustCompile(`[{}\[\]\n]|</?\w+>|HTTP \d|https?://127|\bnull\b|Traceback`)
