package ollama

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"hearth/brain/internal/wire"
)

// Found is a server and what it can offer without being told anything.
type Found struct {
	URL       string
	Version   string
	Installed []string // the models that run on the server itself, as it lists them
	Model     string   // the best of them that knows tools; "" = none is fit
	Loaded    bool     // that model is in memory now
	Size      int64    // of that model, in bytes
	Context   int      // tokens that it was made for; 0 = not said
}

// The limits of Discover: it stands before the first words of a conversation.
const (
	reachTime    = time.Second
	discoverTime = 5 * time.Second
)

// Discover looks for an Ollama server at url ("" = DefaultURL) and for its best model that knows tools: one that is
// loaded, else the largest that takes at most half of memory, in bytes. Models that run elsewhere, in somebody's cloud,
// are passed over: nobody has agreed to that. An error means that there is no server to use.
func Discover(ctx context.Context, url string, memory int64) (Found, error) {
	ctx, cancel := context.WithTimeout(ctx, discoverTime)
	defer cancel()
	client := wire.NewHTTP()
	defer client.CloseIdleConnections()
	s := newServer(url, client, time.Now)
	version, err := s.version(ctx, reachTime)
	if err != nil {
		return Found{}, err
	}
	found := Found{URL: s.url.String(), Version: version}
	var list api.ListResponse
	if err := s.call(ctx, "/api/tags", nil, &list, ""); err != nil {
		return found, err
	}
	running, err := s.running(ctx)
	if err != nil {
		return found, err
	}
	loaded := func(m api.ListModelResponse) bool {
		return slices.ContainsFunc(running, func(r api.ProcessModelResponse) bool { return sameModel(r.Name, m.Name) })
	}
	models := slices.DeleteFunc(list.Models, elsewhere)
	slices.SortStableFunc(models, func(a, b api.ListModelResponse) int {
		if la, lb := loaded(a), loaded(b); la != lb {
			if la {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Size, a.Size)
	})
	for _, m := range models {
		found.Installed = append(found.Installed, m.Name)
	}
	for _, m := range models {
		if !loaded(m) && m.Size > memory/2 {
			continue
		}
		f, err := s.show(ctx, m.Name)
		if ctx.Err() != nil {
			return found, err
		}
		if err != nil || !f.can(model.CapabilityTools) || f.remote != "" {
			continue // one broken model is no reason to pass over the others
		}
		found.Model, found.Loaded, found.Size, found.Context = m.Name, loaded(m), m.Size, f.context
		return found, nil
	}
	return found, nil
}

// elsewhere reports a model that only seems to be installed. Older servers show that by the name alone.
func elsewhere(m api.ListModelResponse) bool {
	return m.RemoteHost != "" || m.RemoteModel != "" || Elsewhere(m.Name)
}

// Elsewhere reports a model's name that says that Ollama passes what it is asked on to a cloud.
func Elsewhere(name string) bool {
	return strings.HasSuffix(name, ":cloud") || strings.HasSuffix(name, "-cloud")
}

// version asks for the server's version: any Ollama server has one.
func (s server) version(ctx context.Context, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var got struct {
		Version string `json:"version"`
	}
	if err := s.call(ctx, "/api/version", nil, &got, ""); err != nil {
		return "", err
	}
	if got.Version == "" {
		return "", s.strangeStatus(http.StatusOK, errors.New("no version in the answer of /api/version"))
	}
	return got.Version, nil
}
