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
var liveWires = []struct{ provider, path, asks string }{
	{"ollama", "", "/api/chat"}, {"openai", "/v1", "/v1/chat/completions"}, {"anthropic", "", "/v1/messages"},
}

// liveServer starts the Ollama server that HEARTH_LIVE_OLLAMA names; without one there is nothing to test.
func liveServer(t *testing.T) *live.Server {
	t.Helper()
	binary := os.Getenv("HEARTH_LIVE_OLLAMA")
	if binary == "" {
		t.Skip("HEARTH_LIVE_OLLAMA names no server; make live-ollama builds one")
	}
	return live.Start(t, binary)
}

// liveModels are the models of a configuration: their names, what the server calls them, and their settings.
type liveModels [][3]string

// overEachWire has a person talk with the program over each wire format, and prints what the talks give as a table, a row each.
func overEachWire(t *testing.T, server *live.Server, models liveModels, head string, talk func(l *liveTalk) []string) {
	t.Helper()
	table := []string{"| wire format | " + head + " |", "|---" + strings.Repeat("|---", strings.Count(head, "|")+1) + "|"}
	for _, wire := range liveWires {
		t.Run(wire.provider, func(t *testing.T) {
			r := newRelay(t, server.URL)
			config := "people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\nbrain:\n  model: " + models[0][0] + "\n  models:\n"
			for _, m := range models {
				config += fmt.Sprintf("    %s: {provider: %s, url: %q, model: %s, context: %d, %s}\n", m[0], wire.provider, r.URL+wire.path, m[1], live.Context, m[2])
			}
			l := &liveTalk{t: t, relay: r, h: newHome(t, "", config)}
			l.h.daemon()
			l.ana = l.h.open("Ana")
			table = append(table, "| "+wire.provider+": `"+wire.asks+"` | "+strings.Join(talk(l), " | ")+" |")
		})
	}
	if !t.Failed() {
		fmt.Println(strings.Join(table, "\n"))
	}
}

// TestLiveConversation holds one conversation with a real server over each of its wire formats.
func TestLiveConversation(t *testing.T) {
	server := liveServer(t)
	server.AddScripted()
	models := liveModels{{"cued", live.Scripted, "max_tokens: 256"}, {"thinker", live.Thinking, "max_tokens: 2048, think: true"}, {"unmeasured", live.Scripted, "max_tokens: 256"}}
	overEachWire(t, server, models, "tools, two at once | a broken call mended | thoughts kept out | a prompt too long", func(l *liveTalk) []string {
		return []string{l.tools(), l.garbled(), l.thinks(), l.overflows()}
	})
}

// TestLiveFirstToken measures how soon a model of real size begins to answer: when it has read nothing yet, and when it
// has just read the same conversation. That is where a prompt shows whose beginning does not stay the same.
func TestLiveFirstToken(t *testing.T) {
	server := liveServer(t)
	random := server.AddRandom()
	models := liveModels{{"noise", random, "max_tokens: 16, tools: native"}}
	overEachWire(t, server, models, "tokens of the first prompt | first token of the first answer | of the second | share", func(l *liveTalk) []string {
		server.Warm(l.t, random)
		first, second := l.asks("good morning to you"), l.asks("and how was the night")
		share := float64(second.first) / float64(first.first)
		if share >= 0.15 {
			l.t.Errorf("the second answer begins after %s and the first after %s: the server has read the prompt again", second.first, first.first)
		}
		if first.tokens() < 1000 {
			l.t.Errorf("the first prompt has %d tokens: was it cut?", first.tokens())
		}
		return []string{
			strconv.Itoa(first.tokens()), fmt.Sprintf("%.2f s", first.first.Seconds()), fmt.Sprintf("%.2f s", second.first.Seconds()), fmt.Sprintf("%.1f %%", 100*share),
		}
	})
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
	return fmt.Sprintf("yes, those of %d answers", thought)
}

// overflows: a message of which each character is a token, where three were taken for one: too long for a model that has not
// been measured yet. From its first answer on the program knows better, and the next one fits at once.
func (l *liveTalk) overflows() string {
	l.t.Helper()
	l.says("/model unmeasured")
	answer, passed := l.says("read this " + live.CuePlain + " " + strings.Repeat("ABCDEFGHIJ", 1400))
	l.wants(answer, live.SaysPlain)
	if len(passed) < 2 {
		l.t.Errorf("%d request: nothing was too long: %+v", len(passed), passed)
	}
	answer, again := l.says("and this " + live.CuePlain + " " + strings.Repeat("ABCDEFGHIJ", 1400))
	l.wants(answer, live.SaysPlain)
	if len(again) != 1 {
		l.t.Errorf("the second long message takes %d requests", len(again))
	}
	answer, _ = l.says("and now write " + live.CueNote)
	l.wants(answer, live.SaysAnswered)
	return fmt.Sprintf("yes, shortened %d times; the next one not at all", len(passed)-1)
}

// asks says something, and gives what passed for the first request about it.
func (l *liveTalk) asks(words string) passage {
	l.t.Helper()
	_, passed := l.says(words)
	if len(passed) == 0 || passed[0].status != http.StatusOK {
		l.t.Fatalf("nothing was answered: %+v", passed)
	}
	return passed[0]
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
