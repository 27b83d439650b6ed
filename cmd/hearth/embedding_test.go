package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hearth/config"
	"hearth/vault"
)

// embedServer is an Ollama server with an embedding model of which a test says what it knows: words of the same number mean
// the same. What it was asked stands in texts.
type embedServer struct {
	*httptest.Server
	knows map[string]int

	mu     sync.Mutex
	texts  []string
	broken bool
}

func newEmbedServer(t testing.TB, knows map[string]int) *embedServer {
	s := &embedServer{knows: knows}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *embedServer) serve(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/api/embed" {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, asked.Input...)
	if s.broken {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	var out [][]float32
	for _, text := range asked.Input {
		v := make([]float32, 64)
		v[0] = .01 // what it does not know means nothing in particular
		for _, word := range strings.Fields(strings.ToLower(text)) {
			if n := s.knows[strings.Trim(word, ".?!")]; n > 0 {
				v[n]++
			}
		}
		out = append(out, v)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": out})
}

func (s *embedServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.texts)
}

func (s *embedServer) breaks(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = yes
}

// From the YAML file to the model that is told what it searched for: a fact is found by other words, also after a kill, and by
// words alone while the embedding model fails, of which nobody is told but who asks the doctor.
func TestMEM01FactIsFoundByWhatItMeans(t *testing.T) {
	meaning := newEmbedServer(t, map[string]int{"volvo": 1, "automobile": 1, "car": 1, "mechanic": 2, "repaired": 2, "tulips": 3})
	m := newModelServer(t, func(p prompt) reply {
		switch {
		case p.result():
			return words("It says: " + p.last())
		case p.says("automobile"):
			return use("recall", map[string]any{"query": "automobile repaired"})
		case p.says("Volvo keys"):
			return use("recall", map[string]any{"query": "volvo"})
		}
		return words("I see.")
	})
	h := newHome(t, "", "people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\n"+m.settings(fmt.Sprintf(", embedding: {provider: ollama, url: %q, model: small}", meaning.URL)))
	d := h.daemon()
	h.ok("chat", "-m", "/remember My Volvo is at the mechanic until friday")
	h.ok("chat", "-m", "/remember Tulips want sun")
	said := func() string { return h.ok("doctor") }
	eventually(t, "both and the answers are embedded", func() bool {
		out := said()
		return strings.Contains(out, "ok     embedding: The model small answers with 64 numbers.") && strings.Contains(out, "ok     embedded: 4 memories and messages can be found by what they mean (small)\n")
	})
	if out := h.ok("chat", "-m", "where is my automobile?"); !strings.Contains(out, "It says: #1 (since") || !strings.Contains(out, "My Volvo is at the mechanic") || strings.Contains(out, "#2 (since") {
		t.Errorf("it prints %q", out)
	}
	d.kill()
	d = h.daemon()
	eventually(t, "the talk is embedded", func() bool { return slices.Contains(meaning.asked(), "where is my automobile?") })
	times := 0
	for _, text := range meaning.asked() {
		if text == "My Volvo is at the mechanic until friday" {
			times++
		}
	}
	if times != 1 {
		t.Errorf("the fact was embedded %d times", times)
	}
	meaning.breaks(true)
	if out := h.ok("chat", "-m", "where is my automobile now?"); !strings.Contains(out, "It says: Nothing is remembered about this.") || strings.Contains(out, "small") {
		t.Errorf("without the model it prints %q", out)
	}
	if out := h.ok("chat", "-m", "And the Volvo keys?"); !strings.Contains(out, "My Volvo is at the mechanic") {
		t.Errorf("by its words it finds %q", out)
	}
	out := said()
	for _, want := range []string{"look   embedding: Ollama at ", "look   embedded: ", "failed (status 500)", embeddingMend} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
	if code := d.term(); code != 0 {
		t.Errorf("it exits %d:\n%s", code, d.log)
	}
}

func TestNothingIsEmbeddedUnlessConfigured(t *testing.T) {
	meaning := newEmbedServer(t, map[string]int{"volvo": 1})
	h := newHome(t, "", "people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\nbrain: {model: offline}\n")
	h.daemon()
	h.ok("chat", "-m", "/remember My Volvo is red")
	if out := h.ok("doctor"); strings.Contains(out, "embed") {
		t.Errorf("doctor says %s", out)
	}
	if got := meaning.asked(); len(got) != 0 {
		t.Errorf("asked %q", got)
	}
	// Added while it runs, it is used from then on.
	h.write("hearth.yaml", strings.Replace(h.read("hearth.yaml"), "model: offline", fmt.Sprintf("model: offline, embedding: {provider: ollama, url: %q, model: small}", meaning.URL), 1))
	eventually(t, "it is taken up", func() bool { return slices.Contains(meaning.asked(), "My Volvo is red") })
}

func TestDoctorSaysThatAnEmbeddingModelIsOutOfReach(t *testing.T) {
	h := newHome(t, "", "people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\nbrain: {model: offline, embedding: {provider: ollama, url: \"http://127.0.0.1:1\", model: small}}\n")
	if out := h.ok("doctor"); !strings.Contains(out, "look   embedding: Ollama does not answer at 127.0.0.1:1: is it running?") || !strings.Contains(out, embeddingMend) {
		t.Errorf("doctor says %s", out)
	}
}

func TestEmbeddingAwayFromHome(t *testing.T) {
	for _, c := range []struct {
		e    config.Embedding
		home bool
	}{
		{config.Embedding{Provider: "ollama", URL: mustURL(t, "http://desk.local:11434"), Model: "all-minilm"}, true},
		{config.Embedding{Provider: "ollama", URL: mustURL(t, "http://127.0.0.1:11434"), Model: "big:cloud"}, false},
		{config.Embedding{Provider: "openai", URL: mustURL(t, "http://192.168.1.2:8080/v1"), Model: "m"}, true},
		{config.Embedding{Provider: "openai", URL: mustURL(t, "https://api.openai.com/v1"), Model: "m"}, false},
	} {
		if got := embedsAtHome(c.e); got != c.home {
			t.Errorf("%s at %s is at home: %v", c.e.Model, c.e.URL, got)
		}
	}
}

func mustURL(t *testing.T, address string) (u config.URL) {
	t.Helper()
	if err := u.UnmarshalText([]byte(address)); err != nil {
		t.Fatal(err)
	}
	return u
}

// A day's limits hold for what is embedded elsewhere too, from midnight of the household.
func TestDayCaps(t *testing.T) {
	cfg := &config.Config{Timezone: "Europe/Lisbon"}
	cfg.Brain.Limits.TokensPerDay = 500
	now := time.Date(2026, 7, 3, 23, 30, 0, 0, time.UTC) // half past midnight there
	midnight := time.Date(2026, 7, 3, 23, 0, 0, 0, time.UTC)
	got := dayCaps(cfg, now)
	if len(got) != 2 || got[0].Of != vault.Dollars || got[0].Max != 0 || got[1].Of != vault.Tokens || got[1].Max != 500 || !got[0].Since.Equal(midnight) || !got[1].Since.Equal(midnight) {
		t.Errorf("the limits are %+v", got)
	}
	cfg.Brain.Limits.TokensPerDay = 0
	if got := dayCaps(cfg, now); len(got) != 1 {
		t.Errorf("without a limit of tokens: %+v", got)
	}
}
