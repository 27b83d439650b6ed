package offline

import (
	"fmt"
	"strings"
)

// The beginnings of a reminder, in the languages that times are read in. What hangs between them and the matter is
// trimmed by link.
var reminding = lazily(`(?i)(?:^|[\s,])(?:remind me|nudge me|ping me|don't let me forget|do not let me forget|don't forget|remember to|(?:set|make|create|add)(?: me)?(?: up)? (?:a|an|another|the|my)? ?reminder|reminder|` +
	`(wake me(?: up)?|weck(?:e)? mich|despi[eé]rtame|r[eé]veille-moi|acorda-me|svegliami)|(?:set|start)(?: me)? (?:a|an|another|the|my)? ?(timer|alarm)|` +
	`erinner[e]? mich|recu[eé]rdame|rappelle[- ]moi|lembra[- ]me|lembre-me|me lembr[ae]|ricordami)(?:\b|\s|$)`)

var (
	link = lazily(`(?i)^(?:[\s,;:]+|(?:to|that|about|of|for|daran|dass|an|ans|zu|que|de|di|che|para|pour|per|por)[\s,;:]+|d'|qu')+`)
	// asksTo keeps the person's own link for a question back: "to stretch", "about the dentist".
	asksTo  = lazily(`(?i)^(to|about|that|of)\s+(.+)$`)
	lead    = lazily(`(?i)^(?:for|with|:)\s*`)
	another = lazily(`(?i)^remind (\S+)\b`)
)

// remind reads "remind me in 1 minute to stretch" and its sisters.
func remind(t talk, s sentence) (wish, bool) {
	loc := reminding.get().FindStringSubmatchIndex(s.text)
	if loc == nil {
		if m := s.match(another); m != nil && !strings.EqualFold(m[1], "me") {
			return say("Without a language model I can only remind you yourself: say \"remind me …\"."), true
		}
		return wish{}, false
	}
	verb := strings.ToLower(strings.Trim(s.text[loc[0]:loc[1]], " ,"))
	before, after := strings.Trim(s.text[:loc[0]], " ,;:"), strings.TrimSpace(s.text[loc[1]:])
	isWake, isTimer := loc[2] >= 0, loc[4] >= 0
	if verb == "reminder" && before == "" && !strings.HasPrefix(after, ":") && !isTimer {
		return wish{}, false // a word, not an order
	}
	text := "wake up"
	switch {
	case isTimer:
		text = map[bool]string{true: "time is up", false: "alarm"}[strings.HasSuffix(verb, "timer")]
		after = lead.get().ReplaceAllString(after, "")
		if strings.HasSuffix(verb, "timer") && !isTime(after, t.now) {
			after = "in " + after
		}
	case !isWake:
		text = ""
		if strings.Contains(verb, "reminder") {
			after = lead.get().ReplaceAllString(after, "")
		}
	}
	whole := strings.TrimSpace(before + " " + after)
	if _, _, err := timeIn(before, t.now); before != "" && (err != nil || after != "" && !isTime(before, t.now)) {
		return wish{}, false // what stands before the verb is no time: it is not an order
	}
	phrase, rest, err := timeIn(whole, t.now)
	if matter := link.get().ReplaceAllString(rest, ""); matter != "" {
		text = matter
	}
	switch {
	case err != nil && timely.get().MatchString(whole) && !strings.HasPrefix(questionOf(err), noTime):
		return say(questionOf(err) + " Please say it again with the time, for instance \"remind me tomorrow at 9 to call mum\"."), true
	case err != nil && whole == "":
		return say("Of what, and when? For instance: \"remind me tomorrow at 9 to call mum\"."), true
	case err != nil && verb == "remember to":
		return say(askWhen("to " + whole)), true
	case err != nil:
		return say(askWhen(whole)), true
	case this[strings.ToLower(text)] && len(t.forwarded) > 0:
		text = shortened(strings.Join(t.forwarded, " "))
	case text == "":
		return say(askWhat + phrase + "?"), true
	}
	return call("remind", map[string]any{"when": phrase, "text": text}), true
}

// this is what people call a message that they forward.
var this = wordSet("this that it")

// shortened keeps a forwarded text in the bounds of a reminder or a memory.
func shortened(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 280 {
		s = string(r[:280]) + "…"
	}
	return s
}

const (
	askWhenHead = "When shall I remind you "
	askWhat     = "What shall I remind you about, "
)

func askWhen(matter string) string {
	if asksTo.get().MatchString(matter) {
		return askWhenHead + matter + "?"
	}
	return askWhenHead + "about " + matter + "?"
}

// reply reads an answer to what was asked just before: the time of a reminder, or its matter.
func (t talk) reply(s sentence) (wish, bool) {
	asked, ok := strings.CutSuffix(strings.TrimSpace(t.before), "?")
	if !ok || strings.Contains(asked, "\n") {
		return wish{}, false
	}
	if matter, ok := strings.CutPrefix(asked, askWhenHead); ok && isTime(s.text, t.now) {
		return call("remind", map[string]any{"when": s.text, "text": link.get().ReplaceAllString(matter, "")}), true
	}
	if phrase, ok := strings.CutPrefix(asked, askWhat); ok && isTime(phrase, t.now) && !s.question {
		if matter := link.get().ReplaceAllString(s.text, ""); matter != "" {
			return call("remind", map[string]any{"when": phrase, "text": matter}), true
		}
	}
	return wish{}, false
}

const (
	theNoun = `(?:the |my |el |la |le |o |il |lo |die |den )?`
	aNumber = `(?:number |no\.? ?|nr\.? ?|#)?(\d{1,9})`
	jobNoun = `(?:reminders?|follow-?ups?|jobs?|alarms?|timers?|erinnerung|recordatorio|rappel|lembrete|promemoria)`
)

var (
	jobLists = lazily(`(?i)^(?:(?:list|show|see|give|tell|read)\b.*\b(?:reminders|jobs|alarms|timers|follow-?ups)|(?:what|which|do i|have i|are there|any|how many|my|all|the)\b.*\b(?:reminders?|jobs|alarms?|timers?|follow-?ups?)\b.*|` +
		`(?:reminders|jobs|alarms|timers)|.*\b(?:meine|welche|alle) erinnerungen\b.*|.*\b(?:mis|qu[eé]) recordatorios\b.*|.*\b(?:mes|quels) rappels\b.*|.*\b(?:meus|que|quais) (?:s[aã]o )?(?:os )?(?:meus )?lembretes\b.*|.*\b(?:miei|quali) promemoria\b.*|(?:erinnerungen|recordatorios|rappels|lembretes|promemoria))$`)
	jobNext    = lazily(`(?i)^(?:what(?:'s| is|s)? (?:is )?(?:up |coming |coming up |on )?next|what comes next|next(?: reminder)?|when is (?:my |the )?next (?:reminder|one|alarm)|was kommt als n[aä]chstes|qu[eé] sigue)\b.*$`)
	jobCancel  = lazily(`(?i)^(?:cancel|delete|remove|stop|drop|clear|l[oö]sch(?:e)?|streich(?:e)?|cancela|borra|elimina|annule|supprime|apaga|annulla|cancella) ` + theNoun + jobNoun + ` ` + aNumber + `$`)
	jobCancelN = lazily(`(?i)^(?:cancel|stop) ` + aNumber + `$`)
	jobCancelW = lazily(`(?i)^(?:cancel|delete|remove|stop|drop) (?:the |my )?(?:(?:reminder|alarm|follow-?up) (?:about|to|for|of|with) (.+)|(.+?) (?:reminder|alarm|follow-?up))$`)
	jobAll     = lazily(`(?i)^(?:cancel|delete|remove|stop|drop|clear)\b.*\b(?:all|every|everything)\b`)
	jobChange  = lazily(`(?i)^(?:(change|set|edit|update|[aä]ndere|cambia)|move|reschedule|postpone|shift|push|put|verschieb(?:e)?|mueve|d[eé]place|muda|sposta) ` + theNoun + `(?:` + jobNoun + ` )?` + aNumber + `(?: back)?,? (?:to|for|until|till|auf|an|para|pour|per)? ?(.+)$`)
	jobText    = lazily(`(?i)^(?:change|set|edit|update) (?:the )?(?:text|words|wording) of ` + theNoun + jobNoun + ` ` + aNumber + ` (?:to|into|as):? (.+)$`)
	correction = lazily(`(?i)^(?:(?:no|sorry|oops|wait|actually|nein|perd[oó]n|pardon|desculpa|scusa)[,.!]? )*(?:i meant?|i mean|make (?:it|that)|change (?:it|that) to|move (?:it|that) to|rather|better|ich meinte?|lieber|quise decir|mejor|je voulais dire|plut[oô]t|quis dizer|volevo dire|meglio) (.+)$`)
	receiptNo  = lazily(`\b(?:Reminder|Follow-up) (\d{1,9})(?: is now)?:`)
)

func listJobs(_ talk, s sentence) (wish, bool) {
	switch {
	case s.match(jobNext) != nil:
		return reading("jobs", map[string]any{}, showNextJob), true
	case s.match(jobLists) != nil:
		return reading("jobs", map[string]any{}, showJobs), true
	}
	return wish{}, false
}

func cancelJob(_ talk, s sentence) (wish, bool) {
	for _, re := range []*pattern{jobCancel, jobCancelN} {
		if m := s.match(re); m != nil {
			return call("cancel_job", map[string]any{"id": number(m[1])}), true
		}
	}
	if s.match(jobAll) != nil {
		return say("I cancel one at a time: say \"list my reminders\", then \"cancel reminder 2\"."), true
	}
	if m := s.match(jobCancelW); m != nil {
		wanted := contentWords(m[1] + m[2])
		return wish{tool: "jobs", args: map[string]any{}, chain: true, after: func(result string) wish {
			return oneJob(result, wanted, fmt.Sprintf("%q", "cancel reminder 2"), func(id int64) wish {
				return call("cancel_job", map[string]any{"id": id})
			})
		}}, true
	}
	return wish{}, false
}

func changeJob(t talk, s sentence) (wish, bool) {
	if m := s.match(jobText); m != nil {
		return call("change_job", map[string]any{"id": number(m[1]), "text": m[2]}), true
	}
	m := s.match(jobChange)
	if m == nil {
		return wish{}, false
	}
	args := map[string]any{"id": number(m[2])}
	if m[1] == "" || isTime(m[3], t.now) {
		args["when"] = m[3] // when it is no time the tool asks
		return call("change_job", args), true
	}
	phrase, rest, err := timeIn(m[3], t.now)
	rest = link.get().ReplaceAllString(rest, "")
	switch {
	case err == nil && rest != "":
		args["when"], args["text"] = phrase, rest
	case timely.get().MatchString(m[3]):
		args["when"] = m[3]
	default:
		args["text"] = m[3]
	}
	return call("change_job", args), true
}

// correct reads "I meant today" and "make it 10": the reminder confirmed just before, else the only one there is.
func correct(t talk, s sentence) (wish, bool) {
	m := s.match(correction)
	if m == nil || !isTime(m[1], t.now) {
		return wish{}, false
	}
	change := func(id int64) wish { return call("change_job", map[string]any{"id": id, "when": m[1]}) }
	just := map[string]bool{}
	for _, receipt := range receiptNo.get().FindAllStringSubmatch(t.receipts, -1) {
		just[receipt[1]] = true
	}
	if len(just) == 1 {
		for id := range just {
			return change(number(id)), true
		}
	}
	return wish{tool: "jobs", args: map[string]any{}, chain: true, after: func(result string) wish {
		return oneJob(result, nil, fmt.Sprintf("%q", "move reminder 2 to "+m[1]), change)
	}}, true
}

// oneJob goes on with the only job of a list that holds all the words, or asks for its number.
func oneJob(result string, wanted []string, example string, then func(int64) wish) wish {
	all := jobLine.get().FindAllStringSubmatch(result, -1)
	var lines []string
	var ids []int64
	for _, m := range all {
		if holdsAll(m[0], wanted) {
			lines, ids = append(lines, m[0]), append(ids, number(m[1]))
		}
	}
	switch {
	case len(all) == 0:
		return say(showJobs(result))
	case len(ids) == 1:
		return then(ids[0])
	case len(ids) == 0:
		return say(fmt.Sprintf("None of your reminders is about that. Say its number, for instance %s:\n%s", example, bullets(linesOf(all))))
	}
	return say(fmt.Sprintf("Which one? Say its number, for instance %s:\n%s", example, bullets(lines)))
}

func linesOf(matches [][]string) (out []string) {
	for _, m := range matches {
		out = append(out, m[0])
	}
	return out
}
