package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// otherWires serves the script of a model server over OpenAI's and Anthropic's protocols.
func otherWires(t *testing.T, script func(p prompt) reply) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program was killed while it asked
		}
		var asked struct {
			Model    string
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if r.Method != http.MethodPost || json.Unmarshal(body, &asked) != nil || len(asked.Messages) == 0 {
			_, _ = io.WriteString(w, `{"id":"m","data":[{"id":"m"}]}`)
			return
		}
		p := prompt{Model: asked.Model, gone: r.Context().Done()}
		last := asked.Messages[len(asked.Messages)-1]
		p.Messages = append(p.Messages, struct {
			Role, Content string
			ToolName      string `json:"tool_name"`
		}{Role: last.Role, Content: string(last.Content)})
		if strings.Contains(string(last.Content), `"tool_result"`) {
			p.Messages[0].Role = "tool"
		}
		said := script(p)
		args, err := json.Marshal(said.args)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		events := []string{fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, said.words)}
		end := []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`, "[DONE]"}
		switch anthropic := r.URL.Path == "/v1/messages"; {
		case anthropic && said.tool != "":
			events, end = []string{fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":%q,"input":%s}}`, said.tool, args)}, []string{`{"type":"message_stop"}`}
		case anthropic:
			events, end = []string{fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":%q}}`, said.words)}, []string{`{"type":"message_stop"}`}
		case said.tool != "":
			events = []string{fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":%q,"arguments":%q}}]}}]}`, said.tool, args)}
		}
		for _, e := range append(events, end...) {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// Between every two providers, there and back, the file is saved in the middle of a task: the step that is under way is
// taken from the model that makes it, and the next from the new one. Each of thirteen messages is answered once.
func TestThirteenMessagesWhileTheModelIsSwapped(t *testing.T) {
	asked, swapped := make(chan string), make(chan struct{})
	script := func(p prompt) reply {
		if p.result() {
			return words("Kept, says " + p.Model + ".")
		}
		asked <- p.Model
		<-swapped
		return use("write_file", map[string]any{"path": "note.txt", "content": "from " + p.Model})
	}
	ana, home := newPhone(t), newModelServer(t, script)
	web := otherWires(t, script)
	h := newHome(t, "", ana.settings(fmt.Sprintf("brain: {model: ollama, models: {ollama: {provider: ollama, url: %q, model: ollama}, openai: {provider: openai, url: %q, model: openai}, "+
		"anthropic: {provider: anthropic, url: %q, model: anthropic, max_tokens: 512}}}\n", home.url(), web.URL+"/v1", web.URL)))
	h.daemon()

	round := []string{"openai", "anthropic", "ollama", "anthropic", "openai", "ollama"} // each of three after each other one
	inUse := "ollama"
	for n := range 13 {
		next := round[n%len(round)]
		before := len(ana.shown())
		ana.say(fmt.Sprintf("keep note %d", n))
		if model := <-asked; model != inUse {
			t.Fatalf("message %d: %s is asked, and %s is in use", n, model, inUse)
		}
		saved := time.Now()
		h.edit("model: "+inUse+", models", "model: "+next+", models")
		eventually(t, "the other model is in use", func() bool { return ask(h, viewStatus, query{}).Model.InUse == text(next) })
		if took := time.Since(saved); took > 5*time.Second {
			t.Errorf("message %d: the new file is taken up after %v", n, took)
		}
		swapped <- struct{}{}
		ana.api.WaitFor("the answer", func() bool { return len(ana.shown()) > before })
		if got := ana.shown()[before].Text; !strings.HasPrefix(got, "Kept, says "+next+".") {
			t.Errorf("message %d, from %s to %s: %q", n, inUse, next, got)
		}
		inUse = next
	}
	ana.quiet(h)
	if got := len(ana.shown()); got != 13 {
		t.Errorf("13 messages have %d answers", got)
	}
}
