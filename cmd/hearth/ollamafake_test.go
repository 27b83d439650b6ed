package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ollamaFake is a model server of which a test says what is installed. A pull goes on as far as the test lets it.
type ollamaFake struct {
	*httptest.Server

	mu        sync.Mutex
	installed []string
	pulls     []string        // the models asked for
	gates     []chan struct{} // each holds up a tenth of every pull that comes to it
	noLibrary bool            // it knows no other models than those installed
	ended     int             // pulls that were given up by who asked
}

func newOllamaFake(installed ...string) *ollamaFake {
	f := &ollamaFake{installed: installed}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	return f
}

// host is what OLLAMA_HOST takes.
func (f *ollamaFake) host() string { return strings.TrimPrefix(f.URL, "http://") }

func (f *ollamaFake) has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.installed, name)
}

func (f *ollamaFake) pulled() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.pulls)
}

func (f *ollamaFake) givenUp() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// hold lets pulls stop before a tenth, 0 to 9, until what is given back is called.
func (f *ollamaFake) hold(t testing.TB, tenth int) (release func()) {
	gate := make(chan struct{})
	f.mu.Lock()
	for len(f.gates) <= tenth {
		f.gates = append(f.gates, nil)
	}
	f.gates[tenth] = gate
	f.mu.Unlock()
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

func (f *ollamaFake) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct{ Model string }
	_ = json.Unmarshal(body, &asked)
	switch r.URL.Path {
	case "/api/version":
		_, _ = io.WriteString(w, `{"version":"0.32.6"}`)
	case "/api/tags":
		f.mu.Lock()
		defer f.mu.Unlock()
		var rows []string
		for _, name := range f.installed {
			rows = append(rows, fmt.Sprintf(`{"name":%q,"model":%q,"size":1000000}`, name, name))
		}
		_, _ = io.WriteString(w, `{"models":[`+strings.Join(rows, ",")+`]}`)
	case "/api/ps":
		_, _ = io.WriteString(w, `{"models":[]}`)
	case "/api/show":
		if !f.has(asked.Model) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `{"error":"model '%s' not found"}`, asked.Model)
			return
		}
		_, _ = io.WriteString(w, `{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960},"capabilities":["completion","tools"]}`)
	case "/api/pull":
		f.pull(w, r, asked.Model)
	case "/api/chat":
		_, _ = fmt.Fprintf(w, `{"model":%q,"message":{"role":"assistant","content":"Good evening."},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":2}`+"\n", asked.Model)
	default:
		http.NotFound(w, r)
	}
}

// pull downloads ten parts of a layer.
func (f *ollamaFake) pull(w http.ResponseWriter, r *http.Request, name string) {
	f.mu.Lock()
	f.pulls = append(f.pulls, name)
	missing, gates := f.noLibrary, slices.Clone(f.gates)
	f.mu.Unlock()
	if missing {
		_, _ = io.WriteString(w, `{"status":"pulling manifest"}`+"\n"+`{"error":"pull model manifest: file does not exist"}`+"\n")
		return
	}
	line := func(words string) {
		_, _ = io.WriteString(w, words+"\n")
		_ = http.NewResponseController(w).Flush()
	}
	line(`{"status":"pulling manifest"}`)
	for tenth := range 10 {
		if tenth < len(gates) && gates[tenth] != nil {
			select {
			case <-gates[tenth]:
			case <-r.Context().Done():
				f.mu.Lock()
				f.ended++
				f.mu.Unlock()
				return
			}
		}
		line(fmt.Sprintf(`{"status":"pulling aaa","digest":"sha256:aaa","total":2500000000,"completed":%d}`, (tenth+1)*250000000))
	}
	line(`{"status":"verifying sha256 digest"}`)
	f.mu.Lock()
	f.installed = append(f.installed, name)
	f.mu.Unlock()
	line(`{"status":"success"}`)
}
