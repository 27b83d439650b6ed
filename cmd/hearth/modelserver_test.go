package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// modelServer is an Ollama server whose model says what a test wants.
type modelServer struct {
	t       testing.TB
	address string
	script  func(p prompt) reply

	mu      sync.Mutex
	server  *httptest.Server
	prompts []prompt
}

// prompt is what the model was asked.
type prompt struct {
	Model    string
	Messages []struct {
		Role, Content string
		ToolName      string `json:"tool_name"`
	}
	Tools []struct {
		Function struct{ Name string }
	}
	gone <-chan struct{} // closed when the program hangs up
}

// last is the newest message.
func (p prompt) last() string { return p.Messages[len(p.Messages)-1].Content }

// result reports whether the newest message is what a tool gave.
func (p prompt) result() bool { return p.Messages[len(p.Messages)-1].Role == "tool" }

// tool is whose result the newest message is.
func (p prompt) tool() string { return p.Messages[len(p.Messages)-1].ToolName }

// says reports whether the newest message has these words.
func (p prompt) says(words string) bool { return !p.result() && strings.Contains(p.last(), words) }

// reply is what the model says: words, or a call.
type reply struct {
	words string
	tool  string
	args  map[string]any
	hang  bool // until the program hangs up
}

func words(w string) reply { return reply{words: w} }

func use(tool string, args map[string]any) reply { return reply{tool: tool, args: args} }

func newModelServer(t testing.TB, script func(p prompt) reply) *modelServer {
	m := &modelServer{t: t, script: script, address: "127.0.0.1:0"}
	m.up()
	t.Cleanup(m.down)
	return m
}

// settings is a configuration that uses two models of this server; more is added to the brain's keys.
func (m *modelServer) settings(more string) string {
	return fmt.Sprintf("brain: {model: one, models: {one: {provider: ollama, url: %[1]q, model: one}, two: {provider: ollama, url: %[1]q, model: two}}%[2]s}\n", m.url(), more)
}

func (m *modelServer) url() string { return "http://" + m.address }

// up lets the server answer, at the address it had before.
func (m *modelServer) up() {
	var where net.ListenConfig
	listener, err := where.Listen(m.t.Context(), "tcp", m.address)
	if err != nil {
		m.t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(m.serve))
	_ = s.Listener.Close() // the one it brings along
	s.Listener = listener
	s.Start()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server, m.address = s, listener.Addr().String()
}

// down takes the server away: connections are refused.
func (m *modelServer) down() {
	m.mu.Lock()
	s := m.server
	m.server = nil
	m.mu.Unlock()
	if s != nil {
		s.CloseClientConnections()
		s.Close()
	}
}

// asked gives all prompts so far.
func (m *modelServer) asked() []prompt {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]prompt{}, m.prompts...)
}

func (m *modelServer) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // whole, since only then a server notices that the client hangs up
	if err != nil {
		return // the program was killed while it asked
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api/version":
		_, _ = io.WriteString(w, `{"version":"0.30.0"}`)
	case "/api/show":
		_, _ = io.WriteString(w, `{"capabilities":["completion","tools"],"details":{"family":"test"},"model_info":{"general.architecture":"test","test.context_length":32768}}`)
	case "/api/ps":
		_, _ = io.WriteString(w, `{"models":[]}`)
	case "/api/tags":
		_, _ = io.WriteString(w, `{"models":[{"name":"one:latest","model":"one:latest"},{"name":"two:latest","model":"two:latest"}]}`)
	case "/api/chat":
		m.chat(w, r, body)
	default:
		http.NotFound(w, r)
	}
}

func (m *modelServer) chat(w http.ResponseWriter, r *http.Request, body []byte) {
	p := prompt{gone: r.Context().Done()}
	if err := json.Unmarshal(body, &p); err != nil || len(p.Messages) == 0 {
		m.t.Errorf("the model is asked %.200q: %v", body, err)
		http.Error(w, `{"error":"bad request"}`, http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.prompts = append(m.prompts, p)
	m.mu.Unlock()
	said := m.script(p)
	if said.hang {
		<-p.gone
		return
	}
	message := map[string]any{"role": "assistant", "content": said.words}
	if said.tool != "" {
		message["tool_calls"] = []any{map[string]any{"function": map[string]any{"name": said.tool, "arguments": said.args}}}
	}
	encode := json.NewEncoder(w)
	_ = encode.Encode(map[string]any{"model": p.Model, "message": message, "done": false}) // the program may be dead
	_ = encode.Encode(map[string]any{
		"model": p.Model, "message": map[string]any{"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
		"prompt_eval_count": len(body) / 4, "eval_count": 8,
	})
}
