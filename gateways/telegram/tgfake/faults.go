package tgfake

import (
	"fmt"
	"net/http"
)

// Fault is a way in which a request goes wrong.
type Fault struct {
	name  string
	api   *apiError
	page  int  // the status of an answer that is an HTML page
	wait  int  // the seconds that the page asks for
	cut   bool // the connection ends without an answer
	hang  bool // no answer comes
	after bool // what was asked for is done all the same
}

// TooMany is the answer to somebody who sends too fast.
func TooMany(seconds int) Fault {
	return Fault{name: "429", api: &apiError{429, fmt.Sprintf("Too Many Requests: retry after %d", seconds), map[string]any{"retry_after": seconds}}}
}

// Blocked is the answer for a chat that blocked the bot.
func Blocked() Fault {
	return Fault{name: "403", api: &apiError{403, "Forbidden: bot was blocked by the user", nil}}
}

// Refusal is an answer with a code and a description of one's choice.
func Refusal(code int, description string) Fault {
	return Fault{name: fmt.Sprint(code), api: &apiError{code, description, nil}}
}

// Migrated is the answer for a group that has another id now.
func Migrated(to int64) Fault {
	return Fault{name: "migrated", api: &apiError{400, "Bad Request: group chat was upgraded to a supergroup chat", map[string]any{"migrate_to_chat_id": to}}}
}

// Unauthorized is the answer to a token that was revoked.
func Unauthorized() Fault {
	return Fault{name: "401", api: &apiError{401, "Unauthorized", nil}}
}

// Conflict is the answer to a poll while another one begins.
func Conflict() Fault {
	return Fault{name: "409", api: errConflict}
}

// ServerError is an error of Telegram's own.
func ServerError() Fault {
	return Fault{name: "500", api: &apiError{500, "Internal Server Error", nil}}
}

// Page is the HTML page of a proxy in between.
func Page(status int) Fault { return Fault{name: fmt.Sprintf("page %d", status), page: status} }

// BadGateway is the page of a proxy that finds nobody behind it.
func BadGateway() Fault { return Page(http.StatusBadGateway) }

// SlowDown is the page of a proxy that asks to be left alone for a while.
func SlowDown(seconds int) Fault {
	return Fault{name: "page 429", page: http.StatusTooManyRequests, wait: seconds}
}

// ResetBefore resets the connection before anything was done.
func ResetBefore() Fault { return Fault{name: "reset before", cut: true} }

// DropAfter does what was asked and ends the connection without saying so.
func DropAfter() Fault { return Fault{name: "drop after", cut: true, after: true} }

// HangBefore does nothing and says nothing.
func HangBefore() Fault { return Fault{name: "hang before", hang: true} }

// HangAfter does what was asked and says nothing.
func HangAfter() Fault { return Fault{name: "hang after", hang: true, after: true} }

type fault struct {
	Fault
	method string
	left   int // how often it still happens; < 0 = until Mend
}

// Fault has the next requests for a method go wrong: times < 0 means until Mend, method "" means any. Faults come in the
// order in which they were asked for.
func (s *Server) Fault(method string, times int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &fault{f, method, times})
}

// Mend ends all faults that are still to come.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// faultFor gives what shall happen to a request. s.mu is held.
func (s *Server) faultFor(c *Call) *Fault {
	for _, f := range s.faults {
		if f.left != 0 && (f.method == "" || f.method == c.Method) {
			f.left--
			c.Fault = f.name
			return &f.Fault
		}
	}
	return nil
}

// happen answers as the fault wants it.
func (f *Fault) happen(w http.ResponseWriter, r *http.Request, done func(code int)) {
	switch {
	case f.hang:
		done(0)
		<-r.Context().Done()
	case f.cut:
		cut(w, !f.after)
		done(0)
	case f.page != 0:
		w.Header().Set("Content-Type", "text/html")
		if f.wait > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(f.wait))
		}
		w.WriteHeader(f.page)
		_, _ = fmt.Fprintf(w, "<html><head><title>%d %s</title></head><body><hr>nginx</body></html>\n", f.page, http.StatusText(f.page))
		done(f.page)
	default:
		answer(w, nil, f.api)
		done(f.api.Code)
	}
}
