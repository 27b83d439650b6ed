package terminal

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/gateways"
	"hearth/vault"
)

func outcome(t *testing.T, err error) vault.Outcome {
	t.Helper()
	var e *gateways.SendError
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *gateways.SendError", err)
	}
	return e.Outcome
}

func post(id int64, text string) vault.Part {
	return vault.Part{ID: id, To: vault.TerminalAddress(1), Text: text}
}

// sending starts a Send and gives where its outcome comes.
func sending(ctx context.Context, tm *Terminal, p vault.Part) chan error {
	done := make(chan error, 1)
	go func() {
		_, err := tm.Send(ctx, p)
		done <- err
	}()
	return done
}

func TestNobodyThereIsNotSent(t *testing.T) {
	tm := New(Options{})
	tm.Attach(2) // somebody else
	if tm.Present(vault.TerminalAddress(1)) || !tm.Present(vault.TerminalAddress(2)) {
		t.Error("Present does not tell who is there")
	}
	if _, err := tm.Send(t.Context(), post(1, "hello")); outcome(t, err) != vault.NotSent {
		t.Errorf("the outcome is %v", err)
	}
}

func TestAPartIsSentWhenTheFirstClientHasShownIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		one, two := tm.Attach(1), tm.Attach(1)
		done := sending(t.Context(), tm, post(7, "hello"))
		synctest.Wait()
		if p := <-two.Parts(); p.Text != "hello" {
			t.Errorf("got %q", p.Text)
		}
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("sent before it was acknowledged: %v", err)
		default:
		}
		two.Ack(99) // unknown: ignored
		two.Ack(7)
		if err := <-done; err != nil {
			t.Error(err)
		}
		two.Ack(7)
		if p := <-one.Parts(); p.Text != "hello" {
			t.Error("the other open chat does not show it")
		}
		one.Ack(7)
	})
}

func TestAClientThatLeavesBeforeReadingIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		c := tm.Attach(1)
		done := sending(t.Context(), tm, post(1, "hello"))
		synctest.Wait()
		c.Close()
		c.Close()
		if err := <-done; outcome(t, err) != vault.NotSent {
			t.Errorf("the outcome is %v", err)
		}
		if _, open := <-c.Parts(); open {
			t.Error("its channel is still open")
		}
		if tm.Present(vault.TerminalAddress(1)) {
			t.Error("it still counts as present")
		}
	})
}

func TestAClientThatLeavesAfterReadingMayHaveShownIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		reader, other := tm.Attach(1), tm.Attach(1)
		done := sending(t.Context(), tm, post(1, "hello"))
		<-reader.Parts()
		reader.Close()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("it ended while another client has it: %v", err)
		default:
		}
		other.Close()
		if err := <-done; outcome(t, err) != vault.MayHaveSent {
			t.Errorf("the outcome is %v", err)
		}
	})
}

func TestWhoComesWhileAnotherSleepsGetsThePart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		tm.Attach(1) // suspended: it never reads
		done := sending(t.Context(), tm, post(1, "hello"))
		synctest.Wait()
		awake := tm.Attach(1)
		<-awake.Parts()
		awake.Ack(1)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestSomebodyElseNeverGetsThePart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		asleep := tm.Attach(1)
		done := sending(t.Context(), tm, post(1, "for the first person"))
		synctest.Wait()
		other := tm.Attach(2) // who comes while it is being offered
		asleep.Close()
		if err := <-done; err == nil {
			t.Error("it counts as sent, and nobody has it")
		}
		other.Close()
		if p, open := <-other.Parts(); open {
			t.Errorf("the second person reads %q", p.Text)
		}
	})
}

// What was sent once is over: it is neither kept nor offered to those who come later.
func TestASentPartIsNotOfferedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		first := tm.Attach(1)
		done := sending(t.Context(), tm, post(1, "hello"))
		<-first.Parts()
		first.Ack(1)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if len(tm.offers) != 0 {
			t.Errorf("%d offers are kept", len(tm.offers))
		}
		later := tm.Attach(1)
		later.Close()
		if p, open := <-later.Parts(); open {
			t.Errorf("the next client reads %q", p.Text)
		}
	})
}

// A client that sleeps for longer than a send may take is gone: woken up, it must not show the part beside the copy that
// went to somebody else.
func TestASleepingClientIsDismissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		asleep := tm.Attach(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := <-sending(ctx, tm, post(1, "hello")); outcome(t, err) != vault.NotSent {
			t.Errorf("the outcome is %v", err)
		}
		if p, open := <-asleep.Parts(); open {
			t.Errorf("it wakes and shows %q", p.Text)
		}
	})
}

func TestAClientThatNeverReadsIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		deaf, reader := tm.Attach(1), tm.Attach(1)
		go func() {
			for p := range reader.Parts() {
				reader.Ack(p.ID)
			}
		}()
		for i := range int64(maxUnread + 1) {
			if err := <-sending(t.Context(), tm, post(i, "hello")); err != nil {
				t.Fatal(err)
			}
		}
		if !deaf.closed || reader.closed {
			t.Errorf("deaf closed %v, reader closed %v", deaf.closed, reader.closed)
		}
		reader.Close()
	})
}

func TestAttachTellsThatSomebodyCame(t *testing.T) {
	came := 0
	tm := New(Options{Attached: func() { came++ }})
	tm.Attach(1)
	if came != 1 {
		t.Errorf("told %d times", came)
	}
}

func TestSayComesInAsThePersonsMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC)
		tm := New(Options{Now: func() time.Time { return now }})
		ctx, cancel := context.WithCancel(t.Context())
		var got vault.Inbound
		go func() {
			if err := tm.Receive(ctx, func(_ context.Context, in vault.Inbound) error { got = in; return nil }); err != nil {
				t.Error(err)
			}
		}()
		if err := tm.Say(ctx, vault.Person{ID: 3, Name: "Ana"}, "hello \xff", "id1"); err != nil {
			t.Fatal(err)
		}
		want := vault.Inbound{Gateway: "terminal", Account: "local", Chat: "3", ChatKind: vault.Private, Sender: "3", SenderName: "Ana", ID: "id1", Kind: "text", Text: "hello \uFFFD", Sent: now}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, id := range []string{"", strings.Repeat("x", maxID+1)} {
			if err := tm.Say(ctx, vault.Person{ID: 3}, "hello", id); err == nil {
				t.Errorf("id %q was taken", id)
			}
		}
		if err := tm.Say(ctx, vault.Person{}, "hello", "id2"); err == nil {
			t.Error("a message of nobody was taken")
		}
		cancel()
	})
}

// Two windows of a person may speak at once: one message after the other is accepted.
func TestMessagesAreAcceptedOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		inHand, most := 0, 0
		go func() {
			_ = tm.Receive(ctx, func(context.Context, vault.Inbound) error {
				inHand++
				most = max(most, inHand)
				time.Sleep(time.Second)
				inHand--
				return nil
			})
		}()
		done := make(chan error, 3)
		for range 3 {
			go func() { done <- tm.Say(ctx, vault.Person{ID: 1}, "hello", NewID()) }()
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if most != 1 {
			t.Errorf("%d at a time", most)
		}
	})
}

func TestSayGivesTheErrorOfAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := New(Options{})
		ctx, cancel := context.WithCancel(t.Context())
		full := errors.New("disk full")
		go func() {
			_ = tm.Receive(ctx, func(context.Context, vault.Inbound) error { return full })
		}()
		if err := tm.Say(ctx, vault.Person{ID: 1}, "hello", "id"); !errors.Is(err, full) {
			t.Errorf("Say returned %v", err)
		}
		cancel()
		synctest.Wait()
		later, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := tm.Say(later, vault.Person{ID: 1}, "hello", "id"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with nobody receiving Say returned %v", err)
		}
	})
}

func TestIDsAreNew(t *testing.T) {
	if a, b := NewID(), NewID(); a == b || len(a) != 32 {
		t.Errorf("%q and %q", a, b)
	}
}
