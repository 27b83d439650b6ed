package tgfake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The rules of Telegram's queue of updates, as its own Bot API server has them.
// Source: https://github.com/tdlib/telegram-bot-api.
const (
	longestPoll  = 50                     // seconds
	mostUpdates  = 100                    // in one answer
	tooHigh      = 10                     // an offset that is further above the tail is ignored
	sameSoon     = 500 * time.Millisecond // the same offset again so soon gets one update
	callbackLife = 150 * time.Second
)

var errConflict = &apiError{409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", nil}

// queue holds the updates that no offset has confirmed.
type queue struct {
	next    int // the id of the next update
	pending []update
	all     []update // ever pushed
	poll    int      // which request waits
	last    struct {
		offset int
		at     time.Time
	}
}

type update struct {
	id   int
	kind string // the field beside update_id
	raw  json.RawMessage
	at   time.Time
}

// Push offers an update to the bot and gives its id. The number is set unless the update has one; entities of a text that
// has none are found as Telegram does. An update that is not of the Bot API fails the test.
func (s *Server) Push(u map[string]any) int {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, has := u["update_id"]; !has {
		u["update_id"] = s.queue.next
	}
	for _, name := range []string{"message", "edited_message"} {
		if m, ok := u[name].(map[string]any); ok {
			if text, ok := m["text"].(string); ok && m["entities"] == nil {
				if found := find(text); len(found) > 0 {
					m["entities"] = found
				}
			}
		}
	}
	raw, err := json.Marshal(u)
	if err != nil {
		s.t.Fatal(err)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		s.t.Fatal(err)
	}
	for _, wrong := range s.spec.check("Update", v, "update") {
		s.t.Errorf("no update looks like this: %s", wrong)
	}
	return s.push(raw)
}

// Next is the id that the next update gets.
func (s *Server) Next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.next
}

// PushRaw offers an update as it stands, whatever it is, and gives the id it is known by.
func (s *Server) PushRaw(raw string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.push(json.RawMessage(raw))
}

// push queues an update. s.mu is held.
func (s *Server) push(raw json.RawMessage) int {
	u := update{id: s.queue.next, raw: raw, at: time.Now()}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		if id, err := strconv.Atoi(string(fields["update_id"])); err == nil {
			u.id = id
		}
		for name := range fields {
			if name != "update_id" {
				u.kind = name
			}
		}
	}
	s.queue.next = u.id + 1
	s.queue.pending = append(s.queue.pending, u)
	s.queue.all = append(s.queue.all, u)
	s.happened()
	return u.id
}

// RestartIDs has the next update get a lower number, as it happens after a quiet week.
func (s *Server) RestartIDs(next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.next, s.queue.pending = next, nil
}

// Replay forgets what was confirmed: all updates are offered again.
func (s *Server) Replay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.pending = slices.Clone(s.queue.all)
	s.happened()
}

// Pending gives the ids of the updates that are not confirmed.
func (s *Server) Pending() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []int
	for _, u := range s.queue.pending {
		out = append(out, u.id)
	}
	return out
}

// getUpdates answers a poll.
func (s *Server) getUpdates(r *http.Request, p map[string]string) (any, error) {
	offset, most, seconds := whole(p["offset"], 0), whole(p["limit"], mostUpdates), min(whole(p["timeout"], 0), longestPoll)
	if most < 1 || most > mostUpdates {
		most = mostUpdates
	}
	var allowed []string
	if err := json.Unmarshal([]byte(p["allowed_updates"]), &allowed); err != nil && p["allowed_updates"] != "" {
		return nil, bad("can't parse allowed_updates")
	}
	end := time.NewTimer(time.Duration(seconds) * time.Second)
	defer end.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook != "" {
		return nil, &apiError{409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first", nil}
	}
	s.queue.poll++
	mine := s.queue.poll
	if offset != 0 && offset == s.queue.last.offset && time.Since(s.queue.last.at) < sameSoon {
		most = 1
	}
	s.queue.last.offset, s.queue.last.at = offset, time.Now()
	s.queue.confirm(offset)
	s.happened() // which ends an older poll
	for over := seconds == 0; ; {
		if mine != s.queue.poll {
			return nil, errConflict
		}
		if ready := s.queue.ready(allowed, most); len(ready) > 0 || over {
			return ready, nil
		}
		change := s.change
		s.mu.Unlock()
		select {
		case <-change:
		case <-end.C:
			over = true
		case <-r.Context().Done():
			s.mu.Lock()
			return nil, errGone
		}
		s.mu.Lock()
	}
}

// confirm forgets the updates below an offset.
func (q *queue) confirm(offset int) {
	switch {
	case offset < 0:
		q.pending = q.pending[max(0, len(q.pending)+offset):]
	case offset > 0 && offset <= q.next+tooHigh:
		q.pending = slices.DeleteFunc(q.pending, func(u update) bool { return u.id < offset })
	}
}

// ready gives what a poll is answered with.
func (q *queue) ready(allowed []string, most int) []json.RawMessage {
	out := []json.RawMessage{}
	q.pending = slices.DeleteFunc(q.pending, func(u update) bool {
		return u.kind == "callback_query" && time.Since(u.at) > callbackLife || len(allowed) > 0 && u.kind != "" && !slices.Contains(allowed, u.kind)
	})
	for _, u := range q.pending[:min(most, len(q.pending))] {
		out = append(out, u.raw)
	}
	return out
}

// whole reads a number, or gives what stands for a missing one.
func whole(s string, missing int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return missing
	}
	return n
}

// Webhook sets or, with "", removes a webhook, while which nobody can poll.
func (s *Server) Webhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = url
	s.happened()
}

func (u update) String() string { return fmt.Sprintf("%d %s", u.id, u.kind) }
