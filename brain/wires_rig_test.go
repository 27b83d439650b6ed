package brain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/brain"
	"hearth/brain/anthropic"
	"hearth/brain/ollama"
	"hearth/brain/openai"
	"hearth/skills"
	"hearth/vault"
)

// reply is what a scripted server answers, whatever it speaks.
type reply struct {
	text, thinking string
	calls          []string // name, arguments, name, arguments …; the arguments are sent as a text that need not be JSON
	out            int      // tokens; 0 = 10
	status         int      // instead of an answer
	after          string   // Retry-After
	body           string
	cut, hang      bool
}

// server speaks one wire format over connections that live in a bubble.
type server struct {
	t       *testing.T
	wire    string
	conns   chan net.Conn
	closed  sync.Once
	mu      sync.Mutex
	replies []reply
	before  func(n int) // called with the number of each chat request, from 1
	asked   []asked
	handler http.Handler // instead of the replies
}

// asked is a request in a common form.
type asked struct {
	roles   []string // user, assistant, tool, …
	text    string   // all of it
	calls   []string // ids
	results []string // ids
}

func (s *server) Accept() (net.Conn, error) {
	c, ok := <-s.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (s *server) Close() error   { s.closed.Do(func() { close(s.conns) }); return nil }
func (s *server) Addr() net.Addr { return &net.UnixAddr{Name: s.wire} }

// newServer starts one, and gives the client of a model behind it.
func newServer(t *testing.T, wire string, replies ...reply) (*server, brain.Model) {
	s := &server{t: t, wire: wire, conns: make(chan net.Conn), replies: replies}
	web := &http.Server{Handler: s, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	served := make(chan struct{})
	go func() { _ = web.Serve(s); close(served) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case s.conns <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = web.Close()
		<-served
	})
	own := &http.Client{Transport: transport}
	const first, idle = time.Minute, 30 * time.Second
	switch wire {
	case "ollama":
		return s, ollama.New(ollama.Options{Name: wire, URL: "http://127.0.0.1", Model: "m", FirstToken: first, Idle: idle, HTTP: own})
	case "openai":
		return s, openai.New(openai.Options{Name: wire, URL: "http://127.0.0.1/v1", Model: "m", APIKey: "k", FirstToken: first, Idle: idle, HTTP: own})
	default:
		return s, anthropic.New(anthropic.Options{Name: wire, URL: "http://127.0.0.1", Model: "m", APIKey: "k", FirstToken: first, Idle: idle, HTTP: own})
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.handler != nil {
		s.handler.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/api/chat", "/v1/chat/completions", "/v1/messages":
	case "/api/show":
		_, _ = io.WriteString(w, `{"capabilities":["completion","tools"]}`)
		return
	default:
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, problem := readAsked(s.wire, body)
	if problem != "" {
		s.t.Errorf("%s gets a request that it would refuse: %s\n%s", s.wire, problem, body)
	}
	s.asked = append(s.asked, one)
	if s.before != nil {
		s.before(len(s.asked))
	}
	if len(s.asked) > len(s.replies) {
		s.t.Errorf("%s is asked %d times, and has %d answers", s.wire, len(s.asked), len(s.replies))
		w.WriteHeader(http.StatusTeapot)
		return
	}
	a := s.replies[len(s.asked)-1]
	switch {
	case a.hang:
		<-r.Context().Done()
	case a.status != 0:
		if a.after != "" {
			w.Header().Set("Retry-After", a.after)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	default:
		if a.out == 0 {
			a.out = 10
		}
		lines := map[string]func(reply) []string{"ollama": ollamaLines, "openai": openaiLines, "anthropic": anthropicLines}[s.wire](a)
		if a.cut {
			lines = lines[:len(lines)-1]
		}
		w.Header().Set("Content-Type", map[string]string{"ollama": "application/x-ndjson"}[s.wire])
		if s.wire != "ollama" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		for _, l := range lines {
			_, _ = io.WriteString(w, l)
		}
		if a.cut {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}
}

func quoted(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func ollamaLines(a reply) []string {
	var out []string
	message := func(m string) { out = append(out, `{"model":"m","message":`+m+`,"done":false}`+"\n") }
	if a.thinking != "" {
		message(`{"role":"assistant","content":"","thinking":` + quoted(a.thinking) + `}`)
	}
	for _, word := range strings.SplitAfter(a.text, " ") {
		message(`{"role":"assistant","content":` + quoted(word) + `}`)
	}
	for i := 0; i < len(a.calls); i += 2 {
		message(`{"role":"assistant","content":"","tool_calls":[{"function":{"name":` + quoted(a.calls[i]) + `,"arguments":` + quoted(a.calls[i+1]) + `}}]}`)
	}
	return append(out, fmt.Sprintf(`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":100,"eval_count":%d}`+"\n", a.out))
}

func openaiLines(a reply) []string {
	var out []string
	event := func(data string) { out = append(out, "data: "+data+"\n\n") }
	delta := func(d string) { event(`{"model":"m","choices":[{"index":0,"delta":` + d + `}]}`) }
	if a.thinking != "" {
		delta(`{"reasoning_content":` + quoted(a.thinking) + `}`)
	}
	for _, word := range strings.SplitAfter(a.text, " ") {
		delta(`{"content":` + quoted(word) + `}`)
	}
	for i := 0; i < len(a.calls); i += 2 {
		n := strconv.Itoa(i / 2)
		delta(`{"tool_calls":[{"index":` + n + `,"id":"x` + n + `","function":{"name":` + quoted(a.calls[i]) + `,"arguments":""}}]}`)
		for piece := range strings.SplitSeq(a.calls[i+1], ":") {
			if _, rest, more := strings.Cut(a.calls[i+1], piece); more && strings.HasPrefix(rest, ":") {
				piece += ":"
			}
			delta(`{"tool_calls":[{"index":` + n + `,"function":{"arguments":` + quoted(piece) + `}}]}`)
		}
	}
	reason := "stop"
	if len(a.calls) > 0 {
		reason = "tool_calls"
	}
	event(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
	event(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":%d}}`, a.out))
	event("[DONE]")
	return out
}

func anthropicLines(a reply) []string {
	var out []string
	event := func(kind, rest string) {
		out = append(out, fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest))
	}
	n := -1
	block := func(start string, deltas ...string) {
		n++
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, n, start))
		for _, d := range deltas {
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, n, d))
		}
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, n))
	}
	event("message_start", `,"message":{"id":"x","role":"assistant","model":"m","content":[],"usage":{"input_tokens":60,"cache_read_input_tokens":40,"output_tokens":1}}`)
	event("ping", "")
	if a.thinking != "" {
		block(`{"type":"thinking","thinking":""}`, `{"type":"thinking_delta","thinking":`+quoted(a.thinking)+`}`, `{"type":"signature_delta","signature":"abc"}`)
	}
	if a.text != "" {
		var deltas []string
		for _, word := range strings.SplitAfter(a.text, " ") {
			deltas = append(deltas, `{"type":"text_delta","text":`+quoted(word)+`}`)
		}
		block(`{"type":"text","text":""}`, deltas...)
	}
	reason := "end_turn"
	for i := 0; i < len(a.calls); i += 2 {
		reason = "tool_use"
		half := len(a.calls[i+1]) / 2
		block(`{"type":"tool_use","id":"toolu_1","name":`+quoted(a.calls[i])+`,"input":{}}`,
			`{"type":"input_json_delta","partial_json":`+quoted(a.calls[i+1][:half])+`}`, `{"type":"input_json_delta","partial_json":`+quoted(a.calls[i+1][half:])+`}`)
	}
	event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q},"usage":{"output_tokens":%d}`, reason, a.out))
	event("message_stop", "")
	return out
}

// readAsked reads a request as strictly as the strictest server of its kind, and says what that would refuse.
func readAsked(wire string, body []byte) (a asked, problem string) {
	var doc struct {
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Arguments json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		MaxTokens int `json:"max_tokens"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return a, err.Error()
	}
	a.text = string(body)
	open := []string{}
	for i, m := range doc.Messages {
		a.roles = append(a.roles, m.Role)
		if wire == "anthropic" {
			var blocks []struct{ Type, Text, ID, ToolUseID string }
			raw := strings.ReplaceAll(string(m.Content), `"tool_use_id"`, `"ToolUseID"`)
			if err := json.Unmarshal([]byte(raw), &blocks); err != nil {
				return a, err.Error()
			}
			if (i == 0 && m.Role != "user") || i > 0 && m.Role == doc.Messages[i-1].Role || len(blocks) == 0 {
				return a, fmt.Sprintf("the roles do not alternate at message %d", i)
			}
			waiting := open
			open = nil
			for k, b := range blocks {
				switch b.Type {
				case "tool_use":
					a.calls, open = append(a.calls, b.ID), append(open, b.ID)
				case "tool_result":
					if k >= len(waiting) || waiting[k] != b.ToolUseID {
						return a, "a result answers no call of the message before"
					}
					a.results = append(a.results, b.ToolUseID)
				case "text":
					if b.Text == "" || k < len(waiting) {
						return a, "an empty text, or one before the results"
					}
				}
			}
			continue
		}
		if m.Role == "tool" {
			if len(open) == 0 || open[0] != m.ToolCallID {
				return a, "a result answers no call before it"
			}
			open, a.results = open[1:], append(a.results, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return a, "a call has no result"
		}
		for _, c := range m.ToolCalls {
			if text := strings.HasPrefix(string(c.Function.Arguments), `"`); text != (wire == "openai") {
				return a, "arguments in the wrong form"
			}
			a.calls, open = append(a.calls, c.ID), append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return a, "a call has no result"
	}
	if wire == "anthropic" && doc.MaxTokens == 0 {
		return a, "no max_tokens"
	}
	return a, ""
}

// house is a brain on a real vault, in a bubble.
type house struct {
	t     *testing.T
	vault *vault.Vault
	brain *brain.Brain
	me    vault.Person
	said  int
}

func newHouse(t *testing.T, s brain.Settings, tools ...func(*vault.Vault) ([]skills.Tool, error)) *house {
	t.Helper()
	h := &house{t: t}
	var err error
	h.vault, err = vault.Open(t.Context(), t.TempDir(), vault.Options{Now: time.Now})
	h.must(err)
	h.must(h.vault.SyncPeople(t.Context(), []vault.Person{{Name: "Me", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}}}))
	h.me, err = h.vault.PersonNamed(t.Context(), "Me")
	h.must(err)
	tool := func(name string, effect skills.Effect) skills.Tool {
		return skills.Tool{
			Name: name, About: "Does " + name + ".", Effect: effect, Unknown: "asked", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
			Run: func(_ context.Context, _ skills.Call, args json.RawMessage) (skills.Result, error) {
				if strings.Contains(string(args), "fail") {
					return skills.Result{}, errors.New("it failed")
				}
				return skills.Result{Text: name + " did " + string(args)}, nil
			},
		}
	}
	list := []skills.Tool{tool("look", skills.Reads), tool("note", skills.Sets)}
	for _, more := range tools {
		list, err = more(h.vault)
		h.must(err)
	}
	set, err := skills.NewSet(list...)
	h.must(err)
	h.brain = brain.New(brain.Options{Vault: h.vault, Tools: set, Now: time.Now, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, s)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = h.brain.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done; _ = h.vault.Close() })
	synctest.Wait()
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// say accepts a message, lets time pass, and gives what became of it.
func (h *house) say(text string) vault.Progress {
	h.t.Helper()
	h.said++
	in := vault.Inbound{Gateway: "telegram", Account: "bot", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: strconv.Itoa(h.said), Kind: "text", Text: text, Sent: time.Now()}
	acc, err := h.vault.Accept(h.t.Context(), in, h.me, 0)
	h.must(err)
	<-time.After(3 * time.Minute)
	synctest.Wait()
	p, err := h.vault.Progress(h.t.Context(), acc.Run)
	h.must(err)
	return p
}

// reply is what the person reads in the end.
func (h *house) reply(p vault.Progress) string {
	h.t.Helper()
	words, err := h.vault.Reply(h.t.Context(), p.Run.ID)
	h.must(err)
	return words
}

// asking is a model made of a function.
type asking func(brain.Request) brain.Response

func (f asking) Generate(_ context.Context, req brain.Request, _ func(string)) (brain.Response, error) {
	return f(req), nil
}
