package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/brain"
)

// model is an installed one of a fake.
type installed struct {
	name  string
	size  int64
	about string // what /api/show says; "" = an error
}

func (f *fake) install(models []installed, running ...string) {
	var tags, ps []string
	about := map[string]string{}
	for _, m := range models {
		tags = append(tags, fmt.Sprintf(`{"name":%q,"model":%q,"size":%d}`, m.name, m.name, m.size))
		about[m.name] = m.about
	}
	for _, name := range running {
		ps = append(ps, fmt.Sprintf(`{"name":%q,"model":%q,"context_length":4096}`, name, name))
	}
	f.tags = `{"models":[` + strings.Join(tags, ",") + `]}`
	f.ps = `{"models":[` + strings.Join(ps, ",") + `]}`
	f.showOf = func(name string) (string, bool) { return about[name], about[name] != "" }
}

const gb = int64(1) << 30

func TestDiscoverPicksTheBestModel(t *testing.T) {
	tools := func(context int) string {
		return fmt.Sprintf(`{"model_info":{"general.architecture":"a","a.context_length":%d},"capabilities":["completion","tools"]}`, context)
	}
	small, middle, big := installed{"small:1b", gb, tools(2048)}, installed{"middle:4b", 3 * gb, tools(40960)}, installed{"big:70b", 40 * gb, tools(131072)}
	embed, broken := installed{"embed", gb / 4, `{"capabilities":["embedding"]}`}, installed{"broken:7b", 4 * gb, ""}
	cloud := installed{"huge:cloud", 300, tools(131072)}
	remote := installed{"sneaky:1b", 350, `{"remote_host":"https://ollama.com","capabilities":["tools"]}`}
	for _, c := range []struct {
		name    string
		models  []installed
		running []string
		memory  int64
		want    Found
	}{
		{name: "the largest that fits", models: []installed{small, middle, big, embed}, memory: 8 * gb, want: Found{Model: "middle:4b", Size: 3 * gb, Context: 40960}},
		{name: "exactly half", models: []installed{small, middle}, memory: 6 * gb, want: Found{Model: "middle:4b", Size: 3 * gb, Context: 40960}},
		{name: "a byte too much", models: []installed{small, middle}, memory: 6*gb - 2, want: Found{Model: "small:1b", Size: gb, Context: 2048}},
		{name: "the one that is loaded", models: []installed{small, middle, big}, running: []string{"small:1b"}, memory: 8 * gb, want: Found{Model: "small:1b", Size: gb, Context: 2048, Loaded: true}},
		{name: "loaded, whatever its size", models: []installed{small, big}, running: []string{"big:70b"}, memory: 8 * gb, want: Found{Model: "big:70b", Size: 40 * gb, Context: 131072, Loaded: true}},
		{name: "loaded, but of no use", models: []installed{small, middle, embed}, running: []string{"embed:latest"}, memory: 8 * gb, want: Found{Model: "middle:4b", Size: 3 * gb, Context: 40960}},
		{name: "a broken one is passed over", models: []installed{small, broken}, memory: 16 * gb, want: Found{Model: "small:1b", Size: gb, Context: 2048}},
		{name: "nobody's cloud", models: []installed{cloud, remote}, memory: 8 * gb},
		{name: "none that fits", models: []installed{big, embed}, memory: 8 * gb},
		{name: "none", memory: 8 * gb},
	} {
		f := newFake(t)
		f.install(c.models, c.running...)
		got, err := Discover(t.Context(), f.URL, c.memory)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, name := range got.Installed {
			if name == "huge:cloud" {
				t.Errorf("%s: %s is no model of this server", c.name, name)
			}
		}
		got.Installed = nil
		c.want.URL, c.want.Version = f.URL, "0.32.6"
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestDiscoverWithoutAServer(t *testing.T) {
	f := newFake(t)
	f.Close()
	_, err := Discover(t.Context(), f.URL, 8*gb)
	faultOf(t, err, brain.Transient)
	// Something else may listen there, or hang.
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) }))
	defer other.Close()
	_, err = Discover(t.Context(), other.URL, 8*gb)
	faultOf(t, err, brain.Permanent)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	began := time.Now()
	_, err = Discover(t.Context(), hangs.URL, 8*gb)
	if faultOf(t, err, brain.Transient); time.Since(began) > discoverTime {
		t.Errorf("it took %v", time.Since(began))
	}
}

func TestPullTellsHowFarItIs(t *testing.T) {
	f := newFake(t)
	f.pull = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"pulling manifest"}`+"\n"+
			`{"status":"pulling aaa","digest":"sha256:aaa","total":1000}`+"\n"+
			`{"status":"pulling aaa","digest":"sha256:aaa","total":1000,"completed":400}`+"\n"+
			`{"status":"pulling aaa","digest":"sha256:aaa","total":1000,"completed":1000}`+"\n"+
			`{"status":"pulling bbb","digest":"sha256:bbb","total":10,"completed":10}`+"\n"+
			`{"status":"verifying sha256 digest"}`+"\n"+`{"status":"success"}`+"\n")
	}
	var got []string
	if err := Pull(t.Context(), f.URL, "qwen3:4b", func(status string, done, total int64) {
		got = append(got, fmt.Sprintf("%s %d/%d", status, done, total))
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pulling manifest 0/0", "pulling aaa 0/1000", "pulling aaa 400/1000", "pulling aaa 1000/1000", "pulling bbb 1010/1010",
		"verifying sha256 digest 1010/1010", "success 1010/1010",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestAPullThatDoesNotEndWellIsAnError(t *testing.T) {
	begun := `{"status":"pulling manifest"}` + "\n"
	for _, c := range []struct {
		stream string
		code   int
		kind   brain.FaultKind
		human  string
	}{
		{stream: begun, kind: brain.Transient},
		{stream: "", kind: brain.Transient},
		{stream: "<html>", kind: brain.Transient},
		{stream: begun + `{"error":"pull model manifest: file does not exist"}` + "\n", kind: brain.Permanent, human: "There is no model called qwen9 in Ollama's library: https://ollama.com/library lists them."},
		{code: 500, stream: `{"error":"pull model manifest: file does not exist"}`, kind: brain.Permanent, human: "There is no model called qwen9 in Ollama's library: https://ollama.com/library lists them."},
		{stream: begun + `{"error":"max retries exceeded"}` + "\n", kind: brain.Transient},
		{code: 502, stream: "<html>", kind: brain.Transient},
	} {
		f := newFake(t)
		f.pull = func(w http.ResponseWriter, _ *http.Request) {
			if c.code != 0 {
				w.WriteHeader(c.code)
			}
			_, _ = io.WriteString(w, c.stream)
		}
		err := Pull(t.Context(), f.URL, "qwen9", nil)
		if fault := faultOf(t, err, c.kind); c.human != "" && fault.Human != c.human {
			t.Errorf("%q: got %q", c.stream, fault.Human)
		}
	}
}

func TestAPullCanBeStopped(t *testing.T) {
	f := newFake(t)
	gone := make(chan struct{})
	stopped := errors.New("the person has thought better of it")
	ctx, stop := context.WithCancelCause(t.Context())
	f.pull = func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"status":"pulling manifest"}`+"\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}
	err := Pull(ctx, f.URL, "qwen3:4b", func(string, int64, int64) { stop(stopped) })
	if !errors.Is(err, stopped) || errors.As(err, new(*brain.ModelError)) {
		t.Errorf("got %v", err)
	}
	<-gone
}

func TestInstalled(t *testing.T) {
	f := newFake(t)
	f.install([]installed{{name: "qwen3:4b"}, {name: "tiny:latest"}})
	for name, want := range map[string]bool{"qwen3:4b": true, "QWEN3:4b": true, "tiny": true, "qwen3": false, "qwen3:8b": false} {
		got, err := New(Options{URL: f.URL, Model: name}).Installed(t.Context())
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	f.Close()
	_, err := New(Options{URL: f.URL, Model: "tiny"}).Installed(t.Context())
	faultOf(t, err, brain.Transient)
}
