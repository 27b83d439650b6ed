package ollama

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

func TestStatusesAreSorted(t *testing.T) {
	const page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body>\r\n</html>"
	for _, c := range []struct {
		code    int
		body    string
		headers []string
		kind    brain.FaultKind
		human   string // with HOST for the address
		after   time.Duration
	}{
		{code: 400, body: `{"error":"the input length exceeds the context length"}`, kind: brain.TooLong},
		{code: 400, body: `{"error":{"code":400,"message":"request (26528 tokens) exceeds the available context size (16384 tokens), try increasing it","type":"exceed_context_size_error"}}`, kind: brain.TooLong},
		{code: 400, body: `{"error":"prompt is too long: 9000 tokens exceed the maximum context length of 8192 tokens (context_length_exceeded)"}`, kind: brain.TooLong},
		{code: 413, body: `<html>Request Entity Too Large</html>`, kind: brain.TooLong},
		// Not every error that speaks of a context is one of length.
		{code: 400, body: `{"error":"option \"num_ctx\" must be of type integer"}`, kind: brain.Permanent, human: "Ollama at HOST refused the request (status 400)."},
		{code: 500, body: `{"error":"context canceled"}`, kind: brain.Transient, human: "Ollama at HOST failed (status 500)."},
		{code: 400, body: `{"error":"\"all-minilm\" does not support chat"}`, kind: brain.Permanent, human: "The model qwen3:4b cannot hold a conversation: choose another one."},
		{code: 401, body: `{"error":"unauthorized","signin_url":"https://ollama.com/x"}`, kind: brain.Permanent, human: "Ollama at HOST refuses access to the model qwen3:4b: it may need `ollama signin` there, or a password in brain.models.home.url."},
		{code: 402, body: `{"error":{"message":"limit reached","type":"insufficient_quota"}}`, kind: brain.Permanent, human: "Ollama at HOST wants to be paid for the model qwen3:4b (status 402)."},
		{code: 403, body: ``, kind: brain.Permanent},
		{code: 404, body: `{"error":"model \"qwen3:4b\" not found, try pulling it first"}`, kind: brain.Permanent, human: "The model qwen3:4b is not installed: /model home in chat has it pulled, or run `ollama pull qwen3:4b`."},
		{code: 404, body: `404 page not found`, kind: brain.Permanent, human: "What answers at HOST is not Ollama (status 404): is brain.models.home.url right?"},
		{code: 405, body: `{"detail":"Method Not Allowed"}`, kind: brain.Permanent, human: "What answers at HOST is not Ollama (status 405): is brain.models.home.url right?"},
		{code: 301, headers: []string{"Location", "https://elsewhere.example/api/chat"}, kind: brain.Permanent, human: "The address HOST sends me elsewhere (status 301): put the final one into brain.models.home.url."},
		{code: 408, kind: brain.Transient},
		{code: 422, kind: brain.Permanent},
		{code: 429, headers: []string{"Retry-After", "7"}, kind: brain.Transient, after: 7 * time.Second},
		{code: 429, kind: brain.Transient, human: "Ollama at HOST takes no more requests at the moment (status 429)."},
		{code: 503, body: `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, headers: []string{"Retry-After", "Fri, 04 Dec 2026 09:00:30 GMT", "Date", "Fri, 04 Dec 2026 09:00:10 GMT"}, kind: brain.Transient, after: 20 * time.Second},
		{code: 503, headers: []string{"Retry-After", "-5"}, kind: brain.Transient, human: "Ollama at HOST is too busy at the moment (status 503)."},
		{code: 502, body: page, headers: []string{"Content-Type", "text/html", "Retry-After", "9"}, kind: brain.Transient, human: "Ollama at HOST failed (status 502)."},
		{code: 504, kind: brain.Transient},
		{code: 500, body: `{"error":"boom"}`, kind: brain.Transient},
		{code: 500, body: `{"error":"llama runner process has terminated: signal: killed"}`, kind: brain.Transient},
		{code: 500, body: `{"error":"model requires more system memory (5.6 GiB) than is available (3.1 GiB)"}`, kind: brain.Permanent, human: "The machine at HOST has too little free memory for the model qwen3:4b: choose a smaller one, or a smaller brain.models.home.context."},
		{code: 500, body: `{"error":null}`, kind: brain.Transient},
	} {
		f := newFake(t)
		f.chat = status(c.code, c.body, c.headers...)
		_, err := f.client(t, func(o *Options) { o.HTTP = nil }).Generate(t.Context(), plain("hi"), nil)
		fault := faultOf(t, err, c.kind)
		if want := strings.ReplaceAll(c.human, "HOST", f.host()); c.human != "" && fault.Human != want {
			t.Errorf("%d %s: got %q, want %q", c.code, c.body, fault.Human, want)
		}
		if fault.After != c.after {
			t.Errorf("%d %v: got a wait of %v, want %v", c.code, c.headers, fault.After, c.after)
		}
		if strings.Contains(err.Error(), "<html>\r\n") || len(err.Error()) > 2500 {
			t.Errorf("%d: the log gets a whole page: %q", c.code, err)
		}
	}
}

func TestAnErrorPageIsReadInPart(t *testing.T) {
	f := newFake(t)
	f.chat = status(500, "<html>"+strings.Repeat("ä", 1<<20)+"</html>")
	_, err := f.client(t, nil).Generate(t.Context(), plain("hi"), nil)
	if faultOf(t, err, brain.Transient); len(err.Error()) > 2500 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestWithoutAServerTheSentenceSaysSo(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	_, err = New(Options{Name: "home", URL: "http://" + address, Model: "m"}).Generate(t.Context(), plain("hi"), nil)
	if fault := faultOf(t, err, brain.Transient); fault.Human != "Ollama does not answer at "+address+": is it running?" || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %q, %v", fault.Human, err)
	}
}

func TestFaultsOfTheNetworkAreSorted(t *testing.T) {
	for _, c := range []struct {
		err   error
		kind  brain.FaultKind
		human string
	}{
		{&net.OpError{Op: "dial", Net: "tcp", Err: syscall.EHOSTUNREACH}, brain.Transient, "Ollama does not answer at box:11434: is it running?"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "box", IsNotFound: true}}, brain.Transient, "The model server's name box is not known here: is that machine on, and is the name in brain.models.home.url right?"},
		{&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, brain.Transient, "The connection to Ollama at box:11434 broke off."},
		{io.EOF, brain.Transient, "The connection to Ollama at box:11434 broke off."},
		{http.ErrSchemeMismatch, brain.Permanent, "The model server at box:11434 does not speak HTTPS: brain.models.home.url must begin with http:."},
	} {
		client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, c.err })}
		_, err := New(Options{Name: "home", URL: "http://user:sesame@box:11434", Model: "m", HTTP: client}).Generate(t.Context(), plain("hi"), nil)
		if fault := faultOf(t, err, c.kind); fault.Human != c.human {
			t.Errorf("%v: got %q, want %q", c.err, fault.Human, c.human)
		}
		if strings.Contains(err.Error(), "sesame") {
			t.Errorf("the password is in the error: %v", err)
		}
	}
}

func TestACertificateThatIsNotTrustedIsNamed(t *testing.T) {
	f := newFake(t)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	_, err := New(Options{Name: "home", URL: secure.URL, Model: "m"}).Generate(t.Context(), plain("hi"), nil)
	if fault := faultOf(t, err, brain.Permanent); !strings.Contains(fault.Human, "certificate") {
		t.Errorf("got %q", fault.Human)
	}
}

func TestAnAddressThatIsNoneIsNamed(t *testing.T) {
	for _, address := range []string{"http://", "ftp://box", "http://bad host", "http://[::1", "://"} {
		_, err := New(Options{Name: "home", URL: address, Model: "m"}).Generate(t.Context(), plain("hi"), nil)
		if fault := faultOf(t, err, brain.Permanent); fault.Human != "The address of the model server is not usable: brain.models.home.url must look like http://HOST:11434." {
			t.Errorf("%s: got %q", address, fault.Human)
		}
	}
}

func TestAnAddressMayHaveAPathOrNoScheme(t *testing.T) {
	f := newFake(t)
	var path string
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		path = r.URL.String()
		return respond(strings.NewReader(okStream)), nil
	})}
	for given, want := range map[string]string{
		"":                         "http://127.0.0.1:11434/api/chat",
		f.host():                   f.URL + "/api/chat",
		"https://box.example/llm/": "https://box.example/llm/api/chat",
	} {
		if _, err := New(Options{URL: given, Model: "m", HTTP: client}).Generate(t.Context(), plain("hi"), nil); err != nil || path != want {
			t.Errorf("%q: asked %s, want %s; %v", given, path, want, err)
		}
	}
}

func TestACallThatWasEndedGivesItsCause(t *testing.T) {
	stopped := errors.New("a person said stop")
	for name, chat := range map[string]func(http.ResponseWriter, *http.Request, []byte){
		"before the answer": func(_ http.ResponseWriter, r *http.Request, _ []byte) { <-r.Context().Done() },
		"within the answer": func(w http.ResponseWriter, r *http.Request, _ []byte) {
			_, _ = w.Write(line(`{"message":{"content":"On"}}`))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		f := newFake(t)
		gone, begun := make(chan struct{}), make(chan struct{})
		f.chat = func(w http.ResponseWriter, r *http.Request, body []byte) {
			close(begun)
			chat(w, r, body)
			close(gone) // the server has seen that nobody waits any more
		}
		ctx, stop := context.WithCancelCause(t.Context())
		go func() { <-begun; stop(stopped) }()
		_, err := f.client(t, nil).Generate(ctx, plain("hi"), nil)
		if !errors.Is(err, stopped) || errors.As(err, new(*brain.ModelError)) {
			t.Errorf("%s: got %v, want %v and nothing of a fault", name, err, stopped)
		}
		select {
		case <-gone:
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the server still writes", name)
		}
	}
	f := newFake(t)
	ctx, stop := context.WithCancelCause(t.Context())
	f.show = func(_ http.ResponseWriter, r *http.Request) {
		stop(stopped)
		<-r.Context().Done()
	}
	if _, err := f.client(t, nil).Generate(ctx, remind(), nil); !errors.Is(err, stopped) || errors.As(err, new(*brain.ModelError)) {
		t.Errorf("while it is asked what it can do: got %v, want %v", err, stopped)
	}
}

func FuzzFault(f *testing.F) {
	f.Add(500, []byte(`{"error":"boom"}`), "5")
	f.Add(0, []byte(`{"error":{"message":"x"}}`), "Fri, 04 Dec 2026 09:00:30 GMT")
	f.Add(429, []byte("<html>"), "1e99")
	f.Add(404, []byte(`{"error":"model not found"}`), "NaN")
	f.Fuzz(func(t *testing.T, code int, body []byte, after string) {
		s := newServer("", nil, fixedNow)
		fault := s.fault(code, wire.ErrorDocument(body), "m")
		if problem := unfit(fault.Human); problem != "" {
			t.Fatalf("the sentence %q %s", fault.Human, problem)
		}
		if d := wire.RetryAfter(http.Header{"Retry-After": {after}}, fixedNow()); d < 0 {
			t.Fatalf("got a wait of %v", d)
		}
		var p parts
		for l := range bytes.Lines(body) {
			if _, err := p.line(l, nil); err != nil && s.streamFault(err, "m") == nil {
				t.Fatal("an error went away")
			}
		}
		_ = fmt.Sprint(fault)
	})
}
