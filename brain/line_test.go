package brain

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPlacesInLine counts those that are being served.
func TestPlacesInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s slots
		b := Backend{Name: "home", Parallel: 1}
		turns := make([]*turn, 3)
		for i := range turns {
			turns[i] = &turn{}
			go func() {
				release, err := s.take(t.Context(), b, turns[i])
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Minute)
				release()
			}()
			synctest.Wait()
		}
		for minute, want := range [][3]int{{0, 2, 3}, {0, 0, 2}, {0, 0, 0}} {
			for i, turn := range turns {
				if got := s.place(b, turn); got != want[i] {
					t.Errorf("minute %d: number %d stands at %d, want %d", minute, i, got, want[i])
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		for place, want := range map[int]string{2: "second in line", 10: "tenth in line", 11: "10 are in line before you"} {
			if got := inLine(place); !strings.Contains(got, want) {
				t.Errorf("place %d: %q", place, got)
			}
		}
	})
}

// TestLOOP10WhoeverIsServedWaitsNoMore: what the run says it waits for is over when its turn comes.
func TestLOOP10WhoeverIsServedWaitsNoMore(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(record(func(ctx context.Context, req Request) (Response, error) {
			return slow(10*time.Second, steps(say("Done.")))(ctx, req)
		}))
		home := w.settings.Backends["home"]
		home.Parallel = 1
		w.settings.Backends["home"] = home
		w.start()
		w.say("one")
		other := w.accept(w.inbound(w.ben, "two"), w.ben, 0)
		sleep(4 * time.Second)
		if got := w.progress(other).Run.Waits; !strings.Contains(got, "second in line") {
			t.Errorf("while it waits: %q", got)
		}
		sleep(10 * time.Second)
		if r := w.progress(other).Run; r.Waits != "" || r.State != "running" {
			t.Errorf("when it is served: %q, %s", r.Waits, r.State)
		}
		sleep(10 * time.Second)
		if got := w.answer(other); got != "Done." {
			t.Errorf("the answer is %q", got)
		}
	})
}
