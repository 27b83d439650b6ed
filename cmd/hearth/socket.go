package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// longestSocket is the longest path of a socket: the kernel takes 107 bytes, docs/contract.md promises 100.
const longestSocket = 100

// socketPath is where the daemon of a vault listens: beside the vault, or in the runtime folder when that path is too
// long. There its name is drawn from the vault's, so that two vaults do not meet.
func socketPath(dir, runtimeDir string) string {
	path := filepath.Join(dir, "hearth.sock")
	if len(path) <= longestSocket || runtimeDir == "" {
		return path
	}
	return filepath.Join(runtimeDir, fmt.Sprintf("hearth-%s.sock", shortHash(dir)))
}

// shortHash tells two texts apart in few letters.
func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// listen opens the socket for its owner alone. A socket that a dead daemon left is removed, which is only right for who
// holds the vault's lock.
func listen(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > longestSocket {
		return nil, failed("The path of the socket, %s, is longer than the %d bytes a system takes: set XDG_RUNTIME_DIR, or a shorter vault.dir.", path, longestSocket)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	// Both folders it may lie in are open to their owner alone, so nobody is faster than the chmod.
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("open socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// client asks a running daemon.
type client struct {
	http *http.Client
}

func newClient(path string) *client {
	dialer := net.Dialer{Timeout: 2 * time.Second}
	return &client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "unix", path) },
	}}}
}

// dial gives a client if a daemon answers, else nil.
func dial(ctx context.Context, path string) *client {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	c := newClient(path)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	answer, err := c.do(ctx, http.MethodGet, "/healthz", nil)
	if err != nil {
		return nil
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil
	}
	return c
}

// trouble is how the API tells an error: the sentence and exit code that the command line gives for it.
type trouble struct {
	Error string `json:"error"`
	Exit  int    `json:"exit"`
}

func (c *client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://hearth"+path, body)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &failure{code: exitFailed, sentence: "The daemon does not answer any more: look at its log, or start it again.", cause: err}
	}
	return answer, nil
}

// readAnswer reads an answer, or the trouble in its place. The caller closes it.
func readAnswer(answer *http.Response, to any) error {
	if answer.StatusCode != http.StatusOK {
		var t trouble
		if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&t); err != nil || t.Error == "" {
			return failed("The daemon answered %q, which this program does not understand: are both of the same version?", answer.Status)
		}
		return &failure{code: t.Exit, sentence: t.Error}
	}
	if to == nil {
		return nil
	}
	if err := json.NewDecoder(answer.Body).Decode(to); err != nil {
		return &failure{code: exitFailed, sentence: "The daemon's answer broke off: it may have been stopped just now. Try again.", cause: err}
	}
	return nil
}

func (c *client) get(ctx context.Context, path string, q url.Values, to any) error {
	answer, err := c.do(ctx, http.MethodGet, "/api/"+path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	return readAnswer(answer, to)
}

func (c *client) post(ctx context.Context, path string, order, to any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	answer, err := c.do(ctx, http.MethodPost, "/api/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	return readAnswer(answer, to)
}
