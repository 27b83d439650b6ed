package outbox

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

var tortureRounds = flag.Int("torture", 10, "how hard TestTorture… tries: 200 is 10,000 sends")

// Many sends over a bad line: a fifth of them fails in one way or another, and the program is restarted now and then.
// Nothing is lost, nothing comes twice without saying so, and a chat is left alone for as long as it asks.
func TestTortureDUR04ManySendsOverABadLine(t *testing.T) {
	const chats = 25
	sends := min(50**tortureRounds, 10_000)
	bubble(t, func(w *world) {
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(1, 2))
		quiet := map[string]time.Time{}
		fault := func(chat string, ways ...*gateways.SendError) error {
			mu.Lock()
			defer mu.Unlock()
			if random.IntN(10) != 0 { // asked twice a send: before and after the messenger has it
				return nil
			}
			e := *ways[random.IntN(len(ways))]
			if e.Wait > 0 {
				e.Wait = time.Duration(1+random.IntN(200)) * time.Second
				quiet[chat] = time.Now().Add(e.Wait)
			}
			return &e
		}
		flood := &gateways.SendError{Outcome: vault.NotSent, Wait: 1}
		f := &fake{name: "tele"}
		f.answer = func(_ context.Context, out vault.Part, _ int) error {
			mu.Lock()
			until := quiet[out.To.Chat]
			mu.Unlock()
			if time.Now().Before(until) {
				t.Errorf("chat %s was written to %v too early", out.To.Chat, time.Until(until))
			}
			time.Sleep(50 * time.Millisecond)
			return fault(out.To.Chat, lineDown, flood)
		}
		f.after = func(_ context.Context, out vault.Part, _ int) error { return fault(out.To.Chat, noAnswer) }

		w.start(f)
		for n := range sends {
			w.say("tele", fmt.Sprint("chat", n%chats), fmt.Sprint("text-", n, "."))
			if n%100 == 50 {
				pass(time.Second)
				w.stop()
				w.close()
				w.open()
				w.start(f)
			}
		}
		pass(6 * time.Hour)

		plain := map[string]int{}
		last := map[string]string{}
		for _, a := range f.shown {
			text, repeat := strings.CutPrefix(a.text, repeatMark+"\n")
			if !repeat {
				plain[text]++
			}
			if plain[text] == 0 {
				t.Errorf("%q came marked only: no copy can have come before", text)
			}
			if before := last[a.chat]; before != "" && before != text {
				var x, y int
				_, err := fmt.Sscanf(before, "text-%d.", &x)
				_, err2 := fmt.Sscanf(text, "text-%d.", &y)
				if err != nil || err2 != nil || y < x {
					t.Errorf("chat %s: %q came after %q", a.chat, text, before)
				}
			}
			last[a.chat] = text
		}
		for n := range sends {
			if got := plain[fmt.Sprint("text-", n, ".")]; got != 1 {
				t.Errorf("text-%d came %d times without a mark", n, got)
			}
		}
		if faults := len(f.attempts) - sends; faults < sends/10 {
			t.Errorf("only %d faults happened: the test tested nothing", faults)
		}
		t.Logf("%d sends, %d attempts", sends, len(f.attempts))
	})
}
