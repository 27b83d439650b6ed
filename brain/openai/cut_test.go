package openai

import (
	"errors"
	"testing"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// A server that cuts what is too long says so with nothing but its count, as Ollama did when it was driven for real: 14,000
// tokens in, "prompt_tokens": 8192, and a cheerful answer to the rest. That answer is not used; what it took is told.
func TestAPromptThatWasCutInSilenceIsTooLong(t *testing.T) {
	count := func(n string) string {
		return `{"choices":[],"usage":{"prompt_tokens":` + n + `,"completion_tokens":4}}`
	}
	for n, cut := range map[string]bool{"8191": false, "8192": true, "8193": false} { // more than was set up: a larger window, and nothing is missing
		f := newFake(t, stream(piece(`{"content":"Nobody gave me a cue."}`), finish("stop"), count(n), done))
		resp, err := f.client(func(o *Options) { o.Context = 8192 }).Generate(t.Context(), remind(), nil)
		if !cut {
			if err != nil || resp.Text != "Nobody gave me a cue." {
				t.Errorf("%s tokens: %+v, %v", n, resp, err)
			}
			continue
		}
		if faultOf(t, err, brain.TooLong); !errors.Is(err, wire.ErrSilentCut) || resp.In != 8192 || resp.Out != 4 {
			t.Errorf("%s tokens: %+v, %v", n, resp, err)
		}
	}
	// What the server says of its window counts more than what was set up.
	f := newFake(t, stream(piece(`{"content":"Hello"}`), finish("stop"), count("4096"), done))
	f.models = `{"data":[{"id":"some-model","max_model_len":4096}]}`
	_, err := f.client(func(o *Options) { o.Context, o.Tools = 8192, brain.ToolsAuto }).Generate(t.Context(), remind(), nil)
	faultOf(t, err, brain.TooLong)
	// An estimate proves nothing.
	f = newFake(t, stream(piece(`{"content":"Hello"}`), finish("stop"), done))
	resp, err := f.client(nil).Generate(t.Context(), remind(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.client(func(o *Options) { o.Context = resp.In }).Generate(t.Context(), remind(), nil); err != nil {
		t.Error(err)
	}
}
