package brain

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"hearth/vault"
)

// An answer that takes long is shown while it is written. What is shown may be gone again in a moment: the answer is what
// SaveStep commits, after it was judged, and it comes as a message of its own.

// When and how often; an answer that is written sooner needs no draft.
const (
	draftAfter = 4 * time.Second
	draftEvery = 2 * time.Second
)

// candid knows of which backends a whole answer has come in which nothing that was streamed had to be taken back. Of a
// model whose template opens its thinking only the end tells that all before was thinking, so the first answer is never
// shown while it is written, and of a model that had to take something back none is.
type candid struct {
	mu sync.Mutex
	by map[string]bool
}

func (c *candid) is(backend string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[backend]
}

// learn takes up what was streamed of a reply, and what it was in the end.
func (c *candid) learn(backend, streamed, whole string) {
	streamed, whole = strings.TrimSpace(streamed), strings.TrimSpace(whole)
	if streamed == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]bool{}
	}
	before, known := c.by[backend]
	c.by[backend] = streamed == whole && (before || !known)
}

// forget is for changed settings: the name may stand for another model.
func (c *candid) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = nil
}

// draft gathers one reply. Its add belongs to the goroutine that asks the model.
type draft struct {
	t     *turn
	p     vault.Progress
	show  bool
	name  string
	text  strings.Builder
	began time.Time // when the first words came; monotonic, as the next
	last  time.Time // when it was noted
}

// draftOf begins one. Only who waits in a private chat is shown anything.
func (t *turn) draftOf(p vault.Progress, b Backend) *draft {
	show := p.Run.Trigger == "message" && p.Conversation.Kind == vault.Private && !b.Offline && t.b.candid.is(b.Name)
	return &draft{t: t, p: p, show: show, name: b.Name}
}

func (d *draft) add(piece string) {
	d.text.WriteString(piece)
	if !d.show {
		return
	}
	now := time.Now()
	if d.began.IsZero() {
		d.began = now
	}
	if now.Sub(d.began) < draftAfter || now.Sub(d.last) < draftEvery {
		return
	}
	d.last = now
	d.t.b.vault.Preview(d.p.Run.ID, presentable(d.text.String(), d.p.Calls, func(name string) bool { _, ok := d.t.b.tools.Named(name); return ok }))
}

// end takes it back: what follows is the answer, or nothing.
func (d *draft) end(resp Response, err error) {
	if err == nil {
		d.t.b.candid.learn(d.name, d.text.String(), resp.Text)
	}
	if !d.last.IsZero() {
		d.t.b.vault.Preview(d.p.Run.ID, "")
	}
}

// suspicious is where something may begin that is no part of an answer: a call written as text, thinking, a template's mark.
var (
	suspicious = regexp.MustCompile("(?im)^[ \\t>*-]*[\\[{<]|[\\[{]\\s*(?:[\"'{\\[]|$)|<[|/a-z]*$|</?\\|?[a-z_]*(?:tool|function|think|thought|reason)|\"(?:name|tool|function|arguments|parameters|args)\"|`{2,}\\s*(?:json|tool|$)")
	written    = regexp.MustCompile(`\b([a-z][a-z_]+)\s*\(`)
)

// presentable gives what may be shown of a reply that is not finished: nothing of what might be machinery, and nothing at all
// once it claims or denies what would be corrected in the end. It only ever leaves out more than an answer would.
func presentable(text string, calls []vault.Call, known func(string) bool) string {
	text = cleaned(text)
	if denial.MatchString(text) || unsupported(text, calls) != "" {
		return ""
	}
	if at := suspicious.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	for _, m := range written.FindAllStringSubmatchIndex(text, -1) {
		if known(text[m[2]:m[3]]) {
			text = text[:m[0]]
			break
		}
	}
	return strings.TrimSpace(text)
}
