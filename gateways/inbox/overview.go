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

// bills adds up since an instant: for an owner the household's, for a member their own.
func (r *request) bills(since time.Time) (vault.Bills, error) {
	person := r.from.ID
	if r.from.IsOwner() {
		person = 0
	}
	return r.i.opt.Vault.Bills(r.ctx, since, person)
}

// bill is one line of what something took.
func bill(b vault.Bill) string {
	words := fmt.Sprintf("%s, %s tokens in, %s out", dollars(b.USD), thousands(b.In), thousands(b.Out))
	if b.Cut > 0 {
		words += fmt.Sprintf("; %s cut off or under way, at most %s of it", plural(b.Cut, "request", "requests"), dollars(b.CutUSD))
	}
	if b.Unknown > 0 {
		words += fmt.Sprintf("; unknown price for %s", plural(b.Unknown, "request", "requests"))
	}
	return words
}

// shownBills is how many lines /cost has for each way to look at it.
const shownBills = 5

// apart are the lines of what took it, the dearest first.
func apart(head string, bills []vault.Bill, name func(vault.Bill) string) []string {
	if len(bills) == 0 {
		return nil
	}
	lines := []string{head}
	for n, b := range bills {
		if n == shownBills {
			lines = append(lines, fmt.Sprintf("· and %d more", len(bills)-n))
			break
		}
		lines = append(lines, "· "+name(b)+": "+bill(b))
	}
	return lines
}

// today and month are the beginnings of the household's day and month, by which limits go.
func (r *request) today() time.Time {
	y, m, d := r.now.In(r.household()).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, r.household())
}

func (r *request) month() time.Time {
	y, m, _ := r.now.In(r.household()).Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, r.household())
}

func (r *request) household() *time.Location {
	if r.i.opt.Zone == nil {
		return r.zone
	}
	return r.i.opt.Zone(vault.Person{})
}

// cost says what today and this month took, and what took it: models, and for an owner in private people and jobs.
func cost(r *request) ([]string, error) {
	today, err := r.bills(r.today())
	if err != nil {
		return nil, err
	}
	month, err := r.bills(r.month())
	if err != nil {
		return nil, err
	}
	whose := ""
	if !r.from.IsOwner() {
		whose = "Yours. "
	}
	lines := []string{whose + "Today: " + bill(today.Total), "This month: " + bill(month.Total)}
	lines = append(lines, apart("This month by model:", month.ByModel, func(b vault.Bill) string { return oneLine(b.Name, 40) })...)
	if !r.private() {
		return pack(lines), nil
	}
	if r.from.IsOwner() {
		lines = append(lines, apart("By person:", month.ByPerson, func(b vault.Bill) string {
			if b.Name == "" {
				return "nobody in particular"
			}
			return oneLine(b.Name, 40)
		})...)
	}
	lines = append(lines, apart("By job:", month.ByJob, func(b vault.Bill) string { return fmt.Sprintf("%d (%s)", b.ID, oneLine(b.Name, 40)) })...)
	return pack(lines), nil
}

// spent is the line of /status about money.
func spent(r *request) ([]string, error) {
	b, err := r.bills(r.today())
	if err != nil {
		return nil, err
	}
	return []string{"Today: " + bill(b.Total)}, nil
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
