// Package when turns people's words into instants and recurrences, and stored recurrences into their next instant.
//
// Its first rule is that every word is consumed or the answer is a question: a phrase that is understood only in
// part is never acted on. It never answers with a past instant, nor with one more than a hundred years ahead.
//
// The package is pure: it reads no clock, no file and no environment, and it keeps no state. The reading goes
// bottom up: lex.go cuts a phrase into items by the words of one language (lexicon_*.go), clock.go, day.go,
// offset.go and recur.go read the parts a phrase is made of, oneoff.go and build.go put them together. Stored
// recurrences ("specs") live in next.go, cron.go, rrule.go and forms.go, and wall.go alone knows about clock changes.
package when

import (
	"fmt"
	"time"
)

// Result is what a time phrase means.
type Result struct {
	At       time.Time // first instant, strictly after the now handed in, in its Location
	Spec     string    // "" for one-off, else a recurrence that Next and Describe read
	Words    string    // the recurrence in words, "every second Wednesday at 14:00"; empty for one-off
	Note     string    // what was chosen where the words were ambiguous, one short sentence, else ""
	DateOnly bool      // no time of day was said, 09:00 was chosen
	Relative bool      // counted from the moment of speaking, "in 2 hours"
}

// AskError says that a phrase was not understood, or only in part, or has several readings. Question is meant for
// the person who said it and names what is unclear.
type AskError struct {
	Question string
	weak     bool // about words that may not belong to a time at all
	clash    bool // about two times that exclude each other
}

// Error returns the question itself: there is nothing else to tell.
func (e *AskError) Error() string { return e.Question }

// PastError says that the words were understood but lie in the past.
type PastError struct {
	At  time.Time // what the words mean
	Now time.Time // when they were said
}

// Error names today's date, weekday, time and zone, so that whoever counted from the wrong day can count again.
func (e *PastError) Error() string {
	return fmt.Sprintf("%s is in the past: now it is %s.", Format(e.At), Format(e.Now))
}

func ask(format string, args ...any) error {
	return &AskError{Question: fmt.Sprintf(format, args...)}
}

// weak is a question about words that may have nothing to do with a time.
func weak(format string, args ...any) error {
	return &AskError{Question: fmt.Sprintf(format, args...), weak: true}
}

// clash is a question about two times that exclude each other.
func clash(format string, args ...any) error {
	return &AskError{Question: fmt.Sprintf(format, args...), clash: true}
}

const (
	// maxYears bounds every answer. A reminder in the year 9999 is a typing mistake.
	maxYears = 100
	// defaultHour is the time of day of a phrase that names only a day.
	defaultHour = 9
)

// tooFar says whether t lies beyond what this package answers with.
func tooFar(t, now time.Time) bool { return t.After(now.AddDate(maxYears, 0, 0)) }
