package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hearth/brain/ollama/live"
)

// The wire formats, and what to add to a server's address for each.
var liveWires = []struct{ provider, path string }{{"ollama", ""}, {"openai", "/v1"}, {"anthropic", ""}}

// liveServer starts the Ollama server that HEARTH_LIVE_OLLAMA names; without one there is nothing to test.
func liveServer(t *testing.T) *live.Server {
	t.Helper()
	binary := os.Getenv("HEARTH_LIVE_OLLAMA")
	if binary == "" {
		t.Skip("HEARTH_LIVE_OLLAMA names no server; make live-ollama builds one")
	}
	return live.Start(t, binary)
}

// liveHome has the models of a server over one of its wire formats.
func liveHome(t *testing.T, provider, url, random string) *home {
	t.Helper()
	model := func(name, model, more string) string {
		return fmt.Sprintf("    %s: {provider: %s, url: %q, model: %s, context: %d, api_key: unused, %s}\n", name, provider, url, model, live.Context, more)
	}
	config := "people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\nbrain:\n  model: cued\n  models:\n" +
		model("cued", live.Scripted, "max_tokens: 256") + model("thinker", live.Thinking, "max_tokens: 2048, think: true") +
		model("noise", random, "max_tokens: 16, tools: native")
	if provider == "ollama" {
		config = strings.ReplaceAll(config, "api_key: unused, ", "")
	}
	return newHome(t, "", config)
}

// TestLiveConversation holds one conversation with a real server over each of its wire formats, and measures the time to the
// first token with a model of real size.
func TestLiveConversation(t *testing.T) {
	server := liveServer(t)
	server.AddScripted()
	random := server.AddRandom()
	table := []string{
		"| wire format | tools, also two at once | malformed call mended | thoughts kept out | a prompt too long | first token of the first answer | of the second | share |",
		"|---|---|---|---|---|---|---|---|",
	}
	for _, wire := range liveWires {
		t.Run(wire.provider, func(t *testing.T) {
			r := newRelay(t, server.URL)
			l := &liveTalk{t: t, relay: r, h: liveHome(t, wire.provider, r.URL+wire.path, random)}
			l.h.daemon()
			l.ana = l.h.open("Ana")
			row := []string{wire.provider + " `" + map[string]string{"ollama": "/api/chat", "openai": "/v1/chat/completions", "anthropic": "/v1/messages"}[wire.provider] + "`"}
			for _, part := range []func() string{l.tools, l.garbled, l.thinks, l.overflows} {
				row = append(row, part())
			}
			server.Warm(t, random)
			first, second := l.firstTokens()
			share := float64(second.first) / float64(first.first)
			if share >= 0.15 {
				t.Errorf("the second answer begins after %s and the first after %s: the server has read the prompt again", second.first, first.first)
			}
			for _, p := range []passage{first, second} {
				row = append(row, fmt.Sprintf("%.2f s (%d tokens)", p.first.Seconds(), p.tokens()))
			}
			row = append(row, fmt.Sprintf("%.1f %%", 100*share))
			table = append(table, "| "+strings.Join(row, " | ")+" |")
		})
	}
	if !t.Failed() {
		fmt.Println(strings.Join(table, "\n"))
	}
}

// liveTalk is a person who talks with the program over one wire format.
type liveTalk struct {
	t     *testing.T
	relay *relay
	h     *home
	ana   *chatter
	said  int
}

// says says something and gives the answer, and what passed meanwhile that has these words.
func (l *liveTalk) says(words string) (answer string, passed []passage) {
	l.t.Helper()
	before, printed := l.relay.count(), len(l.ana.all())
	l.said++
	id := fmt.Sprintf("m%d", l.said)
	if err := l.ana.say(words, id); err != nil {
		l.t.Fatal(err)
	}
	within(l.t, 10*time.Minute, fmt.Sprintf("%.30q is answered", words), func() bool { // a busy machine reads slowly
		l.ana.mu.Lock()
		defer l.ana.mu.Unlock()
		_, settled := l.ana.settled[id]
		return settled
	})
	return strings.Join(l.ana.all()[printed:], "\n"), l.relay.since(before, words[:min(len(words), 40)])
}

func (l *liveTalk) file(name, want string) {
	l.t.Helper()
	if got, err := os.ReadFile(filepath.Join(l.h.dir, "ws", name)); err != nil || string(got) != want {
		l.t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
	}
}

func (l *liveTalk) wants(answer, want string) {
	l.t.Helper()
	if !strings.Contains(answer, want) {
		l.t.Errorf("it answers %q; want %q", answer, want)
	}
}

// tools: words, a call, two calls in one reply.
func (l *liveTalk) tools() string {
	l.t.Helper()
	answer, _ := l.says("how are you? " + live.CuePlain)
	l.wants(answer, live.SaysPlain)
	answer, _ = l.says("write down what to buy " + live.CueNote)
	l.wants(answer, live.SaysAnswered)
	l.file("note.txt", live.NoteText)
	answer, passed := l.says("write both " + live.CueBoth)
	l.wants(answer, live.SaysAnswered)
	l.file("one.txt", "1")
	l.file("two.txt", "2")
	return fmt.Sprintf("yes, in %d requests", len(passed))
}

// garbled: a call that breaks off, which this server swallows: what comes is an empty answer.
func (l *liveTalk) garbled() string {
	l.t.Helper()
	answer, passed := l.says("write it badly " + live.CueGarbled)
	l.wants(answer, live.SaysAnswered)
	l.file("mended.txt", "at last")
	if len(passed) != 3 {
		l.t.Errorf("%d requests; want the call that is lost, the one that is mended, and the answer", len(passed))
	}
	return fmt.Sprintf("yes, in %d requests", len(passed))
}

// thinks: a model whose thoughts the server takes out, and one that writes them into its answer.
func (l *liveTalk) thinks() string {
	l.t.Helper()
	before := l.relay.count()
	answer, _ := l.says("think of a number " + live.CuePonder)
	l.wants(answer, live.SaysPondered)
	l.says("/model thinker")
	answer, _ = l.says("think of another " + live.CuePonder)
	l.wants(answer, live.SaysPondered)
	answer, _ = l.says("weigh it and write it down " + live.CueWeigh)
	l.wants(answer, live.SaysAnswered)
	l.file("weighed.txt", "gold")
	l.says("/model cued")

	passed := l.relay.since(before, "")
	thought := 0
	for _, p := range passed {
		if strings.Contains(p.answer, live.Thought) {
			thought++
		}
		if strings.Contains(p.asked, live.Thought) {
			l.t.Error("a thought is sent back to the model")
		}
	}
	if thought != 3 {
		l.t.Errorf("%d answers with thoughts came from the server; want 3", thought)
	}
	for _, printed := range l.ana.all() {
		if strings.Contains(printed, live.Thought) || strings.Contains(printed, "think>") {
			l.t.Errorf("a thought is shown: %q", printed)
		}
	}
	for _, name := range []string{"vault.db", "vault.db-wal"} {
		if body, err := os.ReadFile(filepath.Join(l.h.vault(), name)); err != nil || strings.Contains(string(body), live.Thought) {
			l.t.Errorf("%s has a thought in it, or cannot be read: %v", name, err)
		}
	}
	return fmt.Sprintf("yes, %d of %d answers had some", thought, len(passed))
}

// overflows: a message of which each character is a token, so that three times as much is sent as was thought to fit.
func (l *liveTalk) overflows() string {
	l.t.Helper()
	answer, passed := l.says("read this " + live.CuePlain + " " + strings.Repeat("0123456789", 1400))
	l.wants(answer, live.SaysPlain)
	answer, _ = l.says("and now write " + live.CueNote)
	l.wants(answer, live.SaysAnswered)
	if len(passed) < 2 {
		l.t.Errorf("%d request: nothing was too long", len(passed))
	}
	return fmt.Sprintf("answered at the %d. request", len(passed))
}

// firstTokens gives what passed for the first requests of two messages in one conversation, with a model of real size that
// has read nothing before.
func (l *liveTalk) firstTokens() (first, second passage) {
	l.t.Helper()
	l.says("/model noise")
	l.says("/new")
	var found []passage
	for _, words := range []string{"good morning to you", "and how was the night"} {
		_, passed := l.says(words)
		if len(passed) == 0 || passed[0].status != http.StatusOK {
			l.t.Fatalf("nothing was answered: %+v", passed)
		}
		found = append(found, passed[0])
	}
	return found[0], found[1]
}

// How many tokens a prompt had, in the words of each wire format. Counts that come early are too small.
var liveTokens = regexp.MustCompile(`"(?:prompt_eval_count|prompt_tokens|input_tokens)":(\d+)`)

func (p passage) tokens() (most int) {
	for _, m := range liveTokens.FindAllStringSubmatch(p.answer, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			most = max(most, n)
		}
	}
	return most
}
