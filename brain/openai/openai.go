// Package openai asks a language model behind any server that speaks like OpenAI's chat completions: llama.cpp, LM Studio,
// vLLM, OpenRouter, OpenAI. The client is our own: the official one makes the program larger by 18.7 MB, and what servers
// that only resemble OpenAI get wrong has to be mended by hand in any case.
package openai

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// DefaultURL is OpenAI's own.
const DefaultURL = "https://api.openai.com/v1"

// Options say which model is asked, and how. Zero values get the defaults of the YAML file.
type Options struct {
	Name        string        // as in the YAML file, for texts that name a key: brain.models.NAME
	URL         string        // with the version: https://HOST/v1; "" = DefaultURL
	Model       string        // as the server calls it
	APIKey      string        // "" = none is sent
	Context     int           // tokens of prompt and answer together; 0 = 32768. The server may say that it is less
	MaxTokens   int           // of an answer, when the request does not say; 0 = 1024
	Think       bool          // asked for in the way that the server knows
	Temperature *float64      // nil = the server's own
	Tools       string        // "" = brain.ToolsAuto
	FirstToken  time.Duration // limit until the first word; 0 = 10 minutes
	Idle        time.Duration // limit for a silence in the middle of an answer; 0 = 2 minutes
	HTTP        *http.Client  // nil = one of its own. Its Timeout must be 0
	Now         func() time.Time
	Log         *slog.Logger
}

// Client is one model of a server. It may be used by many goroutines.
type Client struct {
	o   Options
	api *wire.API
	log *slog.Logger

	mu      sync.Mutex
	refused refused
	facts   *facts    // what the server says of the model; nil = not known
	asked   time.Time // when it was asked last; monotonic
}

// refused is what a server does not take. It is found out by asking, once, and kept.
type refused struct {
	tools       bool // its own tool calls
	format      bool // response_format
	usage       bool // stream_options
	temperature bool
	thinking    bool // any setting for it
	length      bool // the name for the length limit that was tried first
}

// New makes a Client. Nothing is asked of the server until it is used.
func New(o Options) *Client {
	if o.URL == "" {
		o.URL = DefaultURL
	}
	if o.Context <= 0 {
		o.Context = 32768
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
	if o.Tools == "" {
		o.Tools = brain.ToolsAuto
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	api := &wire.API{Setting: "brain.models." + o.Name, Model: o.Model, Header: http.Header{}, HTTP: o.HTTP, Now: o.Now}
	if o.APIKey != "" {
		api.Header.Set("Authorization", "Bearer "+o.APIKey)
		api.Secrets = append(api.Secrets, o.APIKey)
	}
	return &Client{o: o, api: api.At(o.URL), log: o.Log.With("model", o.Name)}
}

// mode is how tools are offered in one request.
type mode int

const (
	modeNone   mode = iota // no tools at all: they are off, or there are none
	modeNative             // as the server's tools
	modeSchema             // as text, with answers forced into a schema
)

// Generate gives the model's next reply. What a server refuses is left out of the next try, and that is remembered. An
// error is a *brain.ModelError unless ctx ended; then it is the cause of that.
//
// What onDelta was given is not always a part of the text in the end: a model whose template opens its thinking shows
// only by the closing tag that all before was thinking.
func (c *Client) Generate(ctx context.Context, req brain.Request, onDelta func(text string)) (brain.Response, error) {
	for {
		how := c.mode(ctx, req)
		known := c.known()
		resp, err := c.ask(ctx, req, how, known, onDelta)
		if err == nil {
			return resp, nil
		}
		if ctx.Err() != nil {
			return resp, context.Cause(ctx)
		}
		var told *wire.Told
		var fault *brain.ModelError
		if !errors.As(err, &fault) && errors.As(err, &told) {
			if c.learn(told, how, known) {
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

// mode decides how the tools of a request are offered: by what is configured, by what the server says of the model, and by
// what it has refused.
func (c *Client) mode(ctx context.Context, req brain.Request) mode {
	switch {
	case len(req.Tools) == 0 || c.o.Tools == brain.ToolsOff:
		return modeNone
	case c.o.Tools == brain.ToolsSchema:
		return modeSchema
	case c.known().tools:
		return modeSchema
	case c.o.Tools == brain.ToolsAuto && c.about(ctx).lacksTools():
		return modeSchema
	}
	return modeNative
}

// learn reads from a refusal what to leave out. Nothing is learnt twice, so that asking again comes to an end.
func (c *Client) learn(t *wire.Told, how mode, sent refused) bool {
	if t.Status < 400 || t.Status == http.StatusUnauthorized || t.Status == http.StatusTooManyRequests || t.Has(wire.TooLongWords...) {
		return false
	}
	unknown := t.Has("unsupported", "not support", "unrecognized", "unknown", "unexpected", "not permitted", "extra inputs", "extra_forbidden", "not allowed", "invalid", "not available", "deprecated", "requires", "only the default")
	var what string
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &c.refused
	switch {
	case !sent.length && unknown && t.Has("max_tokens", "max_completion_tokens"):
		r.length, what = true, "the name of the length limit"
	case !sent.usage && t.Has("stream_options", "include_usage"):
		r.usage, what = true, "the question for the tokens used"
	case !sent.temperature && c.o.Temperature != nil && unknown && t.Has("temperature"):
		r.temperature, what = true, "a temperature"
	case !sent.thinking && t.Has("chat_template_kwargs", "reasoning_effort", "enable_thinking"):
		r.thinking, what = true, "a word about thinking"
	case !sent.format && how == modeSchema && t.Has("response_format", "json_schema", "grammar", "guided"):
		r.format, what = true, "a schema for the answer"
	case !sent.tools && how == modeNative && c.o.Tools != brain.ToolsNative && noTools(t):
		r.tools, what = true, "tools"
	default:
		return false
	}
	c.log.Warn("the model server does not take a part of the request; it is left out from now on", "part", what, "said", t.Text)
	return true
}

// noTools recognises how servers say that there are no tools: Ollama, OpenRouter, llama.cpp, vLLM, and the general forms.
func noTools(t *wire.Told) bool {
	return t.Has("does not support tools", "support tool use", "--jinja", "tool-call-parser", "tool choice requires", "does not support function", "tool calling is not supported",
		"tools are not supported", "tools is not supported", "tools not supported", "function calling is not enabled", "does not support tool", "unsupported parameter: 'tools'", "`tools` is not supported")
}

// ask makes one request and reads its answer.
func (c *Client) ask(ctx context.Context, req brain.Request, how mode, known refused, onDelta func(string)) (brain.Response, error) {
	body, err := c.body(req, how, known)
	if err != nil {
		return brain.Response{}, &brain.ModelError{Kind: brain.Permanent, Human: "The request to the model could not be written: that is a fault in me.", Err: err}
	}
	guard := wire.NewGuard(ctx, c.o.FirstToken, wire.ErrFirstToken)
	defer guard.End()
	resp, err := c.api.Do(guard.Ctx, "chat/completions", body)
	if err != nil {
		return brain.Response{}, c.api.Blame(guard.Ctx, err, c.o.FirstToken, c.o.Idle)
	}
	defer resp.Body.Close()
	r := reply{how: how, emit: onDelta, told: c.api.ReadTold}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		err = r.whole(c.api, resp.Body) // a server that does not stream
	} else {
		p := wire.Pace{Idle: c.o.Idle, Longest: max(c.o.Idle, c.o.FirstToken), Withheld: how == modeNative, Predict: c.predict(req)}
		err = r.read(resp.Body, func() { guard.Extend(p.Limit(), wire.ErrIdle) })
	}
	if err != nil {
		return brain.Response{}, c.api.Blame(guard.Ctx, c.api.StreamFault(err, c.sort), c.o.FirstToken, c.o.Idle)
	}
	guard.Extend(wire.DrainTime, wire.ErrDrained)
	wire.Drain(resp.Body)
	out, err := r.finish()
	if err == nil {
		err = wire.Whole(out.In, c.limit())
	}
	if out.In == 0 && out.Out == 0 {
		out.In, out.Out = estimate(len(body)), estimate(r.size) // not told; uncounted would mean unlimited
	}
	if out.Model == "" {
		out.Model = c.o.Model
	}
	return out, err
}

// estimate gives the tokens of so many bytes, rather too many than too few.
func estimate(bytes int) int { return (bytes + 2) / 3 }

func (c *Client) predict(req brain.Request) int {
	if req.MaxTokens > 0 {
		return req.MaxTokens
	}
	return c.o.MaxTokens
}
