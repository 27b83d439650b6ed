package inbox

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"hearth/gateways"
	"hearth/scheduler/when"
	"hearth/vault"
)

// status says how everything is. A member sees their own work, a group nothing that was said elsewhere.
func status(r *request) ([]string, error) {
	var lines []string
	for _, g := range r.gateways {
		lines = append(lines, gatewayLine(g))
	}
	if r.models.InUse != "" {
		lines = append(lines, "Model: "+r.models.InUse)
	}
	paused, err := r.i.opt.Vault.Paused(r.ctx)
	if err != nil {
		return nil, err
	}
	if paused {
		lines = append(lines, "Paused: /resume lets me go on")
	}
	for _, part := range []func(*request) ([]string, error){work, coming, spent, trouble, questions} {
		more, err := part(r)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return pack(lines), nil
}

func gatewayLine(g GatewayStatus) string {
	state := "connected"
	if !g.OK {
		state = "not connected"
	}
	line := strings.ToUpper(gateways.Title(g.Name)[:1]) + gateways.Title(g.Name)[1:] + ": "
	switch detail := oneLine(g.Detail, 200); {
	case detail == "":
		return line + state
	case strings.HasPrefix(detail, state): // "connected as @somebody" says it already
		return line + detail
	default:
		return line + state + " (" + detail + ")"
	}
}

// work counts what is going on: an owner in private sees the household's, others their own, a group its own.
func work(r *request) ([]string, error) {
	conversation := int64(0)
	if !r.private() {
		conversation = r.c.ID
	}
	open, err := r.i.opt.Vault.OpenRuns(r.ctx, conversation)
	if err != nil {
		return nil, err
	}
	count := map[vault.RunState]int{}
	var running []string
	for _, run := range open {
		if r.private() && !r.from.IsOwner() && run.Person != r.from.ID {
			continue
		}
		count[run.State]++
		if run.State == vault.Running && run.Conversation == r.c.ID {
			words, err := r.about(run)
			if err != nil {
				return nil, err
			}
			running = append(running, words)
		}
	}
	line := fmt.Sprintf("Work: %d running, %d waiting for an answer, %d queued", count[vault.Running], count[vault.Waiting], count[vault.Queued])
	if len(running) > 0 {
		line += "; here: " + strings.Join(running, ", ")
	}
	return []string{line}, nil
}

// coming shows the next reminders.
func coming(r *request) ([]string, error) {
	all, err := r.i.opt.Vault.Jobs(r.ctx, r.from.ID, true, maxListed)
	if err != nil {
		return nil, err
	}
	here, _ := r.visible(all)
	if len(here) == 0 {
		return []string{"Reminders: none"}, nil
	}
	lines := []string{fmt.Sprintf("Reminders: %d, next:", len(here))}
	for n, j := range here {
		if n == 3 {
			break
		}
		lines = append(lines, r.jobLine(j))
	}
	return lines, nil
}

// countedRuns is how many runs are added up for the cost; a run is read whole.
const countedRuns = 2000

// usage is what runs took since an instant.
type usage struct {
	in, out int
	usd     float64
	unknown map[string]int // by model: the runs whose price is not known
	more    bool           // there may have been more runs
}

// used adds up: for an owner the household's runs, for a member their own.
func (r *request) used(since time.Time) (usage, error) {
	person := r.from.ID
	if r.from.IsOwner() {
		person = 0
	}
	runs, err := r.i.opt.Vault.Runs(r.ctx, person, countedRuns)
	if err != nil {
		return usage{}, err
	}
	u := usage{unknown: map[string]int{}}
	for _, run := range runs {
		if run.Steps == 0 || lastActive(run).Before(since) {
			continue
		}
		u.in, u.out = u.in+run.TokensIn, u.out+run.TokensOut
		if run.USDKnown {
			u.usd += run.USD
		} else {
			u.unknown[run.Model]++
		}
	}
	u.more = len(runs) == countedRuns && !lastActive(runs[len(runs)-1]).Before(since)
	return u, nil
}

func lastActive(run vault.Run) time.Time {
	for _, at := range []time.Time{run.Ended, run.Claimed, run.Started} {
		if !at.IsZero() {
			return at
		}
	}
	return run.Queued
}

func (u usage) String() string {
	least := ""
	if u.more {
		least = "at least "
	}
	words := fmt.Sprintf("%s%s, %s tokens in, %s out", least, dollars(u.usd), thousands(u.in), thousands(u.out))
	if len(u.unknown) > 0 {
		n := 0
		var models []string
		for name, runs := range u.unknown {
			n += runs
			if name != "" {
				models = append(models, name)
			}
		}
		words += fmt.Sprintf("; unknown price for %s", plural(n, "task", "tasks"))
		if len(models) > 0 {
			words += " (" + strings.Join(sorted(models), ", ") + ")"
		}
	}
	return words
}

// today and month are the beginnings of the person's day and month.
func (r *request) today() time.Time {
	y, m, d := r.now.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, r.zone)
}

func (r *request) month() time.Time {
	y, m, _ := r.now.Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, r.zone)
}

// cost says what today and this month took.
func cost(r *request) ([]string, error) {
	today, err := r.used(r.today())
	if err != nil {
		return nil, err
	}
	month, err := r.used(r.month())
	if err != nil {
		return nil, err
	}
	whose := ""
	if !r.from.IsOwner() {
		whose = "Yours. "
	}
	return say("%sToday: %s.\nThis month: %s.", whose, today, month)
}

// spent is the line of /status about money.
func spent(r *request) ([]string, error) {
	u, err := r.used(r.today())
	if err != nil {
		return nil, err
	}
	return []string{"Today: " + u.String()}, nil
}

// trouble tells an owner in private what does not get out.
func trouble(r *request) ([]string, error) {
	if !r.from.IsOwner() || !r.private() {
		return nil, nil
	}
	parts, err := r.i.opt.Vault.Parts(r.ctx, true, maxListed)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	reasons := map[string]string{}
	for _, p := range parts {
		state := p.State
		if state == "waiting" && p.Error == "" || state == "sending" {
			continue // on its way, as it should be
		}
		count[state]++
		if reasons[state] == "" {
			reasons[state] = p.Error
		}
	}
	var what []string
	for _, state := range []string{"waiting", "failed", "unknown"} {
		if n := count[state]; n > 0 {
			words := map[string]string{"waiting": "waiting to be sent", "failed": "not delivered", "unknown": "perhaps delivered"}[state]
			what = append(what, fmt.Sprintf("%d %s (%s)", n, words, oneLine(reasons[state], 80)))
		}
	}
	if len(what) == 0 {
		return nil, nil
	}
	return []string{"Outbox: " + strings.Join(what, ", ") + ". hearth outbox list shows them"}, nil
}

// questions lists for an owner in private what waits for an answer.
func questions(r *request) ([]string, error) {
	if !r.from.IsOwner() || !r.private() {
		return nil, nil
	}
	open, err := r.i.opt.Vault.Approvals(r.ctx, true, maxListed)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	var what []string
	for n, a := range open {
		if n == 5 {
			what = append(what, fmt.Sprintf("%d more", len(open)-n))
			break
		}
		what = append(what, fmt.Sprintf("%d (%s)", a.ID, subject(a)))
	}
	return []string{"Open questions: " + strings.Join(what, ", ")}, nil
}

// shownRuns is how many runs /runs shows.
const shownRuns = 10

// runs lists what was done last for this person, in this conversation.
func runs(r *request) ([]string, error) {
	all, err := r.i.opt.Vault.Runs(r.ctx, r.from.ID, 200)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, run := range all {
		if !r.private() && run.Conversation != r.c.ID || len(lines) == shownRuns {
			continue
		}
		line, err := r.runLine(run)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return say("Nothing has run here yet.")
	}
	return pack(lines), nil
}

func (r *request) runLine(run vault.Run) (string, error) {
	words, err := r.about(run)
	if err != nil && !errors.Is(err, vault.ErrNotFound) {
		return "", err
	}
	state := string(run.State)
	if run.Reason != "" {
		state += ": " + oneLine(run.Reason, 60)
	}
	line := fmt.Sprintf("%d · %s · %s · %s", run.ID, when.FormatShort(run.Queued.In(r.zone), r.now), words, state)
	if run.Steps > 0 {
		price := "unknown price"
		if run.USDKnown {
			price = dollars(run.USD)
		}
		line += fmt.Sprintf(" · %s, %s tokens, %s", plural(run.Steps, "step", "steps"), thousands(run.TokensIn+run.TokensOut), price)
	}
	return line, nil
}
