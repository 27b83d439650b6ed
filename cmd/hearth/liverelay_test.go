package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// relay stands between the program and a real model server, and notes what passes.
type relay struct {
	*httptest.Server
	mu     sync.Mutex
	passed []*passage
}

// passage is one question to a model and its answer.
type passage struct {
	asked  string // body of the request
	status int
	first  time.Duration // from the question to the first byte of the answer, which these servers send with the first token
	answer string        // so far
}

func newRelay(t testing.TB, to string) *relay {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		FlushInterval: -1, // at once
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/api/chat", "/v1/chat/completions", "/v1/messages":
			r.pass(proxy, w, req)
		default:
			proxy.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *relay) pass(proxy http.Handler, w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the program has hung up
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	p := &passage{asked: string(body)}
	r.mu.Lock()
	r.passed = append(r.passed, p)
	r.mu.Unlock()
	proxy.ServeHTTP(&noting{ResponseWriter: w, r: r, p: p, began: time.Now()}, req)
}

// noting writes down what it passes on.
type noting struct {
	http.ResponseWriter
	r     *relay
	p     *passage
	began time.Time
}

func (n *noting) WriteHeader(status int) {
	n.r.mu.Lock()
	n.p.status = status
	n.r.mu.Unlock()
	n.ResponseWriter.WriteHeader(status)
}

func (n *noting) Write(b []byte) (int, error) {
	n.r.mu.Lock()
	if n.p.answer == "" {
		n.p.first = time.Since(n.began)
	}
	n.p.answer += string(b)
	n.r.mu.Unlock()
	return n.ResponseWriter.Write(b)
}

func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// since gives what was asked with these words in it, from the n-th passage on.
func (r *relay) since(n int, words string) []passage {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []passage
	for _, p := range r.passed[n:] {
		if strings.Contains(p.asked, words) {
			out = append(out, *p)
		}
	}
	return out
}

func (r *relay) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.passed)
}
