package brain

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

// A model chosen in the chat, and one of a new YAML file, are used from the next step on.
func TestModelsAreSwappedAtTheNextStep(t *testing.T) {
	for _, tt := range []struct {
		name string
		swap func(w *world)
		want []string
	}{
		{"in the chat", func(w *world) {
			w.must(w.vault.Do(w.t.Context(), "model", func(tx *vault.Tx) error {
				if err := tx.Set(SettingModelOver, "home"); err != nil {
					return err
				}
				return tx.Set(SettingModel, "spare")
			}))
		}, []string{"home", "spare"}},
		{"over another YAML value", func(w *world) {
			w.must(w.vault.Do(w.t.Context(), "model", func(tx *vault.Tx) error {
				if err := tx.Set(SettingModelOver, "some other"); err != nil {
					return err
				}
				return tx.Set(SettingModel, "spare")
			}))
		}, []string{"home", "home"}},
		{"to one that is gone", func(w *world) {
			w.must(w.vault.Do(w.t.Context(), "model", func(tx *vault.Tx) error {
				if err := tx.Set(SettingModelOver, "home"); err != nil {
					return err
				}
				return tx.Set(SettingModel, "gone")
			}))
		}, []string{"home", "home"}},
		{"by the file", func(w *world) {
			s := w.settings
			s.Model = "spare"
			w.brain.Configure(s)
		}, []string{"home", "spare"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				reply := slow(2*time.Second, steps(want("look", `{"text":"x"}`), say("ok")))
				w.backends(Backend{Name: "home", Model: reply}, Backend{Name: "spare", Model: reply})
				w.start()
				run := w.say("hello")
				sleep(time.Second)
				tt.swap(w)
				sleep(10 * time.Second)
				var got []string
				for _, s := range w.progress(run).Steps {
					got = append(got, s.Model)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("the steps are of %s", diff)
				}
				names, inUse, err := w.brain.Models(w.t.Context())
				w.must(err)
				if inUse != tt.want[1] || len(names) != 2 {
					t.Errorf("in use is %s of %q", inUse, names)
				}
			})
		})
	}
}

// A server that failed is asked at once when the settings have changed: the change may have mended it.
func TestNewSettingsWakeARestingModel(t *testing.T) {
	inBubble(t, func(w *world) {
		broken := true
		home := script(func(context.Context, Request) (Response, error) {
			if broken {
				return Response{}, fault(Permanent)
			}
			return say("home"), nil
		})
		w.backends(Backend{Name: "home", Model: home}, Backend{Name: "spare", Model: steps(say("spare"))})
		w.start()
		if got := w.answer(w.say("hello")); !strings.HasPrefix(got, "spare\n") {
			t.Errorf("the first answer is of %s", got)
		}
		broken = false
		w.brain.Configure(w.settings)
		if got := w.answer(w.say("hello")); got != "home" {
			t.Errorf("the second answer is of %s", got)
		}
	})
}

// With nothing configured there is the built-in model.
func TestSettingsWithNothingInThem(t *testing.T) {
	inBubble(t, func(w *world) {
		w.settings.Backends = map[string]Backend{OfflineName: builtIn()}
		w.start()
		names, inUse, err := w.brain.Models(w.t.Context())
		w.must(err)
		if inUse != OfflineName || len(names) != 1 {
			t.Errorf("in use is %s of %q", inUse, names)
		}
		if got := w.answer(w.say("remind me to rest")); !strings.HasPrefix(got, "Reminder 1: ") {
			t.Errorf("the answer is %q", got)
		}
		if got := w.answer(w.say("sing")); got != "I can do reminders." {
			t.Errorf("the answer is %q", got)
		}
	})
}

// A model that is not there is said so.
func TestAModelThatIsNotConfigured(t *testing.T) {
	inBubble(t, func(w *world) {
		w.settings.Model, w.settings.Backends = "gone", map[string]Backend{}
		w.start()
		if got := w.answer(w.say("hello")); !strings.Contains(got, `"gone" is not configured`) {
			t.Errorf("the answer is %q", got)
		}
	})
}
