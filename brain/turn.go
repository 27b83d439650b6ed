package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"hearth/skills"
	"hearth/vault"
)

// turn is what one life of a run keeps in memory. All of it may be lost: what counts is in the vault.
type turn struct {
	b         *Brain
	log       *slog.Logger
	began     time.Time     // of this life; monotonic
	idle      time.Duration // of this life: it waited in line, or what it did was cut off
	squeeze   int           // how often the prompt turned out too long
	resamples int           // how often a server could not read its model's reply
	tries     int           // in the present outage
	away      string        // a model outside the house that the run may not use unasked
	shut      []string      // models that were shut just now
	outage    time.Time     // since when no backend answers; monotonic
}

// move loads, decides, does and commits once. over: the run is out of our hands.
func (t *turn) move(ctx context.Context, p *vault.Progress) (over bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	s := t.b.settings.Load()
	if p.Run.Task != "" {
		return true, t.background(ctx, *p, s)
	}
	m := next(*p, Policy{Limits: s.Limits, Worked: p.Run.Worked + time.Since(t.began) - t.idle}) // a clock that jumps is no work
	switch m.Kind {
	case Finish:
		return true, t.b.vault.EndRun(ctx, p.Run.ID, m.End)
	case Wait:
		return true, t.b.vault.Park(ctx, p.Run.ID)
	case Unsure:
		return true, t.b.vault.AskUnknown(ctx, m.Call, unsureQuestion(m.Call))
	case Exceed:
		over, err = t.overLimit(ctx, *p, s, m.Over)
	case RunCall:
		err = t.runCall(ctx, *p, m.Call, s)
	case Think:
		over, err = t.think(ctx, *p, s)
	}
	if err != nil || over {
		return over, err
	}
	*p, err = t.b.vault.Progress(ctx, p.Run.ID)
	if err == nil && p.Run.State != vault.Running {
		return true, nil
	}
	return false, err
}

func unsureQuestion(c vault.Call) vault.Question {
	return vault.Question{
		Text:    fmt.Sprintf("I was interrupted while doing this and do not know whether it happened. Shall I do it again, did it work, or shall I drop it?\n%s", describe(c.Tool, json.RawMessage(c.Args))),
		Choices: []string{vault.ChooseAgain, vault.ChooseWorked, vault.ChooseDrop},
	}
}

// callTimeout bounds one tool run.
const callTimeout = 2 * time.Minute

// runCall commits the intent, runs the tool with the call's key, and commits the result. A pure read needs no intent.
func (t *turn) runCall(ctx context.Context, p vault.Progress, c vault.Call, s *Settings) error {
	tool, known := t.b.tools.Named(c.Tool)
	if !known {
		c.State, c.Result = vault.Broken, "This tool is gone since the program was changed."
		return t.b.vault.FinishCall(ctx, c)
	}
	if tool.Effect != skills.Reads {
		if err := t.b.vault.StartCall(ctx, c); err != nil {
			return err
		}
	}
	call := t.callFor(p, c, s)
	if p.Run.Job != 0 {
		job, err := t.b.vault.Job(ctx, p.Run.Job)
		if err != nil {
			return err
		}
		call.Chain = job.Chain
	}
	t.b.hook("tool-start")
	runCtx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	result, mine, err := t.readOn(runCtx, p, c)
	if !mine {
		result, err = t.runTool(runCtx, tool, call, c)
	}
	t.b.hook("tool-end")
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause // it was cut and stays started: run again with the same key, or asked about if it acts
	}
	c.State, c.Result, c.Receipt, c.Silent = vault.Finished, result.Text, result.Receipt, result.Silent
	if err != nil {
		c.State, c.Result, c.Receipt, c.Silent = vault.Broken, err.Error(), "", false
	}
	c.Result = clipStored(c.Result)
	return t.b.vault.FinishCall(context.WithoutCancel(ctx), c)
}

// runTool keeps a panic in a tool to its call.
func (t *turn) runTool(ctx context.Context, tool skills.Tool, call skills.Call, c vault.Call) (result skills.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			t.log.Error("a tool panicked", "tool", tool.Name, "call", c.ID, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = errors.New("the tool broke; this is a fault in the program and not in the call")
		}
	}()
	return tool.Run(ctx, call, json.RawMessage(c.Args))
}

func (t *turn) callFor(p vault.Progress, c vault.Call, s *Settings) skills.Call {
	zone := s.zone(p.Person)
	call := skills.Call{
		Key: fmt.Sprintf("call:%d", c.ID), Run: p.Run.ID, Person: p.Person, Conversation: p.Conversation, To: p.Run.To,
		Now: t.b.now().In(zone), Said: p.Run.Queued.In(zone), Zone: zone,
	}
	call.Origin, call.Job, call.Unasked = originOf(p, c.ID), p.Run.Job, unasked(p)
	for _, m := range p.Messages {
		call.Message, call.Said = m.ID, m.Sent.In(zone)
	}
	call.Words = ownWords(p.Messages)
	return call
}

// originOf says whose words are in a run besides the person's own, before a call that may follow from them; "" = nobody's.
func originOf(p vault.Progress, call int64) (origin string) {
	for _, earlier := range p.Calls {
		if earlier.State == vault.Finished && earlier.ID != call && foreign[earlier.Tool] {
			origin = "from what " + earlier.Tool + " returned"
		}
	}
	for _, m := range p.Messages {
		if m.Forwarded != "" {
			origin = "forwarded from " + name(m.Forwarded)
		}
	}
	return origin
}

// ownWords is what the person wrote, without what they only passed on.
func ownWords(messages []vault.Message) []string {
	var out []string
	for _, m := range messages {
		if m.Forwarded == "" {
			out = append(out, m.Text)
		}
	}
	return out
}

// foreign are the tools that bring other people's words into a run: what is stored after them may be theirs.
var foreign = map[string]bool{"read_file": true, "web_fetch": true, "web_search": true, "run_command": true, "use_skill": true}

// storedResult bounds what is kept of a tool's result: more than any prompt takes.
const storedResult = 64 << 10

func clipStored(s string) string {
	if len(s) <= storedResult {
		return s
	}
	return clipNote(s, storedResult)
}

// think asks the model and commits its step. A model that cannot be had is tried again later, and in the end told.
func (t *turn) think(ctx context.Context, p vault.Progress, s *Settings) (over bool, err error) {
	began := t.b.now()
	req, err := t.b.prompt(ctx, p, s, t.squeeze)
	if err != nil {
		return false, err
	}
	t.b.hook("ask-model")
	a, err := t.ask(ctx, p, req, s)
	t.b.hook("model-answered")
	if cause := context.Cause(ctx); cause != nil {
		if err == nil {
			return false, errors.Join(cause, t.book(ctx, a, nil))
		}
		return false, cause
	}
	if errors.Is(err, errYielded) {
		t.b.hook("yielding")
		t.log.Info("a run gives way to a person")
		return true, t.b.vault.Yield(ctx, p.Run.ID, t.idle)
	}
	if told := t.tellShut(ctx, p, s, err == nil); told != nil {
		return false, errors.Join(told, t.book(ctx, a, nil))
	}
	var reached *overError
	if errors.As(err, &reached) {
		return t.overLimit(ctx, p, s, reached.Excess)
	}
	if err != nil {
		return t.failed(ctx, p, s, err)
	}
	t.outage, t.tries, t.resamples = time.Time{}, 0, 0
	return t.commit(ctx, p, a, s, began)
}

// commit judges a reply and saves its step with all that follows from it.
func (t *turn) commit(ctx context.Context, p vault.Progress, a answer, s *Settings, began time.Time) (over bool, err error) {
	verdict, err := t.verdict(ctx, p, a, s)
	if err != nil {
		return false, errors.Join(err, t.book(ctx, a, nil))
	}
	nameModel(a, verdict.end)
	usd, known := a.backend.Cost(a.resp)
	done := vault.StepDone{
		Step: vault.Step{
			N: nextStep(p), Text: verdict.text, Model: a.backend.Name, TokensIn: a.resp.In, TokensOut: a.resp.Out,
			USD: usd, USDKnown: known, Started: began,
		},
		Spend: a.spend, CacheRead: a.resp.CacheRead, CacheWrote: a.resp.CacheWrote,
		Seen: lastMessage(p), Calls: verdict.calls, Park: verdict.park, End: verdict.end, Note: verdict.note,
	}
	joined, err := t.b.vault.SaveStep(ctx, p.Run.ID, done)
	if err != nil {
		return false, errors.Join(err, t.book(ctx, a, nil)) // the words are lost, the bill is not
	}
	if len(joined) > 0 {
		t.log.Info("later messages joined the run", "joined", joined)
	}
	return done.End != nil || done.Park, nil
}

func (t *turn) verdict(ctx context.Context, p vault.Progress, a answer, s *Settings) (verdict, error) {
	if a.backend.Offline && p.Run.Trigger == "system" {
		return verdict{end: &vault.Ending{State: vault.Done}}, nil // rules are nothing that the built-in model can look at
	}
	rules, err := t.b.vault.Rules(ctx)
	if err != nil {
		return verdict{}, err
	}
	orders, err := t.b.vault.Orders(ctx, vault.ScopeOf(p.Conversation, p.Person.ID))
	if err != nil {
		return verdict{}, err
	}
	j := judge{
		orders: orders,
		tools:  t.b.tools, expires: t.b.now().Add(approvalLife), offline: a.backend.Offline,
		permit: func(tool skills.Tool, about string) Permission {
			perm := s.Permissions.Of(tool, p.Person, p.Conversation.Kind)
			if _, ok := tool.Told(); !ok || switchedOff(orders, tool.Name) {
				return Off
			}
			if perm == Ask && ruled(rules, tool.Name, p.Person.ID, p.Conversation.Kind, about) {
				return Allow
			}
			return perm
		},
	}
	return j.step(p, a.resp), nil
}

// approvalLife is how long a question stays open.
const approvalLife = 24 * time.Hour

func nextStep(p vault.Progress) int {
	if len(p.Steps) == 0 {
		return 0
	}
	return p.Steps[len(p.Steps)-1].N + 1
}

func lastMessage(p vault.Progress) int64 {
	if len(p.Messages) == 0 {
		return 0
	}
	return p.Messages[len(p.Messages)-1].ID
}
