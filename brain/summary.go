package brain

import (
	"context"
	_ "embed" // summary.md
	"fmt"
	"slices"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

//go:embed summary.md
var summaryInstructions string

// When the history fills so much of its room, its older part is summed up: before it has to be dropped.
const (
	summariseAt  = 0.7
	summaryKeeps = 0.4 // of the room is left to the newest messages, as they are
	summaryWait  = 20 * time.Second
	summaryLeast = 600  // characters
	summaryMost  = 4000 // characters
)

// shortenSoon asks for a summary when the history will soon be too long for the room it has, or when something of it is
// shown no more and stands in no summary.
func (b *Brain) shortenSoon(ctx context.Context, p vault.Progress, s *Settings, backend Backend, t *talk, shown, room int) error {
	if !s.Background || backend.Offline {
		return nil
	}
	full := float64(shown) > summariseAt*float64(room) || float64(len(t.entries)) > summariseAt*historyEntries
	if !full && t.head.From <= t.since(p.Conversation) {
		return nil
	}
	return b.vault.QueueTask(ctx, p.Conversation.ID, vault.TaskSummary, summaryWait)
}

// summarise makes a summary of the older part of a conversation. Runs are taken whole, and none that has not ended, so that
// no call loses its result. What it does not reach this time is asked for again by the next prompt.
func (t *turn) summarise(ctx context.Context, p vault.Progress, s *Settings, backend Backend) (done vault.TaskDone, err error) {
	old, err := t.b.vault.Summary(ctx, p.Conversation)
	if err != nil {
		return done, err
	}
	c := p.Conversation
	c.SincePos = max(c.SincePos, old.To)
	entries, err := t.b.vault.History(ctx, c, 1<<62, 2*historyEntries)
	if err != nil {
		return done, err
	}
	req := Request{System: strings.TrimSpace(summaryInstructions), Now: t.b.now()}
	room := t.b.measures.budget(backend, fixedSize(req), 0)
	talkRoom := t.b.measures.budget(backend, fixedSize(t.b.fixed(p, s, backend, nil)), 0)
	if entries = t.b.older(ctx, c, entries, talkRoom); len(entries) == 0 {
		return done, nil // nothing is old enough
	}
	people, err := t.b.vault.People(ctx)
	if err != nil {
		return done, err
	}
	if !slices.ContainsFunc(entries, func(e vault.Entry) bool { return told(e, people, s.Zone, leastText) != "" }) {
		return done, nil // all of it is forgotten
	}
	most := min(max(room/summaryShare, summaryLeast), summaryMost)
	upTo := 0
	resp, step, err := t.aside(ctx, p, s, backend, req, func(room int) (words string) {
		words, upTo = transcript(old, entries, people, s.Zone, room, most)
		return words
	})
	if err != nil {
		return done, err
	}
	done.Step = step
	text := cleaned(resp.Text)
	if len(resp.Calls) > 0 || text == "" || looksRaw(text, func(string) bool { return false }) {
		done.Failed = "the summary was empty"
		return done, nil
	}
	first, last := entries[0].Pos, entries[upTo-1].Pos
	if old.ID != 0 {
		first = old.From
	}
	done.Summary = &vault.Summary{Conversation: c.ID, From: first, To: last, Text: shorten(text, most), Model: backend.Name}
	return done, nil
}

// older leaves out what stays as it is: the newest entries, and all from the first run on that has not ended.
func (b *Brain) older(ctx context.Context, c vault.Conversation, entries []vault.Entry, room int) []vault.Entry {
	if open := slices.IndexFunc(entries, func(e vault.Entry) bool { return e.Run != nil && !ended(e.Run.Run.State) }); open >= 0 {
		entries = entries[:open]
	}
	shownFrom := int64(0)
	var h opening
	if value, err := b.vault.Setting(ctx, headSetting(c.ID)); err == nil && h.read(value) {
		shownFrom = h.From
	}
	left := int(summaryKeeps * float64(room))
	kept := 0
	for i := len(entries) - 1; i >= 0; i-- {
		left -= size(renderEntry(entries[i], clip{n: room / 6}))
		if kept++; left < 0 || kept > historyEntries*2/5 || entries[i].Pos <= shownFrom {
			return entries[:i+1]
		}
	}
	return nil
}

func ended(s vault.RunState) bool { return s == vault.Done || s == vault.Failed || s == vault.Stopped }

// transcript writes down what is to be summed up, oldest first, as far as it fits into room characters; upTo is how many
// entries that are, one at least. Lines of which something was forgotten are left out: what stands around the gap might tell
// what stood in it.
func transcript(old vault.Summary, entries []vault.Entry, people []vault.Person, zone *time.Location, room, most int) (words string, upTo int) {
	var out strings.Builder
	if old.Text != "" {
		fmt.Fprintf(&out, "The earlier summary:\n%s\n\n", clipNote(old.Text, room/3))
	}
	out.WriteString("The conversation:\n")
	ending := fmt.Sprintf("\n\nSum this up in at most %d words.", most/6)
	left := room - out.Len() - len(ending)
	for i, e := range entries {
		piece := told(e, people, zone, max(left, leastText))
		if left -= len(piece); left < 0 && i > 0 {
			return out.String() + ending, i
		}
		out.WriteString(piece)
	}
	return out.String() + ending, len(entries)
}

// told is one entry as a transcript has it, in at most room characters.
func told(e vault.Entry, people []vault.Person, zone *time.Location, room int) string {
	perResult := clip{n: 300}
	var out strings.Builder
	if e.Message != nil {
		if vault.Blanked(e.Message.Text + e.Message.Quoted) {
			return ""
		}
		who := "Hearth"
		if e.Message.Role == "user" {
			who = speaker(people, *e.Message)
		}
		fmt.Fprintf(&out, "%s: %s\n", who, renderMessage(*e.Message))
		return clipNote(out.String(), room)
	}
	p := *e.Run
	msgs := slices.DeleteFunc(renderRun(p, "", perResult), func(m Msg) bool { return vault.Blanked(m.Text) })
	if len(msgs) == 0 {
		return ""
	}
	fmt.Fprintf(&out, "(%s)\n", when.Format(p.Run.Queued.In(zone).Truncate(time.Minute)))
	who := "The program"
	if len(p.Messages) > 0 {
		who = speaker(people, p.Messages[0])
	}
	for _, m := range msgs {
		switch m.Role {
		case "user":
			if m.Text != "[]" {
				fmt.Fprintf(&out, "%s: %s\n", who, m.Text)
			}
		case "tool":
			fmt.Fprintf(&out, "(%s gave: %s)\n", m.Tool, oneLine(m.Text))
		default:
			if m.Text != "" {
				fmt.Fprintf(&out, "Hearth: %s\n", m.Text)
			}
		}
	}
	return clipNote(out.String(), room)
}
