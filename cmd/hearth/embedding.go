package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"hearth/brain"
	"hearth/brain/meaning"
	"hearth/brain/ollama"
	"hearth/brain/openai"
	"hearth/config"
	"hearth/vault"
)

// embedding is what the configuration says about finding things by what they mean.
func (a *agent) embedding(cfg *config.Config) meaning.Settings {
	e := cfg.Brain.Embedding
	if e == nil {
		return meaning.Settings{}
	}
	return meaning.Settings{
		Embedder: newEmbedder(*e, a.clock.now), Model: e.Model, Local: embedsAtHome(*e),
		Caps: func() []vault.Cap { return dayCaps(a.cfg.Load(), a.clock.now()) },
	}
}

func newEmbedder(e config.Embedding, now func() time.Time) brain.Embedder {
	if e.Provider == "openai" {
		return openai.NewEmbedder(openai.EmbedOptions{URL: e.URL.Reveal(), Model: e.Model, APIKey: e.APIKey.Reveal(), Now: now})
	}
	return ollama.NewEmbedder(ollama.EmbedOptions{URL: e.URL.Reveal(), Model: e.Model, Now: now})
}

// embedsAtHome reports whether what is embedded stays in the owner's own network.
func embedsAtHome(e config.Embedding) bool {
	u, err := url.Parse(e.URL.Reveal())
	return err == nil && brain.LocalHost(u.Hostname()) && (e.Provider != "ollama" || !ollama.Elsewhere(e.Model))
}

// dayCaps are the household's limits of the day that a request without a run falls under.
func dayCaps(cfg *config.Config, now time.Time) []vault.Cap {
	year, month, day := now.In(cfg.Location()).Date()
	since := time.Date(year, month, day, 0, 0, 0, 0, cfg.Location())
	out := []vault.Cap{{Limit: "brain.limits.usd_per_day", Of: vault.Dollars, Since: since, Max: cfg.Brain.Limits.USDPerDay}}
	if most := cfg.Brain.Limits.TokensPerDay; most > 0 {
		out = append(out, vault.Cap{Limit: "brain.limits.tokens_per_day", Of: vault.Tokens, Since: since, Max: float64(most)})
	}
	return out
}

// embeddingTime is how long doctor waits for a vector: the model may have to be loaded.
const embeddingTime = 20 * time.Second

// embeddingChecks has the embedding model of the configuration embed one word.
func embeddingChecks(ctx context.Context, cfg *config.Config) []checkRow {
	e := cfg.Brain.Embedding
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, embeddingTime)
	defer cancel()
	vectors, _, err := newEmbedder(*e, time.Now).Embed(ctx, []string{"hearth"})
	var fault *brain.ModelError
	switch {
	case errors.As(err, &fault) && fault.Human != "":
		return []checkRow{{"embedding", uneasy, fault.Human, embeddingMend}}
	case err != nil || len(vectors) != 1:
		return []checkRow{{"embedding", uneasy, fmt.Sprintf("The model %s did not answer within %d seconds.", e.Model, int(embeddingTime.Seconds())), embeddingMend}}
	}
	words := fmt.Sprintf("The model %s answers with %d numbers.", e.Model, len(vectors[0]))
	if !embedsAtHome(*e) {
		words += " It is not in your house: what is said and remembered goes there, whatever brain.cloud_fallback says."
	}
	return []checkRow{{"embedding", fine, words, ""}}
}

const embeddingMend = "Until then what was said and remembered is found by its words alone."

// embeddingRow tells how far the embedding is; on is false where none is configured.
func (a *agent) embeddingRow(ctx context.Context) (row checkRow, on bool, err error) {
	s, err := a.meaning.State(ctx)
	if err != nil || !s.On {
		return checkRow{}, false, err
	}
	words := fmt.Sprintf("%d memories and messages can be found by what they mean (%s)", s.Done, s.Model)
	if s.Left > 0 {
		words += fmt.Sprintf(", up to %d are still to come", s.Left)
	}
	if s.Trouble != "" {
		return checkRow{"embedded", uneasy, words + ". The last request came to nothing: " + s.Trouble, embeddingMend}, true, nil
	}
	return checkRow{"embedded", fine, words, ""}, true, nil
}
