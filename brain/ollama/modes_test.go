package ollama

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// offered says how a request offered its tools.
func offered(asked map[string]any) string {
	switch {
	case asked["tools"] != nil && asked["format"] == nil:
		return "native"
	case asked["tools"] == nil && asked["format"] != nil:
		return "schema"
	case asked["tools"] == nil && asked["format"] == nil:
		return "off"
	}
	return "both" // then the grammar wins, and no call can come
}

func TestHowToolsAreOffered(t *testing.T) {
	for _, c := range []struct {
		setting, show, want string
		code                int
		shows               int
	}{
		{brain.ToolsAuto, showTools, "native", 200, 1},
		{"", showTools, "native", 200, 1},
		{brain.ToolsAuto, showNoTools, "schema", 200, 1},
		{brain.ToolsAuto, `{"model_info":{}}`, "native", 200, 1}, // an old server, which does not say
		{brain.ToolsAuto, `not found`, "native", 404, 3},         // a proxy that lets the chat through and nothing else
		{brain.ToolsAuto, `{"capabilities":"tools"}`, "native", 200, 3},
		{brain.ToolsNative, showNoTools, "native", 200, 0},
		{brain.ToolsSchema, showTools, "schema", 200, 0},
		{brain.ToolsOff, showTools, "off", 200, 0},
	} {
		f := newFake(t)
		f.show = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.code)
			_, _ = io.WriteString(w, c.show)
		}
		client := f.client(t, func(o *Options) { o.Tools = c.setting })
		for range 3 {
			if got, err := client.Generate(t.Context(), remind(), nil); err != nil || got.Text != "Hello" {
				t.Fatalf("%s, %s: got %+v, %v", c.setting, c.show, got, err)
			}
		}
		for _, asked := range f.asked() {
			if got := offered(asked); got != c.want {
				t.Errorf("%s, %s: tools are offered as %s, want %s", c.setting, c.show, got, c.want)
			}
		}
		if got := f.shows(); got != c.shows {
			t.Errorf("%s, %s: asked %d times what the model can do, want %d", c.setting, c.show, got, c.shows)
		}
	}
}

func TestWithoutToolsNothingIsAskedOfTheModel(t *testing.T) {
	f := newFake(t)
	if _, err := f.client(t, nil).Generate(t.Context(), plain("hi"), nil); err != nil {
		t.Fatal(err)
	}
	if got := offered(f.asked()[0]); got != "off" || f.shows() != 0 {
		t.Errorf("offered %s, asked %d times", got, f.shows())
	}
	if got := lastMessages(f.asked()[0]); !slices.Equal(got, []string{"user: hi"}) {
		t.Errorf("got %q", got)
	}
}

func TestOffTellsTheModelSo(t *testing.T) {
	f := newFake(t)
	if _, err := f.client(t, func(o *Options) { o.Tools = brain.ToolsOff }).Generate(t.Context(), remind(), nil); err != nil {
		t.Fatal(err)
	}
	if got := lastMessages(f.asked()[0])[0]; !strings.HasSuffix(got, wire.NoTools) {
		t.Errorf("got %q", got)
	}
}

func TestAModelThatRefusesToolsIsAskedInASchemaFromThenOn(t *testing.T) {
	for _, setting := range []string{brain.ToolsAuto, brain.ToolsNative} {
		f := newFake(t)
		f.chat = func(w http.ResponseWriter, r *http.Request, body []byte) {
			if strings.Contains(string(body), `"tools":[`) {
				status(400, `{"error":"registry.ollama.ai/library/qwen3:4b does not support tools"}`)(w, r, body)
				return
			}
			answer(string(line(`{"message":{"content":%q},"done":true}`, `{"tool":"jobs","args":{}}`)))(w, r, body)
		}
		client := f.client(t, func(o *Options) { o.Tools = setting })
		for range 2 {
			got, err := client.Generate(t.Context(), remind(), nil)
			if err != nil || len(got.Calls) != 1 || got.Calls[0].Name != "jobs" {
				t.Fatalf("got %+v, %v", got, err)
			}
		}
		var ways []string
		for _, asked := range f.asked() {
			ways = append(ways, offered(asked))
		}
		if !slices.Equal(ways, []string{"native", "schema", "schema"}) {
			t.Errorf("%s: asked as %v", setting, ways)
		}
	}
}

func TestThinkIsAlwaysSetUnlessTheServerRefusesIt(t *testing.T) {
	for _, c := range []struct {
		think   bool
		refuses func(think any) bool
		want    []any // of two calls
	}{
		{false, func(any) bool { return false }, []any{false, false}},
		{true, func(any) bool { return false }, []any{true, true}},
		{true, func(think any) bool { return think == true }, []any{true, false, false}},
		{true, func(think any) bool { return think != nil }, []any{true, false, nil, nil}},
		{false, func(think any) bool { return think != nil }, []any{false, nil, nil}},
	} {
		f := newFake(t)
		f.chat = func(w http.ResponseWriter, r *http.Request, body []byte) {
			asked := f.asked()
			if c.refuses(asked[len(asked)-1]["think"]) {
				status(400, `{"error":"\"qwen3:4b\" does not support thinking"}`)(w, r, body)
				return
			}
			answer(okStream)(w, r, body)
		}
		client := f.client(t, func(o *Options) { o.Think = c.think })
		for range 2 {
			if got, err := client.Generate(t.Context(), plain("hi"), nil); err != nil || got.Text != "Hello" {
				t.Fatalf("got %+v, %v", got, err)
			}
		}
		var sent []any
		for _, asked := range f.asked() {
			sent = append(sent, asked["think"])
		}
		if !slices.Equal(sent, c.want) {
			t.Errorf("think %v: sent %v, want %v", c.think, sent, c.want)
		}
	}
}

func TestAServerThatRefusesEverythingIsNotAskedForEver(t *testing.T) {
	for _, said := range []string{"does not support tools", "does not support thinking"} {
		f := newFake(t)
		f.chat = status(400, fmt.Sprintf(`{"error":"qwen3:4b %s"}`, said))
		_, err := f.client(t, func(o *Options) { o.Think = true }).Generate(t.Context(), remind(), nil)
		faultOf(t, err, brain.Permanent)
		if n := len(f.asked()); n > 3 {
			t.Errorf("%s: asked %d times", said, n)
		}
	}
}

// The model may have been exchanged, so after a failure the server is asked anew what it can do.
func TestWhatIsKnownOfAModelIsForgottenAfterAFailure(t *testing.T) {
	f := newFake(t)
	client := f.client(t, nil)
	ask := func(wantErr bool) {
		t.Helper()
		if _, err := client.Generate(t.Context(), remind(), nil); (err != nil) != wantErr {
			t.Fatal(err)
		}
	}
	ask(false)
	f.chat = status(404, `{"error":"model 'qwen3:4b' not found"}`)
	ask(true)
	f.chat = answer(okStream)
	f.show = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, showNoTools) }
	ask(false)
	asked := f.asked()
	if got := offered(asked[len(asked)-1]); got != "schema" {
		t.Errorf("tools are offered as %s", got)
	}
}

func TestWhenTheFactsCannotBeHadTheErrorIsTheirs(t *testing.T) {
	f := newFake(t)
	f.show = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(404)
		_, _ = io.WriteString(w, `{"error":"model 'qwen3:4b' not found"}`)
	}
	_, err := f.client(t, nil).Generate(t.Context(), remind(), nil)
	if fault := faultOf(t, err, brain.Permanent); fault.Human != "The model qwen3:4b is not installed: /model home in chat has it pulled, or run `ollama pull qwen3:4b`." {
		t.Errorf("got %q", fault.Human)
	}
	f.show = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }
	_, err = f.client(t, nil).Generate(t.Context(), remind(), nil)
	faultOf(t, err, brain.Transient)
	if n := len(f.asked()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}
