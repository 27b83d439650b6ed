package telegram

import (
	"context"
	"fmt"
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
		w.api.PushRaw(`{"update_id":2006,"message":{"date":1,"chat":{"id":5,"type":"private"},"from":{"id":5},"text":"no number"}}`)
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
		if len(w.quarantined) != 5 || !strings.HasPrefix(w.quarantined[0], "123456 decode update: message.message_id is no int {") {
			t.Errorf("quarantined: %q", w.quarantined)
		}
		if strings.Contains(w.log.String(), "words") || strings.Contains(w.log.String(), "seven") {
			t.Errorf("the log says what an update says:\n%s", w.log)
		}
	})
}

// TestWhatIsWrongIsSaidWithoutTheWords: an error of a decoder quotes what it stumbled over.
func TestWhatIsWrongIsSaidWithoutTheWords(t *testing.T) {
	for raw, want := range map[string]string{
		`{"update_id":1,"message":secret}`:                    "decode update: it is no JSON of an update",
		`{"update_id":1,"message":{"date":1234567890123e99}}`: "decode update: message.date is no int",
		`{"update_id":1,"message":{"text":["secret"]}}`:       "decode update: message.text is no string",
	} {
		if _, err := decode([]byte(raw)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", raw, err)
		}
	}
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

// TestIDsRestartLower is input 28 of a kind: what happens after a quiet week. Nothing is dropped, and nothing spins.
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
