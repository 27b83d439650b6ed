package telegram

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/gateways/telegram/tgfake"
)

// TestARefusedTokenIsToldElsewhereOnce: by the bot itself nobody would hear of it.
func TestARefusedTokenIsToldElsewhereOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStillWorld(t)
		var beside []string
		w.gw.opt.TellBeside = func(_ context.Context, _, words string) error {
			return w.note(func() { beside = append(beside, words) })
		}
		w.api.Fault("", 5, tgfake.Unauthorized())
		stop := w.receive()
		time.Sleep(3 * time.Minute)
		if !w.gw.Barred() {
			t.Error("it does not know that nobody is reached")
		}
		w.mu.Lock()
		told := slices.Clone(beside)
		if len(w.told) != 0 {
			t.Errorf("told by the bot: %q", w.told)
		}
		w.mu.Unlock()
		if len(told) != 1 || !strings.Contains(told[0], "gateways.telegram.token") {
			t.Errorf("told %q", told)
		}
		time.Sleep(5 * time.Minute)
		if w.gw.Barred() {
			t.Error("the token is right now")
		}
		stop()
	})
}
