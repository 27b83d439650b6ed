package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Approval is a question to an owner, and what became of it.
type Approval struct {
	ID, Run, Call           int64
	Part                    int64  // kind unknown: the message that may have arrived, when it is about one and not about a call
	Kind                    string // call, unknown, budget or cloud
	Tool                    string
	Arguments               string // exactly what was asked about
	Hash                    string
	Choices                 []string
	About                   string // what an answer of always covers, as Question.About
	Question                string
	Person                  int64  // who is asked
	State                   string // open, approved, denied, answered or expired
	Asked, Expires, Decided time.Time
	DecidedBy               int64
	Choice                  string
}

const approvalColumns = `id, run_id, call_id, part_id, kind, tool, arguments, hash, choices, about, question, person_id, state, asked, expires, decided, decided_by, choice`

func scanApproval(s scanner) (a Approval, err error) {
	var choices string
	err = s.Scan(&a.ID, null[int64]{&a.Run}, null[int64]{&a.Call}, null[int64]{&a.Part}, &a.Kind, &a.Tool, &a.Arguments, &a.Hash, &choices, &a.About, &a.Question, null[int64]{&a.Person}, &a.State,
		instant{&a.Asked}, instant{&a.Expires}, instant{&a.Decided}, null[int64]{&a.DecidedBy}, &a.Choice)
	if err == nil {
		err = json.Unmarshal([]byte(choices), &a.Choices)
	}
	return a, err
}

// The choices of an approval of kind call, and of kind unknown.
const (
	ChooseApprove = "approve"
	ChooseDeny    = "deny"
	ChooseAlways  = "always"
	ChooseAgain   = "again"
	ChooseWorked  = "worked"
	ChooseDrop    = "drop"
)

// ask stores a question and puts it into the outbox. It goes to the private chat of the owner whose run it is, else to
// the first owner.
func (t *Tx) ask(a Approval, r Run) (int64, error) {
	asked, err := one(t.ctx, t.tx, scanPerson, `SELECT `+personColumns+` FROM person WHERE id = ? AND role = 'owner' AND gone IS NULL`, r.Person)
	if errors.Is(err, ErrNotFound) {
		asked, err = firstOwner(t.ctx, t.tx)
	}
	if err != nil {
		return 0, fmt.Errorf("find an owner to ask: %w", err)
	}
	to, err := t.v.privateAddress(t.ctx, t.tx, asked.ID)
	if err != nil {
		return 0, err
	}
	if asked.ID == r.Person && r.Trigger == "message" {
		private, err := one(t.ctx, t.tx, scanString, `SELECT kind FROM conversation WHERE id = ?`, r.Conversation)
		if err != nil {
			return 0, err
		}
		if private == string(Private) {
			to = r.To // where the owner is just now, which may be the terminal
		}
	}
	choices, err := json.Marshal(a.Choices)
	if err != nil {
		return 0, err
	}
	number, err := t.insert(`INSERT INTO approval(run_id, call_id, part_id, kind, tool, arguments, hash, choices, about, question, person_id, state, asked, expires) VALUES(?,?,?,?,?,?,?,?,?,?,?,'open',?,?)`,
		id(a.Run), id(a.Call), id(a.Part), a.Kind, a.Tool, a.Arguments, a.Hash, string(choices), a.About, a.Question, asked.ID, t.now.UnixMilli(), millis(a.Expires))
	if err != nil {
		return 0, err
	}
	c, err := t.privateConversation(asked.ID)
	if err != nil {
		return 0, err
	}
	_, err = t.Post(Part{
		Key: fmt.Sprintf("ask:%d", number), Run: a.Run, Approval: number, Conversation: c.ID, To: to, Class: Asks,
		Text: fmt.Sprintf("Question %d: %s\n%s", number, a.Question, howToAnswer(number, a)), Buttons: buttons(number, a.Choices),
	})
	return number, err
}

func buttons(number int64, choices []string) []Button {
	var out []Button
	for _, choice := range choices {
		label, ok := map[string]string{ChooseAgain: "Do it again", ChooseWorked: "It worked", ChooseMore: "Go on with this", ChooseToday: "Lift it for today"}[choice]
		if !ok {
			label = strings.ToUpper(choice[:1]) + choice[1:]
		}
		out = append(out, Button{Label: label, Data: fmt.Sprintf("a:%d:%s", number, choice)})
	}
	return out
}

// howToAnswer is the typed fallback for a messenger without buttons, or one that forgot the press.
func howToAnswer(number int64, a Approval) string {
	if a.Kind == "call" {
		always := ""
		if a.About != "" {
			always = fmt.Sprintf(" (every %s)", clip(a.About, 80))
		}
		return fmt.Sprintf("Answer with /approve %d or /deny %d, or /answer %d always%s.", number, number, number, always)
	}
	return fmt.Sprintf("Answer with /answer %d and one of: %s.", number, strings.Join(a.Choices, ", "))
}

// Reasons why an answer to a question is not taken.
var (
	ErrNotOwner  = errors.New("only an owner decides")
	ErrDecided   = errors.New("this is decided already")
	ErrBadChoice = errors.New("this is not one of the choices")
)

// Decide records an owner's answer and lets the run go on. Nothing is asked or run twice: a second answer is ErrDecided
// together with the approval as it stands. Errors: ErrNotFound, ErrNotOwner, ErrDecided, ErrBadChoice.
func (t *Tx) Decide(number int64, by Person, choice string) (Approval, error) {
	if !by.IsOwner() {
		return Approval{}, ErrNotOwner
	}
	a, err := one(t.ctx, t.tx, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE id = ?`, number)
	if err != nil {
		return a, err
	}
	if a.State != "open" {
		return a, ErrDecided
	}
	choice = strings.ToLower(strings.TrimSpace(choice))
	if !slices.Contains(a.Choices, choice) {
		return a, ErrBadChoice
	}
	if !a.Expires.IsZero() && !t.now.Before(a.Expires) {
		if err := t.expire(a); err != nil {
			return a, err
		}
		a.State = "expired"
		return a, ErrDecided
	}
	a.State, a.Choice, a.Decided, a.DecidedBy = "answered", choice, t.now, by.ID
	if a.Kind == "call" {
		a.State = "approved"
		if choice == ChooseDeny {
			a.State = "denied"
		}
	}
	if _, err := t.exec(`UPDATE approval SET state = ?, choice = ?, decided = ?, decided_by = ? WHERE id = ?`, a.State, choice, t.now.UnixMilli(), by.ID, number); err != nil {
		return a, err
	}
	if choice == ChooseAlways {
		if err := t.addRule(a, by); err != nil {
			return a, err
		}
	}
	return a, t.applyChoice(a, by)
}

// applyChoice moves the call, and with it the run.
func (t *Tx) applyChoice(a Approval, by Person) error {
	switch {
	case a.Part != 0:
		return t.settlePart(a.Part, a.Choice)
	case a.Call == 0:
		return t.resume(a.Run)
	}
	state, result := Approved, ""
	switch a.Choice {
	case ChooseDeny:
		state, result = Denied, fmt.Sprintf("%s said no to this. Do not try it again in another way.", by.Name)
	case ChooseWorked:
		state, result = Finished, by.Name+" says that it worked."
	case ChooseDrop:
		state, result = Given, by.Name+" says to leave it: it may or may not have happened. Do not repeat it."
	}
	var ended any
	if state.Ended() {
		ended = t.now.UnixMilli()
	}
	// Bound to the exact arguments: a call whose row no longer matches what was shown does not run.
	if _, err := t.exec(`UPDATE call SET state = ?, result = CASE ? WHEN '' THEN result ELSE ? END, ended = ? WHERE id = ? AND hash = ? AND state IN ('waiting','unknown')`,
		state, result, result, ended, a.Call, a.Hash); err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE call SET state = 'denied', result = 'Its arguments are not those that were approved.', ended = ? WHERE id = ? AND hash != ? AND state IN ('waiting','unknown')`,
		t.now.UnixMilli(), a.Call, a.Hash); err != nil {
		return err
	}
	return t.resume(a.Run)
}

// resume queues a waiting run again, ahead of what began later.
func (t *Tx) resume(run int64) error {
	_, err := t.exec(`UPDATE run SET state = 'queued', ready_at = ? WHERE id = ? AND state = 'waiting'`, t.now.UnixMilli(), run)
	return err
}

// expire closes a question nobody answered: its call does not run, or not again, its run goes on and says so.
func (t *Tx) expire(a Approval) error {
	if _, err := t.exec(`UPDATE approval SET state = 'expired', decided = ? WHERE id = ?`, t.now.UnixMilli(), a.ID); err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE call SET result = CASE state WHEN 'waiting' THEN 'Nobody answered the question in time, so this was not done.' ELSE 'Nobody answered the question in time: it may or may not have happened. Do not repeat it.' END,
		state = CASE state WHEN 'waiting' THEN 'denied' ELSE 'dropped' END, ended = ? WHERE id = ? AND state IN ('waiting','unknown')`, t.now.UnixMilli(), a.Call); err != nil {
		return err
	}
	return t.resume(a.Run)
}

// ExpireApprovals closes the questions whose time is over and reports how many.
func (v *Vault) ExpireApprovals(ctx context.Context) (closed int, err error) {
	due, err := v.dueApprovals(ctx)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	err = v.write(ctx, "expire", durable, func(t *Tx) error {
		closed = 0
		for _, a := range due {
			still, err := one(t.ctx, t.tx, scanString, `SELECT state FROM approval WHERE id = ?`, a.ID)
			if err != nil {
				return err
			}
			if still != "open" {
				continue
			}
			if err := t.expire(a); err != nil {
				return err
			}
			closed++
		}
		return nil
	})
	return closed, err
}

func (v *Vault) dueApprovals(ctx context.Context) ([]Approval, error) {
	return collect(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE state = 'open' AND expires IS NOT NULL AND expires <= ?`, v.now().UnixMilli())
}

// NextExpiry is when the next open question expires; zero when none does.
func (v *Vault) NextExpiry(ctx context.Context) (at time.Time, err error) {
	return one(ctx, v.rdb, func(s scanner) (at time.Time, err error) { err = s.Scan(instant{&at}); return at, err }, `SELECT min(expires) FROM approval WHERE state = 'open'`)
}

// Approval gives one question. ErrNotFound.
func (v *Vault) Approval(ctx context.Context, number int64) (Approval, error) {
	return one(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE id = ?`, number)
}

// Approvals lists questions, newest first, or only the open ones.
func (v *Vault) Approvals(ctx context.Context, onlyOpen bool, limit int) ([]Approval, error) {
	return collect(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE NOT ? OR state = 'open' ORDER BY id DESC LIMIT ?`, onlyOpen, limit)
}

// Rule is a standing permission that somebody gave with "always".
type Rule struct {
	ID        int64
	Tool      string
	Person    int64
	Chat      string // private, group or any
	About     string // which uses of the tool, as Question.About; "" = every one
	Created   time.Time
	CreatedBy int64
}

const ruleColumns = `id, tool, person_id, chat, about, created, created_by`

func scanRule(s scanner) (r Rule, err error) {
	err = s.Scan(&r.ID, &r.Tool, null[int64]{&r.Person}, &r.Chat, &r.About, instant{&r.Created}, null[int64]{&r.CreatedBy})
	return r, err
}

// addRule keeps an "always": this tool, for this person's runs in this kind of chat, and no other use than what was shown.
func (t *Tx) addRule(a Approval, by Person) error {
	_, err := t.exec(`INSERT INTO rule(tool, person_id, chat, about, created, created_by, approval_id) SELECT ?, r.person_id, c.kind, ?, ?, ?, ? FROM run r JOIN conversation c ON c.id = r.conversation_id WHERE r.id = ?`,
		a.Tool, a.About, t.now.UnixMilli(), by.ID, a.ID, a.Run)
	return err
}

// Rules lists the standing permissions.
func (v *Vault) Rules(ctx context.Context) ([]Rule, error) {
	return collect(ctx, v.rdb, scanRule, `SELECT `+ruleColumns+` FROM rule WHERE dropped IS NULL ORDER BY id`)
}

// DropRule ends a standing permission. ErrNotFound.
func (t *Tx) DropRule(number int64) error {
	n, err := t.exec(`UPDATE rule SET dropped = ? WHERE id = ? AND dropped IS NULL`, t.now.UnixMilli(), number)
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}
