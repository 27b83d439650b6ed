package inbox

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// maxText is the longest text of a reminder, in letters.
const maxText = 2000

const remindUsage = "Write it as /remind WHEN, TEXT, for example /remind tomorrow at 9, call mum."

// remind stores a reminder and confirms it from the stored row.
func remind(r *request) ([]string, error) {
	if r.arg == "" {
		return say("When, and of what? %s", remindUsage)
	}
	arg := r.arg
	if first, rest, ok := strings.Cut(arg, " "); ok && strings.EqualFold(first, "me") {
		arg = strings.TrimSpace(rest) // "/remind me in 5 minutes to call"
	}
	res, words, text, err := r.read(arg)
	if err != nil {
		return r.question(err)
	}
	if text == "" {
		return say("What shall I remind you of? %s", remindUsage)
	}
	if n := len([]rune(text)); n > maxText {
		return say("The text has %d letters; at most %d fit into a reminder. Nothing was stored.", n, maxText)
	}
	at, late, err := r.ahead(res)
	if err != nil {
		return r.question(err)
	}
	j, err := r.tx.AddJob(vault.Job{
		Key: r.key(), Kind: vault.Say, Person: r.from.ID, Conversation: r.c.ID, To: r.in.Address(),
		Text: text, Spec: res.Spec, Words: words, Zone: r.zone.String(), Next: at,
	})
	if errors.Is(err, vault.ErrTooManyJobs) {
		return say("%s Nothing was stored.", sentence(err.Error()))
	}
	if err != nil {
		return nil, err
	}
	lines := []string{r.receipt(j)}
	if late {
		lines = append(lines, "That time had passed when your message reached me, so it comes at once.")
	}
	if res.Note != "" {
		lines = append(lines, sentence(res.Note))
	}
	return []string{strings.Join(lines, "\n")}, nil
}

// read finds time and text. With a comma the time is what stands before it, as far as that is a time; a time may hold
// commas itself ("Fri 4 Dec 2026, 09:00"), so the longest one wins. Without, it is found at the beginning or the end.
func (r *request) read(arg string) (res when.Result, words, text string, err error) {
	said := r.said()
	var first error
	found := false
	for at, letter := range arg {
		if at > maxWhen {
			break
		}
		if letter != ',' {
			continue
		}
		one, err := when.Parse(strings.TrimSpace(arg[:at]), said)
		if err == nil {
			res, words, text, found = one, strings.TrimSpace(arg[:at]), strings.TrimSpace(arg[at+1:]), true
		} else if first == nil {
			first = err
		}
	}
	if found {
		return res, words, text, nil
	}
	var past *when.PastError
	if errors.As(first, &past) {
		return res, "", "", first
	}
	res, text, err = when.Split(arg, said)
	if err != nil {
		if whole, err := when.Parse(arg, said); err == nil {
			return whole, arg, "", nil
		}
		if first != nil { // who writes a comma means the words before it
			err = first
		}
		return res, "", "", err
	}
	text = strings.TrimSpace(text)
	words = strings.TrimSpace(strings.Replace(arg, text, "", 1))
	return res, words, text, nil
}

// maxWhen is the longest time phrase before a comma, in bytes.
const maxWhen = 200

// maxDelay is how old a message may be for its words to count from when it was sent.
const maxDelay = 24 * time.Hour

// said is when the person spoke: the time of sending, unless it can hardly be right.
func (r *request) said() time.Time {
	if ago := r.now.Sub(r.in.Sent); ago >= 0 && ago <= maxDelay {
		return r.in.Sent.In(r.zone)
	}
	return r.now
}

// ahead gives the instant to store. Between the words and their arrival time has gone by: a rhythm goes on with its next
// instant, and what was to come once is late and comes at once.
func (r *request) ahead(res when.Result) (at time.Time, late bool, err error) {
	if res.At.After(r.now) {
		return res.At, false, nil
	}
	if res.Spec == "" {
		return res.At, true, nil
	}
	next, ok, err := when.Next(res.Spec, r.zone, r.now)
	if err == nil && !ok {
		err = &when.PastError{At: res.At, Now: r.now}
	}
	return next, false, err
}

// question is the answer to words that were not understood. Nothing has been stored.
func (r *request) question(err error) ([]string, error) {
	var ask *when.AskError
	var past *when.PastError
	switch {
	case errors.As(err, &ask):
		return say("%s Nothing was stored.", sentence(ask.Question))
	case errors.As(err, &past):
		return say("%s Nothing was stored.", sentence(past.Error()))
	}
	return say("I could not read that time: %s. Nothing was stored.", strings.TrimSuffix(err.Error(), "."))
}

// sentence begins with a capital and ends like a sentence.
func sentence(s string) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) == 0 {
		return ""
	}
	out := strings.ToUpper(string(r[0])) + string(r[1:])
	if strings.ContainsRune(".?!", r[len(r)-1]) {
		return out
	}
	return out + "."
}

// kind is the word for a job.
func kind(j vault.Job) string {
	if j.Kind == vault.Do {
		return "Follow-up"
	}
	return "Reminder"
}

// receipt confirms a job from its row.
func (r *request) receipt(j vault.Job) string {
	recurs := ""
	if j.Spec != "" {
		recurs = when.Describe(j.Spec)
	}
	return when.Receipt(kind(j), j.ID, j.Next.In(zoneOf(j, r.zone)), recurs, j.Text)
}

// zoneOf is the zone whose wall clock a job goes by.
func zoneOf(j vault.Job, otherwise *time.Location) *time.Location {
	if zone, err := time.LoadLocation(j.Zone); err == nil && j.Zone != "" {
		return zone
	}
	return otherwise
}

// listedJobs is the most that /jobs writes out.
const listedJobs = 50

// jobs lists what is to come. In a group it is what was made there: the rest is nobody else's business.
func jobs(r *request) ([]string, error) {
	all, err := r.i.opt.Vault.Jobs(r.ctx, r.from.ID, true, maxListed)
	if err != nil {
		return nil, err
	}
	here, elsewhere := r.visible(all)
	var lines []string
	for n, j := range here {
		if n == listedJobs {
			lines = append(lines, fmt.Sprintf("… and %d more: hearth jobs list", len(here)-n))
			break
		}
		lines = append(lines, r.jobLine(j))
	}
	switch {
	case len(here) == 0 && r.private():
		lines = append(lines, "You have no reminders. /remind WHEN, TEXT makes one.")
	case len(here) == 0:
		lines = append(lines, "You have no reminders in this group. /remind WHEN, TEXT makes one.")
	default:
		lines = append([]string{plural(len(here), "reminder, next first:", "reminders, next first:")}, lines...)
	}
	if elsewhere > 0 {
		lines = append(lines, fmt.Sprintf("%d more in your private chat.", elsewhere))
	}
	if r.from.IsOwner() && r.private() {
		everybody, err := r.i.opt.Vault.CountJobs(r.ctx)
		if err != nil {
			return nil, err
		}
		if n := everybody - int64(len(all)); n > 0 {
			lines = append(lines, fmt.Sprintf("%d of others are not shown.", n))
		}
	}
	return pack(lines), nil
}

// visible keeps the jobs that may be named in this conversation and counts the others.
func (r *request) visible(all []vault.Job) (here []vault.Job, elsewhere int) {
	for _, j := range all {
		if r.sees(j) {
			here = append(here, j)
		} else {
			elsewhere++
		}
	}
	return here, elsewhere
}

// sees reports whether a job may be named here.
func (r *request) sees(j vault.Job) bool { return r.private() || j.Conversation == r.c.ID }

// jobLine writes a job for a listing.
func (r *request) jobLine(j vault.Job) string {
	line := fmt.Sprintf("%d · ", j.ID)
	if j.Kind == vault.Do {
		line += "follow-up, "
	}
	if j.Spec != "" {
		line += when.Describe(j.Spec) + ", next "
	}
	switch {
	case !j.Next.IsZero():
		line += when.Format(j.Next.In(zoneOf(j, r.zone)))
	default:
		line += "on its way"
	}
	line += ": " + j.Text
	var notes []string
	if j.State == vault.JobPaused {
		notes = append(notes, "paused")
	}
	if j.LastResult != "" && !j.LastDue.IsZero() {
		notes = append(notes, "last "+when.FormatShort(j.LastDue.In(zoneOf(j, r.zone)), r.now)+": "+j.LastResult)
	}
	if len(notes) > 0 {
		line += " (" + strings.Join(notes, "; ") + ")"
	}
	return line
}

// noJob is the answer for a number that is nobody's, somebody else's, or ended.
func noJob(n int64) ([]string, error) {
	return say("There is no reminder %d. /jobs lists them.", n)
}

// job finds a job that this person may touch from here.
func (r *request) job(n int64) (vault.Job, error) {
	j, err := r.i.opt.Vault.Job(r.ctx, n)
	if err == nil && (!r.sees(j) || j.Person != r.from.ID && !r.from.IsOwner()) {
		err = vault.ErrNotFound
	}
	return j, err
}

// cancel ends a job.
func cancel(r *request) ([]string, error) {
	n, _, ok := number(r.arg)
	if !ok {
		return say("Which one? Write it as /cancel N, for example /cancel 7. /jobs lists the numbers.")
	}
	before, err := r.job(n)
	if err == nil {
		if _, err = r.tx.CancelJob(n, r.from); err == nil {
			err = r.settle(before, "cancelled")
		}
	}
	if errors.Is(err, vault.ErrNotFound) {
		return noJob(n)
	}
	if err != nil {
		return nil, err
	}
	what := "was on its way"
	if !before.Next.IsZero() {
		what = when.Format(before.Next.In(zoneOf(before, r.zone)))
	}
	if before.Spec != "" {
		what = when.Describe(before.Spec) + ", next " + what
	}
	return say("Cancelled %s %d (%s): %s", strings.ToLower(kind(before)), n, what, before.Text)
}

const snoozeUsage = "Write it as /snooze N WHEN, for example /snooze 7 20 minutes. /jobs lists the numbers."

// snooze says a job once more. One that recurs keeps its rhythm.
func snooze(r *request) ([]string, error) {
	n, words, ok := number(r.arg)
	if !ok {
		return say("Which one? %s", snoozeUsage)
	}
	if words == "" {
		return say("Until when? %s", snoozeUsage)
	}
	before, err := r.job(n)
	if errors.Is(err, vault.ErrNotFound) {
		return noJob(n)
	}
	if err != nil {
		return nil, err
	}
	res, words, err := r.until(words)
	if err != nil {
		return r.question(err)
	}
	if res.Spec != "" {
		return say("A snooze comes once, and %q is a rhythm. %s", res.Words, snoozeUsage)
	}
	at, late, err := r.ahead(res)
	if err != nil {
		return r.question(err)
	}
	j, err := r.tx.SnoozeJob(n, r.from, at, words, r.key())
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return noJob(n)
	case errors.Is(err, vault.ErrTooManyJobs):
		return say("%s Nothing was changed.", sentence(err.Error()))
	case err != nil:
		return nil, err
	}
	if err := r.settle(before, r.saidAgain(j)); err != nil {
		return nil, err
	}
	lines := []string{r.receipt(j)}
	if before.Spec != "" && !before.Next.IsZero() {
		lines = append(lines, fmt.Sprintf("%s %d keeps its rhythm: %s, next %s.", kind(before), n, when.Describe(before.Spec), when.Format(before.Next.In(zoneOf(before, r.zone)))))
	}
	if late {
		lines = append(lines, "That time had passed when your message reached me, so it comes at once.")
	}
	if res.Note != "" {
		lines = append(lines, sentence(res.Note))
	}
	return []string{strings.Join(lines, "\n")}, nil
}

// until reads how long or until when a snooze lasts: "20 minutes" is as good as "in 20 minutes", and so is "20". read is how it was
// taken.
func (r *request) until(words string) (res when.Result, read string, err error) {
	if _, err := strconv.ParseUint(words, 10, 16); err == nil {
		words = "in " + words + " minutes"
	}
	res, first := when.Parse(words, r.said())
	if first == nil {
		return res, words, nil
	}
	bare := words
	if verb, rest, ok := strings.Cut(words, " "); ok && slices.Contains([]string{"for", "until", "till", "to"}, strings.ToLower(verb)) {
		bare = rest
	}
	for _, again := range []string{"in " + bare, bare} {
		if res, err := when.Parse(again, r.said()); err == nil {
			return res, again, nil
		}
	}
	return res, words, first
}
