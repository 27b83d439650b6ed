package vault

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// agent stands for the agent where a person's number is asked for.
const agent = -1

// asked is a query as it is understood.
type asked struct {
	terms    []term
	speakers []int64 // whom it names
	names    map[int64]string
	when     period
	now      time.Time
}

// line is a message that is judged.
type line struct {
	Message
	Conversation int64
	span         int // lines of one span follow each other without a gap
	talk         int // talks are divided by an hour of silence
	stems        []string
	score        float64
}

// How much counts what. None of it is tuned to a collection of texts: around these values the outcome hardly changes.
const (
	termPause  = time.Hour // of silence ends a talk
	saturation = 1.2       // BM25: the second mention of a word counts less than the first
	brevity    = 0.75      // BM25: long lines hold any word sooner
	bySpeaker  = 0.5       // more for what the named person said
	inPeriod   = 1.0       // more for what was said in the named time
	inYear     = 0.2       // when that is no closer than a year
	onDay      = 2.0       // and again for the very day
	ofTalk     = 1.5       // at most so much more for a line of a talk that is about it
	talkLines  = 3         // which its best lines show
	lately     = 0.1       // at most so much more for what was said lately
	fresh      = 30 * 24 * time.Hour
	judged     = 8000 // bytes of a line: what is longer is a document
	echo       = 0.8  // what the agent said mostly repeats what it was told
)

// beside is how much the words of the lines around count: an answer seldom repeats the question.
var beside = []struct {
	at     int
	weight float64
}{{-2, .35}, {-1, .7}, {1, .35}}

// judge gives the lines that are worth something, best first.
func (a asked) judge(lines []line) []Hit {
	talks(lines)
	sum, known := 0.0, map[string]string{}
	for i := range lines {
		lines[i].stems = stems(lines[i].Text[:min(len(lines[i].Text), judged)], known)
		sum += float64(len(lines[i].stems))
	}
	if sum == 0 {
		return nil
	}
	a.weigh(lines, sum/float64(len(lines)))
	a.favour(lines)
	var order []int
	for i, l := range lines {
		if l.score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(lines[j].score, lines[i].score), cmp.Compare(lines[j].ID, lines[i].ID))
	})
	hits := make([]Hit, len(order))
	for n, i := range order {
		hits[n] = a.hit(lines, i)
	}
	return hits
}

// hit is a line with those beside it.
func (a asked) hit(lines []line, i int) Hit {
	h := Hit{Message: &lines[i].Message, Speaker: a.names[lines[i].Person], Score: lines[i].score}
	if adjoins(lines, i, i-1) {
		h.Before = &lines[i-1].Message
	}
	if adjoins(lines, i, i+1) {
		h.After = &lines[i+1].Message
	}
	return h
}

// talks numbers the talks that the lines belong to.
func talks(lines []line) {
	for i := 1; i < len(lines); i++ {
		lines[i].talk = lines[i-1].talk
		if lines[i].Conversation != lines[i-1].Conversation || lines[i].Sent.Sub(lines[i-1].Sent).Abs() > termPause {
			lines[i].talk++
		}
	}
}

// adjoins reports whether line j exists and is said in the same breath as line i.
func adjoins(lines []line, i, j int) bool {
	return j >= 0 && j < len(lines) && lines[j].span == lines[i].span && lines[j].talk == lines[i].talk
}

// weigh scores each line by the words of its own and of those beside it, as BM25 does with the fields of a document.
func (a asked) weigh(lines []line, mean float64) {
	counts := make([]float64, len(lines)*len(a.terms))
	for i := range lines {
		for k, t := range a.terms {
			counts[i*len(a.terms)+k] = float64(t.in(lines[i].stems))
		}
	}
	whole := mean
	for _, b := range beside {
		whole += b.weight * mean
	}
	for i := range lines {
		length := float64(len(lines[i].stems))
		for _, b := range beside {
			if j := i + b.at; adjoins(lines, i, j) {
				length += b.weight * float64(len(lines[j].stems))
			}
		}
		for k, t := range a.terms {
			n := counts[i*len(a.terms)+k]
			for _, b := range beside {
				if j := i + b.at; adjoins(lines, i, j) {
					n += b.weight * counts[j*len(a.terms)+k]
				}
			}
			if n > 0 {
				lines[i].score += t.rarity * n * (saturation + 1) / (n + saturation*(1-brevity+brevity*length/whole))
			}
		}
	}
}

// favour raises lines for what is not in their words: when they were said, by whom, and in which talk.
func (a asked) favour(lines []line) {
	rarest := 1.0
	for _, t := range a.terms {
		rarest = max(rarest, t.rarity)
	}
	top, best := 0.0, map[int][]float64{}
	for i := range lines {
		l := &lines[i]
		if a.when.known() && a.when.holds(l.Sent) {
			l.score *= 1 + a.when.weight()
			if a.when.short() { // all that was said on that day is an answer
				l.score = l.score*(1+onDay) + .3*rarest
			}
		}
		who := l.Person
		if l.Role == "assistant" {
			who = agent
		}
		switch {
		case len(a.speakers) == 1 && a.speakers[0] == who:
			l.score *= 1 + bySpeaker
		case who == agent:
			l.score *= echo
		}
		l.score *= 1 + lately*math.Exp2(-float64(max(0, a.now.Sub(l.Sent)))/float64(fresh))
		top = max(top, l.score)
		best[l.talk] = append(best[l.talk], l.score)
	}
	if top == 0 {
		return
	}
	support := map[int]float64{}
	for talk, scores := range best {
		slices.Sort(scores)
		for _, s := range scores[max(0, len(scores)-talkLines):] {
			support[talk] += s / talkLines / top
		}
	}
	for i := range lines {
		lines[i].score *= 1 + ofTalk*support[lines[i].talk]
	}
}
