package ollama

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
	URL   string // of the server; "" = DefaultURL
	Model string // as the server calls it, e.g. all-minilm
	HTTP  *http.Client
	Now   func() time.Time
}

// Embedder is an embedding model of a server. It may be used by many goroutines.
type Embedder struct {
	server server
	model  string
}

// NewEmbedder makes one. Nothing is asked of the server until it is used.
func NewEmbedder(o EmbedOptions) *Embedder {
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &Embedder{server: newServer(o.URL, o.HTTP, o.Now), model: o.Model}
	e.server.key = "brain.embedding"
	return e
}

// Embed implements brain.Embedder. The server cuts what is too long for the model.
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
	body, err := wire.Encode(struct {
		Model    string   `json:"model"`
		Input    []string `json:"input"`
		Truncate bool     `json:"truncate"`
	}{e.model, texts, true})
	if err != nil {
		return nil, 0, &brain.ModelError{Kind: brain.Permanent, Human: "The request to the embedding model could not be written: that is a fault in me.", Err: err}
	}
	resp, err := e.server.post(ctx, "/api/embed", body, e.model)
	if err != nil {
		return nil, 0, e.named(err)
	}
	defer resp.Body.Close()
	data, err := wire.ToItsEnd(resp.Body, wire.VectorBytes(len(texts)))
	if errors.Is(err, wire.ErrTooMuch) {
		return nil, 0, wire.BadReply(err, "The answer of the embedding model "+e.model+" was larger than any.")
	}
	if err != nil {
		return nil, 0, e.server.networkFault(err)
	}
	var got struct {
		Embeddings []json.RawMessage `json:"embeddings"`
		Tokens     int               `json:"prompt_eval_count"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return nil, 0, e.server.strangeFault(fmt.Errorf("%w: read the answer of /api/embed: %w", errStrange, err))
	}
	vectors, err := wire.Vectors(got.Embeddings, len(texts))
	if err != nil {
		return nil, 0, wire.BadReply(err, "The embedding model "+e.model+" answered with something that is no vector.")
	}
	return vectors, got.Tokens, nil
}

// named says that a model embeds not where the server has only said that it cannot do this.
func (e *Embedder) named(err error) error {
	var told *toldError
	var fault *brain.ModelError
	if errors.As(err, &told) && errors.As(err, &fault) && wire.CannotEmbed(told.text) {
		return &brain.ModelError{Kind: brain.Permanent, Err: err, Human: "The model " + e.model + " makes no vectors: choose an embedding model, such as all-minilm, for " + e.server.setting("model") + "."}
	}
	return err
}
