package ollama

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// facts are what a server says of a model.
type facts struct {
	capabilities []model.Capability // empty: an old server, which does not say
	context      int                // tokens that the model was made for; 0 = not said
	remote       string             // the host that really runs it; "" = the server itself
}

func (f facts) can(c model.Capability) bool { return slices.Contains(f.capabilities, c) }

func (f facts) lacksTools() bool {
	return len(f.capabilities) > 0 && !f.can(model.CapabilityTools)
}

// askTime bounds the small questions, which a server answers from its files.
const askTime = 10 * time.Second

func (s server) show(ctx context.Context, name string) (facts, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var got api.ShowResponse
	if err := s.call(ctx, "/api/show", api.ShowRequest{Model: name}, &got, name); err != nil {
		return facts{}, err
	}
	f := facts{capabilities: got.Capabilities, remote: got.RemoteHost}
	arch, _ := got.ModelInfo["general.architecture"].(string)
	if n, ok := got.ModelInfo[arch+".context_length"].(float64); ok {
		f.context = int(n)
	}
	return f, nil
}

func (s server) running(ctx context.Context) ([]api.ProcessModelResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var got api.ProcessResponse
	err := s.call(ctx, "/api/ps", nil, &got, "")
	return got.Models, err
}

// about gives what is known of the model, asking once.
func (c *Client) about(ctx context.Context) (facts, error) {
	c.mu.Lock()
	known := c.facts
	c.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	f, err := c.server.show(ctx, c.o.Model)
	if err != nil {
		return facts{}, err
	}
	c.mu.Lock()
	c.facts = &f
	c.mu.Unlock()
	return f, nil
}

// Loaded asks how many tokens the model can really take now: loaded is the size it is loaded with, 0 when it is not;
// maximum is what it was made for, 0 when the server does not say.
func (c *Client) Loaded(ctx context.Context) (loaded, maximum int, err error) {
	f, err := c.server.show(ctx, c.o.Model)
	if err != nil {
		return 0, 0, err
	}
	c.mu.Lock()
	c.facts = &f
	c.mu.Unlock()
	loaded, err = c.loadedNow(ctx)
	return loaded, f.context, err
}

func (c *Client) loadedNow(ctx context.Context) (int, error) {
	models, err := c.server.running(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range models {
		if sameModel(m.Model, c.o.Model) || sameModel(m.Name, c.o.Model) {
			return m.ContextLength, nil
		}
	}
	return 0, nil
}

// Context is how many tokens prompt and answer may take together: the least of what is configured, what the model was
// made for and what is really loaded. The last counts only after an answer, since a model that somebody else has loaded
// with another size is loaded anew for our next request. What cannot be found out does not lower it.
func (c *Client) Context(ctx context.Context) (tokens int) {
	if _, err := c.about(ctx); err != nil {
		c.log.Debug("cannot ask what the model was made for", "error", err)
	}
	c.mu.Lock()
	ask := c.answered && c.loaded == 0
	c.mu.Unlock()
	if ask {
		loaded, err := c.loadedNow(ctx)
		if err != nil {
			c.log.Debug("cannot ask with what size the model is loaded", "error", err)
		}
		c.mu.Lock()
		c.loaded = loaded
		c.mu.Unlock()
	}
	return c.limit()
}

// limit is Context as far as it is known without asking.
func (c *Client) limit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	tokens := c.o.Context
	if c.facts != nil && c.facts.context > 0 {
		tokens = min(tokens, c.facts.context)
	}
	if c.loaded > 0 {
		tokens = min(tokens, c.loaded)
	}
	return tokens
}

// sameModel compares names as the server does: the registry, the library and the tag "latest" may be left out.
func sameModel(a, b string) bool { return canonicalName(a) == canonicalName(b) }

func canonicalName(name string) string {
	name = strings.ToLower(name)
	name = strings.TrimPrefix(name, "registry.ollama.ai/")
	name = strings.TrimPrefix(name, "library/")
	if !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		name += ":latest"
	}
	return name
}
