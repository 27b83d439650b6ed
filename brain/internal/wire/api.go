package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hearth/brain"
)

// API is a provider's HTTP interface. Its methods give a *brain.ModelError, or what ended the context. Nothing that it gives
// holds a secret: neither a key, nor the query of an address.
type API struct {
	Provider string // as it is called in sentences, such as Anthropic
	Setting  string // brain.models.NAME, for sentences that name a key of the YAML file
	Model    string // as the server calls it
	Header   http.Header
	Secrets  []string
	HTTP     *http.Client
	Now      func() time.Time

	url  *url.URL // nil: what was given is no address
	host string
}

// At sets the address of the server and gives the API.
func (a *API) At(address string) *API {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		a.url, a.host = u, u.Host
		if u.User != nil {
			password, _ := u.User.Password()
			a.Secrets = append(a.Secrets, password)
		}
		for _, values := range u.Query() {
			a.Secrets = append(a.Secrets, values...)
		}
	}
	if a.HTTP == nil {
		a.HTTP = NewHTTP()
	}
	return a
}

// Host is the server's, without a password.
func (a *API) Host() string { return a.host }

// Local reports whether the server stands on this machine or in this network, as far as its address tells.
func (a *API) Local() bool { return a.url != nil && brain.LocalHost(a.url.Hostname()) }

// Key names a key of the YAML file.
func (a *API) Key(name string) string { return a.Setting + "." + name }

// Bounds on what is read of an answer that is not a stream.
const (
	maxErrorBody = 64 << 10
	maxJSONBody  = 16 << 20 // a long list of models
)

// Do sends a request; body nil is a GET. The caller closes the answer's body. An answer that is no success is a *Told.
func (a *API) Do(ctx context.Context, path string, body []byte) (*http.Response, error) {
	unusable := &brain.ModelError{
		Kind: brain.Permanent, Err: errors.New("unusable address"),
		Human: "The address of the model server is not usable: " + a.Key("url") + " must look like https://HOST/v1.",
	}
	if a.url == nil {
		return nil, unusable
	}
	method := http.MethodPost
	if body == nil {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, a.url.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, unusable
	}
	for name, values := range a.Header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "text/event-stream, application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.HTTP.Do(req)
	if err != nil {
		var outer *url.Error
		if errors.As(err, &outer) {
			err = outer.Err // the outer one holds the whole address
		}
		return nil, a.NetworkFault(err)
	}
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		resp.Body = &unzipped{raw: resp.Body} // not asked for, and some proxies do it all the same
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, a.told(resp)
	}
	return resp, nil
}

// unzipped begins to read only when it is read: there may be nothing for a long time.
type unzipped struct {
	raw io.ReadCloser
	zip *gzip.Reader
}

func (u *unzipped) Read(p []byte) (int, error) {
	if u.zip == nil {
		var err error
		if u.zip, err = gzip.NewReader(u.raw); err != nil {
			return 0, err
		}
	}
	return u.zip.Read(p)
}

func (u *unzipped) Close() error { return u.raw.Close() }

// Get asks for one JSON document.
func (a *API) Get(ctx context.Context, path string, out any) error {
	resp, err := a.Do(ctx, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return a.Document(resp.Body, out)
}

// Document reads one JSON document to its end.
func (a *API) Document(body io.Reader, out any) error {
	data, err := io.ReadAll(io.LimitReader(body, maxJSONBody))
	if err != nil {
		return a.NetworkFault(err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return a.Strange(fmt.Errorf("read a document: %w", err))
	}
	return nil
}

// Told is what a server says in an error document or in the middle of a stream.
type Told struct {
	Status     int // 0 in the middle of a stream
	Type, Code string
	Text       string
	After      time.Duration // how long it asks to wait
	AtOnce     bool          // instead of an answer, not in the middle of one
}

// Refused reports whether the server has not taken the request on, so that nothing is to be paid for it.
func (t *Told) Refused() bool { return t.AtOnce }

func (t *Told) Error() string {
	words := "server said"
	if t.Status != 0 {
		words += fmt.Sprintf(" (%d)", t.Status)
	}
	for _, name := range []string{t.Type, t.Code} {
		if name != "" {
			words += " " + name
		}
	}
	return words + ": " + t.Text
}

// Has reports whether what was said holds one of the parts, which are in lower case.
func (t *Told) Has(parts ...string) bool {
	said := strings.ToLower(t.Type + " " + t.Code + " " + t.Text)
	for _, part := range parts {
		if strings.Contains(said, part) {
			return true
		}
	}
	return false
}

func (a *API) told(resp *http.Response) *Told {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	t := a.ReadTold(body)
	if err != nil && t.Text == "" {
		t.Text = a.Mask(err.Error())
	}
	t.Status, t.After, t.AtOnce = resp.StatusCode, RetryAfter(resp.Header, a.Now()), true
	return t
}

// ReadTold reads an error document: {"error": {"type", "code", "message"}}, {"error": "…"}, or what some servers write
// without the outer object. What is none, such as a proxy's page, is shortened.
func (a *API) ReadTold(body []byte) *Told {
	type named struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	var doc struct {
		Error json.RawMessage `json:"error"`
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0] // how Google wraps it
	}
	t := &Told{Text: a.Mask(ErrorDocument(body))}
	var n named
	if json.Unmarshal(body, &doc) != nil {
		return t
	}
	inner := doc.Error
	if len(inner) == 0 {
		inner = body
	}
	if json.Unmarshal(inner, &n) == nil {
		t.Type, t.Code = short(a.Mask(n.Type)), short(a.Mask(strings.Trim(string(n.Code), `"`)))
		if t.Code == "null" {
			t.Code = ""
		}
		if len(doc.Error) == 0 && n.Message != "" {
			t.Text = a.Mask(n.Message)
		}
	}
	return t
}

func short(name string) string {
	if len(name) > 80 {
		return strings.ToValidUTF8(name[:80], "")
	}
	return name
}

// Mask takes secrets out of a text that comes from outside: servers say what key they were given.
func (a *API) Mask(text string) string {
	for _, secret := range a.Secrets {
		if len(secret) > 3 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// NetworkFault reads an error from below HTTP.
func (a *API) NetworkFault(err error) *brain.ModelError {
	fault := &brain.ModelError{Kind: brain.Transient, Err: err, Human: "The connection to " + a.Who() + " broke off."}
	var untrusted *tls.CertificateVerificationError
	var op *net.OpError
	var lookup *net.DNSError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		fault.Human = a.Who() + " does not answer."
	case errors.Is(err, http.ErrSchemeMismatch):
		fault.Kind, fault.Human = brain.Permanent, a.Who()+" does not speak HTTPS: "+a.Key("url")+" must begin with http:."
	case errors.As(err, &untrusted):
		fault.Kind, fault.Human = brain.Permanent, "The certificate of "+a.Who()+" is not trusted: renew it, or use the name it was made for in "+a.Key("url")+"."
	case errors.As(err, &lookup):
		fault.Human = "The name " + lookup.Name + " is not known here: is this machine on the net, and is the name in " + a.Key("url") + " right?"
	case errors.As(err, &op) && op.Op == "dial":
		fault.Human = a.Who() + " does not answer: is it running?"
		if !a.Local() {
			fault.Human = a.Who() + " cannot be reached: is this machine on the net?"
		}
	}
	return fault
}

// Who is the server in a sentence.
func (a *API) Who() string {
	if a.Provider != "" {
		return a.Provider
	}
	return "The model server at " + a.host
}

// Strange is for an answer that no server of this kind gives.
func (a *API) Strange(err error) *brain.ModelError {
	return &brain.ModelError{
		Kind: brain.Transient, Err: fmt.Errorf("%w: %w", ErrStrange, err),
		Human: "What answers at " + a.host + " does not answer as expected: is " + a.Key("url") + " right?",
	}
}

// What went wrong, for errors.Is.
var (
	ErrStrange = errors.New("this is not how such a server answers")
	ErrTooMuch = errors.New("the answer is larger than any limit")

	ErrSilentCut = errors.New("the server cut the prompt without a word: it reports as many tokens as fit")
)

// BadReply is for an answer that cannot be used and may be better the next time.
func BadReply(err error, human string) *brain.ModelError {
	return &brain.ModelError{Kind: brain.BadReply, Err: err, Human: human}
}

// TooLong is for a prompt that does not fit.
func TooLong(err error) *brain.ModelError {
	return &brain.ModelError{Kind: brain.TooLong, Err: err, Human: "What there is to say has become too long for the model, also after I had shortened it."}
}

// Whole gives a fault for an answer to a prompt that took exactly the tokens that fit, which left none for the answer: the
// server has cut it. One that takes more than was set up has a larger window, and cut nothing.
func Whole(in, context int) error {
	if in > 0 && in == context {
		return TooLong(ErrSilentCut)
	}
	return nil
}

// StreamFault reads an error that ended a stream; sort does so with what the server said.
func (a *API) StreamFault(err error, sort func(*Told) *brain.ModelError) *brain.ModelError {
	var told *Told
	var fault *brain.ModelError
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &told):
		return sort(told)
	case errors.Is(err, ErrTooMuch), errors.Is(err, bufio.ErrTooLong):
		return BadReply(err, "The model's answer was larger than any message.")
	case errors.Is(err, ErrStrange):
		return a.Strange(err)
	}
	return &brain.ModelError{Kind: brain.Transient, Err: err, Human: a.Who() + " broke off in the middle of an answer."}
}

// Blame names our own time limits as ours: they are no fault of the server's.
func (a *API) Blame(ctx context.Context, fault error, first, idle time.Duration) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrFirstToken):
		return &brain.ModelError{Kind: brain.Transient, Err: cause, Human: "The model " + a.Model + " had not begun to answer after " + InWords(first) +
			" (" + a.Key("first_token_timeout") + "), so I gave up on it."}
	case errors.Is(cause, ErrIdle):
		return &brain.ModelError{Kind: brain.Transient, Err: cause, Human: "The model " + a.Model + " fell silent in the middle of its answer for " + InWords(idle) +
			" or more (" + a.Key("idle_timeout") + "), so I gave up on it."}
	}
	return fault
}

// Sort classes by the status alone what nothing in the words tells more of.
func (a *API) Sort(t *Told) *brain.ModelError {
	out := func(kind brain.FaultKind, human string) *brain.ModelError {
		return &brain.ModelError{Kind: kind, Human: human, After: t.After, Err: t}
	}
	shut := func(human string) *brain.ModelError {
		fault := out(brain.Permanent, human)
		fault.Shut = true
		return fault
	}
	switch s := t.Status; {
	case s == http.StatusUnauthorized:
		return shut(a.Who() + " does not accept the key: check " + a.Key("api_key") + ".")
	case s == http.StatusPaymentRequired:
		return shut(a.Who() + " wants to be paid for the model " + a.Model + ": the account has no money left.")
	case s == http.StatusForbidden:
		return shut(a.Who() + " does not let this key use the model " + a.Model + ".")
	case s == http.StatusTooManyRequests:
		return out(brain.Transient, a.Who()+" takes no more requests at the moment (status 429).")
	case s == http.StatusServiceUnavailable, s == 529:
		return out(brain.Transient, fmt.Sprintf("%s is too busy at the moment (status %d).", a.Who(), s))
	case s == 0:
		return out(brain.Transient, a.Who()+" failed in the middle of an answer.")
	case s >= 500, s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooEarly, s == 499:
		return out(brain.Transient, fmt.Sprintf("%s failed (status %d).", a.Who(), s))
	case s >= 300 && s < 400:
		return out(brain.Permanent, fmt.Sprintf("The address %s sends me elsewhere (status %d): put the final one into %s.", a.host, s, a.Key("url")))
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		return out(brain.Permanent, fmt.Sprintf("What answers at %s has no such model server (status %d): is %s right?", a.host, s, a.Key("url")))
	}
	return out(brain.Permanent, fmt.Sprintf("%s refused the request (status %d).", a.Who(), t.Status))
}

// NoModel is for a model that the server does not have.
func (a *API) NoModel(t *Told) *brain.ModelError {
	return &brain.ModelError{Kind: brain.Permanent, Err: t, Human: a.Who() + " has no model called " + a.Model + ": check " + a.Key("model") + "."}
}

// Unpaid is for an account without money, whatever the status.
func (a *API) Unpaid(t *Told) *brain.ModelError {
	return a.Sort(&Told{Status: http.StatusPaymentRequired, Type: t.Type, Code: t.Code, Text: t.Text, AtOnce: t.AtOnce})
}

// TooLongWords are the words of servers for a prompt that does not fit. They are this narrow because an error that is
// wrongly taken for one makes the prompt shorter again and again, for nothing.
var TooLongWords = []string{
	"exceeds the context length", "exceeds maximum context length", "exceed the maximum context length", "maximum context length is", "maximum context length of",
	"exceeds the available context size", "exceed_context_size", "context_length_exceeded", "prompt is too long", "input is too long", "exceeds the context window",
	"exceed context limit", "reduce the length of the messages", "greater than the context length", "larger than the context",
}

// TooLongStatus reports whether such words may be believed at a status.
func TooLongStatus(status int) bool {
	return status == 0 || status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity || status == http.StatusInternalServerError
}
