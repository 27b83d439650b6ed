package inbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// LOOP-08: A runs, B waits, /stop, /stop again, then C.
func TestLOOP08StopSaysWhatWasStoppedAndWhatIsKept(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/stop", "Nothing is running.")
	a := w.run(ana, "task A please")
	w.accept(w.message(ana, "task B please"))
	w.want(ana, "/stop", "Stopped: “task A please”.\n1 message is waiting and comes next.")
	if got := w.runState(a.Run.ID); got != vault.Stopped {
		t.Errorf("A is %s", got)
	}
	w.want(ana, "/stop", "Nothing is running.\n1 message is waiting and comes next.")
	if b := w.claim(); b.Messages[0].Text != "task B please" {
		t.Errorf("next is %+v", b.Messages)
	}
	w.accept(w.message(ana, "task C\nplease "+strings.Repeat("x", 100)))
	w.accept(w.message(ana, "task D"))
	w.want(ana, "/stop", "Stopped: “task B please”.\n2 messages are waiting and come next.")
	w.claim()
	w.want(ana, "/stop", "Stopped: “task C please "+strings.Repeat("x", 45)+"…”.\n1 message is waiting and comes next.")
}

func TestLOOP07StopOfAScheduledTaskAndAWaitingQuestion(t *testing.T) {
	w := newWorld(t)
	p := w.person("Ana")
	c, err := w.v.PrivateConversation(t.Context(), p.ID)
	w.check(err)
	for n := range 2 {
		j, err := w.v.AddJob(t.Context(), vault.Job{Kind: vault.Do, Person: p.ID, Conversation: c.ID, To: vault.Address{Gateway: "telegram", Chat: ana}, Text: "look at the garden", Zone: "UTC", Next: w.now.Add(time.Duration(n))})
		w.check(err)
		w.check(w.v.Fire(t.Context(), j, vault.Firing{Due: j.Next}))
	}
	w.claim()
	w.ask(ana, "/pause")
	w.want(ana, "/stop", "Stopped: “look at the garden”.\n1 scheduled task is waiting and comes next after /resume.")
	w.ask(ana, "/resume")
	w.claim()
	w.want(ana, "/stop", "Stopped: “look at the garden”.")
	n := w.question("call")
	w.want(ana, "/stop", "Stopped: “make the mark”.")
	w.want(ana, "/approve 1", "Question 1 (run_command) was closed on Fri 4 Dec 2026, 09:00 (Europe/Lisbon), when its task was stopped: it was not done.")
	if a, err := w.v.Approval(t.Context(), n); err != nil || a.State != "expired" {
		t.Errorf("the question is %q (%v)", a.State, err)
	}
}

func TestStopSaysWhatMayHaveHappened(t *testing.T) {
	w := newWorld(t)
	p := w.run(ana, "tell Ben and make the mark")
	w.step(p.Run.ID, vault.Call{Tool: "send", Effect: "acts", Args: `{"person":"Ben","text":"parcel is\non its way"}`}, false)
	again, err := w.v.Progress(t.Context(), p.Run.ID)
	w.check(err)
	w.check(w.v.StartCall(t.Context(), again.Calls[0]))
	w.want(ana, "/stop", "Stopped: “tell Ben and make the mark”.\nsend (person: Ben, text: parcel is on its way) had begun: it may or may not have happened, and I do not repeat it.")
}

func TestDeed(t *testing.T) {
	for args, want := range map[string]string{
		`{}`: "tool", ``: "tool", `[1]`: "tool", `{"b":2,"a":"x"}`: "tool (a: x, b: 2)", `{"a":"` + strings.Repeat("y", 100) + `"}`: "tool (a: " + strings.Repeat("y", 59) + "…)",
	} {
		if got := deed(vault.Call{Tool: "tool", Args: args}); got != want {
			t.Errorf("%s: %q", args, got)
		}
	}
}

func TestStopIsForItsOwnConversation(t *testing.T) {
	w := newWorld(t)
	a := w.run(ana, "task A please")
	w.want(ben, "/stop", "Nothing is running.")
	if got := said(w.hand(w.inGroup(ana, "/stop"))); got != "Nothing is running." {
		t.Errorf("in the group: %q", got)
	}
	if got := w.runState(a.Run.ID); got != vault.Running {
		t.Errorf("A is %s", got)
	}
}

func TestPauseAndResumeAreTheOwnersAndForAll(t *testing.T) {
	w := newWorld(t)
	w.want(ben, "/pause", refusal)
	w.want(ben, "/resume", refusal)
	w.want(ana, "/resume", "I am not paused.")
	w.want(ana, "/pause", "Paused, for everybody: I keep what is written and answer after /resume. Reminders still come.")
	w.want(ana, "/pause", "I am paused already. /resume lets me go on.")
	w.accept(w.message(ben, "hello?"))
	if _, err := w.v.Claim(t.Context()); err == nil {
		t.Error("a run began in the pause")
	}
	w.want(ana, "/resume", "I go on. 1 task was waiting.")
	w.claim()
	w.ask(ana, "/pause")
	w.want(ana, "/resume", "I go on. Nothing was waiting.")
}

func TestNewTalk(t *testing.T) {
	w := newWorld(t)
	p := w.run(ana, "the code is CANARY")
	w.step(p.Run.ID, vault.Call{Tool: "recall", Effect: "reads"}, false)
	w.check(w.v.EndRun(t.Context(), p.Run.ID, vault.Ending{State: vault.Done, Reply: "noted"}))
	w.want(ana, "/new", "A new talk begins. What was said before is kept, but I no longer look at it. Memories and reminders stay.")
	next := w.run(ana, "what was it?")
	entries, err := w.v.History(t.Context(), next.Conversation, next.Run.Pos, 100)
	w.check(err)
	for _, e := range entries {
		if e.Run != nil {
			t.Errorf("the model still sees %+v", e.Run.Messages)
		}
	}
}

// SEC-91 of the acceptance checks: a member looks, an owner switches.
func TestModel(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/model", "No model is set up.")
	w.opt.Models = func(context.Context) ModelSet {
		return ModelSet{Names: []string{"home", "cloud", "offline"}, InUse: "home", YAML: "home"}
	}
	w.box = New(w.opt)
	setting := func() string {
		name, err := w.v.Setting(t.Context(), SettingModel)
		w.check(err)
		over, err := w.v.Setting(t.Context(), SettingModelOver)
		w.check(err)
		return name + "/" + over
	}
	w.want(ana, "/model", "Models: home (in use), cloud, offline. /model NAME switches.")
	w.want(ben, "/model", "Models: home (in use), cloud, offline.")
	w.want(ben, "/model cloud", refusal)
	w.want(ana, "/model clowd", `There is no model "clowd". Did you mean cloud? Models: home (in use), cloud, offline.`)
	w.want(ana, "/model zebra", `There is no model "zebra". Models: home (in use), cloud, offline.`)
	if got := setting(); got != "/" {
		t.Errorf("settings: %s", got)
	}
	w.want(ana, "/model CLOUD", "From the next step on I use cloud.")
	if got := setting(); got != "cloud/home" {
		t.Errorf("settings: %s", got)
	}
	w.want(ana, "/model home", "home is in use already.")
	if got := setting(); got != "/" {
		t.Errorf("after going back: %s", got)
	}
}

// A model that its server has not installed is noted as one to be pulled, and the one in use goes on.
func TestAModelThatIsNotInstalledIsNotedAsOneToBePulled(t *testing.T) {
	w := newWorld(t)
	w.opt.Models = func(context.Context) ModelSet {
		return ModelSet{Names: []string{"home", "big", "cloud", "offline"}, InUse: "home", YAML: "home"}
	}
	var asked []string
	w.opt.Missing = func(_ context.Context, name string) string {
		asked = append(asked, name)
		return map[string]string{"big": "qwen3:8b", "home": "qwen3:4b"}[name]
	}
	w.box = New(w.opt)
	setting := func(name string) string {
		value, err := w.v.Setting(t.Context(), name)
		w.check(err)
		return value
	}
	// Who only looks, or may not, asks no server.
	w.want(ana, "/model", "Models: home (in use), big, cloud, offline. /model NAME switches.")
	w.want(ben, "/model big", refusal)
	w.want(ana, "/model bgi", `There is no model "bgi". Did you mean big? Models: home (in use), big, cloud, offline.`)
	if len(asked) > 0 || setting(SettingPull) != "" {
		t.Errorf("asked for %v, noted %s", asked, setting(SettingPull))
	}
	w.want(ana, "/model BIG", "qwen3:8b is not installed on its server, so I have it pulled now and say when it is there. Until then home answers; /model home ends the pull.")
	p := ReadPull(setting(SettingPull))
	if p.Name != "big" || p.Model != "qwen3:8b" || p.To.Chat != ana || p.To.Gateway != "telegram" || p.To.Account != "bot" || p.Conversation == 0 || p.Key == "" {
		t.Errorf("noted %+v", p)
	}
	if setting(SettingModel) != "" {
		t.Errorf("%s is in use already", setting(SettingModel))
	}
	w.want(ana, "/model big", "qwen3:8b is being pulled already. I say when it is there.")
	if again := ReadPull(setting(SettingPull)); again != p {
		t.Errorf("noted anew: %+v", again)
	}
	w.want(ana, "/model", "Models: home (in use), big (being pulled), cloud, offline. /model NAME switches.")
	w.want(ana, "/model cloud", "From the next step on I use cloud. qwen3:8b is not pulled any further.")
	if setting(SettingPull) != "" || setting(SettingModel) != "cloud" {
		t.Errorf("after another choice: %s, %s", setting(SettingPull), setting(SettingModel))
	}
	// The one that the file names can be missing too.
	w.want(ana, "/model home", "qwen3:4b is not installed on its server, so I have it pulled now and say when it is there.")
}

func FuzzReadPull(f *testing.F) {
	f.Add(`{"name":"big","model":"qwen3:8b","key":"command:telegram:1"}`)
	f.Add(`{"name":"big"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, setting string) {
		if p := ReadPull(setting); p != (Pull{}) && (p.Model == "" || p.Key == "") {
			t.Errorf("%q gives %+v", setting, p)
		}
	})
}
