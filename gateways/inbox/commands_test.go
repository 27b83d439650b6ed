package inbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The commands that docs/contract.md promises.
const promised = "start help status stop pause resume new model cost runs remind jobs cancel snooze remember memory pin forget why approve deny answer rules rule pair timezone"

func TestTheTableIsTheContracts(t *testing.T) {
	var have []string
	for _, c := range table() {
		have = append(have, c.name)
		if c.about == "" || c.do == nil {
			t.Errorf("/%s has no words or does nothing", c.name)
		}
	}
	if diff := cmp.Diff(strings.Fields(promised), have); diff != "" {
		t.Error(diff)
	}
}

// Every command answers, whatever stands behind it, with a sentence and without an error.
func TestEveryCommandAnswersAnything(t *testing.T) {
	w := newWorld(t)
	for _, c := range table() {
		for _, arg := range []string{"", "1", "99999999999999999999", "x, y", ", ,", "1 x y z", "drop 1", strings.Repeat("long ", 700), "\u202e\"'%s"} {
			for _, who := range []string{ana, ben} {
				got := w.ask(who, "/"+c.name+" "+arg)
				if strings.TrimSpace(got) == "" || strings.Contains(got, "%!") || strings.Contains(got, "no such row") || strings.Contains(got, "..") && !strings.Contains(arg, ".") {
					t.Errorf("/%s %s: %q", c.name, arg, got)
				}
			}
		}
	}
}

func TestUnknownCommandsNameTheNearest(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/statsu", "I do not know /statsu. Did you mean /status? /help lists all commands.")
	w.want(ana, "/puase", "I do not know /puase. Did you mean /pause? /help lists all commands.")
	w.want(ben, "/puase", "I do not know /puase. /help lists all commands.")
	w.want(ana, "/zebra", "I do not know /zebra. /help lists all commands.")
}

func TestHelpShowsWhatOneCanUse(t *testing.T) {
	w := newWorld(t)
	for _, name := range strings.Fields(promised) {
		if !strings.Contains(w.ask(ana, "/help"), "\n/"+name) {
			t.Errorf("/help does not name /%s", name)
		}
	}
	got := w.ask(ben, "/help")
	for _, owners := range []string{"/pause", "/approve", "/rules"} {
		if strings.Contains(got, owners) {
			t.Errorf("a member is told of %s", owners)
		}
	}
	if !strings.Contains(got, "\n/remind WHEN, TEXT – reminds you, for example /remind tomorrow at 9, call mum; /remind every day at 8, brief tells what is due, blocked or waiting\n") {
		t.Errorf("/help: %q", got)
	}
}

func TestStartGreets(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/start", "Hello Ana. Write to me as you would to a person: I answer, remember, and remind you. /help lists what works at any time.")
}

func TestCommandsWorkInAnyForm(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"/jobs", "/JOBS", " /jobs", "/jobs@hearth_bot", "/jobs\n", "／jobs", "/jobs!"} {
		w.want(ana, text, "You have no reminders. /remind WHEN, TEXT makes one.")
	}
}

func TestPack(t *testing.T) {
	long := strings.Repeat("x", maxAnswer+50)
	if diff := cmp.Diff([]string{"a\nb", long, "c"}, pack([]string{"a", "b", long, "c"})); diff != "" {
		t.Error(diff)
	}
	if got := pack(slices.Repeat([]string{strings.Repeat("y", 999)}, 4)); len(got) != 2 || len(got[0]) != 2999 {
		t.Errorf("%d parts", len(got))
	}
	if got := pack(nil); got != nil {
		t.Errorf("nothing makes %q", got)
	}
}
