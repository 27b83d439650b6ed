package brain

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"hearth/skills"
	"hearth/vault"
)

// judge turns a model's reply into what is committed. It is pure, and it trusts nothing: names, arguments and claims are
// checked here.
type judge struct {
	tools   skills.Set
	permit  func(t skills.Tool, about string) Permission // about: what always would cover
	expires time.Time                                    // of the questions it raises
	orders  []vault.Order                                // what standing rules shut besides
	offline bool                                         // the reply is the built-in model's, which makes no false claims
}

// verdict is what becomes of a reply.
type verdict struct {
	text  string
	calls []vault.Call
	park  bool
	end   *vault.Ending
	note  string // told to the model, which then goes on
}

// maxCalls bounds the calls of one reply.
const maxCalls = 16

func (j judge) step(p vault.Progress, resp Response) verdict {
	v := verdict{text: cleaned(resp.Text)}
	calls := resp.Calls
	if len(calls) == 0 && !j.offline {
		if written, rest, ok := writtenCalls(v.text, j.known); ok {
			calls, v.text = written, rest // a small model wrote its call into the answer: the same checks apply
		}
	}
	if len(calls) > 0 {
		j.propose(&v, calls, originOf(p, 0))
		return v
	}
	if v.note = j.objection(p, resp, v.text); v.note != "" {
		return v
	}
	words := v.text
	if resp.Cut && words != "" {
		words += " … (cut off here at my length limit)"
	}
	v.end = j.ending(p, words)
	return v
}

// propose checks each call. What is refused is stored with its reason as the result, so that the model learns of it.
func (j judge) propose(v *verdict, calls []ToolCall, origin string) {
	waiting, runnable := 0, 0
	twice := map[string]bool{}
	for i, c := range calls {
		call := j.check(c, origin)
		if key := vault.CallHash(call.Tool, call.Args); !call.State.Ended() {
			if twice[key] {
				continue // a reply that says the same thing twice means it once
			}
			twice[key] = true
		}
		if i >= maxCalls {
			call = refused(c.Name, "", vault.Broken, fmt.Sprintf("Not done: no more than %d calls at a time.", maxCalls))
		}
		switch {
		case call.Ask != nil:
			waiting++
		case !call.State.Ended():
			runnable++
		}
		v.calls = append(v.calls, call)
	}
	v.park = waiting > 0 && runnable == 0
}

func (j judge) check(c ToolCall, origin string) vault.Call {
	tool, ok := j.tools.Named(c.Name)
	if !ok {
		return refused(c.Name, "", vault.Broken, fmt.Sprintf("There is no tool called %q. The tools are: %s.", shorten(c.Name, 40), strings.Join(j.names(), ", ")))
	}
	args, err := skills.Canonical(tool, c.Args)
	if err != nil {
		return refused(tool.Name, tool.Effect, vault.Broken, "Not done: "+err.Error()+".")
	}
	call := vault.Call{Tool: tool.Name, Args: string(args), Effect: string(tool.Effect), State: vault.Proposed}
	about := ""
	if tool.Always != nil {
		about = tool.Always(args)
	}
	perm, order := tightened(j.permit(tool, about), j.orders, tool.Name, args)
	switch perm {
	case Off:
		return refused(c.Name, tool.Effect, vault.Broken, fmt.Sprintf("There is no tool called %q here. The tools are: %s.", c.Name, strings.Join(j.names(), ", ")))
	case Deny:
		if order != 0 {
			return refused(c.Name, tool.Effect, vault.Denied, fmt.Sprintf("Not done: a standing rule of the person (memory %d) forbids it. Do not try it in another way; say so.", order))
		}
		return refused(c.Name, tool.Effect, vault.Denied, "Not done: the owner's settings do not allow this here. Do not try it in another way; say so.")
	case Ask:
		call.Ask = &vault.Question{
			Text:    fmt.Sprintf("May I do this? %s", describe(tool.Name, args)) + behind(origin),
			Choices: []string{vault.ChooseApprove, vault.ChooseDeny, vault.ChooseAlways}, About: about, Expires: j.expires,
		}
		if order != 0 { // an always would have no effect
			call.Ask.Text += fmt.Sprintf("\nThe standing rule in memory %d says to ask each time.", order)
			call.Ask.Choices = []string{vault.ChooseApprove, vault.ChooseDeny}
		}
	}
	return call
}

func refused(tool string, effect skills.Effect, state vault.CallState, why string) vault.Call {
	if effect == "" {
		effect = skills.Reads
	}
	return vault.Call{Tool: callName(tool), Args: "{}", Effect: string(effect), State: state, Result: why}
}

// callName makes a name that a model invented one that servers take in a history: many refuse the whole request for a
// name with other characters.
func callName(tool string) string {
	tool = strings.Map(func(r rune) rune {
		if r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, tool)
	if tool == "" {
		return "nameless"
	}
	return tool[:min(len(tool), 60)]
}

// known reports whether a name is a tool that may be seen here.
func (j judge) known(name string) bool {
	tool, ok := j.tools.Named(name)
	return ok && j.permit(tool, "") != Off
}

func (j judge) names() []string {
	var out []string
	for _, t := range j.tools.All() {
		if j.permit(t, "") != Off {
			out = append(out, t.Name)
		}
	}
	return out
}

// Notes that the program gives the model, at most one of each kind a run.
const (
	noteEmpty  = "Your reply was empty. Answer the person in one or two sentences."
	noteLost   = "Your tool call could not be read. Call the tool again with complete JSON arguments, or answer in words."
	noteCut    = "Your reply was cut off at the length limit. Answer again, shorter."
	noteClaim  = "You said that something was stored or done, but no tool was called, so nothing happened. Call the tool now, or say that it was not done."
	noteDenial = "You do have tools. If one of them does what the person asked for, call it now; otherwise give your answer again."
	noteRaw    = "Your reply held a tool call written as text. Call the tool properly, or answer the person in plain words."
)

// objection finds what a model must mend before its words can be an answer; "" when they can. Each is made once a run.
func (j judge) objection(p vault.Progress, resp Response, words string) string {
	note, more := "", ""
	switch {
	case resp.Lost:
		note = noteLost
	case words == "" && resp.Cut:
		note = noteCut
	case words == "" && withReceipts("", p.Calls) != "":
		return "" // the receipts say all there is to say
	case words == "":
		note = noteEmpty
	case !j.offline && looksRaw(words, j.known):
		note, more = noteRaw, j.list()
	case !j.offline && len(p.Calls) == 0 && denial.MatchString(words) && j.list() != "":
		note, more = noteDenial, j.list()
	case !j.offline && unsupported(words, p.Calls) != "":
		note = noteClaim
	}
	for _, s := range p.Steps {
		if s.Kind == "note" && note != "" && strings.HasPrefix(s.Text, note) {
			return ""
		}
	}
	return note + more
}

// list names the tools for a note; "" when there are none.
func (j judge) list() string {
	if names := j.names(); len(names) > 0 {
		return " The tools are: " + strings.Join(names, ", ") + "."
	}
	return ""
}

// ending composes the answer: the model's words if they can be shown, what the program did, and a word against a claim that
// nothing stands behind.
func (j judge) ending(p vault.Progress, words string) *vault.Ending {
	end := &vault.Ending{State: vault.Done}
	if !j.offline && looksRaw(words, j.known) {
		words = "" // never shown to a person
	}
	if words == "" {
		words = withReceipts("", p.Calls)
		if words == "" {
			end.State, end.Reason = vault.Failed, "the model gave no answer"
			words = "The model gave me no answer, also when asked again." + deeds(p.Calls) + " Put it in other words, or try once more."
		}
		end.Reply = words
		return end
	}
	if !j.offline {
		if note := unsupported(words, p.Calls); note != "" {
			words += "\n\n" + note
		}
	}
	end.Reply = withReceipts(words, p.Calls)
	return end
}

// deeds names what was done by tools that give no receipt.
func deeds(calls []vault.Call) string {
	var done []string
	for _, c := range calls {
		if c.State == vault.Finished {
			done = append(done, c.Tool)
		}
	}
	if len(done) == 0 {
		return ""
	}
	return fmt.Sprintf(" I had used %s.", strings.Join(done, ", "))
}
