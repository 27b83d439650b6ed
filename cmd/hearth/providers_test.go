package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// speaker is a server that speaks like OpenAI and like Anthropic. It writes a file and says so.
type speaker struct {
	mu   sync.Mutex
	keys []string
}

func (s *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.keys = append(s.keys, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	done := strings.Contains(string(body), `"tool_call_id"`) || strings.Contains(string(body), `"tool_use_id"`)
	var events []string
	switch {
	case r.URL.Path == "/v1/chat/completions" && !done:
		events = []string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"write_file","arguments":"{\"path\":\"note.txt\",\"content\":\"openai\"}"}}]}}]}`}
	case r.URL.Path == "/v1/chat/completions":
		events = []string{`{"choices":[{"index":0,"delta":{"content":"Note kept."}}]}`}
	case r.URL.Path == "/v1/messages" && !done:
		events = []string{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"write_file","input":{"path":"note.txt","content":"anthropic"}}}`}
	case r.URL.Path == "/v1/messages":
		events = []string{`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Note kept."}}`}
	case r.URL.Path == "/v1/models":
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
		return
	default:
		_, _ = io.WriteString(w, `{"id":"m"}`)
		return
	}
	if r.URL.Path == "/v1/messages" {
		events = append(events, `{"type":"message_stop"}`)
	} else {
		events = append(events, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100}}`, "[DONE]")
	}
	for _, e := range events {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
	}
}

// The other two providers, from the YAML file to the file that a tool wrote: the key is sent, and nowhere told.
func TestSMOKE08OpenAIAndAnthropicWork(t *testing.T) {
	for provider, path := range map[string]string{"openai": "/v1", "anthropic": ""} {
		t.Run(provider, func(t *testing.T) {
			s := &speaker{}
			web := httptest.NewServer(s)
			defer web.Close()
			h := newHome(t, "", fmt.Sprintf("people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\nbrain:\n  model: other\n  models:\n    other: {provider: %s, url: %q, model: m, api_key: hidden-key, temperature: 0.2, price: {input: 3, output: 15}}\n", provider, web.URL+path))
			if out := h.ok("chat", "-m", "keep the note"); !strings.Contains(out, "Note kept.") {
				t.Errorf("it prints %q", out)
			}
			if note, err := os.ReadFile(filepath.Join(h.dir, "ws", "note.txt")); err != nil || string(note) != provider {
				t.Errorf("the note holds %q, %v", note, err)
			}
			for _, key := range s.keys {
				if !strings.Contains(key, "hidden-key") {
					t.Errorf("a request has the key %q", key)
				}
			}
			var runs []struct {
				USD   *float64 `json:"usd"`
				Model string   `json:"model"`
			}
			if err := json.Unmarshal([]byte(h.ok("runs", "--json")), &runs); err != nil {
				t.Fatal(err)
			}
			if provider == "openai" && (len(runs) != 1 || runs[0].USD == nil || *runs[0].USD != 0.009 || runs[0].Model != "other") {
				t.Errorf("the run is %+v", runs)
			}
			doctor := h.ok("doctor")
			if !strings.Contains(doctor, "ok     model other: The model m is there.") || strings.Contains(doctor, "hidden-key") {
				t.Errorf("doctor says %s", doctor)
			}
		})
	}
}
