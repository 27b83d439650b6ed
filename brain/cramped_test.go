package brain_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/brain"
	"hearth/skills"
	"hearth/vault"
)

var tortureMessages = flag.Int("torture", 40, "how many messages TestLOOP17InACrampedContext sends; 500 take a minute")

// cramped answers as a server of 4,096 tokens does: what is longer, with room for the answer, is refused with status 400. A
// message is a page to read, or small talk; every second page is read on.
type cramped struct {
	*server
	limit, refused, asked, summaries, readOn int
	worst                                    int
}

func (c *cramped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r) // what a client asks about its server
		return
	}
	body, _ := io.ReadAll(r.Body)
	one, problem := readAsked(c.wire, body)
	if problem != "" {
		c.t.Errorf("it gets a request that it would refuse: %s", problem)
	}
	var doc struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
		Tools     json.RawMessage `json:"tools"`
		MaxTokens int             `json:"max_tokens"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		c.t.Error(err)
	}
	tokens := len(doc.Tools) / 4
	for _, m := range doc.Messages {
		tokens += 5 + tokensOf(m.Content)
	}
	for _, call := range one.calls {
		tokens += 5 + tokensOf(call)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.worst = max(c.worst, tokens)
	if tokens+doc.MaxTokens > c.limit {
		c.refused++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","message":"prompt is too long: it exceeds the maximum context length of 4096 tokens"}}`)
		return
	}
	last := doc.Messages[len(doc.Messages)-1]
	a := reply{text: "Read it: " + strings.Repeat("so ", 30)}
	switch {
	case len(doc.Tools) == 0:
		c.summaries++
		a = reply{text: fmt.Sprintf("They read pages; %d summaries so far.", c.summaries)}
	case last.Role == "user" && strings.Contains(last.Content, "read page"):
		a = reply{calls: []string{"fetch", `{"text":"page"}`}}
	case last.Role == "tool" && strings.Contains(last.Content, "page begins"):
		if _, rest, ok := strings.Cut(last.Content, "; read_file "); ok {
			path, _, _ := strings.Cut(rest, " ")
			a = reply{calls: []string{"read_file", `{"path":"` + path + `"}`}}
		}
	case last.Role == "tool" && strings.Contains(last.Content, "; read_file result-"):
		c.readOn++
	}
	w.Header().Set("Content-Type", "text/event-stream")
	a.out = 10
	for _, line := range openaiLines(a) {
		_, _ = io.WriteString(w, strings.ReplaceAll(line, `"prompt_tokens":100`, fmt.Sprintf(`"prompt_tokens":%d`, tokens)))
	}
}

// tokensOf is a tokenizer: four letters, or two other characters, are a token.
func tokensOf(s string) int {
	letters := 0
	for _, r := range s {
		if r == ' ' || r >= 'a' && r <= 'z' {
			letters++
		}
	}
	return letters/4 + (len(s)-letters)/2 + 1
}

// LOOP-17: in a context of 4,096 tokens, with tools that return 300 kB of letters or of digits, every message is answered
// and no request is too long.
func TestLOOP17InACrampedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, model := newServer(t, "openai")
		c := &cramped{server: s, limit: 4096}
		s.handler = c
		page := 0
		tools := func(*vault.Vault) ([]skills.Tool, error) {
			return []skills.Tool{
				{
					Name: "fetch", About: "Fetches.", Effect: skills.Reads, Unknown: "again", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
					Run: func(context.Context, skills.Call, json.RawMessage) (skills.Result, error) {
						page++
						return skills.Result{Text: fmt.Sprintf("page begins %d ", page) + strings.Repeat([]string{"lorem ipsum ", "+351 912-345-678 "}[page/20%2], 25_000)}, nil
					},
				},
				{
					Name: "read_file", About: "Reads a file.", Effect: skills.Reads, Unknown: "again", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
					Run: func(context.Context, skills.Call, json.RawMessage) (skills.Result, error) {
						return skills.Result{Text: "no such file"}, nil
					},
				},
			}, nil
		}
		h := newHouse(t, brain.Settings{
			Backends:   map[string]brain.Backend{"home": {Name: "home", Model: model, Context: 4096, MaxTokens: 1024, Price: &brain.Price{}}},
			Model:      "home",
			Background: true,
		}, tools)
		unanswered := 0
		for i := range *tortureMessages {
			words := fmt.Sprintf("read page %d please", i)
			if i%3 == 2 {
				words = fmt.Sprint("small talk ", i, strings.Repeat(" padding", 40))
			}
			if p := h.say(words); p.Run.State != vault.Done || !strings.HasPrefix(h.reply(p), "Read it") {
				unanswered++
			}
			<-time.After(time.Minute)
		}
		t.Logf("%d requests, the longest of %d tokens, %d summaries, %d read on", c.asked, c.worst, c.summaries, c.readOn)
		if unanswered > 0 || c.refused > 0 || c.summaries < 3 || c.readOn < 3 || page == 0 {
			t.Errorf("%d of %d are not answered, %d requests are refused, %d summaries, %d read on", unanswered, *tortureMessages, c.refused, c.summaries, c.readOn)
		}
	})
}
