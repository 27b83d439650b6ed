package anthropic

import (
	"errors"
	"testing"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// Anthropic refuses what is too long. Other servers that speak like it cut it, as Ollama did when it was driven for real,
// and all they say is a count that is exactly what fits.
func TestAPromptThatWasCutInSilenceIsTooLong(t *testing.T) {
	for _, c := range []struct {
		context int
		cut     bool
	}{{89, false}, {90, true}, {91, false}} {
		f := newFake(t, stream(start, text, hello, over))
		resp, err := f.client(func(o *Options) { o.Context = c.context }).Generate(t.Context(), remind(), nil)
		if !c.cut {
			if err != nil {
				t.Errorf("of %d tokens: %v", c.context, err)
			}
			continue
		}
		if faultOf(t, err, brain.TooLong); !errors.Is(err, wire.ErrSilentCut) || resp.In != 90 {
			t.Errorf("of %d tokens: %+v, %v", c.context, resp, err)
		}
	}
}
