package ollama

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
func embedding(t testing.TB, status int, answer string, saw func(path string, body map[string]any)) *Embedder {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if saw != nil {
			saw(r.URL.Path, body)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return NewEmbedder(EmbedOptions{URL: server.URL, Model: "all-minilm"})
}

func TestEmbed(t *testing.T) {
	e := embedding(t, 200, `{"model":"all-minilm","embeddings":[[1,-0.5],[3e0,4]],"prompt_eval_count":9}`, func(path string, body map[string]any) {
		want := map[string]any{"model": "all-minilm", "input": []any{"a <b>", "c"}, "truncate": true}
		if diff := cmp.Diff(want, body); diff != "" || path != "/api/embed" {
			t.Errorf("%s %s", path, diff)
		}
	})
	got, tokens, err := e.Embed(t.Context(), []string{"a <b>", "c"})
	if diff := cmp.Diff([][]float32{{1, -.5}, {3, 4}}, got); diff != "" || tokens != 9 || err != nil {
		t.Errorf("%v, %d tokens: %s", err, tokens, diff)
	}
	if got, _, err := e.Embed(t.Context(), nil); got != nil || err != nil {
		t.Errorf("nothing gives %v, %v", got, err)
	}
}

func TestEmbedFaults(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
		kind   brain.FaultKind
		human  string
	}{
		"missing one":   {200, `{"embeddings":[[1]]}`, brain.BadReply, "no vector"},
		"a null":        {200, `{"embeddings":[[1,null],[1,2]]}`, brain.BadReply, "no vector"},
		"two lengths":   {200, `{"embeddings":[[1],[1,2]]}`, brain.BadReply, "no vector"},
		"too large":     {200, strings.Repeat(" ", 4<<20), brain.BadReply, "larger"},
		"a page":        {200, `<html>`, brain.Transient, "brain.embedding.url"},
		"no such model": {404, `{"error":"model \"all-minilm\" not found, try pulling it first"}`, brain.Permanent, "ollama pull all-minilm"},
		"no embeddings": {400, `{"error":"this model does not support embeddings"}`, brain.Permanent, "brain.embedding.model"},
		"too long":      {400, `{"error":"the input length exceeds the context length"}`, brain.TooLong, ""},
		"not a number":  {500, `{"error":"failed to encode response: json: unsupported value: NaN"}`, brain.Transient, "500"},
		"busy":          {503, `{"error":"server busy"}`, brain.Transient, "503"},
	} {
		_, _, err := embedding(t, c.status, c.answer, nil).Embed(t.Context(), []string{"a", "b"})
		var fault *brain.ModelError
		if !errors.As(err, &fault) || fault.Kind != c.kind || !strings.Contains(fault.Human, c.human) {
			t.Errorf("%s: %+v", name, err)
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
	for _, s := range []string{`{"embeddings":[[1,2],[3,4]]}`, `{"embeddings":[[1,null],[3,4]]}`, `{"embeddings":{}}`, `[]`, `{"embeddings":[[1,2],"x"],"prompt_eval_count":-1}`} {
		f.Add(s)
	}
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	f.Cleanup(server.Close)
	e := NewEmbedder(EmbedOptions{URL: server.URL, Model: "m"})
	f.Fuzz(func(t *testing.T, says string) {
		answer = says
		got, _, err := e.Embed(t.Context(), []string{"a", "b"})
		if err == nil && (len(got) != 2 || len(got[0]) == 0 || len(got[0]) != len(got[1])) {
			t.Errorf("%q gives %v", says, got)
		}
	})
}
