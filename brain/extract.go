package brain

import (
	"context"
	_ "embed" // extract.md
	"fmt"
	"slices"
	"strings"
	"time"

	"hearth/vault"
)

//go:embed extract.md
var extractInstructions string

// When and how much of what was said is read for facts. The pauses are those of the clock on the wall, as people see it.
const (
	learnEvery  = time.Minute        // between two looks whether a talk has come to rest
	quietFor    = 10 * time.Minute   // without a word: a talk has come to rest
	learnOldest = 7 * 24 * time.Hour // what was said before that is read no more
	learnLines  = 60                 // at a time
	longestLine = 1200               // bytes; what is longer is a document, and hardly the person's own words
	leastWords  = 2                  // that a line is about something with
	maxKnown    = 40                 // memories that are shown with the lines
	knownOfLine = 3                  // of which so many come from each
)

// learn has those talks read for facts that have come to rest. What it goes by stands in the vault alone: the messages, and
// how far each talk was read. Nothing new, nothing worth reading: nobody is asked.
func (b *Brain) learn(ctx context.Context) {
	b.learned = time.Now() // monotonic: a rhythm, nothing that anybody sees
	if err := b.learnQuiet(ctx); err != nil && ctx.Err() == nil {
		b.log.Error("cannot look for what was said", "error", err)
	}
}

func (b *Brain) learnQuiet(ctx context.Context) error {
	s := b.settings.Load()
	if !s.Background {
		return nil
	}
	inUse, err := s.modelInUse(ctx, b.vault)
	if err != nil {
		return err
	}
	backend := s.Backends[inUse]
	if backend.Model == nil || backend.Offline {
		return nil
	}
	if _, shut, err := b.shutNote(ctx, backend); err != nil || shut {
		return err
	}
	talks, err := b.vault.Quiet(ctx, b.now().Add(-quietFor))
	if err != nil {
		return err
	}
	for _, talk := range talks {
		u, err := b.vault.Unlearned(ctx, talk, b.now().Add(-learnOldest), learnLines)
		if err != nil {
			return err
		}
		if len(worthReading(u.Lines)) == 0 {
			err = b.vault.Learn(ctx, vault.Learned{Conversation: talk, From: u.From, UpTo: u.UpTo})
		} else {
			err = b.vault.QueueTask(ctx, talk, vault.TaskFacts, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// worthReading leaves out the lines that cannot hold a fact.
func worthReading(lines []vault.Message) (out []vault.Message) {
	for _, m := range lines {
		if len(m.Text) <= longestLine && vault.Substance(m.Text) >= leastWords {
			out = append(out, m)
		}
	}
	return out
}

// extract reads what was said in a conversation since the last time, and keeps the facts that stand in it. The model is asked
// once, and the lines count as read whatever it answers.
func (t *turn) extract(ctx context.Context, p vault.Progress, s *Settings, backend Backend) (done vault.TaskDone, err error) {
	c := p.Conversation
	u, err := t.b.vault.Unlearned(ctx, c.ID, t.b.now().Add(-learnOldest), learnLines)
	if err != nil || u.Newest.After(t.b.now().Add(-quietFor)) {
		return done, err // somebody speaks again: it is looked at when that talk has come to rest
	}
	learned := vault.Learned{Conversation: c.ID, From: u.From, UpTo: u.UpTo}
	lines := worthReading(u.Lines)
	if len(lines) == 0 {
		done.Learned = &learned
		return done, nil
	}
	people, err := t.b.vault.People(ctx)
	if err != nil {
		return done, err
	}
	known, err := t.b.knownOf(ctx, c, lines)
	if err != nil {
		return done, err
	}
	read := len(lines)
	req := Request{System: strings.TrimSpace(extractInstructions), Now: t.b.now()}
	resp, step, err := t.aside(ctx, p, s, backend, req, func(room int) (words string) {
		words, read = reading(known, lines, people, room)
		return words
	})
	if err != nil {
		return done, err
	}
	if read < len(lines) {
		learned.UpTo = lines[read-1].Pos // the others come next
	}
	found, ok := parseFacts(resp.Text)
	if !ok || len(resp.Calls) > 0 {
		done.Failed = "the answer holds no list of facts"
	} else {
		learned.Facts = checkFacts(found, lines[:read], people, c.Kind == vault.Group)
	}
	done.Step, done.Learned = step, &learned
	return done, nil
}

// knownOf gives the memories that may say the same as some lines, or the contrary, of the people who wrote them and from where
// they wrote: those that share words with a line, then the newest.
func (b *Brain) knownOf(ctx context.Context, c vault.Conversation, lines []vault.Message) (out []vault.Memory, err error) {
	seen := map[int64]bool{}
	look := func(person int64, words string, most int) error {
		found, err := b.vault.Recall(ctx, vault.ScopeOf(c, person), words, most)
		for _, k := range found {
			if k.Person == person && !seen[k.ID] && len(out) < maxKnown {
				seen[k.ID] = true
				out = append(out, k)
			}
		}
		return err
	}
	var writers []int64
	for _, m := range slices.Backward(lines) {
		if err := look(m.Person, shorten(m.Text, 300), knownOfLine); err != nil {
			return nil, err
		}
		if !slices.Contains(writers, m.Person) {
			writers = append(writers, m.Person)
		}
	}
	for _, person := range writers {
		if err := look(person, "", maxKnown); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// reading writes down what is known and what was said, as far as that fits into room characters; read is how many lines that
// are, one at least.
func reading(known []vault.Memory, lines []vault.Message, people []vault.Person, room int) (words string, read int) {
	var out strings.Builder
	if len(known) > 0 {
		out.WriteString("Known already:\n")
	}
	for _, m := range known {
		line := fmt.Sprintf("#%d %s\n", m.ID, oneLine(m.Text))
		if out.Len()+len(line) < room/3 {
			out.WriteString(line)
		}
	}
	out.WriteString("\nThe lines:\n")
	for i, m := range lines {
		line := fmt.Sprintf("%d %s: %s\n", i+1, speaker(people, m), strings.Join(strings.Fields(m.Text), " "))
		if i > 0 && out.Len()+len(line) > room {
			return out.String(), i
		}
		out.WriteString(line)
	}
	return out.String(), len(lines)
}
