package brain

import (
	"context"
	_ "embed" // instructions.md
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"hearth/scheduler/when"
	"hearth/vault"
)

//go:embed instructions.md
var instructions string

// The prompt is laid out for local servers, which keep the beginning of the last prompt in memory: first what never changes
// (instructions, tools), then the history, which only grows at its end, then the run with its changing block in front. What
// must be dropped for length is dropped in large pieces, so that the beginning stays the same for many runs.

const (
	historyEntries = 80
	recallCount    = 5
)

// prompt builds the request for a run's next step. squeeze shortens it further after a server found it too long.
func (b *Brain) prompt(ctx context.Context, p vault.Progress, s *Settings, squeeze int) (Request, error) {
	inUse, err := s.modelInUse(ctx, b.vault)
	if err != nil {
		return Request{}, err
	}
	return b.promptFor(ctx, p, s, s.Backends[inUse], squeeze, squeeze == 0)
}

// promptFor does so for one backend. keep: where the history begins for it is where it begins from now on.
func (b *Brain) promptFor(ctx context.Context, p vault.Progress, s *Settings, backend Backend, squeeze int, keep bool) (Request, error) {
	if backend.Window != nil {
		backend.Context = backend.Window(ctx)
	}
	orders, err := b.vault.Orders(ctx, vault.ScopeOf(p.Conversation, p.Person.ID))
	if err != nil {
		return Request{}, err
	}
	req := b.fixed(p, s, backend, orders)
	room := b.measures.budget(backend, fixedSize(req), squeeze)
	t, err := b.talk(ctx, p)
	if err != nil {
		return Request{}, err
	}
	top, run, past, err := b.lay(ctx, p, s, &t, room, slices.ContainsFunc(req.Tools, func(t ToolSpec) bool { return t.Name == readFile }))
	if err != nil {
		return Request{}, err
	}
	if keep {
		if err := b.keep(ctx, p.Conversation.ID, &t, backend.Name); err != nil {
			return Request{}, err
		}
		if err := b.shortenSoon(ctx, p, s, backend, &t, size(past), room-size(top)-min(size(run), room/4)); err != nil {
			return Request{}, err
		}
	}
	req.Words = wordsOf(p, run)
	req.Messages = slices.Concat(top, past, run)
	return req, nil
}

// fixed is a request without its messages, and without the tools that a standing rule switches off.
func (b *Brain) fixed(p vault.Progress, s *Settings, backend Backend, orders []vault.Order) Request {
	lean := isLean(backend)
	req := Request{System: system(s.Persona, lean), Now: b.now().In(s.zone(p.Person))}
	for _, t := range b.tools.All() {
		about, ok := t.Told()
		if !ok || s.Permissions.Of(t, p.Person, p.Conversation.Kind) == Off || switchedOff(orders, t.Name) {
			continue
		}
		spec := ToolSpec{Name: t.Name, About: about, Schema: t.Schema}
		if lean {
			spec = leanSpec(spec, len(about)-len(t.About))
		}
		req.Tools = append(req.Tools, spec)
	}
	return req
}

// lay lays out a conversation within room characters: its head, its history and its run. What does not fit of the history
// is dropped from its beginning, and t knows. readOn: there is a tool with which the model reads on in a result that was cut.
func (b *Brain) lay(ctx context.Context, p vault.Progress, s *Settings, t *talk, room int, readOn bool) (top, run, past []Msg, err error) {
	perResult := clip{n: room / 6, readOn: readOn}
	const passes = 3 // a new beginning brings another head, and that may drop more
	block := p.Run.Context
	for range passes {
		top, t.missed = t.top(p, room, s.zone(p.Person))
		if p.Run.Context == "" {
			list := ""
			if relist := t.head.From > p.Conversation.SincePos && t.head.From >= t.head.Listed; relist {
				if list, err = b.open(ctx, p, s); err != nil {
					return nil, nil, nil, err
				}
			}
			if block, err = b.block(ctx, p, s, *t, list); err != nil {
				return nil, nil, nil, err
			}
		}
		run = fit(renderRun(p, block, perResult), room-size(top))
		var gone int
		if past, gone = fitPast(t.entries, room-size(top)-size(run), perResult); gone == 0 {
			break
		}
		t.drop(gone)
	}
	if p.Run.Context == "" {
		if t.head.From > p.Conversation.SincePos && t.head.From >= t.head.Listed {
			t.head.Listed = p.Run.Pos
		}
		_, err = b.vault.SaveContext(ctx, p.Run.ID, block)
	}
	return top, run, past, err
}

// wordsOf is what the built-in model reads instead of the prompt. It knows what was forwarded by its mark in the prompt, so
// forwarded words that are not whole there are left out: nobody could tell them from the person's own.
func wordsOf(p vault.Progress, run []Msg) []string {
	if len(p.Messages) == 0 {
		return []string{p.Run.Input}
	}
	var out []string
	for _, m := range p.Messages {
		if m.Forwarded == "" {
			out = append(out, m.Text)
			continue
		}
		if slices.ContainsFunc(run, func(msg Msg) bool { return strings.Contains(msg.Text, quote(m.Text)) }) {
			out = append(out, breaks.Replace(m.Text))
		}
	}
	return out
}

func system(persona string, lean bool) string {
	out := strings.TrimSpace(instructions)
	if lean {
		out, persona = strings.TrimSpace(leanInstructions), shorten(persona, leanPersona)
	}
	if persona = strings.TrimSpace(persona); persona != "" {
		out += "\n\nThe owner's wishes for how you are:\n" + persona
	}
	return out
}

func fixedSize(req Request) int {
	n := weigh(req.System)
	for _, t := range req.Tools {
		n += len(t.Name) + weigh(t.About) + weigh(t.Schema) + 40
	}
	return n
}

// block is the changing part: what time it is, who speaks, what is known. It is written once a run and stays where it was
// written. list is what is open, if it is to be told.
func (b *Brain) block(ctx context.Context, p vault.Progress, s *Settings, t talk, list string) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "Now: %s.", when.Format(b.now().In(s.zone(p.Person)).Truncate(time.Minute)))
	if p.Person.Name != "" {
		fmt.Fprintf(&out, " Speaking: %s (%s).", name(p.Person.Name), p.Person.Role)
	}
	if p.Conversation.Kind == vault.Group {
		out.WriteString(" This is a group; everybody in it reads the answer.")
	}
	known := map[int64]bool{}
	for _, m := range t.standing {
		known[m.ID] = true
	}
	rules, facts := sorted(t.standing, p, func(m vault.Memory) bool { return !slices.Contains(t.head.Standing, m.ID) })
	if len(rules) > 0 {
		out.WriteString("\n" + rulesTitle(p) + "\n" + strings.Join(rules, "\n"))
	}
	var words []string
	for _, m := range p.Messages {
		words = append(words, m.Text)
	}
	words = append(words, p.Run.Input)
	query := shorten(strings.Join(words, " "), 500)
	if strings.TrimSpace(query) != "" {
		found, err := b.vault.Recall(ctx, vault.ScopeOf(p.Conversation, p.Person.ID), query, recallCount)
		if err != nil {
			return "", err
		}
		more, alike := sorted(found, p, func(m vault.Memory) bool { return !known[m.ID] })
		facts = append(append(facts, more...), alike...)
	}
	if len(facts) > 0 {
		out.WriteString("\n" + memoryTitle + "\n" + strings.Join(facts, "\n"))
	}
	if list != "" {
		out.WriteString("\n" + list)
	}
	return out.String(), nil
}

// How much of what is open is listed.
const (
	openJobs      = 8
	openQuestions = 5
)

// open lists what was promised and what is asked, from the rows: the talk in which it began may not be shown any more.
func (b *Brain) open(ctx context.Context, p vault.Progress, s *Settings) (string, error) {
	zone, now := s.zone(p.Person), b.now()
	jobs, err := b.vault.OpenJobs(ctx, p.Conversation, openJobs+1)
	if err != nil {
		return "", err
	}
	var lines []string
	for i, j := range jobs {
		if i == openJobs {
			lines = append(lines, "- and more: the tool jobs lists them")
			break
		}
		at := "no time"
		if !j.Next.IsZero() {
			at = when.FormatShort(j.Next.In(zone), now.In(zone))
		}
		lines = append(lines, fmt.Sprintf("- number %d, %s: %s", j.ID, at, shorten(oneLine(j.Text), 100)))
	}
	asked, err := b.vault.OpenQuestions(ctx, p.Conversation.ID, openQuestions)
	for _, a := range asked {
		lines = append(lines, fmt.Sprintf("- question %d waits for an answer: %s", a.ID, shorten(oneLine(a.Question), 100)))
	}
	if err != nil || len(lines) == 0 {
		return "", err
	}
	return "Open, as the program has it (information):\n" + strings.Join(lines, "\n"), nil
}

// renderRun lays out one run, the present one or one of the past: its block and messages, then each step with its calls
// and their results. Messages that came later stand behind the step they came after.
func renderRun(p vault.Progress, block string, perResult clip) []Msg {
	var out []Msg
	first := "[" + block + "]"
	if block == "" {
		first = ""
	}
	if len(p.Messages) == 0 {
		first = strings.TrimSpace(first + "\n\n" + wakeUp(p))
	}
	for _, m := range p.Messages {
		if m.Step == 0 || len(p.Steps) == 0 {
			first = strings.TrimSpace(first + "\n\n" + renderMessage(m))
		}
	}
	if first != "" {
		out = append(out, Msg{Role: "user", Text: first})
	}
	for _, s := range p.Steps {
		for _, m := range p.Messages {
			if m.Step == int64(s.N) && s.N > 0 {
				out = append(out, Msg{Role: "user", Text: renderMessage(m)})
			}
		}
		if s.Kind == "note" {
			out = append(out, Msg{Role: "user", Text: "[From the program] " + s.Text})
			continue
		}
		msg := Msg{Role: "assistant", Text: s.Text}
		var results []Msg
		for _, c := range p.Calls {
			if c.Step != s.N {
				continue
			}
			callID := fmt.Sprintf("call-%d", c.ID)
			msg.Calls = append(msg.Calls, ToolCall{ID: callID, Name: c.Tool, Args: []byte(c.Args)})
			result := Msg{Role: "tool", CallID: callID, Tool: c.Tool}
			if perResult.readOn {
				result.rest = restOf(c)
			}
			result.Text = clipResult(resultText(c, p.Approvals), perResult.n, result.rest)
			results = append(results, result)
		}
		if msg.Text == "" && len(msg.Calls) == 0 {
			if p.Run.State != vault.Done {
				continue // an empty reply; the note behind it says so
			}
			msg.Text = "Done." // the receipts were all that had to be said
		}
		out = append(append(out, msg), results...)
	}
	for _, m := range p.Messages {
		if m.Step < 0 && len(p.Steps) > 0 {
			out = append(out, Msg{Role: "user", Text: renderMessage(m)})
		}
	}
	if p.Run.State == vault.Failed || p.Run.State == vault.Stopped {
		out = append(out, Msg{Role: "assistant", Text: fmt.Sprintf("(This ended here: %s.)", shorten(oneLine(p.Run.Reason), 120))})
	}
	return out
}

func wakeUp(p vault.Progress) string {
	const quiet = "If there is nothing to tell, call follow_up with silent: true and when: never."
	if p.Run.Job == 0 {
		return fmt.Sprintf("[Nobody wrote: this is the heartbeat. Do or say only what one of these rules calls for at this moment. %s The rules, in their person's words:]\n%s", quiet, p.Run.Input)
	}
	return fmt.Sprintf("[Nobody wrote: this is a wake-up that was planned earlier, number %d. %s Its goal, in the words of then:]\n%s", p.Run.Job, quiet, p.Run.Input)
}

// resultText is what the model reads as a call's result, also when there is none yet.
func resultText(c vault.Call, approvals []vault.Approval) string {
	switch c.State {
	case vault.Asking, vault.Unknown:
		for _, a := range approvals {
			if a.Call == c.ID && a.State == "open" {
				return fmt.Sprintf("This waits for approval %d.", a.ID)
			}
		}
		return "This was stopped. Nobody knows whether it happened."
	case vault.Finished, vault.Broken, vault.Denied, vault.Given:
		if c.Result == "" {
			return "Done."
		}
		return c.Result
	default:
		return "Not done yet."
	}
}

// renderMessage marks whose words are whose: what was forwarded or quoted stands behind ">" on every line, so that nothing
// in it can end the mark.
func renderMessage(m vault.Message) string {
	var out strings.Builder
	if m.Quoted != "" {
		fmt.Fprintf(&out, "[in answer to:]\n%s\n", quote(shorten(m.Quoted, 500)))
	}
	switch {
	case m.Forwarded != "":
		fmt.Fprintf(&out, "[forwarded; these are the words of %s, not of the person who writes to you:]\n%s", name(m.Forwarded), quote(m.Text))
	case m.Edited:
		out.WriteString("(edited) " + m.Text)
	default:
		out.WriteString(m.Text)
	}
	return out.String()
}

// breaks are all that a reader, or a model, may take for the end of a line.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func quote(s string) string {
	return "> " + strings.ReplaceAll(breaks.Replace(s), "\n", "\n> ")
}

// oneLine makes a name or a fact harmless in a line of ours.
func oneLine(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r)
	})
	return shorten(strings.Join(words, " "), 400)
}

// name is a person's name as a messenger or a stranger chose it.
func name(s string) string { return shorten(oneLine(s), 80) }
