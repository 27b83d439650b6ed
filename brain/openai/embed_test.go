package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
)

// embedding gives a model at a server that answers with this.
func embedding(t testing.TB, status int, answer string, saw func(path, auth string, body map[string]any)) *Embedder {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if saw != nil {
			saw(r.URL.Path, r.Header.Get("Authorization"), body)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return NewEmbedder(EmbedOptions{URL: server.URL + "/v1", Model: "some-model", APIKey: secret, Now: fixedNow})
}

func TestEmbed(t *testing.T) {
	e := embedding(t, 200, `{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,-0.5]}],"usage":{"prompt_tokens":9}}`, func(path, auth string, body map[string]any) {
		want := map[string]any{"model": "some-model", "input": []any{"a <b>", "c"}, "encoding_format": "float"}
		if diff := cmp.Diff(want, body); diff != "" || path != "/v1/embeddings" || auth != "Bearer "+secret {
			t.Errorf("%s %s %s", path, auth, diff)
		}
	})
	got, tokens, err := e.Embed(t.Context(), []string{"a <b>", "c"})
	if diff := cmp.Diff([][]float32{{1, -.5}, {3, 4}}, got); diff != "" || tokens != 9 || err != nil {
		t.Errorf("%v, %d tokens: %s", err, tokens, diff)
	}
	if got, _, err := e.Embed(t.Context(), nil); got != nil || err != nil {
		t.Errorf("nothing gives %v, %v", got, err)
	}
	e = embedding(t, 200, `{"data":[{"index":0,"embedding":[3,4]}]}`, nil)
	if _, tokens, err := e.Embed(t.Context(), []string{"a text"}); tokens < 10 || err != nil {
		t.Errorf("uncounted: %d, %v", tokens, err)
	}
}

func TestEmbedFaults(t *testing.T) {
	huge := `{"data":[],"x":"` + strings.Repeat("x", 1<<20) + `"}`
	for name, c := range map[string]struct {
		status int
		answer string
		kind   brain.FaultKind
		shut   bool
		human  string
	}{
		"missing one":   {200, `{"data":[{"index":0,"embedding":[1]}]}`, brain.BadReply, false, "no vector"},
		"one twice":     {200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, brain.BadReply, false, "no vector"},
		"a null":        {200, `{"data":[{"index":0,"embedding":[1,null]},{"index":1,"embedding":[1,2]}]}`, brain.BadReply, false, "no vector"},
		"two lengths":   {200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, brain.BadReply, false, "no vector"},
		"too large":     {200, huge, brain.BadReply, false, "larger"},
		"a page":        {200, `<html>`, brain.Transient, false, "brain.embedding.url"},
		"a wrong key":   {401, `{"error":{"message":"Incorrect API key provided: ` + secret + `"}}`, brain.Permanent, true, "brain.embedding.api_key"},
		"no such model": {404, `{"error":{"code":"model_not_found","message":"The model does not exist"}}`, brain.Permanent, false, "brain.embedding.model"},
		"no embeddings": {501, `{"error":{"message":"This server does not support embeddings. Start it with --embeddings"}}`, brain.Permanent, false, "brain.embedding.model"},
		"too long":      {400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`, brain.TooLong, false, ""},
		"busy":          {429, `{}`, brain.Transient, false, "429"},
	} {
		if name == "too large" {
			c.answer = strings.Repeat(" ", 4<<20) + c.answer
		}
		_, _, err := embedding(t, c.status, c.answer, nil).Embed(t.Context(), []string{"a", "b"})
		var fault *brain.ModelError
		if !errors.As(err, &fault) || fault.Kind != c.kind || fault.Shut != c.shut || !strings.Contains(fault.Human, c.human) {
			t.Errorf("%s: %+v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s shows the key", name)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(io.ErrClosedPipe)
	if _, _, err := embedding(t, 200, `{}`, nil).Embed(ctx, []string{"a"}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("ended by whoever asked: %v", err)
	}
}

// FuzzEmbed: whatever a server answers is an error, or two vectors of one length.
func FuzzEmbed(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}`, `{"data":[{"index":-1,"embedding":[3]},{"index":9,"embedding":[1]}]}`,
		`{"data":[{"embedding":"AAAA"},{}]}`, `{"data":{}}`, `[]`, `{"data":[{"index":0,"embedding":[[1]]},{"index":1,"embedding":null}],"usage":{"prompt_tokens":-5}}`,
	} {
		f.Add(s)
	}
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	f.Cleanup(server.Close)
	e := NewEmbedder(EmbedOptions{URL: server.URL + "/v1", Model: "m", Now: fixedNow})
	f.Fuzz(func(t *testing.T, says string) {
		answer = says
		got, tokens, err := e.Embed(t.Context(), []string{"a", "b"})
		if err == nil && (len(got) != 2 || len(got[0]) == 0 || len(got[0]) != len(got[1]) || tokens <= 0) {
			t.Errorf("%q gives %v, %d tokens", says, got, tokens)
		}
	})
}
