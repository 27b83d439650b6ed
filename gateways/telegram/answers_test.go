package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// roundTrip is a transport that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAConnectionThatDiedIdle is noticed by the transport, which then dials anew; when that fails, nothing has left us.
func TestAConnectionThatDiedIdle(t *testing.T) {
	w := newWorld(t)
	w.gw.opt.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(r.Context())
		trace.GetConn("telegram:443")
		trace.WroteHeaders()
		trace.GetConn("telegram:443")
		return nil, errors.New("dial: connection refused")
	})}
	if e := w.fails(w.part("hello")); e.Outcome != vault.NotSent {
		t.Error(e)
	}
}

// TestTokensThatNeedCare stand in a path as they are, and in no error in any spelling.
func TestTokensThatNeedCare(t *testing.T) {
	for _, token := range []string{"123456:ab$cd$HOME-xyz", "123456:a%2Fb c?d/e", "123456:%s%d"} {
		path := ""
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path = r.URL.Path
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"ok":false,"error_code":400,"description":"no %%s %s %s"}`, strings.ReplaceAll(r.URL.Path, `"`, ""), r.URL.RawPath)
		}))
		gw, err := New(Options{Token: token, APIURL: strings.Replace(server.URL, "http://", "http://me:p%40ss@", 1)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = gw.Send(t.Context(), vault.Part{To: vault.Address{Chat: "1"}, Text: "x"})
		if path != "/bot"+token+"/sendMessage" {
			t.Errorf("%q: the path is %q", token, path)
		}
		server.Close()
		_, second := gw.Send(t.Context(), vault.Part{To: vault.Address{Chat: "1"}, Text: "x"})
		_, secret, _ := strings.Cut(token, ":")
		for _, e := range []error{err, second} {
			if e == nil || strings.Contains(e.Error(), secret) || strings.Contains(e.Error(), "://") || strings.Contains(e.Error(), "p%40ss") || strings.Contains(e.Error(), "p@ss") || strings.Contains(e.Error(), "%2Fb%20c") {
				t.Errorf("%q: %v", token, e)
			}
		}
		gw.opt.HTTP.CloseIdleConnections()
	}
	for _, bad := range []string{"", "123456", ":abc", "123456:", "12a:abc", "abc"} {
		if _, err := New(Options{Token: bad}); !errors.Is(err, ErrBadToken) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestRedirectsAreNotFollowed: the address holds the token, and the next one would be told it.
func TestRedirectsAreNotFollowed(t *testing.T) {
	followed := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer elsewhere.Close()
	for _, code := range []int{301, 302, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, code))
		gw, err := New(Options{Token: "1:canary", APIURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		_, err = gw.Send(t.Context(), vault.Part{To: vault.Address{Chat: "1"}, Text: "x"})
		var e *gateways.SendError
		if !errors.As(err, &e) || e.Outcome != vault.NotSent || followed {
			t.Errorf("%d: followed %v, %v", code, followed, err)
		}
		gw.opt.HTTP.CloseIdleConnections()
		server.Close()
	}
}

// TestAnswersThatMakeNoSense come from programs that are not Telegram's.
func TestAnswersThatMakeNoSense(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		header http.Header
		want   vault.Outcome
		wait   time.Duration
	}{
		"an error without a code":    {500, `{"message":"no such route"}`, nil, vault.NotSent, 0},
		"no error and no result":     {200, `{}`, nil, vault.MayHaveSent, 0},
		"a result of another kind":   {200, `{"ok":true,"result":"done"}`, nil, vault.MayHaveSent, 0},
		"an answer without an end":   {200, `{"ok":true,"result":` + strings.Repeat(" ", 2000) + `{"message_id":1}}`, nil, vault.MayHaveSent, 0},
		"an answer that is cut":      {200, `{"ok":true,"resu`, nil, vault.MayHaveSent, 0},
		"a page that asks to wait":   {429, "<html>", http.Header{"Content-Type": {"text/html"}, "Retry-After": {"7"}}, vault.NotSent, 7 * time.Second},
		"a page that asks for later": {503, "<html>", http.Header{"Content-Type": {"text/html"}, "Retry-After": {"Fri, 31 Dec 1999 23:59:59 GMT"}}, vault.NotSent, 0},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for key, value := range c.header {
				w.Header()[key] = value
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		gw, err := New(Options{Token: "1:canary", APIURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		gw.limits.answer = 1000
		_, err = gw.Send(t.Context(), vault.Part{To: vault.Address{Chat: "1"}, Text: "x"})
		var e *gateways.SendError
		if !errors.As(err, &e) || e.Outcome != c.want || e.Wait != c.wait {
			t.Errorf("%s: %v", name, err)
		}
		gw.opt.HTTP.CloseIdleConnections()
		server.Close()
	}
}
