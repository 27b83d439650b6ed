package openai

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
)

func TestFaultsAreSorted(t *testing.T) {
	for _, c := range []struct {
		code    int
		body    string
		headers []string
		kind    brain.FaultKind
		human   string // a part of it
		after   time.Duration
	}{
		{code: 400, body: `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.","code":"context_length_exceeded"}}`, kind: brain.TooLong},
		{code: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_ctx":4096}}`, kind: brain.TooLong},
		{code: 400, body: `{"object":"error","message":"This model's maximum context length is 2048 tokens.","type":"BadRequestError","code":400}`, kind: brain.TooLong},
		{code: 413, body: `<html>`, kind: brain.TooLong},
		{code: 401, body: `{"error":{"message":"Incorrect API key provided: ` + secret + `.","code":"invalid_api_key"}}`, kind: brain.Permanent, human: "does not accept the key: check brain.models.cloud.api_key."},
		{code: 402, body: `{"error":{"message":"Insufficient credits","code":402}}`, kind: brain.Permanent, human: "the account has no money left."},
		{code: 429, body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, headers: []string{"Retry-After", "5"}, kind: brain.Permanent, human: "the account has no money left."},
		{code: 403, body: `{"error":{"message":"Project does not have access"}}`, kind: brain.Permanent, human: "does not let this key use the model some-model."},
		{code: 429, body: `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, headers: []string{"Retry-After", "7"}, kind: brain.Transient, after: 7 * time.Second, human: "takes no more requests at the moment"},
		{code: 503, body: `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, headers: []string{"Retry-After", "Fri, 04 Dec 2026 09:00:20 GMT", "Date", "Fri, 04 Dec 2026 09:00:00 GMT"}, kind: brain.Transient, after: 20 * time.Second, human: "too busy"},
		{code: 404, body: `{"error":{"message":"The model 'some-model' does not exist or you do not have access to it.","code":"model_not_found"}}`, kind: brain.Permanent, human: "has no model called some-model: check brain.models.cloud.model."},
		{code: 400, body: `{"error":"Model not found"}`, kind: brain.Permanent, human: "has no model called"},
		{code: 404, body: `404 page not found`, kind: brain.Permanent, human: "is brain.models.cloud.url right?"},
		{code: 405, kind: brain.Permanent, human: "is brain.models.cloud.url right?"},
		{code: 301, headers: []string{"Location", "https://elsewhere.example"}, kind: brain.Permanent, human: "sends me elsewhere (status 301)"},
		{code: 500, body: `{"error":"boom"}`, kind: brain.Transient},
		{code: 502, body: "<html>\n<b>Bad Gateway</b></html>", kind: brain.Transient, human: "failed (status 502)."},
		{code: 504, kind: brain.Transient},
		{code: 408, kind: brain.Transient},
		{code: 400, body: `{"error":{"message":"Failed to call a function. Please adjust your prompt.","code":"tool_use_failed"}}`, kind: brain.BadReply},
		{code: 500, body: `{"error":{"code":500,"message":"Failed to parse input at pos 12: <tool_call>","type":"server_error"}}`, kind: brain.BadReply},
		{code: 400, body: `{"error":{"message":"filtered","code":"content_filter"}}`, kind: brain.BadReply, human: "filter held the model's answer back"},
		{code: 422, body: `{"detail":"no"}`, kind: brain.Permanent, human: "refused the request (status 422)."},
		{code: 418, body: strings.Repeat("ä", 5000), kind: brain.Permanent},
		{code: 400, body: `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`, kind: brain.Permanent},
	} {
		f := newFake(t, status(c.code, c.body, c.headers...))
		_, err := f.client(nil).Generate(t.Context(), remind(), nil)
		fault := faultOf(t, err, c.kind)
		if !strings.Contains(fault.Human, c.human) {
			t.Errorf("%d %s: %q lacks %q", c.code, c.body, fault.Human, c.human)
		}
		if fault.After != c.after || len(err.Error()) > 2500 {
			t.Errorf("%d: a wait of %v, want %v; the error has %d bytes", c.code, fault.After, c.after, len(err.Error()))
		}
		if len(f.requests()) != 1 {
			t.Errorf("%d %s: %d requests", c.code, c.body, len(f.requests()))
		}
	}
}

func TestFaultsInTheMiddleOfAnAnswer(t *testing.T) {
	for said, kind := range map[string]brain.FaultKind{
		`{"error":{"message":"Provider returned error","code":502},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`: brain.Transient,
		`{"error":{"message":"Rate limited","code":429}}`:                               brain.Transient,
		`{"error":{"message":"No auth credentials found","code":401}}`:                  brain.Permanent,
		`{"object":"error","message":"maximum context length is 10 tokens","code":400}`: brain.TooLong,
		`{"error":"boom"}`: brain.Transient,
		`{"error":{"message":"Failed to parse tool call"}}`: brain.BadReply,
	} {
		f := newFake(t, stream(piece(`{"content":"Half"}`), said, done))
		_, err := f.client(nil).Generate(t.Context(), remind(), nil)
		faultOf(t, err, kind)
	}
	f := newFake(t, stream(piece(`{"content":"Half"}`), finish("content_filter"), tokens, done))
	_, err := f.client(nil).Generate(t.Context(), remind(), nil)
	faultOf(t, err, brain.BadReply)
	f = newFake(t, stream("<html>", done))
	_, err = f.client(nil).Generate(t.Context(), remind(), nil)
	faultOf(t, err, brain.Transient)
	f = newFake(t, status(200, "event: error\ndata: {\"message\":\"boom "+secret+"\"}\n\n"))
	_, err = f.client(nil).Generate(t.Context(), remind(), nil)
	if faultOf(t, err, brain.Transient); !strings.Contains(err.Error(), "boom ***") {
		t.Errorf("got %v", err)
	}
}

func TestServersThatCannotBeReached(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	tls := httptest.NewTLSServer(nil)
	defer tls.Close()
	plain := httptest.NewServer(nil)
	defer plain.Close()
	for address, c := range map[string]struct {
		kind  brain.FaultKind
		human string
	}{
		closed.URL + "/v1":               {brain.Transient, "does not answer: is it running?"},
		"http://no-such-host.invalid/v1": {brain.Transient, "no-such-host.invalid is not known here"},
		tls.URL:                          {brain.Permanent, "is not trusted"},
		strings.Replace(plain.URL, "http", "https", 1): {brain.Permanent, "does not speak HTTPS"},
		"ftp://x": {brain.Permanent, "must look like https://HOST/v1."}, "http://%zz": {brain.Permanent, "must look like"},
	} {
		_, err := New(Options{Name: "cloud", URL: address, Model: "m", Tools: brain.ToolsNative}).Generate(t.Context(), remind(), nil)
		if fault := faultOf(t, err, c.kind); !strings.Contains(fault.Human, c.human) {
			t.Errorf("%s: %q lacks %q", address, fault.Human, c.human)
		}
	}
}

// Neither the key nor what stands in the address beside the host is told to anybody.
func TestSecretsOfTheAddressAreNotTold(t *testing.T) {
	f := newFake(t, status(400, `{"error":{"message":"bad request to /v1?key=hidden-in-query by user:hidden-password with `+secret+`"}}`))
	address := strings.Replace(f.URL, "http://", "http://user:hidden-password@", 1) + "/v1?key=hidden-in-query"
	closed := httptest.NewServer(nil)
	closed.Close()
	down := strings.Replace(closed.URL, "http://", "http://user:hidden-password@", 1) + "/v1?key=hidden-in-query"
	for _, at := range []string{address, down} {
		client := f.client(func(o *Options) { o.URL = at })
		_, err := client.Generate(t.Context(), remind(), nil)
		var said []string
		for _, finding := range client.Check(t.Context()) {
			said = append(said, finding.Text)
		}
		for _, hidden := range []string{"hidden-password", "hidden-in-query", secret} {
			if all := err.Error() + strings.Join(said, ""); strings.Contains(all, hidden) {
				t.Errorf("%s is in %s", hidden, all)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	good := func(what, text string) brain.Finding { return brain.Finding{What: what, OK: true, Text: text} }
	bad := func(what, text string) brain.Finding { return brain.Finding{What: what, Text: text} }
	for name, c := range map[string]struct {
		models string
		change func(*Options)
		want   []brain.Finding
	}{
		"all well":  {`{"data":[{"id":"some-model"},{"id":"b"}]}`, nil, []brain.Finding{good("server", "The model server at HOST answers and takes the key."), good("model", "The model some-model is there.")}},
		"wrong key": {`{"data":[]}`, func(o *Options) { o.APIKey = "other" }, []brain.Finding{bad("server", "The model server at HOST does not accept the key: check brain.models.cloud.api_key.")}},
		"no model": {`{"data":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"},{"id":"e"},{"id":"f"}]}`, nil, []brain.Finding{
			good("server", "The model server at HOST answers and takes the key."),
			bad("model", "The model some-model is not on its list: check brain.models.cloud.model. It has: a, b, c, d, e, …."),
		}},
		"no list": {``, nil, []brain.Finding{good("server", "A server answers at HOST. It has no list of models, so nothing more can be seen.")}},
		"no tools": {`{"data":[{"id":"some-model","supported_parameters":["stop"],"context_length":4000},{"id":"b"}]}`, nil, []brain.Finding{
			good("server", "The model server at HOST answers and takes the key."), good("model", "The model some-model is there."),
			bad("tools", "The model some-model knows no tools: set brain.models.cloud.tools to auto, or choose another model."),
			good("context", "The server takes 4000 tokens, less than the 32768 of brain.models.cloud.context, so that is what is used."),
		}},
		"off": {`{"data":[]}`, func(o *Options) { o.Tools = brain.ToolsOff }, []brain.Finding{
			good("server", "The model server at HOST answers and takes the key."), good("model", "The model some-model is there."),
			good("tools", "Tools are off (brain.models.cloud.tools): it can talk, and do nothing."),
		}},
	} {
		f := newFake(t, ok)
		f.models = c.models
		got := f.client(c.change).Check(t.Context())
		for i := range got {
			got[i].Text = strings.ReplaceAll(got[i].Text, strings.TrimPrefix(f.URL, "http://"), "HOST")
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(f.requests()) != 0 {
			t.Errorf("%s: the model was asked", name)
		}
	}
}
