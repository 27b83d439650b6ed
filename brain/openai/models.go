package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// facts are what a server says of a model in its list of models. OpenAI says nothing; others say something each.
type facts struct {
	listed     bool     // the server has a list, and the model is on it
	names      []string // of the models on the list
	context    int      // tokens that fit; 0 = not said
	parameters []string // OpenRouter: what a request may hold; empty = not said
}

func (f facts) lacksTools() bool {
	return len(f.parameters) > 0 && !slices.Contains(f.parameters, "tools")
}

// Limits of the small question.
const (
	askTime  = 10 * time.Second
	askAgain = time.Minute
)

// about gives what is known of the model. The server is asked once, and when it fails, again after a while.
func (c *Client) about(ctx context.Context) facts {
	c.mu.Lock()
	known, asked := c.facts, c.asked
	if known == nil && (asked.IsZero() || time.Since(asked) > askAgain) {
		c.asked = time.Now() // monotonic: a wait, nothing that anybody sees
		c.mu.Unlock()
		f, err := c.list(ctx)
		if err != nil {
			c.log.Debug("cannot ask what the model can do", "error", err)
			return facts{}
		}
		c.mu.Lock()
		c.facts, known = &f, &f
	}
	c.mu.Unlock()
	if known == nil {
		return facts{}
	}
	return *known
}

func (c *Client) list(ctx context.Context) (facts, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var doc struct {
		Data []struct {
			ID         string   `json:"id"`
			Parameters []string `json:"supported_parameters"` // OpenRouter
			Context    int      `json:"context_length"`       // OpenRouter
			MaxLen     int      `json:"max_model_len"`        // vLLM
			Loaded     int      `json:"loaded_context_length"`
			Meta       struct {
				Window  int `json:"n_ctx"` // llama.cpp
				Trained int `json:"n_ctx_train"`
			} `json:"meta"`
		} `json:"data"`
	}
	if err := c.api.Get(ctx, "models", &doc); err != nil {
		return facts{}, err
	}
	var f facts
	for _, m := range doc.Data {
		f.names = append(f.names, m.ID)
		if alone := len(doc.Data) == 1 && c.api.Local(); m.ID != c.o.Model && !alone { // llama.cpp serves its one model under any name
			continue
		}
		f.listed, f.parameters = true, m.Parameters
		for _, n := range []int{m.Context, m.MaxLen, m.Loaded, m.Meta.Window, m.Meta.Trained} {
			if n > 0 {
				f.context = n
				break
			}
		}
	}
	return f, nil
}

// Context is how many tokens prompt and answer may take together: what is configured, or less if the server says so.
func (c *Client) Context(ctx context.Context) int {
	c.about(ctx)
	return c.limit()
}

// limit is Context as far as it is known without asking.
func (c *Client) limit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.facts != nil && c.facts.context > 0 {
		return min(c.facts.context, c.o.Context)
	}
	return c.o.Context
}

// Check looks whether the model can be used as it is configured. It asks the model nothing, and costs nothing.
func (c *Client) Check(ctx context.Context) []brain.Finding {
	f, err := c.list(ctx)
	var told *wire.Told
	switch {
	case errors.As(err, &told) && (told.Status == http.StatusNotFound || told.Status == http.StatusMethodNotAllowed):
		return []brain.Finding{{What: "server", OK: true, Text: "A server answers at " + c.api.Host() + ". It has no list of models, so nothing more can be seen."}}
	case errors.As(err, &told):
		return []brain.Finding{{What: "server", Text: c.sort(told).Human}}
	case err != nil:
		return []brain.Finding{{What: "server", Text: human(err)}}
	}
	out := []brain.Finding{{What: "server", OK: true, Text: c.api.Who() + " answers."}}
	if c.o.APIKey != "" {
		out[0].Text = c.api.Who() + " answers and takes the key."
	}
	if strings.HasSuffix(c.api.Host(), ":11434") {
		out = append(out, brain.Finding{What: "server", Text: "It looks like Ollama, which ignores the context size and cuts long prompts in silence when it is spoken to like this: set " + c.api.Key("provider") + " to ollama."})
	}
	switch {
	case f.listed || len(f.names) == 0:
		out = append(out, brain.Finding{What: "model", OK: true, Text: "The model " + c.o.Model + " is there."})
	default:
		out = append(out, brain.Finding{What: "model", Text: fmt.Sprintf("The model %s is not on its list: check %s.%s", c.o.Model, c.api.Key("model"), examples(f.names))})
	}
	switch {
	case c.o.Tools == brain.ToolsOff:
		out = append(out, brain.Finding{What: "tools", OK: true, Text: "Tools are off (" + c.api.Key("tools") + "): it can talk, and do nothing."})
	case c.o.Tools == brain.ToolsNative && f.lacksTools():
		out = append(out, brain.Finding{What: "tools", Text: "The model " + c.o.Model + " knows no tools: set " + c.api.Key("tools") + " to auto, or choose another model."})
	case c.o.Tools == brain.ToolsSchema, f.lacksTools():
		out = append(out, brain.Finding{What: "tools", OK: true, Text: "Its calls are forced into a schema. A model that knows tools of its own does better."})
	}
	if f.context > 0 && f.context < c.o.Context {
		out = append(out, brain.Finding{What: "context", OK: true, Text: fmt.Sprintf("The server takes %d tokens, less than the %d of %s, so that is what is used.", f.context, c.o.Context, c.api.Key("context"))})
	}
	return out
}

// examples names a few models of a list that may be long.
func examples(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return " It has: " + strings.Join(names, ", ") + "."
}

// human is the sentence of an error.
func human(err error) string {
	var fault *brain.ModelError
	if errors.As(err, &fault) && fault.Human != "" {
		return fault.Human
	}
	return "The model server could not be asked."
}
