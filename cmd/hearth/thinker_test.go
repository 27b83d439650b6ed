package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// thinker is an Ollama server whose model takes its time: each request waits until the test answers it.
type thinker struct {
	*httptest.Server
	asked chan string   // what the model is asked: the last message of the prompt
	reply chan thinking // what it says to that
	end   chan struct{}
	once  sync.Once
}

// thinking is what a model says: words, or the call of a tool. With pieces it writes those first, as they come, and ends when
// they do.
type thinking struct {
	words, tool, args string
	pieces            <-chan string
}

func newThinker(t *testing.T) *thinker {
	t.Helper()
	m := &thinker{asked: make(chan string, 16), reply: make(chan thinking), end: make(chan struct{})}
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(func() {
		m.once.Do(func() { close(m.end) })
		m.Close()
	})
	return m
}

func (m *thinker) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api/version":
		fmt.Fprint(w, `{"version":"0.30.0"}`)
	case "/api/show":
		fmt.Fprint(w, `{"capabilities":["completion","tools"],"details":{"family":"test"},"model_info":{"general.architecture":"test","test.context_length":32768}}`)
	case "/api/ps":
		fmt.Fprint(w, `{"models":[{"name":"slow:latest","model":"slow:latest","context_length":8192}]}`)
	case "/api/chat":
		var req struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Messages) == 0 {
			http.Error(w, `{"error":"bad request"}`, http.StatusBadRequest)
			return
		}
		last := req.Messages[len(req.Messages)-1]
		m.asked <- last.Role + ": " + last.Content
		select {
		case said := <-m.reply:
			if m.write(w, r, said.pieces) {
				m.say(w, said)
			}
		case <-r.Context().Done():
		case <-m.end:
		}
	default:
		http.NotFound(w, r)
	}
}

// write streams the pieces of an answer. whole: nobody hung up meanwhile.
func (m *thinker) write(w http.ResponseWriter, r *http.Request, pieces <-chan string) (whole bool) {
	for pieces != nil {
		select {
		case piece, more := <-pieces:
			if !more {
				return true
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"model": "slow", "message": map[string]any{"role": "assistant", "content": piece}, "done": false}) // the client may be dead
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return false
		case <-m.end:
			return false
		}
	}
	return true
}

func (m *thinker) say(w http.ResponseWriter, said thinking) {
	message := map[string]any{"role": "assistant", "content": said.words}
	if said.tool != "" {
		message["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": said.tool, "arguments": json.RawMessage(said.args)}}}
	}
	for _, line := range []map[string]any{
		{"model": "slow", "message": message, "done": false},
		{"model": "slow", "message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 900, "eval_count": 8},
	} {
		_ = json.NewEncoder(w).Encode(line) // the client may be dead
	}
}
