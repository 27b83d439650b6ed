package vault

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a search, so that it costs the same in a vault of a million messages as in one of a thousand.
const (
	postings    = 1000 // the newest messages that hold a word are looked at, no more
	rarePairs   = 3    // of words commoner than that, so many are also looked for together
	pairable    = 60_000
	centres     = 150 // messages whose surroundings are read and judged
	reach       = 3   // lines read to each side of them
	ofOneDay    = 100 // messages of a day that the query names
	maxAnswers  = 200
	searchTerms = 24
)

// term is one word of a query, or a run of letters of a script without spaces.
type term struct {
	tokens []string
	start  bool    // of a word: nothing holds exactly this one
	found  int     // messages that hold it, at least
	more   bool    // there are more than were looked at
	rarity float64 // weighs it
}

func (t term) match() string {
	m := `tokens : "` + strings.Join(t.tokens, " ") + `"`
	if t.start {
		m += " *"
	}
	return m
}

// in counts how often a text holds the term.
func (t term) in(text []string) (n int) {
	for i := range text {
		switch {
		case t.start && strings.HasPrefix(text[i], t.tokens[0]), !t.start && len(t.tokens) == 1 && text[i] == t.tokens[0]:
			n++
		case len(t.tokens) > 1 && i+len(t.tokens) <= len(text) && slices.Equal(text[i:i+len(t.tokens)], t.tokens):
			n++
		}
	}
	return n
}

// termsOf gives the terms of a query, each once. Words that carry only grammar count when there are no others.
func termsOf(query string) []term {
	var all, telling []term
	var phrase []string
	add := func(word string, toks ...string) {
		t := term{tokens: toks}
		if slices.ContainsFunc(all, func(o term) bool { return slices.Equal(o.tokens, toks) }) {
			return
		}
		all = append(all, t)
		if !stopWords[word] {
			telling = append(telling, t)
		}
	}
	end := func() {
		if len(phrase) > 0 {
			add("", slices.Clone(phrase[:min(len(phrase), maxPhrase)])...)
		}
		phrase = phrase[:0]
	}
	for _, w := range words(query) {
		if r, size := utf8.DecodeRuneInString(w); size == len(w) && cjk(r) {
			phrase = append(phrase, w)
			continue
		}
		end()
		if w != pause {
			add(w, stemmed(exact(w)))
		}
	}
	end()
	if len(telling) == 0 {
		telling = all
	}
	return telling[:min(len(telling), searchTerms)]
}

// conversationBits is where the number of the conversation begins in that of a row of the index.
const conversationBits = 40

// said finds messages by words, speaker and time, best first, all that are worth something up to maxAnswers.
func (v *Vault) said(ctx context.Context, in Scope, q Query) ([]Hit, error) {
	newest, err := one(ctx, v.rdb.slowly(), scanInt, `SELECT coalesce(max(id), 0) FROM message`)
	if err != nil || newest == 0 {
		return nil, err
	}
	a := asked{terms: termsOf(q.Text), now: v.now()}
	if err := v.whose(ctx, in, q.Text, &a); err != nil {
		return nil, err
	}
	a.when = timeIn(q.Text, a.now, q.Zone)
	low, high := int64(0), newest
	if a.when.known() {
		if low, high, err = v.idsOf(ctx, a.when, newest); err != nil {
			return nil, err
		}
	}
	worth, err := v.candidates(ctx, in, &a, newest, low, high)
	if err != nil {
		return nil, err
	}
	best := heaviest(worth, centres)
	if a.when.short() {
		day, err := v.idsBetween(ctx, in, low, high)
		if err != nil {
			return nil, err
		}
		best = append(best, day...)
	}
	lines, err := v.around(ctx, in, best, q.Run)
	if err != nil {
		return nil, err
	}
	hits := a.judge(lines)
	return hits[:min(len(hits), maxAnswers)], nil
}

// candidates looks up the postings of all terms and gives what each message is worth by them, those of the messages beside
// it included. Rarer words first: what is said in a hundred thousand messages tells least and costs most.
func (v *Vault) candidates(ctx context.Context, in Scope, a *asked, newest, low, high int64) (map[int64]float64, error) {
	own := map[int64]float64{}
	mark := func(ids []int64, weight float64) {
		for _, n := range ids {
			own[n] += weight
		}
	}
	for i := range a.terms {
		t := &a.terms[i]
		ids, err := v.matching(ctx, in, t.match(), 0, newest, postings)
		if err == nil && len(ids) == 0 && len(t.tokens) == 1 && len(t.tokens[0]) > 3 && !strings.HasPrefix(t.tokens[0], "0x") {
			t.start = true
			ids, err = v.matching(ctx, in, t.match(), 0, newest, postings)
		}
		if err != nil {
			return nil, err
		}
		t.found, t.more = len(ids), len(ids) == postings
		if t.more { // as frequent before as it was of late
			span := newest - ids[len(ids)-1] + 1
			t.found = max(t.found, int(float64(newest)/float64(span)*float64(len(ids))))
		}
		t.rarity = math.Log(1 + (float64(newest)-float64(t.found)+.5)/(float64(t.found)+.5))
		mark(ids, t.rarity)
		if t.more && a.when.known() { // the newest are not those that are asked for
			if ids, err = v.matching(ctx, in, t.match(), low, high, postings); err != nil {
				return nil, err
			}
			mark(ids, t.rarity)
		}
	}
	// Of common words the older messages that hold two of them.
	var common []term
	for _, t := range a.terms {
		if t.more {
			common = append(common, t)
		}
	}
	slices.SortStableFunc(common, func(a, b term) int { return cmp.Compare(a.found, b.found) })
	common = common[:min(len(common), rarePairs)]
	for i, t := range common {
		for _, u := range common[i+1:] {
			if min(t.found, u.found) > pairable {
				continue
			}
			ids, err := v.matching(ctx, in, t.match()+" AND "+u.match(), 0, newest, postings)
			if err != nil {
				return nil, err
			}
			mark(ids, (t.rarity+u.rarity)/2) // half of it they may have already
		}
	}
	out := make(map[int64]float64, len(own))
	for n := range own {
		out[n] = own[n] + .7*own[n-1] + .35*own[n-2] + .35*own[n+1]
	}
	return out, nil
}

// matching gives the newest messages of the conversation between two numbers that the index knows for an expression, newest
// first. They come in one row: a thousand rows cost more than finding them.
func (v *Vault) matching(ctx context.Context, in Scope, expression string, low, high int64, limit int) ([]int64, error) {
	first := in.Conversation << conversationBits
	return v.numbers(ctx, `SELECT coalesce(group_concat(n), '') FROM (SELECT rowid & ? AS n FROM message_fts WHERE message_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?)`,
		int64(1)<<conversationBits-1, expression, first|low, first|high, limit)
}

// idsBetween gives the first messages of the conversation between two numbers: those of a day.
func (v *Vault) idsBetween(ctx context.Context, in Scope, low, high int64) ([]int64, error) {
	return v.numbers(ctx, `SELECT coalesce(group_concat(id), '') FROM (SELECT m.id FROM message m WHERE m.id BETWEEN ? AND ? AND +m.conversation_id = ? ORDER BY m.id LIMIT ?)`, low, high, in.Conversation, ofOneDay)
}

// numbers reads a row of numbers with commas between them.
func (v *Vault) numbers(ctx context.Context, query string, args ...any) ([]int64, error) {
	list, err := one(ctx, v.rdb.slowly(), scanString, query, args...)
	if err != nil || list == "" {
		return nil, err
	}
	var out []int64
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// heaviest gives the keys of the largest values, the newest of equal ones first.
func heaviest(of map[int64]float64, n int) []int64 {
	keys := make([]int64, 0, len(of))
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b int64) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(b, a)) })
	return keys[:min(len(keys), n)]
}

// whose finds out whom the query names of those who speak in this scope. Their names are no words to search for: who says
// something seldom says the own name with it.
func (v *Vault) whose(ctx context.Context, in Scope, query string, a *asked) error {
	people, err := v.People(ctx)
	if err != nil {
		return err
	}
	a.names = map[int64]string{}
	var others []term
	named := map[string]bool{}
	for _, p := range people {
		a.names[p.ID] = p.Name
		for _, w := range tokens(p.Name) {
			i := slices.IndexFunc(a.terms, func(t term) bool { return len(t.tokens) == 1 && t.tokens[0] == stemmed(w) })
			if i < 0 || len(w) < 3 || stopWords[w] {
				continue
			}
			speaks, err := v.matching(ctx, in, `who : "p`+strconv.FormatInt(p.ID, 10)+`"`, 0, 1<<conversationBits-1, 1)
			if err != nil {
				return err
			}
			if len(speaks) > 0 {
				a.speakers = append(a.speakers, p.ID)
				named[stemmed(w)] = true
				break
			}
		}
	}
	for _, t := range a.terms {
		if len(t.tokens) > 1 || !named[t.tokens[0]] {
			others = append(others, t)
		}
	}
	if len(others) > 0 {
		a.terms = others
	}
	if len(a.speakers) > 0 {
		return nil
	}
	said := words(query)
	switch {
	case slices.ContainsFunc(said, func(w string) bool { return w == "i" || w == "my" || w == "me" }):
		a.speakers = []int64{in.Person}
	case slices.Contains(said, "you"):
		a.speakers = []int64{agent}
	}
	return nil
}

// around loads messages and what stands around them, in the order of their conversations.
func (v *Vault) around(ctx context.Context, in Scope, ids []int64, run int64) ([]line, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	type span struct{ C, Low, High int64 }
	spans, err := collect(ctx, v.rdb.slowly(), func(s scanner) (p span, err error) { err = s.Scan(&p.C, &p.Low, &p.High); return p, err },
		fmt.Sprintf(`SELECT m.conversation_id,
			coalesce((SELECT min(pos) FROM (SELECT b.pos FROM message b WHERE b.conversation_id = m.conversation_id AND b.pos < m.pos ORDER BY b.pos DESC LIMIT %d)), m.pos),
			coalesce((SELECT max(pos) FROM (SELECT b.pos FROM message b WHERE b.conversation_id = m.conversation_id AND b.pos > m.pos ORDER BY b.pos LIMIT %d)), m.pos)
			FROM json_each(?) j CROSS JOIN message m ON m.id = j.value WHERE m.conversation_id = ? ORDER BY 1, 2`, reach, reach), string(list), in.Conversation)
	if err != nil {
		return nil, err
	}
	merged := spans[:0]
	for _, s := range spans {
		if n := len(merged); n > 0 && merged[n-1].C == s.C && s.Low <= merged[n-1].High {
			merged[n-1].High = max(merged[n-1].High, s.High)
			continue
		}
		merged = append(merged, s)
	}
	if list, err = json.Marshal(merged); err != nil {
		return nil, err
	}
	return collect(ctx, v.rdb.slowly(), func(s scanner) (l line, err error) {
		err = s.Scan(&l.span, &l.Conversation, &l.ID, null[int64]{&l.Run}, &l.Pos, &l.Role, null[int64]{&l.Person}, &l.Kind, &l.Text, &l.Forwarded, instant{&l.Sent}, instant{&l.Received})
		l.Step = -1
		return l, err
	}, `SELECT j.key, m.conversation_id, m.id, m.run_id, m.pos, m.role, m.person_id, m.kind, m.text, m.forwarded, m.sent, m.received
		FROM json_each(?) j CROSS JOIN message m ON m.conversation_id = j.value ->> 'C' AND m.pos BETWEEN j.value ->> 'Low' AND j.value ->> 'High'
		WHERE m.kind = 'text' AND m.text NOT IN ('', '`+blank+`') AND m.text NOT LIKE '/%' AND (m.run_id IS NULL OR m.run_id != ?) AND m.conversation_id = ?`, string(list), run, in.Conversation)
}
