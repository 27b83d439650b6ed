package ollama

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hearth/brain"
)

func TestTheContextIsTheLeastOfThree(t *testing.T) {
	running := func(name string, tokens int) string {
		return fmt.Sprintf(`{"models":[{"name":"other:1b","model":"other:1b","context_length":99},{"name":%q,"model":%q,"context_length":%d}]}`, name, name, tokens)
	}
	show := func(tokens int) string {
		return fmt.Sprintf(`{"model_info":{"general.architecture":"qwen3","qwen3.context_length":%d},"capabilities":["completion","tools"]}`, tokens)
	}
	for _, c := range []struct {
		name       string
		configured int
		show, ps   string
		before     int // an answer
		after      int
	}{
		{"as configured", 8192, show(40960), running("qwen3:4b", 8192), 8192, 8192},
		{"made for less", 8192, show(2048), `{"models":[]}`, 2048, 2048},
		{"loaded with less", 8192, show(40960), running("qwen3:4b", 4096), 8192, 4096},
		{"loaded with more", 8192, show(40960), running("qwen3:4b", 32768), 8192, 8192},
		{"named in full", 8192, show(40960), running("registry.ollama.ai/library/Qwen3:4b", 4096), 8192, 4096},
		{"an old server, which does not say", 8192, `{}`, `{"models":[{"name":"qwen3:4b","model":"qwen3:4b"}]}`, 8192, 8192},
		{"not configured", 0, `{}`, `{"models":[]}`, 8192, 8192},
		{"no answer", 8192, `no JSON`, `no JSON`, 8192, 8192},
	} {
		f := newFake(t)
		f.ps = c.ps
		f.show = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.show) }
		client := f.client(t, func(o *Options) { o.Context = c.configured })
		// What somebody else has loaded says nothing: our request loads it anew.
		if got := client.Context(t.Context()); got != c.before {
			t.Errorf("%s: got %d before an answer, want %d", c.name, got, c.before)
		}
		if _, err := client.Generate(t.Context(), plain("hi"), nil); err != nil {
			t.Fatal(err)
		}
		if got := client.Context(t.Context()); got != c.after {
			t.Errorf("%s: got %d, want %d", c.name, got, c.after)
		}
	}
}

func TestAPromptThatTheLoadedModelFoundTooLongTellsItsSize(t *testing.T) {
	f := newFake(t)
	f.ps = `{"models":[{"name":"qwen3:4b","context_length":4096}]}`
	f.chat = status(400, `{"error":"the input length exceeds the context length"}`)
	client := f.client(t, nil)
	_, err := client.Generate(t.Context(), plain("hi"), nil)
	faultOf(t, err, brain.TooLong)
	if got := client.Context(t.Context()); got != 4096 {
		t.Errorf("got %d", got)
	}
	f.chat = status(500, `{"error":"the runner died"}`)
	_, err = client.Generate(t.Context(), plain("hi"), nil)
	faultOf(t, err, brain.Transient)
	if got := client.Context(t.Context()); got != 8192 {
		t.Errorf("got %d of a model that is not loaded any more", got)
	}
}

func TestLoaded(t *testing.T) {
	f := newFake(t)
	f.ps = `{"models":[{"name":"qwen3:4b","context_length":4096}]}`
	loaded, maximum, err := f.client(t, nil).Loaded(t.Context())
	if err != nil || loaded != 4096 || maximum != 40960 {
		t.Errorf("got %d, %d, %v", loaded, maximum, err)
	}
	f.ps = `{"models":[]}`
	if loaded, _, err = f.client(t, nil).Loaded(t.Context()); err != nil || loaded != 0 {
		t.Errorf("got %d, %v", loaded, err)
	}
	f.Close()
	_, _, err = f.client(t, nil).Loaded(t.Context())
	faultOf(t, err, brain.Transient)
}

func TestNamesOfOneModel(t *testing.T) {
	for _, same := range [][2]string{{"qwen3", "qwen3:latest"}, {"Qwen3:4B", "qwen3:4b"}, {"registry.ollama.ai/library/qwen3:4b", "qwen3:4b"}, {"hf.co/a/b", "hf.co/a/b:latest"}, {"host:5000/a/b", "host:5000/a/b:latest"}} {
		if !sameModel(same[0], same[1]) {
			t.Errorf("%s is not %s", same[0], same[1])
		}
	}
	if sameModel("qwen3:4b", "qwen3:8b") || sameModel("qwen3:4b", "qwen3") {
		t.Error("other models are taken for the same")
	}
}

func TestCheckSaysHowToMend(t *testing.T) {
	const ok, bad = true, false
	for _, c := range []struct {
		name   string
		change func(*Options)
		show   string
		code   int
		ps     string
		want   []brain.Finding
	}{
		{name: "all well", want: []brain.Finding{
			{What: "server", OK: ok, Text: "Ollama 0.32.6 answers at HOST."},
			{What: "model", OK: ok, Text: "The model qwen3:4b is installed."},
			{What: "tools", OK: ok, Text: "It knows tools."},
			{What: "context", OK: ok, Text: "It is not loaded now; the next message loads it with 8192 tokens."},
		}},
		{name: "loaded", ps: `{"models":[{"name":"qwen3:4b","context_length":8192}]}`, want: []brain.Finding{{What: "context", OK: ok, Text: "It is loaded with 8192 tokens."}}},
		{name: "loaded otherwise", ps: `{"models":[{"name":"qwen3:4b","context_length":4096}]}`, want: []brain.Finding{{What: "context", OK: ok, Text: "It is loaded with 4096 tokens, for another program perhaps; the next message loads it anew with 8192, which takes a while."}}},
		{name: "missing", code: 404, show: `{"error":"model 'qwen3:4b' not found"}`, want: []brain.Finding{{What: "model", OK: bad, Text: "The model qwen3:4b is not installed: /model home in chat has it pulled, or run `ollama pull qwen3:4b`."}}},
		{name: "elsewhere", show: `{"remote_host":"https://ollama.com","capabilities":["tools"]}`, want: []brain.Finding{{What: "model", OK: ok, Text: "The model qwen3:4b is run by https://ollama.com: what you say leaves the house."}}},
		{name: "no tools", show: showNoTools, want: []brain.Finding{
			{What: "tools", OK: ok, Text: "Its calls are forced into a schema. A model that knows tools of its own does better."},
			{What: "context", OK: bad, Text: "brain.models.home.context is 8192, but the model qwen3:4b was made for 2048 tokens: set it to 2048."},
		}},
		{name: "no tools, and asked for", change: func(o *Options) { o.Tools = brain.ToolsNative }, show: showNoTools, want: []brain.Finding{{What: "tools", OK: bad, Text: "The model qwen3:4b knows no tools: set brain.models.home.tools to auto, or choose another model."}}},
		{name: "off", change: func(o *Options) { o.Tools = brain.ToolsOff }, want: []brain.Finding{{What: "tools", OK: ok, Text: "Tools are off (brain.models.home.tools): it can talk, and do nothing."}}},
		{name: "old server", show: `{}`, want: []brain.Finding{{What: "tools", OK: ok, Text: "This server does not say whether the model knows tools. They are tried."}}},
		{name: "no thoughts", change: func(o *Options) { o.Think = true }, show: showNoTools, want: []brain.Finding{{What: "thinking", OK: bad, Text: "The model qwen3:4b cannot think before it answers: set brain.models.home.think to false."}}},
		{name: "no list of what runs", ps: `no JSON`, want: []brain.Finding{{What: "context", OK: bad, Text: "What answers at HOST does not answer like Ollama: is brain.models.home.url right?"}}},
	} {
		f := newFake(t)
		if c.ps != "" {
			f.ps = c.ps
		}
		if c.show != "" {
			f.show = func(w http.ResponseWriter, _ *http.Request) {
				if c.code != 0 {
					w.WriteHeader(c.code)
				}
				_, _ = io.WriteString(w, c.show)
			}
		}
		got := f.client(t, c.change).Check(t.Context())
		for _, want := range c.want {
			want.Text = strings.ReplaceAll(want.Text, "HOST", f.host())
			if !slices.Contains(got, want) {
				t.Errorf("%s: %+v is missing in %+v", c.name, want, got)
			}
		}
		if c.name == "all well" && len(got) != len(c.want) {
			t.Errorf("got %+v", got)
		}
		if len(f.asked()) != 0 {
			t.Errorf("%s: the model was asked", c.name)
		}
	}
	f := newFake(t)
	f.Close()
	got := f.client(t, nil).Check(t.Context())
	if len(got) != 1 || got[0] != (brain.Finding{What: "server", OK: false, Text: "Ollama does not answer at " + f.host() + ": is it running?"}) {
		t.Errorf("got %+v", got)
	}
}
