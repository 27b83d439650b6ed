package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// commands is the table of everything that can be typed. A group's listing is what the group alone means.
func commands() []command {
	return []command{
		{name: "run", about: "the daemon: carries messages, keeps promises; logs to stderr", run: cmdRun},
		{name: "chat", about: "talk here, through the running daemon if there is one", flags: []string{"as", "m"}, run: cmdChat},
		{name: "init", about: "set up: asks what is needed, checks each answer, writes the configuration", run: cmdInit},
		{name: "check", about: "validate the configuration: all problems, one a line", run: cmdCheck},
		{name: "doctor", about: "look at everything that can be wrong, and how to mend it", flags: []string{"json", "accept-clock"}, run: cmdDoctor},
		{name: "status", about: "gateways, model in use, queue, running runs, next jobs, today's spend", flags: []string{"json"}, run: cmdStatus},

		{name: "jobs list", about: "reminders and other wake-ups to come", flags: []string{"json", "all", "person"}, run: cmdJobs},
		{name: "jobs add", args: "WHEN TEXT", about: "a new reminder", flags: []string{"person"}, min: 1, max: -1, text: true, run: cmdJobsAdd},
		{name: "jobs cancel", args: "N…", about: "end jobs", min: 1, max: -1, run: cmdJobsCancel},
		{name: "jobs snooze", args: "N WHEN", about: "once more, later", min: 2, max: -1, text: true, run: cmdJobsSnooze},
		{name: "jobs preview", args: "WHEN", about: "what a time phrase means; nothing is stored", flags: []string{"json", "from", "zone", "n"}, min: 1, max: -1, text: true, run: cmdJobsPreview},

		{name: "memory list", about: "what is remembered", flags: []string{"json", "person"}, run: cmdMemory},
		{name: "memory search", args: "QUERY", about: "find memories by their words", flags: []string{"json", "person"}, min: 1, max: -1, text: true, run: cmdMemorySearch},
		{name: "memory pin", args: "N…", about: "always in view of the model", min: 1, max: -1, run: cmdMemoryPin},
		{name: "memory unpin", args: "N…", about: "no longer always in view", min: 1, max: -1, run: cmdMemoryPin},
		{name: "memory forget", args: "N…", about: "delete, wherever the words stand", min: 1, max: -1, run: cmdMemoryForget},
		{name: "memory export", about: "as JSON, one memory a line", flags: []string{"person"}, run: cmdMemoryExport},

		{name: "runs list", about: "what was worked on", flags: []string{"json", "person", "n"}, run: cmdRuns},
		{name: "runs show", args: "N", about: "the whole story of one: steps, calls, arguments, results, decisions, tokens, cost", flags: []string{"json"}, min: 1, max: 1, run: cmdRunsShow},
		{name: "runs stop", args: "N", about: "end one that has not ended", min: 1, max: 1, run: cmdRunsStop},
		{name: "runs resume", args: "N", about: "take up again one that was stopped or failed", min: 1, max: 1, run: cmdRunsResume},

		{name: "approvals list", about: "questions that wait for an answer", flags: []string{"json", "all"}, run: cmdApprovals},
		{name: "approvals approve", args: "N", about: "yes, this once", flags: []string{"as"}, min: 1, max: 1, run: cmdApprovalsDecide},
		{name: "approvals deny", args: "N", about: "no", flags: []string{"as"}, min: 1, max: 1, run: cmdApprovalsDecide},
		{name: "approvals answer", args: "N CHOICE", about: "one of the choices", flags: []string{"as"}, min: 2, max: 2, run: cmdApprovalsDecide},
		{name: "rules list", about: "what was answered with always", flags: []string{"json"}, run: cmdRules},
		{name: "rules drop", args: "N", about: "ask again from now on", min: 1, max: 1, run: cmdRulesDrop},

		{name: "outbox list", about: "what has not been delivered yet", flags: []string{"json", "all"}, run: cmdOutbox},
		{name: "outbox retry", args: "N", about: "send again what failed", min: 1, max: 1, run: cmdOutboxRetry},
		{name: "outbox drop", args: "N", about: "give up what is not sent", min: 1, max: 1, run: cmdOutboxDrop},

		{name: "people list", about: "who is known, and how", flags: []string{"json"}, run: cmdPeople},
		{name: "people remove", args: "NAME", about: "make somebody a stranger again", min: 1, max: -1, text: true, run: cmdPeopleRemove},
		{name: "pair", about: "a one-time code that makes whoever sends it a known person", flags: []string{"person", "role"}, run: cmdPair},

		{name: "whatsapp pair", about: "link a WhatsApp account: a QR code to scan, or with --phone a code to type", flags: []string{"phone"}, run: cmdWhatsAppPair},

		{name: "backup", args: "FILE", about: "vault and media, consistent while running", min: 1, max: 1, run: cmdBackup},
		{name: "restore", args: "FILE", about: "verifies the backup first, keeps the old vault aside", min: 1, max: 1, run: cmdRestore},
		{name: "export", about: "everything about a person, or the record of a run, as JSON lines", flags: []string{"person", "run"}, run: cmdExport},
		{name: "version", about: "version, Go version, licences", run: cmdVersion},
	}
}

// groups gives the first words of all commands, in the table's order.
func groups() []string {
	var out []string
	for _, c := range commands() {
		if !slices.Contains(out, c.group()) {
			out = append(out, c.group())
		}
	}
	return out
}

// helpText lists the commands, a group in one line.
func helpText() string {
	var b strings.Builder
	b.WriteString("Hearth, a personal agent that lives on your own machine.\n\nUsage: hearth [--config FILE] COMMAND [flags]\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, group := range groups() {
		var subs []string
		about, args := "", ""
		for _, c := range commands() {
			if c.group() != group {
				continue
			}
			if about == "" {
				about = c.about
			}
			if parts := c.words(); len(parts) == 2 {
				subs = append(subs, parts[1])
			} else {
				args = c.args
			}
		}
		left := strings.TrimSpace(group + " " + args)
		if len(subs) > 0 {
			left = group + " [" + strings.Join(subs, "|") + "]"
		}
		fmt.Fprintf(w, "  %s\t%s\n", left, about)
	}
	_ = w.Flush() // into memory
	b.WriteString("\nEvery listing takes --json; `hearth COMMAND --help` tells more. `hearth init` sets things up; without, `hearth chat` works at once.\n")
	return b.String()
}

// commandHelp tells about one command, or all of a group.
func commandHelp(group string) string {
	var b strings.Builder
	var flags []string
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		if c.group() != group {
			continue
		}
		fmt.Fprintf(w, "  hearth %s\t%s\n", strings.TrimSpace(c.name+" "+c.args), c.about)
		for _, f := range c.flags {
			if !slices.Contains(flags, f) {
				flags = append(flags, f)
			}
		}
	}
	fmt.Fprintln(w)
	for _, f := range append(flags, everyFlag...) {
		fmt.Fprintf(w, "  %s\t%s\n", strings.TrimSpace(dashed(f)+" "+flagTable[f].value), flagTable[f].about)
	}
	_ = w.Flush() // into memory
	return b.String()
}
