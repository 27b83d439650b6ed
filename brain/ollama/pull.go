package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// pullSilence is the longest silence in a download. Checking what has been loaded says nothing for minutes on a slow card.
const pullSilence = 10 * time.Minute

var errPullSilent = errors.New("our limit for a silence within a download has passed")

// Pull has the server at url ("" = DefaultURL) install a model, and returns when it is there. progress, which may be nil,
// is called with what the server is at, and with the bytes of all parts that it has begun: total grows as parts begin,
// and is 0 until the first does. An error is a *brain.ModelError unless ctx ended.
func Pull(ctx context.Context, url, model string, progress func(status string, done, total int64)) error {
	client := wire.NewHTTP()
	defer client.CloseIdleConnections()
	s := newServer(url, client, time.Now)
	body, err := wire.Encode(api.PullRequest{Model: model})
	if err != nil {
		return fmt.Errorf("write a request to pull %s: %w", model, err)
	}
	guard := wire.NewGuard(ctx, pullSilence, errPullSilent)
	defer guard.End()
	resp, err := s.post(guard.Ctx, "/api/pull", body, model)
	if err == nil {
		defer resp.Body.Close()
		parts := parts{}
		err = lines(resp.Body, func(line []byte) (bool, error) {
			guard.Extend(pullSilence, errPullSilent)
			return parts.line(line, progress)
		})
		if err != nil {
			err = s.streamFault(err, model)
		}
	}
	switch fault := (*brain.ModelError)(nil); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(guard.Ctx), errPullSilent):
		return &brain.ModelError{Kind: brain.Transient, Err: errPullSilent, Human: "The download of " + model + " stood still for " + wire.InWords(pullSilence) + ", so I gave up on it; the next try goes on from there."}
	case errors.As(err, &fault) && unknownModel(fault.Err.Error()):
		return &brain.ModelError{Kind: brain.Permanent, Err: err, Human: "There is no model called " + model + " in Ollama's library: https://ollama.com/library lists them."}
	}
	return err
}

// unknownModel recognises how servers say that the library does not have a model.
func unknownModel(said string) bool {
	return strings.Contains(said, "pull model manifest: file does not exist") || strings.Contains(said, "manifest unknown")
}

// parts sums up a download that comes in several, one after the other.
type parts struct {
	seen        map[string]api.ProgressResponse
	done, total int64
}

func (p *parts) line(line []byte, progress func(status string, done, total int64)) (stop bool, err error) {
	var got struct {
		api.ProgressResponse
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &got); err != nil {
		return false, fmt.Errorf("%w: %w", errStrange, err)
	}
	if text := wire.ErrorText(got.Error); text != "" {
		return false, &toldError{text: text}
	}
	if got.Digest != "" {
		if p.seen == nil {
			p.seen = map[string]api.ProgressResponse{}
		}
		before := p.seen[got.Digest]
		p.done += got.Completed - before.Completed
		p.total += got.Total - before.Total
		p.seen[got.Digest] = got.ProgressResponse
	}
	if progress != nil {
		progress(got.Status, p.done, p.total)
	}
	return got.Status == "success", nil
}

// Installed asks the server whether it has the model; true too when the model runs elsewhere under that name.
func (c *Client) Installed(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var list api.ListResponse
	if err := c.server.call(ctx, "/api/tags", nil, &list, ""); err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Models, func(m api.ListModelResponse) bool { return sameModel(m.Name, c.o.Model) }), nil
}
