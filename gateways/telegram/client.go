package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	tg "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// limits bound requests.
type limits struct {
	request time.Duration
	poll    time.Duration // what a long poll asks for
	slack   time.Duration // how much longer than that it may take
	press   time.Duration // for the answer to a press, which nobody waits for
	answer  int64         // bytes of one answer: a hundred updates of the longest messages are a fraction of it
}

var usual = limits{request: 30 * time.Second, poll: 25 * time.Second, slack: 15 * time.Second, press: 10 * time.Second, answer: 32 << 20}

// newClient makes the client that is used unless another one is handed in. It speaks HTTP/1.1, where each request that
// waits has a connection of its own: on the one connection of HTTP/2 a line that died silently would hang them all, again
// and again. It follows no redirect, since those would carry the token elsewhere.
func newClient() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: 45 * time.Second, // less than servers keep them: one that is closed while it is used leaves open what arrived
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// pageError is an answer that is none of the Bot API's: a page of some proxy.
type pageError struct {
	status int
	wait   time.Duration // what it asks for; 0 = nothing
}

func (e *pageError) Error() string {
	return fmt.Sprintf("an answer that is not Telegram's, with http status %d %s", e.status, http.StatusText(e.status))
}

// attempt is the transport that the library is given for one request: it carries the context the library does not know, and
// notes how far the request came.
type attempt struct {
	ctx    context.Context //nolint:containedctx // the library has no other way to pass it
	http   *http.Client
	most   int64       // bytes of the answer
	wrote  atomic.Bool // it may have left the machine
	status int         // of the answer
}

// Do implements the library's HTTPClient.
func (a *attempt) Do(req *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{
		// A second connection is tried only when nothing went out on the first, which had died while it was idle.
		GetConn:      func(string) { a.wrote.Store(false) },
		WroteHeaders: func() { a.wrote.Store(true) },
	}
	resp, err := a.http.Do(req.WithContext(httptrace.WithClientTrace(a.ctx, trace)))
	if err != nil {
		return nil, err
	}
	a.status = resp.StatusCode
	// Behind a proxy errors come as pages; the library would call them bad JSON and lose the status.
	if !strings.Contains(resp.Header.Get("Content-Type"), "json") {
		page := &pageError{status: resp.StatusCode}
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			page.wait = time.Duration(seconds) * time.Second
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
		return nil, errors.Join(page, resp.Body.Close())
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, a.most), resp.Body}
	return resp, nil
}

// callError is a failed method, without the token that the library and net/http put into their errors.
type callError struct {
	method string
	wrote  bool       // it may have reached Telegram
	code   int        // of the Bot API's error, else the http status; 0 = there was no answer
	api    *tg.Error  // Telegram's own answer
	page   *pageError // somebody else's
	text   string
	cause  error // one of context's errors, or nil
}

func (e *callError) Error() string { return fmt.Sprintf("call %s: %s", e.method, e.text) }

// Unwrap lets callers see that a context has ended.
func (e *callError) Unwrap() error { return e.cause }

// refused reports whether Telegram itself refused the call with a code.
func (e *callError) refused(code int) bool { return e.api != nil && e.code == code }

// call runs a method of the Bot API and decodes its result into out, which may be nil. Errors: *callError.
func (g *Gateway) call(ctx context.Context, method string, params tg.Params, limit time.Duration, out any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := &attempt{ctx: ctx, http: g.opt.HTTP, most: g.limits.answer}
	bot := tg.BotAPI{Token: url.PathEscape(g.opt.Token), Client: a}
	bot.SetAPIEndpoint(strings.ReplaceAll(g.opt.APIURL, "%", "%%") + "/bot%s/%s")
	resp, err := bot.MakeRequest(method, params)
	if err != nil {
		return g.callError(method, a, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(resp.Result, out); err != nil {
		return &callError{method: method, wrote: true, code: a.status, text: "read the answer: " + g.redact(err.Error())}
	}
	return nil
}

func (g *Gateway) callError(method string, a *attempt, err error) *callError {
	e := &callError{method: method, wrote: a.wrote.Load(), code: a.status}
	var address *url.Error
	switch {
	case errors.As(err, &e.api):
		if e.api.Code != 0 {
			e.code = e.api.Code
		}
		e.api.Message = g.redact(e.api.Message)
		e.text = fmt.Sprintf("%d %s", e.code, e.api.Message)
		return e
	case errors.As(err, &e.page):
		e.text = e.page.Error()
		return e
	case errors.Is(err, context.DeadlineExceeded):
		e.cause, e.text = context.DeadlineExceeded, "no answer in time"
		return e
	case errors.Is(err, context.Canceled):
		e.cause = context.Canceled
	case errors.As(err, &address): // what is left out is the URL, with the token in it
		err = address.Err
	}
	e.text = g.redact(err.Error())
	return e
}

// redact takes the token out of a text: it stands in every URL, and so in every error of net/http.
func (g *Gateway) redact(s string) string {
	_, secret, _ := strings.Cut(g.opt.Token, ":")
	return strings.NewReplacer(g.opt.Token, "***", url.PathEscape(g.opt.Token), "***", secret, "***", url.PathEscape(secret), "***").Replace(s)
}
