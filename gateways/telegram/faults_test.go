package telegram

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/gateways/telegram/tgfake"
	"hearth/vault"
)

// TestConflict is DUR-17 and input 32: another program polls with the same token.
func TestConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		w.receive()
		w.api.WaitFor("a poll", func() bool { return len(w.api.Calls("getUpdates")) == 1 })
		w.api.Fault("getUpdates", 1, tgfake.Conflict())
		time.Sleep(time.Minute)
		if len(w.told) > 0 {
			t.Errorf("one look of somebody's is told: %q", w.told)
		}
		w.api.Fault("getUpdates", -1, tgfake.Conflict())
		time.Sleep(5 * time.Minute)
		var last time.Time
		for _, c := range w.api.Calls("getUpdates") {
			if c.Fault == "409" && c.At.Sub(last) < 5*time.Second {
				t.Errorf("polled again after %v", c.At.Sub(last))
			}
			last = c.At
		}
		if words, ok := w.gw.State(); ok || !strings.Contains(words, "another program") {
			t.Errorf("state: %q", words)
		}
		if len(w.told) != 1 || !strings.Contains(w.told[0], "another program") {
			t.Errorf("told: %q", w.told)
		}
		w.api.Mend()
		w.api.Say(ann, "hello")
		w.inbound(1)
		time.Sleep(time.Minute)
		if words, ok := w.gw.State(); !ok {
			t.Errorf("state: %q", words)
		}
		w.mu.Lock()
		w.ahead = 24 * time.Hour
		w.mu.Unlock()
		w.api.Fault("getUpdates", -1, tgfake.Conflict())
		time.Sleep(time.Minute)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.told) != 2 {
			t.Errorf("a day later: told %q", w.told)
		}
	})
}

// TestTwoPollers has a real second poller: the older poll ends, ours comes back, neither takes turns oftener than allowed.
func TestTwoPollers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		w.receive()
		for range 3 {
			time.Sleep(20 * time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.api.URL()+"/bot"+w.api.Token()+"/getUpdates?timeout=50", nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp, err := w.api.Client().Do(req); err == nil {
				resp.Body.Close()
			}
			cancel()
		}
		w.api.Say(ann, "hello")
		w.inbound(1)
		if n := len(w.api.Calls("getUpdates")); n > 15 {
			t.Errorf("%d polls", n)
		}
	})
}

func TestAWebhookIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		w.api.Webhook("https://elsewhere.example/hook")
		w.api.Say(ann, "hello")
		w.receive()
		w.inbound(1)
		calls := w.api.Calls("deleteWebhook")
		if len(calls) != 1 || len(calls[0].Params) > 0 { // drop_pending_updates would throw messages away: input 29
			t.Errorf("calls: %+v", calls)
		}
		if len(w.told) != 1 || !strings.Contains(w.told[0], "webhook") {
			t.Errorf("told: %q", w.told)
		}
	})
}

// TestPollFaults has polls fail in every way. The next ones come with growing pauses, or when they were asked to, and the
// message is there in the end.
func TestPollFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault     tgfake.Fault
		times     int
		from, to  time.Duration // how long it takes until the message is there
		stateSays string
	}{
		"500":          {tgfake.ServerError(), 3, 5 * time.Second, 9 * time.Second, "out of order"},
		"502":          {tgfake.BadGateway(), 3, 5 * time.Second, 9 * time.Second, "out of order"},
		"reset":        {tgfake.ResetBefore(), 3, 5 * time.Second, 9 * time.Second, "out of reach"},
		"dropped":      {tgfake.DropAfter(), 3, 5 * time.Second, 9 * time.Second, "out of reach"},
		"35 hangs":     {tgfake.HangBefore(), 1, 40 * time.Second, 43 * time.Second, "connected"},
		"429":          {tgfake.TooMany(77), 1, 77 * time.Second, 78 * time.Second, "asks to wait"},
		"page 429":     {tgfake.SlowDown(33), 1, 33 * time.Second, 34 * time.Second, "asks to wait"},
		"401":          {tgfake.Unauthorized(), 2, 2 * time.Minute, 2*time.Minute + time.Second, "@BotFather"},
		"a long time":  {tgfake.BadGateway(), 20, 3 * time.Minute, 6 * time.Minute, "out of order"},
		"404":          {tgfake.Refusal(404, "Not Found"), 1, time.Minute, 61 * time.Second, "@BotFather"},
		"a bad answer": {tgfake.Page(200), 1, 700 * time.Millisecond, 2 * time.Second, "out of reach"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newStillWorld(t)
				w.api.Say(ann, "hello")
				w.api.Fault("getUpdates", c.times, c.fault)
				began := time.Now()
				w.receive()
				w.api.WaitFor("a fault", func() bool { return len(w.api.Calls("getUpdates")) == 1 })
				time.Sleep(c.from - time.Millisecond)
				if words, _ := w.gw.State(); !strings.Contains(words, c.stateSays) {
					t.Errorf("state: %q", words)
				}
				w.inbound(1)
				if took := time.Since(began); took < c.from || took > c.to {
					t.Errorf("it took %v, want %v to %v", took, c.from, c.to)
				}
				if n := strings.Count(w.log.String(), "level=WARN"); n != 1 {
					t.Errorf("%d warnings of one thing:\n%s", n, w.log)
				}
			})
		})
	}
}

// TestCFG11RealLines has a real line refuse and reset; silent looks for the token at the end.
func TestCFG11RealLines(t *testing.T) {
	w := newWorld(t)
	w.api.Down()
	w.receive()
	p := w.part("hello")
	if e := w.fails(p); e.Outcome != vault.NotSent {
		t.Errorf("refused: %v", e)
	}
	for limit := time.After(20 * time.Second); !strings.Contains(w.log.String(), "cannot take in messages"); {
		select {
		case <-limit:
			t.Fatal("the poll that was refused is not in the log")
		case <-time.After(5 * time.Millisecond):
		}
	}
	w.api.Up()
	w.api.Fault("getUpdates", 1, tgfake.ResetBefore())
	w.api.Fault("sendMessage", 1, tgfake.ResetBefore())
	if e := w.fails(p); e.Outcome != vault.MayHaveSent {
		t.Errorf("reset: %v", e)
	}
	w.api.Say(ann, "hello")
	w.inbound(1)
	// A line that is just going down may also reset what is still connecting.
	if log := w.log.String(); !strings.Contains(log, "connect: connection refused") && !strings.Contains(log, "connect: connection reset") {
		t.Errorf("the log does not say what is wrong:\n%s", w.log)
	}
}
