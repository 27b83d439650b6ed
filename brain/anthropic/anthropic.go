// Package anthropic asks a language model through Anthropic's Messages API. It is one address and one stream of events, so
// the client is our own; the official one adds 6.1 MB to the program.
package anthropic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// DefaultURL is Anthropic's own.
const DefaultURL = "https://api.anthropic.com"

// version is the one of the API that this client speaks; a newer one would have to be asked for.
const version = "2023-06-01"

// Options say which model is asked, and how. Zero values get the defaults of the YAML file.
type Options struct {
	Name        string        // as in the YAML file, for texts that name a key: brain.models.NAME
	URL         string        // without the version; "" = DefaultURL
	Model       string        // as Anthropic calls it
	APIKey      string        // "" = none is sent
	Context     int           // tokens of prompt and answer together; 0 = 200000
	MaxTokens   int           // of an answer, when the request does not say; 0 = 1024. The API insists on one
	Think       bool          // before the first words of an answer; needs MaxTokens of 2048 or more, which thoughts count towards
	Temperature *float64      // nil = the server's own; left out where the model thinks
	Tools       string        // "" = brain.ToolsAuto, which is native here
	FirstToken  time.Duration // limit until the first word; 0 = 10 minutes
	Idle        time.Duration // limit for a silence in the middle of an answer; 0 = 2 minutes
	HTTP        *http.Client  // nil = one of its own. Its Timeout must be 0
	Now         func() time.Time
	Log         *slog.Logger
}

// Client is one model. It may be used by many goroutines.
type Client struct {
	o   Options
	api *wire.API
	log *slog.Logger

	mu      sync.Mutex
	refused refused
}

// refused is what the model does not take. It is found out by asking, once, and kept.
type refused struct{ thinking, temperature bool }

// New makes a Client. Nothing is asked of the server until it is used.
func New(o Options) *Client {
	if o.URL == "" {
		o.URL = DefaultURL
	}
	if o.Context <= 0 {
		o.Context = 200_000
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = 1024
	}
	if o.FirstToken <= 0 {
		o.FirstToken = 10 * time.Minute
	}
	if o.Idle <= 0 {
		o.Idle = 2 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	api := &wire.API{Provider: "Anthropic", Setting: "brain.models." + o.Name, Model: o.Model, Header: http.Header{}, HTTP: o.HTTP, Now: o.Now}
	api.Header.Set("Anthropic-Version", version)
	if o.APIKey != "" {
		api.Header.Set("X-Api-Key", o.APIKey)
		api.Secrets = append(api.Secrets, o.APIKey)
	}
	o.URL = strings.TrimSuffix(strings.TrimSuffix(o.URL, "/"), "/v1") // people write it with the version too
	return &Client{o: o, api: api.At(o.URL), log: o.Log.With("model", o.Name)}
}

// mode is how tools are offered in one request.
type mode int

const (
	modeNone   mode = iota // no tools at all: they are off, or there are none
	modeNative             // as tools
	modeSchema             // as text; nothing forces the form of the answer
)

// Generate gives the model's next reply. What a model refuses is left out of the next try, and that is remembered. An error
// is a *brain.ModelError unless ctx ended; then it is the cause of that.
func (c *Client) Generate(ctx context.Context, req brain.Request, onDelta func(text string)) (brain.Response, error) {
	for {
		known := c.known()
		resp, err := c.ask(ctx, req, known, onDelta)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return resp, context.Cause(ctx)
		}
		var told *wire.Told
		var fault *brain.ModelError
		if !errors.As(err, &fault) && errors.As(err, &told) {
			if c.learn(told, known) {
				continue
			}
			err = c.sort(told)
		}
		return resp, err // what it has counted is to be paid all the same
	}
}

func (c *Client) known() refused {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

// learn reads from a refusal what to leave out. Nothing is learnt twice, so that asking again comes to an end.
func (c *Client) learn(t *wire.Told, sent refused) bool {
	if t.Status != http.StatusBadRequest || t.Has(wire.TooLongWords...) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.o.Think && !sent.thinking && t.Has("thinking"):
		c.refused.thinking = true
	case c.o.Temperature != nil && !sent.temperature && t.Has("temperature"):
		c.refused.temperature = true
	default:
		return false
	}
	c.log.Warn("the model does not take a setting; it is left out from now on", "said", t.Text)
	return true
}

// ask makes one request and reads its answer.
func (c *Client) ask(ctx context.Context, req brain.Request, known refused, onDelta func(string)) (brain.Response, error) {
	body, how, err := c.body(req, known)
	if err != nil {
		return brain.Response{}, &brain.ModelError{Kind: brain.Permanent, Human: "The request to the model could not be written: that is a fault in me.", Err: err}
	}
	guard := wire.NewGuard(ctx, c.o.FirstToken, wire.ErrFirstToken)
	defer guard.End()
	resp, err := c.api.Do(guard.Ctx, "v1/messages", body)
	if err != nil {
		return brain.Response{}, c.api.Blame(guard.Ctx, err, c.o.FirstToken, c.o.Idle)
	}
	defer resp.Body.Close()
	r := reply{how: how, emit: onDelta, told: c.api.ReadTold}
	err = r.read(resp.Body, func() { guard.Extend(c.o.Idle, wire.ErrIdle) })
	if err != nil {
		return brain.Response{}, c.api.Blame(guard.Ctx, c.api.StreamFault(err, c.sort), c.o.FirstToken, c.o.Idle)
	}
	guard.Extend(wire.DrainTime, wire.ErrDrained)
	wire.Drain(resp.Body)
	out, err := r.finish()
	if err == nil {
		err = wire.Whole(out.In, c.o.Context)
	}
	if out.Model == "" {
		out.Model = c.o.Model
	}
	return out, err
}

// Context is how many tokens prompt and answer may take together. The API does not say, so it is what is configured.
func (c *Client) Context(context.Context) int { return c.o.Context }

// sort reads what the API said: by its type, which is also there in the middle of a stream, where there is no status.
func (c *Client) sort(t *wire.Told) *brain.ModelError {
	if t.Status == 0 {
		t.Status = statuses[t.Type]
	}
	switch {
	case t.Status == http.StatusRequestEntityTooLarge, t.Type == "request_too_large", t.Status == http.StatusBadRequest && t.Has(wire.TooLongWords...):
		return wire.TooLong(t)
	case t.Type == "billing_error", t.Status == http.StatusBadRequest && t.Has("credit balance", "insufficient_quota"):
		return c.api.Unpaid(t)
	case t.Type == "overloaded_error":
		return &brain.ModelError{Kind: brain.Transient, Err: t, After: t.After, Human: "Anthropic is overloaded at the moment."}
	case t.Type == "not_found_error" && t.Has("model"):
		return c.api.NoModel(t)
	}
	return c.api.Sort(t)
}

// statuses are those that the types of errors come with: https://docs.anthropic.com/en/api/errors.
var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// askTime bounds the small questions.
const askTime = 10 * time.Second

// Check looks whether the model can be used as it is configured. It asks the model nothing, and costs nothing.
func (c *Client) Check(ctx context.Context) []brain.Finding {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var out []brain.Finding
	var model struct {
		Name string `json:"display_name"`
	}
	err := c.api.Get(ctx, "v1/models/"+c.o.Model, &model)
	var told *wire.Told
	var fault *brain.ModelError
	switch {
	case err == nil:
		out = append(out, brain.Finding{What: "server", OK: true, Text: "Anthropic answers and takes the key."}, brain.Finding{What: "model", OK: true, Text: "The model " + c.o.Model + " is there."})
	case errors.As(err, &told) && told.Status == http.StatusNotFound:
		out = append(out, brain.Finding{What: "server", OK: true, Text: "A server answers at " + c.api.Host() + "."}, brain.Finding{What: "model", Text: c.api.NoModel(told).Human})
	case errors.As(err, &told):
		return []brain.Finding{{What: "server", Text: c.sort(told).Human}}
	case errors.As(err, &fault):
		return []brain.Finding{{What: "server", Text: fault.Human}}
	}
	if c.o.Think && budget(c.o.MaxTokens) == 0 {
		out = append(out, brain.Finding{What: "thinking", Text: fmt.Sprintf("Thinking needs %s of %d or more, and it is %d: raise it, or set %s to false.", c.api.Key("max_tokens"), 2*leastThought, c.o.MaxTokens, c.api.Key("think"))})
	}
	if c.o.Tools == brain.ToolsOff {
		out = append(out, brain.Finding{What: "tools", OK: true, Text: "Tools are off (" + c.api.Key("tools") + "): it can talk, and do nothing."})
	}
	return out
}
