// Package ollama asks a language model behind an Ollama server. It speaks the server's own protocol, because the
// OpenAI-compatible one ignores the context size and cuts long prompts without a word. The types are those of Ollama's
// module; the reading of streams is ours, because its client takes a stream that broke off for a whole answer.
package ollama

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// DefaultURL is where Ollama listens when nobody tells it otherwise.
const DefaultURL = "http://127.0.0.1:11434"

// Options say which model is asked, and how. Zero values get the defaults of the YAML file.
type Options struct {
	Name        string        // as in the YAML file, for texts that name a key: brain.models.NAME
	URL         string        // of the server; "" = DefaultURL
	Model       string        // as the server calls it, e.g. qwen3:4b
	Context     int           // tokens of prompt and answer together; 0 = 8192. Fixed, because a change reloads the model
	MaxTokens   int           // of an answer, when the request does not say; 0 = 1024
	KeepAlive   time.Duration // how long the server keeps it loaded; negative = until it stops, 0 = not at all
	Think       bool
	Temperature *float64      // nil = the server's own
	Tools       string        // "" = brain.ToolsAuto
	FirstToken  time.Duration // limit until the first word: queue, loading and reading the prompt; 0 = 10 minutes
	Idle        time.Duration // limit for a silence in the middle of an answer; 0 = 2 minutes
	HTTP        *http.Client  // nil = one of its own. Its Timeout must be 0
	Now         func() time.Time
	Log         *slog.Logger
}

const (
	defaultContext    = 8192
	defaultMaxTokens  = 1024
	defaultFirstToken = 10 * time.Minute
	defaultIdle       = 2 * time.Minute
)

// Client is one model of a server. It may be used by many goroutines.
type Client struct {
	o      Options
	server server
	log    *slog.Logger

	mu       sync.Mutex
	facts    *facts     // what the server says of the model; nil = not asked, or asked before something failed
	noTools  bool       // it has refused tools
	think    thinkState // what is left to try
	answered bool       // so the model is, or was, loaded with our context size
	loaded   int        // the context size it then really had; 0 = not known
}

// thinkState says what a request tells of thinking. It only moves on, when a server refuses what was sent.
type thinkState int

const (
	thinkAsked thinkState = iota // as configured
	thinkFalse                   // the model cannot think
	thinkUnset                   // the server does not know the setting
)

// New makes a Client. Nothing is asked of the server until it is used.
func New(o Options) *Client {
	if o.Context <= 0 {
		o.Context = defaultContext
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = defaultMaxTokens
	}
	if o.FirstToken <= 0 {
		o.FirstToken = defaultFirstToken
	}
	if o.Idle <= 0 {
		o.Idle = defaultIdle
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
	c := &Client{o: o, log: o.Log.With("model", o.Name)}
	c.server = newServer(o.URL, o.HTTP, o.Now)
	c.server.key = "brain.models." + o.Name
	if !o.Think {
		c.think = thinkFalse
	}
	return c
}

// mode is how tools are offered in one request.
type mode int

const (
	modeNone   mode = iota // no tools at all: they are off, or there are none
	modeNative             // as the server's tools
	modeSchema             // as text, with answers forced into a schema
)

// Generate gives the model's next reply. A server that refuses tools or thinking is asked again without, and that is
// remembered. An error is a *brain.ModelError unless ctx ended; then it is the cause of that.
//
// What onDelta was given is not always a part of the text in the end: a model whose template opens its thinking shows
// only by the closing tag that all before was thinking.
func (c *Client) Generate(ctx context.Context, req brain.Request, onDelta func(text string)) (brain.Response, error) {
	for {
		how, err := c.mode(ctx, req)
		if err != nil {
			return brain.Response{}, c.failed(ctx, err)
		}
		think := c.thinking()
		resp, err := c.ask(ctx, req, how, think, onDelta)
		switch {
		case err == nil:
			c.mu.Lock()
			c.answered = true
			c.mu.Unlock()
			return resp, nil
		case errors.Is(err, errNoTools) && how == modeNative:
			c.log.Warn("the model knows no tools; its answers are forced into a schema from now on")
			c.mu.Lock()
			c.noTools = true
			c.mu.Unlock()
		case errors.Is(err, errNoThinking) && think < thinkUnset:
			c.log.Warn("the model cannot think before it answers; it is asked without")
			c.mu.Lock()
			c.think = max(c.think, think+1)
			c.mu.Unlock()
		default:
			return brain.Response{}, c.failed(ctx, err)
		}
	}
}

// failed gives the error of a call, and forgets what is known of the model: it may have been exchanged.
func (c *Client) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var fault *brain.ModelError
	c.mu.Lock()
	c.facts, c.loaded = nil, 0
	c.answered = errors.As(err, &fault) && fault.Kind == brain.TooLong // that is found out by the loaded model alone
	c.mu.Unlock()
	return err
}

func (c *Client) thinking() thinkState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.think
}

// mode decides how the tools of a request are offered.
func (c *Client) mode(ctx context.Context, req brain.Request) (mode, error) {
	if len(req.Tools) == 0 || c.o.Tools == brain.ToolsOff {
		return modeNone, nil
	}
	c.mu.Lock()
	noTools := c.noTools
	c.mu.Unlock()
	if noTools || c.o.Tools == brain.ToolsSchema {
		return modeSchema, nil
	}
	if c.o.Tools == brain.ToolsNative {
		return modeNative, nil
	}
	known, err := c.about(ctx)
	if err != nil {
		var fault *brain.ModelError
		refused := errors.As(err, &fault) && fault.Kind == brain.Permanent && !errors.Is(err, errNoModel)
		if refused || errors.Is(err, errStrange) {
			// A proxy in between may let nothing through but the chat itself, and a newer server may describe models in
			// another way. Then the chat will tell.
			c.log.Warn("cannot ask what the model can do; tools are tried", "error", err)
			return modeNative, nil
		}
		return modeNone, err
	}
	if known.lacksTools() {
		return modeSchema, nil
	}
	return modeNative, nil
}

// ask makes one request and reads its answer.
func (c *Client) ask(ctx context.Context, req brain.Request, how mode, think thinkState, onDelta func(string)) (brain.Response, error) {
	body, predict, err := c.body(req, how, think)
	if err != nil {
		return brain.Response{}, &brain.ModelError{Kind: brain.Permanent, Human: "The request to the model could not be written: that is a fault in me.", Err: err}
	}
	guard := wire.NewGuard(ctx, c.o.FirstToken, wire.ErrFirstToken)
	defer guard.End()
	resp, err := c.server.post(guard.Ctx, "/api/chat", body, c.o.Model)
	if err != nil {
		return brain.Response{}, c.blame(guard.Ctx, err)
	}
	defer resp.Body.Close()
	r := reply{how: how, emit: onDelta}
	p := wire.Pace{Idle: c.o.Idle, Longest: max(c.o.Idle, c.o.FirstToken), Withheld: how == modeNative, Predict: predict}
	last, err := r.read(resp.Body, func() { guard.Extend(p.Limit(), wire.ErrIdle) })
	if err != nil {
		return brain.Response{}, c.blame(guard.Ctx, c.server.streamFault(err, c.o.Model))
	}
	guard.Extend(wire.DrainTime, wire.ErrDrained)
	wire.Drain(resp.Body)
	if limit := c.limit(); last.PromptEvalCount >= limit {
		return brain.Response{}, tooLong(wire.ErrSilentCut)
	}
	out := r.finish(last)
	if out.Model == "" {
		out.Model = c.o.Model
	}
	return out, nil
}

// blame names our own time limits as ours: they are no fault of the server's.
func (c *Client) blame(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, wire.ErrFirstToken):
		return &brain.ModelError{Kind: brain.Transient, Err: cause, Human: "The model " + c.o.Model + " had not begun to answer after " + wire.InWords(c.o.FirstToken) +
			" (" + c.server.key + ".first_token_timeout), so I gave up on it."}
	case errors.Is(cause, wire.ErrIdle):
		return &brain.ModelError{Kind: brain.Transient, Err: cause, Human: "The model " + c.o.Model + " fell silent in the middle of its answer for " + wire.InWords(c.o.Idle) +
			" or more (" + c.server.key + ".idle_timeout), so I gave up on it."}
	}
	return err
}
