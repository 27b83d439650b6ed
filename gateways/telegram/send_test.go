package telegram

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/gateways"
	"hearth/gateways/markup"
	"hearth/gateways/telegram/tgfake"
	"hearth/vault"
)

// TestWhatAFailedSendMeans is inputs 30, 31, 33 and 35: whether the message is there, and how long to wait.
func TestWhatAFailedSendMeans(t *testing.T) {
	for name, c := range map[string]struct {
		fault tgfake.Fault
		want  vault.Outcome
		wait  time.Duration
		shown int
		words string
	}{
		"429":                  {tgfake.TooMany(13948), vault.NotSent, 13948 * time.Second, 0, "Telegram asks to wait"},
		"403":                  {tgfake.Blocked(), vault.Refused, 0, 0, "the bot was blocked or removed there"},
		"400":                  {tgfake.Refusal(400, "Bad Request: message is too long"), vault.Refused, 0, 0, "Telegram refuses it: Bad Request: message is too long"},
		"400 without a chat":   {tgfake.Refusal(400, "Bad Request: chat not found"), vault.Refused, 0, 0, "Telegram knows no such chat; the person must write to the bot first"},
		"401":                  {tgfake.Unauthorized(), vault.NotSent, time.Minute, 0, "Telegram does not accept the bot's token"},
		"404":                  {tgfake.Refusal(404, "Not Found"), vault.NotSent, time.Minute, 0, "Telegram does not accept the bot's token"},
		"500":                  {tgfake.ServerError(), vault.NotSent, 0, 0, "Telegram is out of order"},
		"504":                  {tgfake.Refusal(504, "Gateway Timeout"), vault.MayHaveSent, 0, 0, "Telegram did not answer in time"},
		"page 502":             {tgfake.BadGateway(), vault.NotSent, 0, 0, "Telegram is out of order"},
		"page 503":             {tgfake.Page(503), vault.NotSent, 0, 0, "Telegram is out of order"},
		"page 504":             {tgfake.Page(504), vault.MayHaveSent, 0, 0, "Telegram did not answer"},
		"page 404":             {tgfake.Page(404), vault.NotSent, 0, 0, "Telegram's address answers with status 404"},
		"page 200":             {tgfake.Page(200), vault.MayHaveSent, 0, 0, "Telegram did not answer"},
		"reset before":         {tgfake.ResetBefore(), vault.MayHaveSent, 0, 0, "Telegram did not answer"},
		"30 dropped after":     {tgfake.DropAfter(), vault.MayHaveSent, 0, 1, "Telegram did not answer"},
		"35 hangs":             {tgfake.HangBefore(), vault.MayHaveSent, 0, 0, "Telegram did not answer"},
		"30 hangs when it has": {tgfake.HangAfter(), vault.MayHaveSent, 0, 1, "Telegram did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newStillWorld(t)
				w.api.Fault("sendMessage", 1, c.fault)
				began := time.Now()
				e := w.fails(w.part("**hello**"))
				if e.Outcome != c.want || e.Wait != c.wait || e.Reason() != c.words {
					t.Errorf("%q, wait %v, %q", e.Outcome, e.Wait, e.Reason())
				}
				if took := time.Since(began); took > usual.request {
					t.Errorf("it took %v", took)
				}
				if n := len(w.api.Calls("sendMessage")); n != 1 || len(w.api.Shown(ann.ID)) != c.shown {
					t.Errorf("%d calls, shown %v", n, w.api.Shown(ann.ID))
				}
				if _, err := w.gw.Send(t.Context(), w.part("next")); err != nil {
					t.Errorf("the next one: %v", err)
				}
			})
		})
	}
}

func TestASendEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		w.api.Fault("sendMessage", 1, tgfake.HangBefore())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.gw.Send(ctx, w.part("hello"))
		var e *gateways.SendError
		if !errors.As(err, &e) || e.Outcome != vault.MayHaveSent || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
		if _, err := w.gw.Send(ctx, w.part("hello")); !errors.As(err, &e) || e.Outcome != vault.NotSent {
			t.Errorf("with an ended context: %v", err)
		}
	})
}

// TestStylesThatAreRefused is input 15: they are resent plain, once, and only then.
func TestStylesThatAreRefused(t *testing.T) {
	refusal := tgfake.Refusal(400, "Bad Request: can't parse entities: entity begins in a middle of a UTF-16 symbol")
	w := newWorld(t)
	w.api.Fault("sendMessage", 1, refusal)
	if _, err := w.gw.Send(t.Context(), w.part("**a** [b](https://e.org)")); err != nil {
		t.Fatal(err)
	}
	calls := w.api.Calls("sendMessage")
	if len(calls) != 2 || calls[0].Params["entities"] == "" || calls[1].Params["entities"] != "" || calls[1].Params["text"] != "a b (https://e.org)" {
		t.Errorf("calls: %+v", calls)
	}
	w.api.Fault("sendMessage", 2, refusal)
	if e := w.fails(w.part("**a**")); e.Outcome != vault.Refused || len(w.api.Calls("sendMessage")) != 4 {
		t.Errorf("%v after %d calls", e, len(w.api.Calls("sendMessage")))
	}
	w.api.Fault("sendMessage", 1, refusal)
	if e := w.fails(w.part("no styles")); e.Outcome != vault.Refused || len(w.api.Calls("sendMessage")) != 5 {
		t.Errorf("%v after %d calls", e, len(w.api.Calls("sendMessage")))
	}
	long := markup.Render("[w](https://e.org/" + strings.Repeat("x", 3000) + ") " + strings.Repeat("y", 2000))
	if got := bare(long); got.Plain != long.Plain || len(got.Entities) > 0 {
		t.Errorf("no room for addresses: %d units", markup.Units(got.Plain))
	}
}

// TestAGroupThatMoved is input 33: its new id is stored, and the message arrives there.
func TestAGroupThatMoved(t *testing.T) {
	w := newWorld(t)
	old := tgfake.Chat{ID: -777, Type: "group", Title: "Den"}
	w.api.Move(old, den)
	p := w.part("**hello**")
	p.To.Chat = "-777"
	w.failing = errFull
	if e := w.fails(p); e.Outcome != vault.NotSent {
		t.Error(e)
	}
	w.failing = nil
	if _, err := w.gw.Send(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got := w.api.Shown(den.ID); len(got) != 1 || got[0].Text != "hello" || len(got[0].Entities) != 1 {
		t.Errorf("shown: %v", got)
	}
	w.receive() // and the group says so itself
	w.until("the move", func() bool { return len(w.moved) == 2 })
	if diff := cmp.Diff([][2]string{{"-777", "-1001557912345"}, {"-777", "-1001557912345"}}, w.moved); diff != "" {
		t.Error(diff)
	}
}

func TestOtherBotsChatsAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	p := w.part("hello")
	p.To.Account = "999"
	if e := w.fails(p); e.Outcome != vault.Refused || !strings.Contains(e.Reason(), "another bot") {
		t.Error(e)
	}
	if w.gw.Typing(t.Context(), p.To) == nil || w.gw.Edit(t.Context(), p.To, "1", "x") == nil || w.gw.Settle(t.Context(), p.To, "1", "x") == nil {
		t.Error("another bot's messages are changed")
	}
	if n := len(w.api.Calls("")); n > 0 {
		t.Errorf("%d calls", n)
	}
	p.To.Account = "" // somebody of the config who never wrote
	if _, err := w.gw.Send(t.Context(), p); err != nil {
		t.Error(err)
	}
}

// TestEditsSayWhatCameOfThem as sends do: how long to wait, and what is over for good. The same text again is no fault.
func TestEditsSayWhatCameOfThem(t *testing.T) {
	w := newWorld(t)
	line := w.part("thinking")
	line.Class = vault.Status
	ref, err := w.gw.Send(t.Context(), line)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.api.Calls("sendMessage")[0].Params["disable_notification"]; got != "true" {
		t.Error("the phone rings for a progress line")
	}
	if err := w.gw.Edit(t.Context(), w.to(), ref, "thinking"); err != nil {
		t.Errorf("the same text: %v", err)
	}
	w.api.Fault("editMessageText", 1, tgfake.TooMany(7))
	var fault *gateways.SendError
	if err := w.gw.Edit(t.Context(), w.to(), ref, "reading"); !errors.As(err, &fault) || fault.Outcome != vault.NotSent || fault.Wait != 7*time.Second {
		t.Errorf("asked to wait: %v", err)
	}
	if err := w.gw.Edit(t.Context(), w.to(), "4711", "reading"); !errors.As(err, &fault) || fault.Outcome != vault.Refused {
		t.Errorf("a message that is gone: %v", err)
	}
	if _, err := w.gw.Send(t.Context(), w.part("an answer")); err != nil || w.api.Calls("sendMessage")[1].Params["disable_notification"] != "" {
		t.Errorf("the phone does not ring for an answer: %v", err)
	}
}

// TestSEC10NoPreviews holds every text that goes out to it.
func TestSEC10NoPreviews(t *testing.T) {
	w := newWorld(t)
	ref, err := w.gw.Send(t.Context(), w.part("https://evil.example/canary"))
	if err != nil {
		t.Fatal(err)
	}
	if got := w.api.Shown(ann.ID); !got[0].PreviewOff {
		t.Error("Telegram fetches the link of a message")
	}
	if err := w.gw.Edit(t.Context(), w.to(), ref, "https://evil.example/other"); err != nil {
		t.Fatal(err)
	}
	if got := w.api.Shown(ann.ID); !got[0].PreviewOff || got[0].Edits != 1 {
		t.Error("Telegram fetches the link of an edited message")
	}
}

func TestTopicsAndReplies(t *testing.T) {
	w := newWorld(t)
	forum := tgfake.Chat{ID: -100500, Type: "supergroup", Title: "Forum", Forum: true}
	w.api.Open(forum, 77)
	said := w.api.SayIn(forum, ann, "question", tgfake.Set("message_thread_id", 77), tgfake.Set("is_topic_message", true))
	p := w.part("answer")
	p.To.Chat, p.To.Thread, p.ReplyTo = "-100500", "77", strconv.Itoa(said)
	if _, err := w.gw.Send(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	p.ReplyTo = "99999" // it was deleted meanwhile
	if _, err := w.gw.Send(t.Context(), p); err != nil {
		t.Error(err)
	}
	p.ReplyTo = "press:1" // it is no message
	if _, err := w.gw.Send(t.Context(), p); err != nil {
		t.Error(err)
	}
	got := w.api.Shown(forum.ID)
	if len(got) != 3 || got[0].Thread != 77 || got[0].ReplyTo != said || got[1].ReplyTo != 0 || got[2].ReplyTo != 0 {
		t.Errorf("shown: %+v", got)
	}
	if err := w.gw.Typing(t.Context(), p.To); err != nil {
		t.Error(err)
	}
	if c := w.api.Calls("sendChatAction"); len(c) != 1 || c[0].Params["action"] != "typing" || c[0].Params["message_thread_id"] != "77" || c[0].Params["chat_id"] != "-100500" {
		t.Errorf("typing: %+v", c)
	}
}

// TestButtons is input 34: what Telegram would refuse is left out, not the question with it.
func TestButtons(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		buttons []vault.Button
		rows    string
		shown   int
	}{
		{[]vault.Button{{Label: "Approve", Data: "a:7:approve"}, {Label: "Deny", Data: "a:7:deny"}}, `{"inline_keyboard":[[{"text":"Approve","callback_data":"a:7:approve"},{"text":"Deny","callback_data":"a:7:deny"}]]}`, 2},
		{[]vault.Button{{Label: "A", Data: "1"}, {Label: "B", Data: "2"}, {Label: "C", Data: "3"}, {Label: "D", Data: "4"}}, "]],[[", 4},
		{[]vault.Button{{Label: "a long label of a button", Data: "1"}, {Label: "another long label", Data: "2"}}, "", 2},
		{[]vault.Button{{Label: "A", Data: strings.Repeat("x", 64)}, {Label: "B", Data: strings.Repeat("x", 65)}, {Label: "", Data: "1"}, {Label: "C", Data: ""}}, "", 1},
		{[]vault.Button{{Label: "B", Data: strings.Repeat("é", 33)}}, "", 0},
	} {
		p := w.part("Question 7")
		p.Buttons = c.buttons
		if _, err := w.gw.Send(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		all := w.api.Shown(ann.ID)
		if got := all[len(all)-1].Buttons; len(got) != c.shown {
			t.Errorf("%v: shown %v", c.buttons, got)
		}
		calls := w.api.Calls("sendMessage")
		if got := calls[len(calls)-1].Params["reply_markup"]; strings.HasPrefix(c.rows, "{") && got != c.rows {
			t.Errorf("laid out as %s", got)
		}
	}
	if rows := w.gw.rows([]vault.Button{{Label: "1", Data: "1"}, {Label: "2", Data: "2"}, {Label: "3", Data: "3"}, {Label: "4", Data: "4"}}); len(rows) != 4 {
		t.Errorf("four buttons in %d rows", len(rows))
	}
	if rows := w.gw.rows([]vault.Button{{Label: "a long label of a button", Data: "1"}, {Label: "another long label", Data: "2"}}); len(rows) != 2 {
		t.Errorf("two long buttons in %d rows", len(rows))
	}
}

// TestSettle takes the buttons away and leaves the words; a second time it changes nothing and is no error.
func TestSettle(t *testing.T) {
	w := newWorld(t)
	p := w.part("Question 7: may I?")
	p.Buttons = []vault.Button{{Label: "Approve", Data: "a:7:approve"}}
	ref, err := w.gw.Send(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.gw.Settle(t.Context(), w.to(), ref, "**Question 7**: may I?\n\n✓ approved by Ann"); err != nil {
			t.Error(err)
		}
	}
	got := w.api.Shown(ann.ID)[0]
	if got.Text != "Question 7: may I?\n\n✓ approved by Ann" || len(got.Buttons) > 0 || len(got.Entities) != 1 || got.Edits != 1 {
		t.Errorf("shown: %+v", got)
	}
	if err := w.gw.Settle(t.Context(), w.to(), "99", "x"); err == nil {
		t.Error("a message that is gone was settled")
	}
}

// TestSplit is inputs 1, 2, 3, 4 and 13 at the gateway: each piece has room to spare and arrives.
func TestSplit(t *testing.T) {
	w := newWorld(t)
	for name, text := range map[string]string{
		"1 long": strings.Repeat("some words and **bold** ones. ", 600), "2 escapes": strings.Repeat("&<>", 3000), "3 emoji": "a" + strings.Repeat("🙂", 4096),
		"code": "```go\n" + strings.Repeat("\tfmt.Println(1)\n", 900) + "```", "dense": strings.Repeat("*a* `b` ", 400),
	} {
		whole := markup.Render(text)
		before := len(w.api.Shown(ann.ID))
		pieces := w.gw.Split(w.part(text))
		for _, piece := range pieces {
			p := w.part(piece.Text)
			p.Entities = piece.Entities
			if n := markup.Units(piece.Text); n > textLimit-gateways.Room {
				t.Errorf("%s: a piece of %d units", name, n)
			}
			if again := w.gw.Split(p); len(again) != 1 || again[0] != piece {
				t.Errorf("%s: a piece is cut again", name)
			}
			if _, err := w.gw.Send(t.Context(), p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		var got string
		for _, m := range w.api.Shown(ann.ID)[before:] {
			got += m.Text
		}
		if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(whole.Plain), "") {
			t.Errorf("%s: something is lost", name)
		}
	}
	for _, nothing := range []string{"", " \n ", "\u200b", "&nbsp;"} {
		if got := w.gw.Split(w.part(nothing)); got != nil {
			t.Errorf("%q makes %q", nothing, got)
		}
	}
	if got := w.gw.Split(w.part("**b**")); !slices.Equal(got, []vault.Piece{{Text: "b", Entities: `[{"type":"bold","offset":0,"length":1}]`}}) {
		t.Errorf("%q", got)
	}
}

// TestFormTakesStoredStyles sends a piece as it was cut, not as Markdown a second time.
func TestFormTakesStoredStyles(t *testing.T) {
	w := newWorld(t)
	p := w.part("**not bold** _x_")
	p.Entities = markup.Text{}.Encode()
	if _, err := w.gw.Send(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	p.Entities = "nonsense"
	if _, err := w.gw.Send(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got := w.api.Shown(ann.ID)
	if got[0].Text != "**not bold** _x_" || len(got[0].Entities) > 0 || got[1].Text != "not bold x" {
		t.Errorf("shown: %+v", got)
	}
}
