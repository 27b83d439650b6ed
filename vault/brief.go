package vault

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
)

// BriefText is the text of a job that is the daily brief: it wakes no model, the program writes it from rows.
const BriefText = "daily brief"

var (
	briefWords = map[string]bool{"brief": true, "due": true, "blocked": true, "waiting": true}
	briefLinks = map[string]bool{
		"a": true, "the": true, "my": true, "me": true, "give": true, "send": true, "tell": true, "daily": true, "morning": true, "evening": true, "short": true,
		"what": true, "is": true, "what's": true, "today": true, "or": true, "and": true, "for": true, "of": true, "on": true, "with": true,
	}
)

// AsksForBrief reports whether the text of a job asks for the brief: "brief", "my daily brief", "what is due, blocked, or
// waiting for me". A text with any other word is taken as it stands.
func AsksForBrief(words string) bool {
	found := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",.:;!?", r) }) {
		switch {
		case briefWords[w]:
			found[w] = true
		case !briefLinks[w]:
			return false
		}
	}
	return found["brief"] || found["due"] && (found["blocked"] || found["waiting"])
}

// asBrief makes a job that asks for the brief the brief.
func (j *Job) asBrief() {
	if AsksForBrief(j.Text) {
		j.Kind, j.Text = Do, BriefText
	}
}

// IsBrief reports whether the job is the daily brief.
func (j Job) IsBrief() bool { return j.Kind == Do && j.Text == BriefText }

// Brief is what a person may want to know in the morning.
type Brief struct {
	Due     []Job      // still to come before the day ends, next first
	Blocked []Job      // paused, or ended badly within a day
	Waiting []Approval // questions to an owner
	Letters []Part     // what could not be delivered, or may not have arrived
}

// Empty reports whether there is nothing to tell.
func (b Brief) Empty() bool {
	return len(b.Due)+len(b.Blocked)+len(b.Waiting)+len(b.Letters) == 0
}

// briefRows bounds each of its lists.
const briefRows = 20

// Brief gathers a job's person's brief up to an instant. In a group it holds what was made there; questions and letters are
// for owners, in their private chat.
func (v *Vault) Brief(ctx context.Context, j Job, upTo time.Time) (b Brief, err error) {
	p, err := v.Person(ctx, j.Person)
	if err != nil {
		return b, err
	}
	c, err := v.Conversation(ctx, j.Conversation)
	if err != nil {
		return b, err
	}
	only := int64(0)
	if c.Kind == Group {
		only = c.ID
	}
	now := v.now()
	if b.Due, err = collect(ctx, v.rdb, scanJob, `SELECT `+jobColumns+` FROM job WHERE person_id = ? AND state = 'waiting' AND next > ? AND next < ? AND id != ? AND (? = 0 OR conversation_id = ?) ORDER BY next LIMIT ?`,
		p.ID, now.UnixMilli(), upTo.UnixMilli(), j.ID, only, only, briefRows); err != nil {
		return b, err
	}
	if b.Blocked, err = collect(ctx, v.rdb, scanJob, `SELECT `+jobColumns+` FROM job WHERE person_id = ? AND id != ? AND (? = 0 OR conversation_id = ?)
		AND (state = 'paused' OR last_due > ? AND (last_result LIKE 'failed%' OR last_result LIKE 'not delivered%')) ORDER BY id LIMIT ?`,
		p.ID, j.ID, only, only, now.Add(-24*time.Hour).UnixMilli(), briefRows); err != nil || !p.IsOwner() || only != 0 {
		return b, err
	}
	b.Waiting, err = collect(ctx, v.rdb, scanApproval, `SELECT `+approvalColumns+` FROM approval WHERE state = 'open' AND (person_id IS NULL OR person_id = ?) ORDER BY id LIMIT ?`, p.ID, briefRows)
	letters, more := collect(ctx, v.rdb, scanPart, `SELECT `+partColumns+` FROM outbox WHERE state IN ('unknown','failed') AND bundle IS NULL ORDER BY id LIMIT ?`, briefRows)
	b.Letters = letters
	return b, errors.Join(err, more)
}
