package inbox

import (
	"strings"
	"testing"
)

func TestRememberSaysWhatOfARuleIsEnforced(t *testing.T) {
	w := newWorld(t)
	const shown = "\nI will be reminded of this in every prompt; no lock in the program enforces it."
	w.want(ana, "/remember Never run commands", "Noted (memory 1): Never run commands\nFrom now on I run no commands.")
	w.want(ana, "/remember never run commands!", "I know that already (memory 1): Never run commands\nFrom now on I run no commands.")
	w.want(ana, "/remember always answer in Portuguese", "Noted (memory 2): always answer in Portuguese"+shown)
	w.want(ana, "/remember I never eat fish", "Noted (memory 3): I never eat fish")
	w.want(ana, "/remember never write to my boss", "Noted (memory 4): never write to my boss\nNobody I know is called so, and therefore from now on I ask before each message to anybody.")
	w.want(ana, "/memory", "4 · never write to my boss (rule)\n3 · I never eat fish\n2 · always answer in Portuguese (rule)\n1 · Never run commands (rule)")
	w.want(ana, "/rules", "Memory 1 · I run no commands, whatever was answered with always (/forget 1 ends it)\nMemory 4 · I ask before each message to anybody, whatever was answered with always (/forget 4 ends it)")
	if got := w.ask(ana, "/forget 1"); !strings.Contains(got, "It binds me no longer.") {
		t.Errorf("/forget: %q", got)
	}
	if got := w.ask(ana, "/forget 3"); strings.Contains(got, "binds") {
		t.Errorf("/forget of a fact: %q", got)
	}
	if got := w.ask(ana, "/rules"); strings.Contains(got, "commands") {
		t.Errorf("after /forget: %q", got)
	}
}
