package ollama

import (
	"bytes"
	"context"
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

// server is one Ollama server. Its methods give a *brain.ModelError, or the bare error of the context.
type server struct {
	url  *url.URL // nil: what was given is no address
	host string   // for people: without a password
	http *http.Client
	now  func() time.Time
	key  string // of the YAML file, for texts; may be ""
}

func newServer(address string, client *http.Client, now func() time.Time) server {
	if address == "" {
		address = DefaultURL
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if client == nil {
		client = newHTTP()
	}
	s := server{http: client, now: now}
	u, err := url.Parse(address)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		s.url, s.host = u, u.Host
	}
	return s
}

const dialTime = 5 * time.Second

// newHTTP makes a client without a limit for the whole answer: a small machine may write for many minutes.
func newHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment, // never used for this machine itself
			DialContext:         (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: dialTime,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true, // a compressed stream comes in lumps
		},
		// A POST that follows a redirect arrives as a GET without a body, and the error that comes of it names nothing.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// post sends JSON and gives the answer if the server took the request. The caller closes its body.
func (s server) post(ctx context.Context, path string, body []byte, model string) (*http.Response, error) {
	return s.do(ctx, http.MethodPost, path, body, model)
}

func (s server) do(ctx context.Context, method, path string, body []byte, model string) (*http.Response, error) {
	if s.url == nil {
		return nil, &brain.ModelError{Kind: brain.Permanent, Err: errors.New("unusable address"), Human: "The address of the model server is not usable: " + s.setting("url") + " must look like http://HOST:11434."}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, &brain.ModelError{Kind: brain.Permanent, Err: err, Human: "The address of the model server is not usable: " + s.setting("url") + " must look like http://HOST:11434."}
	}
	req.Header.Set("Accept", "application/x-ndjson, application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, s.networkFault(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, s.statusFault(resp, model)
	}
	return resp, nil
}

// Bounds on what is read of an answer that is not a stream.
const (
	maxErrorBody = 64 << 10
	maxJSONBody  = 16 << 20 // licences and templates of a model, a long list of models
)

// call asks for one JSON document. in is nil for a GET.
func (s server) call(ctx context.Context, path string, in, out any, model string) error {
	method := http.MethodGet
	var body []byte
	if in != nil {
		var err error
		if body, err = encode(in); err != nil {
			return fmt.Errorf("write a request for %s: %w", path, err)
		}
		method = http.MethodPost
	}
	resp, err := s.do(ctx, method, path, body, model)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxJSONBody))
	if err != nil {
		return s.networkFault(err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return s.strangeFault(fmt.Errorf("%w: read the answer of %s: %w", errStrange, path, err))
	}
	return nil
}

// setting names a key of the YAML file.
func (s server) setting(key string) string {
	if s.key == "" {
		return "its " + key
	}
	return s.key + "." + key
}

// guard ends a request that is silent for too long, with an error of ours as the cause. It belongs to one goroutine.
type guard struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	cause  error
}

func newGuard(ctx context.Context, limit time.Duration, cause error) *guard {
	g := &guard{}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	g.arm(limit, cause)
	return g
}

func (g *guard) arm(limit time.Duration, cause error) {
	g.cause = cause
	g.timer = time.AfterFunc(limit, func() { g.cancel(cause) })
}

// extend begins to wait anew.
func (g *guard) extend(limit time.Duration, cause error) {
	if g.cause == cause { //nolint:errorlint // it is the same variable or it is not
		g.timer.Reset(limit)
		return
	}
	g.timer.Stop()
	g.arm(limit, cause)
}

func (g *guard) end() {
	g.timer.Stop()
	g.cancel(nil)
}

// Our own limits on silence. They are faults of nobody.
var (
	ErrFirstToken = errors.New("our limit for the first word of an answer has passed")
	ErrIdle       = errors.New("our limit for a silence within an answer has passed")
	errDrained    = errors.New("the connection did not end with the answer")
)

const drainTime = time.Second

// drain reads what is left behind the last line, so that the connection can be used again. If it does not end, nothing is
// lost but the connection.
func drain(body io.Reader) {
	_, _ = io.CopyN(io.Discard, body, 4<<10)
}

// pace knows how long a silence in the middle of an answer may be.
type pace struct {
	idle     time.Duration
	longest  time.Duration
	withheld bool // the server sends nothing while the model writes a tool call, which may be most of the answer
	predict  int  // tokens at most

	began  time.Time
	chunks int
}

// limit is called with every chunk that came. Where calls are withheld, the silence may last as long as the whole answer
// would at the speed seen so far: on a slow machine minutes, in which nothing is wrong.
func (p *pace) limit() time.Duration {
	now := time.Now() // monotonic: a wait, nothing that anybody sees
	if p.chunks++; p.chunks == 1 {
		p.began = now
	}
	if !p.withheld || p.chunks < 2 {
		return p.idle
	}
	whole := now.Sub(p.began) / time.Duration(p.chunks-1) * time.Duration(p.predict)
	return min(max(p.idle, whole), p.longest)
}

// inWords writes a limit as it would stand in a sentence.
func inWords(d time.Duration) string {
	count := func(n int64, unit string) string {
		if n == 1 {
			return "1 " + unit
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return count(int64(d/time.Minute), "minute")
	case d >= time.Second:
		return count(int64(d.Round(time.Second)/time.Second), "second")
	default:
		return d.String()
	}
}
