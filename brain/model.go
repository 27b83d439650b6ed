package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Model is a language model behind some server, or the built-in one that is none.
type Model interface {
	// Generate gives the next reply. onDelta, which may be nil, is called with pieces of the visible text as they come. An
	// error is a *ModelError unless ctx ended.
	Generate(ctx context.Context, req Request, onDelta func(text string)) (Response, error)
}

// Embedder is a model that turns texts into vectors, by which they are found by what they mean.
type Embedder interface {
	// Embed gives a vector for each text, all of the same length, and how many tokens that took. An error is a *ModelError
	// unless ctx ended; then it is the cause of that.
	Embed(ctx context.Context, texts []string) (vectors [][]float32, tokens int, err error)
}

// Request is one prompt. System and Tools are the fixed part: the same bytes for every request of a household, so that a
// local server's cache of the prompt's beginning holds.
type Request struct {
	System    string
	Tools     []ToolSpec
	Messages  []Msg
	MaxTokens int

	// For the built-in model, which reads no prompt: the moment, in the person's zone, and the words of the run as the
	// person wrote or forwarded them, oldest first. Forwarded ones stand in Messages behind "> " on every line.
	Now   time.Time
	Words []string
}

// ToolSpec is what a model is told of a tool.
type ToolSpec struct {
	Name, About string
	Schema      json.RawMessage
}

// Msg is one message of the prompt. Role is user, assistant or tool; a tool message answers the call with CallID.
type Msg struct {
	Role   string
	Text   string
	Calls  []ToolCall // assistant
	CallID string     // tool
	Tool   string     // tool: its name

	rest onward // where the model reads on when the text is cut
}

// ToolCall is what a model wants done. Args are as the model wrote them, unchecked.
type ToolCall struct {
	ID   string // made here; servers' own are not unique
	Name string
	Args json.RawMessage
}

// Response is a model's reply.
type Response struct {
	Text  string // visible words; thinking is left out
	Calls []ToolCall
	Model string // what answered, as its server calls it
	In    int    // tokens of the prompt, cached ones included
	Out   int
	// CacheRead and CacheWrote are parts of In: what the provider took from its cache of prompts, or put there.
	CacheRead, CacheWrote int

	Cut  bool // it ran into its length limit
	Lost bool // the server swallowed something, e.g. a malformed call
}

// FaultKind says what a model failure means for the run.
type FaultKind string

// The kinds of model failure.
const (
	Transient FaultKind = "transient" // out of reach, overloaded, cut off: the same again later
	TooLong   FaultKind = "too long"  // the prompt does not fit: a shorter one
	BadReply  FaultKind = "bad reply" // the server could not read its own model's output: sample again
	Permanent FaultKind = "permanent" // refused: key, payment, model missing: nothing helps but a person
)

// ModelError is a failed Generate.
type ModelError struct {
	Kind  FaultKind
	Human string        // what the owner is told, a sentence
	After time.Duration // how long the server asks to wait; 0 = it does not say
	Shut  bool          // permanent for whoever asks: the key is refused, or the account has no money left
	Err   error
}

func (e *ModelError) Error() string { return fmt.Sprintf("ask model (%s): %v", e.Kind, e.Err) }

// Unwrap gives the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// faultOf reads any error of a model as a ModelError.
func faultOf(err error) *ModelError {
	var fault *ModelError
	if errors.As(err, &fault) {
		return fault
	}
	return &ModelError{Kind: Transient, Human: "The model did not answer.", Err: err}
}

// Backend is a model with what the brain must know to use it.
type Backend struct {
	Name    string // as in the YAML file
	Model   Model
	Context int // tokens that fit, prompt and answer together
	// Window tells how many really fit, as far as the server has told meanwhile; nil = Context.
	Window    func(context.Context) int
	MaxTokens int  // of an answer
	Parallel  int  // requests at a time
	Offline   bool // the built-in one
	Local     bool // what is said to it stays in the owner's own network
	Price     *Price
	Print     string // of all its settings: another one means that somebody has changed them
}

// free reports whether it is known to cost nothing.
func (b Backend) free() bool { return b.Offline || b.Price != nil && *b.Price == Price{} }
