package tgfake

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Call is one request that came in.
type Call struct {
	Method string
	Params map[string]string
	At     time.Time
	Fault  string // what the server was told to do with it, "" = nothing
	Code   int    // the error it was answered with; 200 = none, 0 = no answer yet
}

// Calls gives the requests for a method, oldest first; "" = all.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			out = append(out, *c)
		}
	}
	return out
}

// names gives the methods that were called, oldest first.
func (s *Server) names() []string {
	var out []string
	for _, c := range s.Calls("") {
		out = append(out, c.Method)
	}
	return out
}

// apiError is an answer with ok = false.
type apiError struct {
	Code        int            `json:"error_code"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters,omitempty"`
}

func (e *apiError) Error() string { return e.Description }

func bad(words string) error { return &apiError{Code: 400, Description: "Bad Request: " + words} }

// errGone says that nobody waits for the answer any more.
var errGone = errors.New("the client has gone")

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, "/bot"+s.Token()+"/")
	if !ok {
		answer(w, nil, &apiError{Code: 401, Description: "Unauthorized"})
		return
	}
	method, known := s.spec.method(rest)
	params, err := parameters(r)
	s.mu.Lock()
	call := &Call{Method: method, Params: params, At: time.Now()}
	s.calls = append(s.calls, call)
	switch {
	case err != nil:
		s.violation(method + ": " + err.Error())
	case !known:
		s.violation("there is no method " + method)
	default:
		s.violations = append(s.violations, s.spec.request(method, params)...)
	}
	f := s.faultFor(call)
	s.happened()
	s.mu.Unlock()

	var result any
	if err == nil && !known {
		err = &apiError{Code: 404, Description: "Not Found"}
	}
	if f == nil || f.after {
		if err == nil {
			result, err = s.call(r, method, params)
		}
	}
	done := func(code int) {
		s.mu.Lock()
		call.Code = code
		s.happened()
		s.mu.Unlock()
	}
	if f != nil {
		f.happen(w, r, done)
		return
	}
	var refusal *apiError
	switch {
	case errors.Is(err, errGone):
		return
	case err != nil && !errors.As(err, &refusal):
		refusal = &apiError{Code: 400, Description: "Bad Request: " + err.Error()}
	}
	code := http.StatusOK
	if refusal != nil {
		code = refusal.Code
	}
	answer(w, result, refusal)
	done(code)
}

func answer(w http.ResponseWriter, result any, refusal *apiError) {
	w.Header().Set("Content-Type", "application/json")
	var body any = map[string]any{"ok": true, "result": result}
	if refusal != nil {
		body = struct {
			OK bool `json:"ok"`
			*apiError
		}{false, refusal}
		w.WriteHeader(refusal.Code)
	}
	_ = json.NewEncoder(w).Encode(body) // whether the client still listens is its own affair
}

// parameters reads a request in any of the forms the Bot API takes, but for files.
func parameters(r *http.Request) (map[string]string, error) {
	out := map[string]string{}
	kind := r.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "application/json") {
		var body map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for name, raw := range body {
			var words string
			if json.Unmarshal(raw, &words) != nil || string(raw) == "null" {
				words = string(raw)
			}
			out[name] = words
		}
	} else if strings.HasPrefix(kind, "multipart/") {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			return nil, err
		}
	} else if err := r.ParseForm(); err != nil {
		return nil, err
	}
	for name, values := range r.Form {
		out[name] = slices.Concat(values, []string{""})[0]
	}
	return out, nil
}

// cut ends a connection without an answer; hard, it is reset.
func cut(w http.ResponseWriter, hard bool) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := c.(*net.TCPConn); ok && hard {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
