package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"

	"hearth/vault"
)

func TestAPartThatPanicsIsLoggedAndStartedAgainAfterARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &buffer{}
		began := time.Now()
		var starts []time.Duration
		p := &part{name: "brain", run: func(ctx context.Context) error {
			starts = append(starts, time.Since(began))
			switch len(starts) {
			case 1:
				panic("a fault")
			case 2:
				return errors.New("broken")
			case 3:
				return nil // nobody asked it to end
			case 4:
				<-time.After(wellAfter + time.Second) // it was well for a while
				return errors.New("broken again")
			}
			<-ctx.Done()
			return nil
		}}
		if p.get() == running {
			t.Error("it runs before it was started")
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.keep(ctx, slog.New(slog.NewTextHandler(log, nil)), (&agent{}).hopeless(p)) }()
		<-time.After(time.Hour)
		synctest.Wait()
		if p.get() != running {
			t.Errorf("it is %s", p.get())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := []time.Duration{0, 1 * time.Second, 3 * time.Second, 7 * time.Second, 7*time.Second + wellAfter + time.Second + firstRest}
		if len(starts) != len(want) {
			t.Fatalf("started at %v", starts)
		}
		for i := range want {
			if starts[i] != want[i] {
				t.Errorf("start %d at %s, not %s", i, starts[i], want[i])
			}
		}
		for _, words := range []string{"part=brain", "panic: a fault", "supervise_test.go", "it ended though nobody asked it to"} {
			if !strings.Contains(log.String(), words) {
				t.Errorf("the log does not say %q:\n%s", words, log)
			}
		}
	})
}

func TestAPartThatCannotBeMendedEndsTheProgram(t *testing.T) {
	for _, err := range []error{&vault.DamagedError{Path: "vault.db", Err: errors.New("broken")}, failed("A sentence.")} {
		p := &part{name: "vault", run: func(context.Context) error { return err }}
		if got := p.keep(t.Context(), slog.New(slog.DiscardHandler), (&agent{}).hopeless(p)); !errors.Is(got, err) {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}

// What a part stumbles over is for the examiner to judge, which tells the owner before the program ends.
func TestDamageIsForTheExaminerToJudge(t *testing.T) {
	v, err := vault.Open(t.Context(), t.TempDir(), vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	a := &agent{vault: v, examiner: &part{name: "integrity"}}
	broken := fmt.Errorf("read: %w", sqlite3.Error{Code: sqlite3.ErrCorrupt})
	if a.hopeless(&part{name: "brain"})(broken) || v.Suspect() == nil {
		t.Errorf("suspected: %v", v.Suspect())
	}
	if !a.hopeless(a.examiner)(broken) {
		t.Error("the examiner's word does not count")
	}
}

// A part that does not end is cut off in time for the ten seconds of the contract; it is named.
func TestAPartThatDoesNotEndIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &buffer{}
		release := make(chan struct{})
		a := &agent{log: logger{Logger: slog.New(slog.NewTextHandler(log, nil))}, parts: []*part{{name: "stuck", run: func(context.Context) error {
			<-release
			return nil
		}}}}
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		up := false
		err := a.run(ctx, func() { up = true; cancel() }, &part{name: "good", run: func(ctx context.Context) error { <-ctx.Done(); return nil }})
		if err != nil || !up || time.Since(began) != graceful {
			t.Errorf("it ends with %v after %s", err, time.Since(began))
		}
		if !strings.Contains(log.String(), "stuck") || strings.Contains(log.String(), "good") {
			t.Errorf("the log: %s", log)
		}
		if _, ready := a.partStates(); ready {
			t.Error("it is still ready")
		}
		close(release)
		synctest.Wait()
	})
}
