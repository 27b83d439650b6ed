package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// server is one Ollama server. Its methods give a *brain.ModelError, or the bare error of the context.
type server struct {
	url  *url.URL // nil: what was given is no address
	host string   // for people: without a password
	http *http.Client
	now  func() time.Time
	key  string // of the YAML file, for texts; may be ""
}

func newServer(address string, client *http.Client, now func() time.Time) server {
	if address == "" {
		address = DefaultURL
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if client == nil {
		client = wire.NewHTTP()
	}
	s := server{http: client, now: now}
	u, err := url.Parse(address)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		s.url, s.host = u, u.Host
	}
	return s
}

// post sends JSON and gives the answer if the server took the request. The caller closes its body.
func (s server) post(ctx context.Context, path string, body []byte, model string) (*http.Response, error) {
	return s.do(ctx, http.MethodPost, path, body, model)
}

func (s server) do(ctx context.Context, method, path string, body []byte, model string) (*http.Response, error) {
	if s.url == nil {
		return nil, &brain.ModelError{Kind: brain.Permanent, Err: errors.New("unusable address"), Human: "The address of the model server is not usable: " + s.setting("url") + " must look like http://HOST:11434."}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, &brain.ModelError{Kind: brain.Permanent, Err: err, Human: "The address of the model server is not usable: " + s.setting("url") + " must look like http://HOST:11434."}
	}
	req.Header.Set("Accept", "application/x-ndjson, application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, s.networkFault(err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, s.statusFault(resp, model)
	}
	return resp, nil
}

// Bounds on what is read of an answer that is not a stream.
const (
	maxErrorBody = 64 << 10
	maxJSONBody  = 16 << 20 // licences and templates of a model, a long list of models
)

// call asks for one JSON document. in is nil for a GET.
func (s server) call(ctx context.Context, path string, in, out any, model string) error {
	method := http.MethodGet
	var body []byte
	if in != nil {
		var err error
		if body, err = wire.Encode(in); err != nil {
			return fmt.Errorf("write a request for %s: %w", path, err)
		}
		method = http.MethodPost
	}
	resp, err := s.do(ctx, method, path, body, model)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxJSONBody))
	if err != nil {
		return s.networkFault(err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return s.strangeFault(fmt.Errorf("%w: read the answer of %s: %w", errStrange, path, err))
	}
	return nil
}

// setting names a key of the YAML file.
func (s server) setting(key string) string {
	if s.key == "" {
		return "its " + key
	}
	return s.key + "." + key
}
