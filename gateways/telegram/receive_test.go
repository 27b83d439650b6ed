package telegram

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/gateways/telegram/tgfake"
	"hearth/vault"
)

func texts(events []vault.Inbound) []string {
	var out []string
	for _, in := range events {
		out = append(out, in.Text)
	}
	return out
}

// TestDUR02NothingIsConfirmedBeforeItIsTaken serves five messages at once, of which the third cannot be stored at first.
// No poll may confirm what is not stored, and what is stored does not come again.
func TestDUR02NothingIsConfirmedBeforeItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		var ids []int
		for i := range 5 {
			w.api.Say(ann, fmt.Sprint(i))
			ids = append(ids, w.api.Pending()[i])
		}
		stored := 0
		refusals := 2
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- w.gw.Receive(ctx, func(_ context.Context, in vault.Inbound) error {
				if in.Text != fmt.Sprint(stored) {
					t.Errorf("%q came when %d were stored", in.Text, stored)
				}
				if in.Text == "2" && refusals > 0 {
					refusals--
					return errFull
				}
				if !slices.Contains(w.api.Pending(), ids[stored]) {
					t.Errorf("update %d was confirmed before it was stored", ids[stored])
				}
				stored++
				return nil
			})
		}()
		w.api.WaitFor("the confirmation of all", func() bool { return len(w.api.Pending()) == 0 })
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		var offsets []string
		for _, c := range w.api.Calls("getUpdates") {
			offsets = append(offsets, c.Params["offset"])
		}
		third := strconv.Itoa(ids[2])
		want := []string{"", third, third, strconv.Itoa(ids[4] + 1)}
		if diff := cmp.Diff(want, offsets); diff != "" || stored != 5 {
			t.Errorf("%d stored, offsets: %s", stored, diff)
		}
	})
}

// TestDUR02DeathInTheMiddle is inputs 27 and 28 too: the process dies before anything is stored, or after; each life begins
// without an offset of an earlier one, and every event has the same ids whenever it comes.
func TestDUR02DeathInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		for i := range 5 {
			w.api.Say(ann, fmt.Sprint(i))
		}
		var first []vault.Inbound
		for life := range 4 {
			ctx, cancel := context.WithCancel(t.Context())
			var seen []vault.Inbound
			err := w.gw.Receive(ctx, func(_ context.Context, in vault.Inbound) error {
				if seen = append(seen, in); len(seen) == life+1 {
					cancel() // the process dies with this one in hand
					return context.Cause(ctx)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if life == 0 {
				first = seen
			}
			if diff := cmp.Diff(first[0], seen[0]); diff != "" {
				t.Errorf("life %d begins with another event: %s", life, diff)
			}
			if calls := w.api.Calls("getUpdates"); calls[len(calls)-1].Params["offset"] != "" {
				t.Errorf("life %d begins with offset %s", life, calls[len(calls)-1].Params["offset"])
			}
		}
		w.receive()
		if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, texts(w.inbound(5))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhatCannotBeDecodedIsKeptAndPassedBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		w.api.PushRaw(`{"update_id":2001,"message":{"message_id":"seven","secret":"words"}}`)
		w.api.PushRaw(`{"update_id":2002,"message":{"message_id":7,"date":1,"text":"no chat"}}`)
		w.api.PushRaw(`{"update_id":2003,"message":[]}`)
		w.api.PushRaw(`{"update_id":2004,"callback_query":{"id":"","data":"x"}}`)
		w.api.PushRaw(`{"update_id":2005,"something_new":{}}`)
		w.api.Say(ann, "hello")
		w.failing = errFull // of the quarantine, once
		stop := w.receive()
		w.api.WaitFor("a second poll", func() bool { return len(w.api.Calls("getUpdates")) == 2 })
		w.mu.Lock()
		w.failing = nil
		w.mu.Unlock()
		if got := w.inbound(1); got[0].Text != "hello" {
			t.Error(got)
		}
		w.api.WaitFor("the confirmation", func() bool { return len(w.api.Pending()) == 0 })
		stop()
		if len(w.quarantined) != 4 || !strings.HasPrefix(w.quarantined[0], "123456 decode update: message.message_id is no int {") {
			t.Errorf("quarantined: %q", w.quarantined)
		}
		if strings.Contains(w.log.String(), "words") || strings.Contains(w.log.String(), "seven") {
			t.Errorf("the log says what an update says:\n%s", w.log)
		}
	})
}

// TestAnUpdateWithoutANumber cannot be confirmed: it is kept once, and asked for slowly until another one comes.
func TestAnUpdateWithoutANumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		w.api.PushRaw(`{"message":{}}`)
		w.receive()
		time.Sleep(time.Minute)
		if n := len(w.api.Calls("getUpdates")); n < 3 || n > 12 {
			t.Errorf("%d polls in a minute", n)
		}
		w.api.Say(ann, "hello")
		w.inbound(1)
		w.api.WaitFor("the confirmation", func() bool { return len(w.api.Pending()) == 0 })
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.quarantined) != 1 {
			t.Errorf("quarantined: %q", w.quarantined)
		}
	})
}

func TestTheEndOfTheContextEndsALongPollAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		stop := w.receive()
		w.api.WaitFor("a poll", func() bool { return len(w.api.Calls("getUpdates")) == 1 })
		time.Sleep(10 * time.Second)
		if words, ok := w.gw.State(); !ok {
			t.Errorf("while it waits for messages, the state is %q", words)
		}
		began := time.Now()
		if stop(); time.Since(began) > 0 {
			t.Errorf("it took %v", time.Since(began))
		}
		if p := w.api.Calls("getUpdates")[0].Params; p["timeout"] != "25" || p["limit"] != "100" || p["offset"] != "" {
			t.Errorf("the poll: %v", p)
		}
	})
}

// TestIDsRestartLower is what happens after a quiet week. Nothing is dropped, and nothing spins.
func TestIDsRestartLower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		w.receive()
		w.api.Say(ann, "before")
		w.inbound(1)
		time.Sleep(2 * time.Hour)
		w.api.RestartIDs(17)
		before := len(w.api.Calls("getUpdates"))
		w.api.Say(ann, "after")
		w.api.Say(ann, "once more")
		if diff := cmp.Diff([]string{"before", "after", "once more"}, texts(w.inbound(3))); diff != "" {
			t.Error(diff)
		}
		time.Sleep(time.Minute)
		if n := len(w.api.Calls("getUpdates")) - before; n > 6 {
			t.Errorf("%d polls in a minute", n)
		}
		if len(w.api.Pending()) > 0 {
			t.Errorf("not confirmed: %v", w.api.Pending())
		}
	})
}

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

func TestGreeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		if words, ok := w.gw.State(); ok || words != "not connected yet" {
			t.Errorf("state: %q", words)
		}
		w.api.Fault("getMe", 2, tgfake.ServerError())
		w.api.Fault("setMyCommands", -1, tgfake.HangBefore())
		w.api.Say(ann, "hello")
		began := time.Now()
		w.receive()
		w.inbound(1) // though the menu hangs
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		if words, ok := w.gw.State(); !ok || words != "connected as @"+tgfake.Username {
			t.Errorf("state: %q", words)
		}
		w.mode = groupsAll // input 25: what privacy mode keeps back is told
		if words, ok := w.gw.State(); !ok || !strings.Contains(words, "/setprivacy") {
			t.Errorf("state: %q", words)
		}
		w.api.Mend()
	})
}

func TestTheMenuIsSet(t *testing.T) {
	w := newWorld(t)
	w.receive()
	w.api.WaitFor("the menu", func() bool { return strings.Contains(w.api.Commands(), `"remind"`) })
}

// TestPressesAreAnsweredBeside has Telegram hang while it takes the answer to a press: the next message does not wait, and
// not more than a few requests hang at a time.
func TestPressesAreAnsweredBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		p := w.part("Question 7: may I?")
		p.Buttons = []vault.Button{{Label: "Approve", Data: "a:7:approve"}}
		ref, err := w.gw.Send(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		message, err := strconv.Atoi(ref)
		if err != nil {
			t.Fatal(err)
		}
		w.receive()
		id := w.api.Press(ann.ID, ann, message, "a:7:approve")
		w.api.WaitFor("the answer to the press", func() bool { return w.api.Answered(id) })
		w.api.Fault("answerCallbackQuery", -1, tgfake.HangBefore())
		began := time.Now()
		for range 20 {
			w.api.Press(ann.ID, ann, message, "a:7:approve")
		}
		w.api.Say(ann, "hello")
		got := w.inbound(22)
		if took := time.Since(began); took > time.Second {
			t.Errorf("the message waited for %v", took)
		}
		if in := got[0]; in.Kind != "press" || in.Text != "a:7:approve" || in.PressedOn != ref || in.ID != "press:"+id || in.Address() != w.to() || !in.Sent.IsZero() {
			t.Errorf("the press: %+v", in)
		}
		if n := len(w.api.Calls("answerCallbackQuery")); n > 1+4 {
			t.Errorf("%d answers hang", n)
		}
		time.Sleep(time.Minute)
		w.api.Mend()
		id = w.api.Press(ann.ID, ann, message, "a:7:approve")
		w.api.WaitFor("the answer to the press", func() bool { return w.api.Answered(id) })
	})
}

// TestAnOldPress is served again after Telegram has forgotten it: that the answer is refused stops nothing.
func TestAnOldPress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		w.api.Push(map[string]any{"callback_query": map[string]any{
			"id": "4711", "from": map[string]any{"id": ann.ID, "is_bot": false, "first_name": "Ann"}, "chat_instance": "1", "data": "a:1:deny",
			"message": map[string]any{"chat": map[string]any{"id": ann.ID, "type": "private"}, "message_id": 5, "date": 0},
		}})
		w.api.Say(ann, "hello")
		w.receive()
		got := w.inbound(2)
		if got[0].Kind != "press" || got[0].PressedOn != "5" || got[1].Text != "hello" {
			t.Errorf("%+v", got)
		}
		synctest.Wait()
		if !strings.Contains(w.log.String(), "query is too old") {
			t.Errorf("the log says nothing:\n%s", w.log)
		}
	})
}
