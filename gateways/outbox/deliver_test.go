package outbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/gateways"
	"hearth/vault"
)

// once fails the first attempt with each part.
func once(err error) func(context.Context, vault.Part, int) error {
	return func(_ context.Context, _ vault.Part, n int) error {
		if n == 1 {
			return err
		}
		return nil
	}
}

// DUR-04: what may have arrived is sent again once and says so; what did certainly not arrive says nothing.
func TestDUR04OneMarkedRepeatWhenTheAnswerIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"no answer":   {noAnswer, []string{"hello", repeatMark + "\nhello"}},
		"plain error": {errors.New("something broke"), []string{"hello", repeatMark + "\nhello"}},
		"no outcome":  {&gateways.SendError{Human: "who knows"}, []string{"hello", repeatMark + "\nhello"}},
		"line down":   {lineDown, []string{"hello", "hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				f := &fake{name: "tele", answer: once(tc.err)}
				number := w.say("tele", "a", "hello")
				w.start(f)
				pass(time.Minute)
				var tried []string
				for _, a := range f.tried() {
					tried = append(tried, a.text)
				}
				if diff := cmp.Diff(tc.want, tried); diff != "" {
					t.Error(diff)
				}
				if p := w.part(number); p.State != "sent" || p.Text != "hello" {
					t.Errorf("the part is %q with text %q", p.State, p.Text)
				}
			})
		})
	}
}

// A line that swallows every answer must not fill a chat with repeats.
func TestDUR04RepeatsOfARepeatComeAMinuteApart(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", after: func(_ context.Context, _ vault.Part, n int) error {
			if n < 4 {
				return noAnswer
			}
			return nil
		}}
		w.say("tele", "a", "hello")
		w.start(f)
		pass(10 * time.Minute)
		tried := f.tried()
		if len(tried) != 4 || tried[1].at.Sub(tried[0].at) > time.Second || tried[2].at.Sub(tried[1].at) < maxWait || tried[3].at.Sub(tried[2].at) < maxWait {
			t.Errorf("attempts: %+v", tried)
		}
	})
}

func TestAPanicInAGatewayIsAnUnknownOutcome(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(_ context.Context, out vault.Part, n int) error {
			if n == 1 && out.To.Chat == "a" {
				panic("nil map")
			}
			return nil
		}}
		w.say("tele", "a", "hello")
		w.say("tele", "b", "other")
		w.start(f)
		pass(time.Minute)
		if diff := cmp.Diff([]string{repeatMark + "\nhello"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
		if len(f.texts("b")) != 1 {
			t.Error("the other chat has nothing")
		}
	})
}

func TestAnUnknownOutcomeIsHandledByClass(t *testing.T) {
	bubble(t, func(w *world) {
		w.people("tele")
		f := &fake{name: "tele", answer: once(noAnswer)}
		letter := w.post(vault.Part{To: to("tele", "ben"), Class: vault.Letter, Text: "dear Ben"})
		progress := w.post(vault.Part{To: to("tele", "a"), Class: vault.Status, Text: "still at it"})
		reminder := w.post(vault.Part{To: to("tele", "b"), Class: vault.Reminder, Text: "insulin"})
		w.start(f)
		pass(10 * time.Minute)
		for number, want := range map[int64]string{letter: "unknown", progress: "dropped", reminder: "sent"} {
			if p := w.part(number); p.State != want {
				t.Errorf("the %s is %q, want %q", p.Class, p.State, want)
			}
		}
		if told := f.texts("owner"); len(told) != 1 || !strings.Contains(told[0], "I do not know whether this message arrived") || !strings.Contains(told[0], "dear Ben") {
			t.Errorf("the owner was told %q", told)
		}
		if len(f.texts("ben"))+len(f.texts("a")) != 0 {
			t.Error("a letter or a progress line was repeated")
		}
	})
}

// SCH-28: what cannot be delivered is told to the owner, and is not put anywhere else.
func TestSCH28ARefusedPartIsToldAndMovedNowhere(t *testing.T) {
	bubble(t, func(w *world) {
		w.people("tele")
		f := &fake{name: "tele", answer: func(_ context.Context, out vault.Part, _ int) error {
			if out.To.Chat == "family" {
				return blocked
			}
			return nil
		}}
		number := w.post(vault.Part{To: to("tele", "family"), Class: vault.Reminder, Text: "set the table"})
		w.start(f)
		pass(time.Minute)
		if p := w.part(number); p.State != "failed" || p.Error != "the bot was blocked" || p.Attempts != 1 {
			t.Errorf("the part is %q after %d attempts, error %q", p.State, p.Attempts, p.Error)
		}
		if told := f.texts(""); len(told) != 1 || !strings.HasPrefix(told[0], `I could not deliver this (the bot was blocked): "set the table".`) {
			t.Errorf("told: %q", told)
		}
	})
}

func TestTheCauseOfAnErrorIsNotShown(t *testing.T) {
	bubble(t, func(w *world) {
		secret := &gateways.SendError{Outcome: vault.NotSent, Err: errors.New("Post https://api/bot123:SECRET/sendMessage: refused")}
		number := w.say("tele", "a", "hello")
		w.start(&fake{name: "tele", answer: func(context.Context, vault.Part, int) error { return secret }})
		pass(time.Second)
		if p := w.part(number); p.Error != "the messenger is out of reach" {
			t.Errorf("the listing shows %q", p.Error)
		}
	})
}

func TestStableIDsRepeatTheSameBytesUnmarked(t *testing.T) {
	bubble(t, func(w *world) {
		due := time.Now().Add(-30 * time.Second)
		g := &stable{fake: &fake{name: "whats", after: func(_ context.Context, _ vault.Part, n int) error {
			switch n {
			case 1:
				return noAnswer
			case 2:
				time.Sleep(5 * time.Minute) // late by now, but the bytes are those that may have arrived
				return lineDown
			}
			return nil
		}}}
		w.post(vault.Part{To: to("whats", "a"), Class: vault.Letter, Text: "hello", Due: due})
		w.say("whats", "b", "second part")
		w.start(g)
		pass(time.Hour)
		var bytes, ids []string
		for _, a := range g.tried() {
			if a.chat == "a" {
				bytes, ids = append(bytes, a.text), append(ids, a.stable)
			}
		}
		if diff := cmp.Diff([]string{"hello", "hello", "hello"}, bytes); diff != "" {
			t.Error(diff)
		}
		if len(slices.Compact(ids)) != 1 || ids[0] == "" {
			t.Errorf("ids: %q", ids)
		}
		if slices.ContainsFunc(g.tried(), func(a arrived) bool { return a.chat == "b" && a.stable == ids[0] }) {
			t.Error("two parts share an id")
		}
	})
}

func TestStableIDOutlivesACrashAndIsNotMarked(t *testing.T) {
	bubble(t, func(w *world) {
		g := &stable{fake: &fake{name: "whats", after: func(context.Context, vault.Part, int) error { time.Sleep(time.Hour); return nil }}}
		w.say("whats", "a", "hello")
		w.start(g)
		pass(time.Second)
		w.stop() // given up after its grace: the vault holds it as sending
		w.close()
		w.open()
		g.after = nil
		w.start(g)
		pass(time.Minute)
		tried := g.tried()
		if len(tried) != 2 || tried[0].stable != tried[1].stable || tried[1].text != "hello" {
			t.Errorf("attempts: %+v", tried)
		}
		pass(2 * time.Hour)
	})
}

// DUR-01: however often the program is restarted, what is known to have arrived is not sent again.
func TestDUR01RestartsSendNothingTwice(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele"}
		for range 3 {
			w.say("tele", "a", "answer")
			w.start(f)
			pass(time.Second)
			w.stop()
		}
		for range 20 {
			w.close()
			w.open()
			w.start(f)
			pass(time.Minute)
			w.stop()
		}
		if len(f.tried()) != 3 {
			t.Errorf("%d sends for 3 answers", len(f.tried()))
		}
	})
}

// A part that was sent while the disk refused to note it must not be sent again because of that.
func TestAnUnrecordedDeliveryIsNotRepeated(t *testing.T) {
	for _, event := range []string{"sent", "undelivered"} {
		t.Run(event, func(t *testing.T) {
			bubble(t, func(w *world) {
				var refusals atomic.Int64
				w.hooks = vault.Hooks{Before: func(e string) error {
					if e == event && refusals.Load() < 5 {
						refusals.Add(1)
						return errors.New("disk full")
					}
					return nil
				}}
				w.close()
				w.open()
				f := &fake{name: "tele"}
				if event == "undelivered" {
					f.after = once(noAnswer)
				}
				number := w.say("tele", "a", "hello")
				w.start(f)
				pass(10 * time.Minute)
				want := map[string][]string{"sent": {"hello"}, "undelivered": {"hello", repeatMark + "\nhello"}}[event]
				if diff := cmp.Diff(want, f.texts("a")); diff != "" {
					t.Error(diff)
				}
				if refusals.Load() != 5 || w.part(number).State != "sent" {
					t.Errorf("%d refusals, part %q", refusals.Load(), w.part(number).State)
				}
			})
		})
	}
}

func TestASendIsNotBegunWhenThatCannotBeNoted(t *testing.T) {
	bubble(t, func(w *world) {
		var refusals atomic.Int64
		w.hooks = vault.Hooks{Before: func(e string) error {
			if e == "sending" && refusals.Load() < 3 {
				refusals.Add(1)
				return errors.New("disk full")
			}
			return nil
		}}
		w.close()
		w.open()
		f := &fake{name: "tele", answer: func(context.Context, vault.Part, int) error {
			if refusals.Load() < 3 {
				t.Error("it was sent though no commit stands behind it")
			}
			return nil
		}}
		w.say("tele", "a", "hello")
		w.start(f)
		pass(time.Minute)
		if diff := cmp.Diff([]string{"hello"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestLongTextsAreSplitOnceWithRoomForTheMarks(t *testing.T) {
	bubble(t, func(w *world) {
		f := short{&fake{name: "tele"}, gateways.Room + 40}
		f.answer = func(_ context.Context, out vault.Part, n int) error {
			if len(out.Text) > f.limit {
				return &gateways.SendError{Outcome: vault.Refused, Human: "message is too long"}
			}
			if n == 1 {
				return noAnswer
			}
			return nil
		}
		words := strings.Fields(strings.Repeat("lorem ipsum dolor sit amet ", 10))
		number := w.post(vault.Part{Key: "reply:1", To: to("tele", "a"), Text: strings.Join(words, " "), Buttons: []vault.Button{{Label: "Yes", Data: "a:1:yes"}}, Due: time.Now().Add(-time.Hour), Late: "I was off"})
		w.say("tele", "a", "after it")
		w.start(f)
		pass(10 * time.Minute)
		var got []string
		for i, a := range f.shown {
			text := strings.ReplaceAll(strings.TrimPrefix(a.text, repeatMark+"\n"), "\n(was due Fri 31 Dec 1999, 23:00, I was off)", "")
			if i == 0 && text == strings.TrimPrefix(a.text, repeatMark+"\n") {
				t.Errorf("the first piece says nothing of its lateness: %q", a.text)
			}
			if (a.buttons == 1) != (i == len(f.shown)-2) {
				t.Errorf("piece %d has %d buttons", i+1, a.buttons)
			}
			got = append(got, strings.Fields(text)...)
		}
		if f.tried()[0].buttons != 0 {
			t.Error("the first piece was sent with the buttons of the last")
		}
		if diff := cmp.Diff(append(words, "after", "it"), got); diff != "" {
			t.Error(diff)
		}
		if w.part(number).State != "sent" {
			t.Errorf("the part is %q", w.part(number).State)
		}
	})
}

func TestAnAttemptedPartIsNotSplitAnyMore(t *testing.T) {
	bubble(t, func(w *world) {
		plain := &fake{name: "tele", answer: once(noAnswer)}
		w.say("tele", "a", strings.Repeat("word ", 30))
		w.start(plain)
		pass(100 * time.Millisecond)
		w.stop()
		w.start(short{plain, gateways.Room + 20})
		pass(time.Minute)
		if got := plain.texts("a"); len(got) != 1 || !strings.HasPrefix(got[0], repeatMark) {
			t.Errorf("arrived: %q", got)
		}
	})
}

func TestEmptyTextEndsAsADeadLetter(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele"}
		number := w.say("tele", "a", " \n\t")
		w.say("tele", "a", "after it")
		w.start(f)
		pass(time.Second)
		if p := w.part(number); p.State != "failed" || p.Error != "there are no words in it" {
			t.Errorf("the part is %q, error %q", p.State, p.Error)
		}
		if diff := cmp.Diff([]string{"after it"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestKnownSecretsAreMasked(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele"}
		w.opt.Mask = func(s string) string { return strings.ReplaceAll(s, "sk-4711", "***") }
		w.say("tele", "a", "the key is sk-4711")
		w.start(f)
		pass(time.Second)
		if diff := cmp.Diff([]string{"the key is ***"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
	})
}
