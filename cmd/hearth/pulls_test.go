package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// withModels is a household with a model that is installed, home, and one that is not, big.
func withModels(t *testing.T) (*home, *ollamaFake) {
	t.Helper()
	server := newOllamaFake("small:1b")
	t.Cleanup(server.Close)
	return newHome(t, "", fmt.Sprintf("people: [{name: Ana, role: owner}]\ngateways: {burst: 0s}\nbrain:\n  model: home\n  models:\n"+
		"    home: {provider: ollama, url: %q, model: \"small:1b\"}\n    big: {provider: ollama, url: %q, model: \"qwen3:8b\"}\n", server.URL, server.URL)), server
}

// progress are the lines that tell how far a pull is.
func (c *chatter) progress() []string {
	return slices.DeleteFunc(c.all(), func(p string) bool { return !strings.HasPrefix(p, "pulling ") })
}

func TestAModelIsPulledFromTheChatAndThenUsed(t *testing.T) {
	h, server := withModels(t)
	half := server.hold(t, 5)
	d := h.daemon()
	ana := h.open("Ana")
	if got, want := ana.ask("/model big", "1"), "qwen3:8b is not installed on its server, so I have it pulled now and say when it is there. Until then home answers; /model home ends the pull."; !strings.HasPrefix(got, want) {
		t.Errorf("told %q", got)
	}
	ana.hears("pulling qwen3:8b 30 %")
	ana.hears("pulling qwen3:8b 50 %")
	if got := ana.ask("hello", "2"); got != "Good evening." {
		t.Errorf("meanwhile it answers %q", got)
	}
	if row := ask(h, viewStatus, query{}); row.Model.InUse != "home" {
		t.Errorf("in use before it is there: %s", row.Model.InUse)
	}

	// The power goes out; with the next start the pull goes on, and nothing is told twice.
	d.kill()
	h.daemon()
	ana.reopen()
	eventually(t, "the pull goes on", func() bool { return len(server.pulled()) == 2 })
	half()
	ana.hears("qwen3:8b is installed. From the next step on I use big.")
	if got := ana.ask("/model", "3"); !strings.Contains(got, "big (in use)") {
		t.Errorf("afterwards: %s", got)
	}
	// The last of them may have made way for the word that it is there.
	if got := ana.progress(); len(got) < 2 || !slices.Equal(got, []string{"pulling qwen3:8b 30 %", "pulling qwen3:8b 50 %", "pulling qwen3:8b 80 %"}[:len(got)]) {
		t.Errorf("told of the progress: %q", got)
	}
	if got := ana.ask("/model big", "4"); got != "big is in use already." {
		t.Errorf("once more: %s", got)
	}
}

// On a phone the progress is one message that is edited, and the end another, for which it rings.
func TestAPullIsOneEditedLineOnThePhone(t *testing.T) {
	server := newOllamaFake("small:1b")
	t.Cleanup(server.Close)
	half := server.hold(t, 5)
	ana := newPhone(t)
	h := newHome(t, "", ana.settings(fmt.Sprintf("brain:\n  model: home\n  models:\n    home: {provider: ollama, url: %q, model: \"small:1b\"}\n    big: {provider: ollama, url: %q, model: \"qwen3:8b\"}\n", server.URL, server.URL)))
	d := h.daemon()
	ana.say("/model big")
	ana.hears("pulling qwen3:8b 50 %")
	d.kill() // the line outlives the process
	h.daemon()
	eventually(t, "the pull goes on", func() bool { return len(server.pulled()) == 2 })
	half()
	ana.hears("qwen3:8b is installed. From the next step on I use big.")
	ana.hears("qwen3:8b is pulled.")
	if shown := ana.shown(); len(shown) != 3 || shown[1].Text != "qwen3:8b is pulled." || shown[1].Edits == 0 {
		t.Errorf("the chat shows %q", ana.texts())
	}
}

func TestAPullEndsWhenAnotherModelIsChosen(t *testing.T) {
	h, server := withModels(t)
	server.hold(t, 0)
	h.daemon()
	ana := h.open("Ana")
	ana.ask("/model big", "1")
	eventually(t, "the pull has begun", func() bool { return len(server.pulled()) == 1 })
	if got := ana.ask("/model home", "2"); got != "home is in use already. qwen3:8b is not pulled any further." {
		t.Errorf("told %q", got)
	}
	eventually(t, "the server is left alone", func() bool { return server.givenUp() == 1 })
	if got := ana.ask("/model", "3"); !strings.Contains(got, "home (in use), big,") {
		t.Errorf("afterwards: %s", got)
	}
}

// Whoever takes the model out of the file meanwhile does not want it any more.
func TestAPullOfWhatTheFileNoLongerNamesChangesNothing(t *testing.T) {
	h, server := withModels(t)
	release := server.hold(t, 0)
	h.daemon()
	ana := h.open("Ana")
	ana.ask("/model big", "1")
	eventually(t, "the pull has begun", func() bool { return len(server.pulled()) == 1 })
	before := h.read("hearth.yaml")
	var kept []string
	for line := range strings.Lines(before) {
		if !strings.Contains(line, "big:") {
			kept = append(kept, line)
		}
	}
	h.write("hearth.yaml", strings.Join(kept, ""))
	eventually(t, "the file is taken up", func() bool { return !slices.Contains(ask(h, viewStatus, query{}).Model.Known, "big") })
	release()
	ana.hears("qwen3:8b was not pulled: the configuration does not name it any more.")
	h.write("hearth.yaml", before)
	eventually(t, "the file is taken up again", func() bool { return slices.Contains(ask(h, viewStatus, query{}).Model.Known, "big") })
	if got := ana.ask("/model", "2"); !strings.Contains(got, "home (in use)") {
		t.Errorf("afterwards: %s", got)
	}
}

func TestAPullThatFailsIsTold(t *testing.T) {
	h, server := withModels(t)
	server.noLibrary = true
	h.daemon()
	ana := h.open("Ana")
	ana.ask("/model big", "1")
	ana.hears("qwen3:8b was not pulled: There is no model called qwen3:8b in Ollama's library: https://ollama.com/library lists them. /model big tries again.")
	if got := ana.ask("/model", "2"); !strings.Contains(got, "home (in use), big,") {
		t.Errorf("afterwards: %s", got)
	}

	// A server that does not answer says nothing of what it has: the choice holds, as for every model.
	server.Close()
	if got := ana.ask("/model big", "3"); got != "From the next step on I use big." {
		t.Errorf("with the server off: %s", got)
	}
}
