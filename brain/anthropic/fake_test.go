package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// fake is a server of which a test scripts the answers.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	asked []map[string]any
	heads []http.Header
}

// newFake answers with one after the other; the last one repeats.
func newFake(t testing.TB, answers ...http.HandlerFunc) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost && r.URL.Path != "/v1/messages" {
			http.NotFound(w, r)
			return
		}
		f.mu.Lock()
		if one := map[string]any{}; json.Unmarshal(body, &one) == nil {
			f.asked = append(f.asked, one)
		}
		f.heads = append(f.heads, r.Header)
		n := len(f.heads)
		f.mu.Unlock()
		answers[min(n, len(answers))-1](w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) client(change func(*Options)) *Client {
	o := Options{Name: "other", URL: f.URL, Model: "claude-x", APIKey: secret, Now: fixedNow}
	if change != nil {
		change(&o)
	}
	return New(o)
}

func fixedNow() time.Time { return time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC) }

// stream answers with events: their type, and the rest of their JSON.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, eventText(events...))
	}
}

func eventText(events ...string) string {
	var out strings.Builder
	for _, e := range events {
		kind, rest, _ := strings.Cut(e, " ")
		if rest != "" {
			rest = "," + rest
		}
		fmt.Fprintf(&out, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest)
	}
	return out.String()
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

const (
	start  = `message_start "message":{"model":"claude-x-1","usage":{"input_tokens":60,"cache_read_input_tokens":25,"cache_creation_input_tokens":5,"output_tokens":1}}`
	text   = `content_block_start "index":0,"content_block":{"type":"text","text":""}`
	hello  = `content_block_delta "index":0,"delta":{"type":"text_delta","text":"Hello"}`
	ending = `content_block_stop "index":0`
	over   = `message_stop`
)

func stop(reason string) string {
	return `message_delta "delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":12}`
}

var ok = stream(start, "ping", text, hello, ending, stop("end_turn"), over)

// remind is a request of the usual form.
func remind() brain.Request {
	return brain.Request{
		System: "You are Hearth.",
		Tools:  []brain.ToolSpec{{Name: "remind", About: "Says a text at a time.", Schema: json.RawMessage(`{"type":"object","properties":{"when":{"type":"string"}}}`)}},
		Messages: []brain.Msg{
			{Role: "user", Text: "two reminders"},
			{Role: "assistant", Text: "One moment.", Calls: []brain.ToolCall{{ID: "call-7", Name: "remind", Args: json.RawMessage(`{"when":"at 9"}`)}, {ID: "call-8", Name: "remind", Args: json.RawMessage(`broken`)}}},
			{Role: "tool", CallID: "call-7", Tool: "remind", Text: "Reminder 7"},
			{Role: "tool", CallID: "call-8", Tool: "remind", Text: ""},
			{Role: "user", Text: "and quickly"},
			{Role: "assistant", Text: "It is set."},
			{Role: "assistant", Text: "(It ended.)"},
			{Role: "user", Text: " "},
			{Role: "user", Text: "thanks <b>"},
		},
		MaxTokens: 512,
	}
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	out, err := wire.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
