package ollama

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// What went wrong, for errors.Is. Each comes within a *brain.ModelError.
var (
	errNoModel    = errors.New("the model is not installed")
	errNoTools    = errors.New("the model knows no tools")
	errNoThinking = errors.New("the model cannot think before it answers")
	errTooMuch    = errors.New("the answer is larger than any limit")
	errStrange    = errors.New("this is not how Ollama answers")
)

func tooLong(err error) *brain.ModelError {
	return &brain.ModelError{Kind: brain.TooLong, Err: err, Human: "What there is to say has become too long for the model, also after I had shortened it."}
}

// networkFault reads an error from below HTTP.
func (s server) networkFault(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return s.unreachable(err) // unless it was our caller who ended it, which it looks up
	}
	fault := &brain.ModelError{Kind: brain.Transient, Err: err}
	var untrusted *tls.CertificateVerificationError
	var op *net.OpError
	var lookup *net.DNSError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		fault.Kind, fault.Human = brain.Permanent, "The model server at "+s.host+" does not speak HTTPS: "+s.setting("url")+" must begin with http:."
	case errors.As(err, &untrusted):
		fault.Kind, fault.Human = brain.Permanent, "The certificate of the model server at "+s.host+" is not trusted: renew it, or use the name it was made for in "+s.setting("url")+"."
	case errors.As(err, &lookup):
		fault.Human = "The model server's name " + lookup.Name + " is not known here: is that machine on, and is the name in " + s.setting("url") + " right?"
	case errors.As(err, &op) && op.Op == "dial":
		return s.unreachable(err)
	default:
		fault.Human = "The connection to Ollama at " + s.host + " broke off."
	}
	return fault
}

func (s server) unreachable(err error) *brain.ModelError {
	return &brain.ModelError{Kind: brain.Transient, Err: err, Human: "Ollama does not answer at " + s.host + ": is it running?"}
}

// strangeFault is for an answer that no Ollama server gives.
func (s server) strangeFault(err error) *brain.ModelError {
	return &brain.ModelError{Kind: brain.Transient, Err: err, Human: "What answers at " + s.host + " does not answer like Ollama: is " + s.setting("url") + " right?"}
}

// streamFault reads an error that ended a stream.
func (s server) streamFault(err error, model string) error {
	var told *toldError
	switch {
	case errors.As(err, &told):
		return s.fault(told.status, told.text, model)
	case errors.Is(err, errStrange):
		return s.strangeFault(err)
	case errors.Is(err, errTooMuch), errors.Is(err, bufio.ErrTooLong):
		return &brain.ModelError{Kind: brain.BadReply, Err: err, Human: "The model's answer was larger than any message."}
	}
	return &brain.ModelError{Kind: brain.Transient, Err: err, Human: "Ollama at " + s.host + " broke off in the middle of an answer."}
}

// toldError is what a server says in an error document or in the middle of a stream, where it has no status.
type toldError struct {
	status int
	text   string
}

func (e *toldError) Error() string {
	if e.status == 0 {
		return "server said: " + e.text
	}
	return fmt.Sprintf("server said (%d): %s", e.status, e.text)
}

// Refused reports whether the server has not taken the request on.
func (e *toldError) Refused() bool { return e.status != 0 }

// statusFault reads an answer that is no success.
func (s server) statusFault(resp *http.Response, model string) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	text := wire.ErrorDocument(body)
	if err != nil && text == "" {
		text = err.Error()
	}
	fault := s.fault(resp.StatusCode, text, model)
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		fault.After = wire.RetryAfter(resp.Header, s.now())
	}
	return fault
}

// fault sorts what a server said. Status 0 is an error in the middle of a stream.
func (s server) fault(status int, said, model string) *brain.ModelError {
	err := &toldError{status: status, text: said}
	out := func(kind brain.FaultKind, human string) *brain.ModelError {
		return &brain.ModelError{Kind: kind, Human: human, Err: err}
	}
	marked := func(kind brain.FaultKind, mark error, human string) *brain.ModelError {
		return &brain.ModelError{Kind: kind, Human: human, Err: fmt.Errorf("%w: %w", mark, err)}
	}
	shut := func(human string) *brain.ModelError {
		fault := out(brain.Permanent, human)
		fault.Shut = true
		return fault
	}
	lower := strings.ToLower(said)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(lower, part) {
				return true
			}
		}
		return false
	}
	switch {
	case (status == 0 || status >= 500) && badReply(lower):
		return out(brain.BadReply, "The model wrote something that its own server could not read.")
	case status == http.StatusRequestEntityTooLarge,
		(status == 0 || status == 400 || status == 500) && has(tooLongWords...):
		return tooLong(err)
	case has("does not support tools"):
		return marked(brain.Permanent, errNoTools, "The model "+model+" knows no tools: set "+s.setting("tools")+" to schema, or choose another model.")
	case has("does not support thinking"), has("think value") && has("not supported"):
		return marked(brain.Permanent, errNoThinking, "The model "+model+" cannot think before it answers: set "+s.setting("think")+" to false.")
	case has("does not support chat"):
		return out(brain.Permanent, "The model "+model+" cannot hold a conversation: choose another one.")
	case has("try pulling it first"), status == http.StatusNotFound && has("model") && has("not found"):
		return marked(brain.Permanent, errNoModel, "The model "+model+" is not installed: "+s.pullWords()+"run `ollama pull "+model+"`.")
	case has("requires more system memory"):
		return out(brain.Permanent, "The machine at "+s.host+" has too little free memory for the model "+model+": choose a smaller one, or a smaller "+s.setting("context")+".")
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, lower == "unauthorized":
		return shut("Ollama at " + s.host + " refuses access to the model " + model + ": it may need `ollama signin` there, or a password in " + s.setting("url") + ".")
	case status == http.StatusPaymentRequired:
		return shut("Ollama at " + s.host + " wants to be paid for the model " + model + " (status 402).")
	case status == http.StatusTooManyRequests:
		return out(brain.Transient, "Ollama at "+s.host+" takes no more requests at the moment (status 429).")
	case status == http.StatusServiceUnavailable:
		return out(brain.Transient, "Ollama at "+s.host+" is too busy at the moment (status 503).")
	case status == 0:
		return out(brain.Transient, "Ollama at "+s.host+" failed in the middle of an answer.")
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == 499:
		return out(brain.Transient, fmt.Sprintf("Ollama at %s failed (status %d).", s.host, status))
	case status >= 300 && status < 400:
		return out(brain.Permanent, fmt.Sprintf("The address %s sends me elsewhere (status %d): put the final one into %s.", s.host, status, s.setting("url")))
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return s.strangeStatus(status, err)
	default:
		return out(brain.Permanent, fmt.Sprintf("Ollama at %s refused the request (status %d).", s.host, status))
	}
}

func (s server) strangeStatus(status int, err error) *brain.ModelError {
	return &brain.ModelError{Kind: brain.Permanent, Err: err, Human: fmt.Sprintf("What answers at %s is not Ollama (status %d): is %s right?", s.host, status, s.setting("url"))}
}

// The words of servers old and new for a prompt that does not fit. They are this narrow because an error that is wrongly
// taken for one makes the prompt shorter again and again, for nothing.
var tooLongWords = []string{
	"exceeds the context length", "exceeds maximum context length", "exceeds the available context size", "exceed_context_size", "context_length_exceeded", "prompt is too long",
}

// badReply recognises the errors of the parsers that servers read their models' calls with. Most pass on what the parser
// of JSON or XML said, and nothing else.
func badReply(lower string) bool {
	if lower == "eof" || strings.HasPrefix(lower, "invalid character") {
		return true
	}
	for _, part := range []string{
		"error parsing tool call", "xml syntax error", "failed to parse json", "failed to parse xml", "failed to parse function call",
		"failed to parse arguments", "expected element type", "unexpected end of json input",
	} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

// pullWords say how a model is had from the chat, which needs its name in the YAML file.
func (s server) pullWords() string {
	if name, ok := strings.CutPrefix(s.key, "brain.models."); ok && name != "" {
		return "/model " + name + " in chat has it pulled, or "
	}
	return ""
}
