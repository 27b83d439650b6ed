package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// EmbedOptions say which model makes vectors.
type EmbedOptions struct {
	URL    string // with the version: https://HOST/v1; "" = DefaultURL
	Model  string // as the server calls it
	APIKey string // "" = none is sent
	HTTP   *http.Client
	Now    func() time.Time
}

// Embedder is an embedding model of a server. It may be used by many goroutines.
type Embedder struct {
	c *Client
}

// NewEmbedder makes one. Nothing is asked of the server until it is used.
func NewEmbedder(o EmbedOptions) *Embedder {
	c := New(Options{URL: o.URL, Model: o.Model, APIKey: o.APIKey, HTTP: o.HTTP, Now: o.Now})
	c.api.Setting = "brain.embedding"
	return &Embedder{c: c}
}

// Embed implements brain.Embedder.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, int, error) {
	if len(texts) == 0 {
		return nil, 0, nil
	}
	out, tokens, err := e.embed(ctx, texts)
	if err != nil && ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	return out, tokens, err
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, int, error) {
	api, model := e.c.api, e.c.o.Model
	body, err := wire.Encode(struct {
		Model  string   `json:"model"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}{model, texts, "float"})
	if err != nil {
		return nil, 0, &brain.ModelError{Kind: brain.Permanent, Human: "The request to the embedding model could not be written: that is a fault in me.", Err: err}
	}
	resp, err := api.Do(ctx, "embeddings", body)
	if err != nil {
		return nil, 0, e.fault(err)
	}
	defer resp.Body.Close()
	data, err := wire.ToItsEnd(resp.Body, wire.VectorBytes(len(texts)))
	if errors.Is(err, wire.ErrTooMuch) {
		return nil, 0, wire.BadReply(err, "The answer of the embedding model "+model+" was larger than any.")
	}
	if err != nil {
		return nil, 0, api.NetworkFault(err)
	}
	var got struct {
		Data []struct {
			Index     int             `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Tokens int `json:"prompt_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return nil, 0, api.Strange(fmt.Errorf("read the answer of embeddings: %w", err))
	}
	arrays := make([]json.RawMessage, len(texts))
	for _, d := range got.Data { // they may come in any order
		if d.Index >= 0 && d.Index < len(arrays) {
			arrays[d.Index] = d.Embedding
		}
	}
	vectors, err := wire.Vectors(arrays, len(got.Data)) // what is missing is no array
	if err != nil {
		return nil, 0, wire.BadReply(err, "The embedding model "+model+" answered with something that is no vector.")
	}
	if got.Usage.Tokens <= 0 {
		got.Usage.Tokens = estimate(len(body)) // not told; uncounted would mean unlimited
	}
	return vectors, got.Usage.Tokens, nil
}

// fault classes what a server said.
func (e *Embedder) fault(err error) error {
	var fault *brain.ModelError
	var told *wire.Told
	switch {
	case errors.As(err, &fault) || !errors.As(err, &told):
		return err
	case told.Has("too large to process", "maximum input length", "input length exceeds"): // llama.cpp, OpenAI and Ollama, of a text
		return wire.TooLong(told)
	case wire.CannotEmbed(told.Text):
		return &brain.ModelError{Kind: brain.Permanent, Err: told, Human: "The model " + e.c.o.Model + " makes no vectors: choose an embedding model for " + e.c.api.Key("model") + "."}
	}
	return e.c.sort(told)
}
