package activity

import (
	"fmt"
	"strings"
	"time"

	"hearth/vault"
)

// Doing says in a word or three what a tool does. Its arguments are never shown: they are the model's words.
func Doing(tool string) string {
	switch tool {
	case "":
		return "thinking"
	case "remind":
		return "setting a reminder"
	case "follow_up":
		return "planning a follow-up"
	case "jobs":
		return "looking at the reminders"
	case "change_job":
		return "changing a reminder"
	case "cancel_job":
		return "cancelling a reminder"
	case "remember":
		return "noting something down"
	case "recall":
		return "looking into my memory"
	case "forget":
		return "forgetting something"
	case "send":
		return "sending a message"
	case "list_files":
		return "looking at the files"
	case "read_file":
		return "reading a file"
	case "write_file":
		return "writing a file"
	case "web_fetch":
		return "reading a page"
	case "web_search":
		return "searching the web"
	case "run_command":
		return "running a command"
	case "use_skill":
		return "reading a skill"
	}
	return "using a tool"
}

// working says what a run that has not ended is doing. writing: its answer can be seen growing.
func working(line vault.Line, worked time.Duration, writing bool) string {
	r := line.Of
	switch {
	case r.State == vault.Waiting && line.Asked != 0:
		return fmt.Sprintf("⏸ Waiting for an answer to question %d", line.Asked)
	case r.State == vault.Waiting:
		return "⏸ Waiting for an answer"
	case r.State == vault.Queued && r.Waits == "":
		return "⏳ I go on with this in a moment"
	case r.Waits != "":
		return "⏳ " + r.Waits
	}
	doing, step := Doing(line.Tool), r.Steps
	if line.Tool == "" {
		step++ // the one that it thinks about
	}
	if writing {
		doing = "writing"
	}
	words := "⏳ " + strings.ToUpper(doing[:1]) + doing[1:]
	if step > 1 {
		words += fmt.Sprintf(", step %d", step)
	}
	switch {
	case worked >= time.Minute:
		words += fmt.Sprintf(" (%d min)", int(worked.Minutes()))
	case worked >= 30*time.Second:
		words += " (30 s)"
	}
	if line.More {
		words += "; what you have just written comes next"
	}
	return words
}

// ended says how a run has ended. What came of it stands in its answer.
func ended(r vault.Run) string {
	took := took(r.Worked)
	switch {
	case r.State == vault.Failed:
		return "✗ Given up after " + took
	case r.State == vault.Stopped:
		return "■ Stopped after " + took
	case strings.HasPrefix(r.Reason, "joined"):
		return "✓ Taken up together with what you wrote before"
	case r.Steps > 1:
		return fmt.Sprintf("✓ Done in %s, %d steps", took, r.Steps)
	}
	return "✓ Done in " + took
}

func took(d time.Duration) string {
	d = max(d.Round(time.Second), time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
