package brain

import (
	"context"
	"strings"
	"testing"
	"time"
)

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
