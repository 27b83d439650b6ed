package offline

import (
	"errors"
	"strings"
	"time"

	"hearth/scheduler/when"
)

var (
	// linkEnd and linkStart are the small words that hang between a time and what is to be done then.
	linkEnd   = lazily(`(?i)(?:[\s,;:]+|\s(?:to|that|about|of|please|daran|dass|an|zu|que|de|di|d'|che|per|para|pour|por))+$`)
	linkStart = lazily(`(?i)^(?:[\s,;:]+|(?:please|bitte)\s)+`)

	// aboutThing is an "about" that leads to the matter: before a number it says that a time is rough.
	aboutThing = lazily(`(?i)\b(?:about|of) ((?:the|my|our|your|a|an|his|her|their|this|that|these|those)\b)`)

	// timely words show that a time was meant, though it was not understood.
	timely = lazily(`(?i)\b(?:at|in|on|by|um|am|auf|a las?|à|às|alle|em|dans|tra|fra|en) \d|\d\s?(?:am|pm|h|uhr|min|st|nd|rd|th)\b|\d[:.]\d|\b(?:noon|midnight|tonight|today|tomorrow|morning|afternoon|evening|night|week|month|year|every|daily|hourly|hours?|minutes?|days?|` +
		`mon|tues?|wed|wednes|thurs?|fri|sat|satur|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|` +
		`heute|morgen|jeden|stunden?|minuten?|hoy|mañana|cada|demain|aujourd'hui|chaque|amanhã|hoje|domani|oggi|ogni|soon|later)\b`)
)

// timeIn finds the time in a sentence: as it was said, for the tool to read again, and what is left. When the words
// cannot be cut out, the time is given as an instant or in when's own words for a rhythm.
func timeIn(s string, now time.Time) (phrase, rest string, err error) {
	res, rest, err := when.Split(s, now)
	if err != nil {
		if without := aboutThing.get().ReplaceAllString(s, "$1"); without != s {
			return timeIn(without, now)
		}
		return "", "", err
	}
	head, tail := s, ""
	if i := strings.Index(s, rest); rest != "" && i >= 0 {
		head, tail = s[:i], s[i+len(rest):]
	}
	for _, part := range []string{head, tail} {
		part = linkStart.get().ReplaceAllString(part, "")
		for _, p := range []string{strings.TrimSpace(part), strings.TrimSpace(linkEnd.get().ReplaceAllString(part, ""))} {
			if again, err := when.Parse(p, now); err == nil && again.At.Equal(res.At) && again.Spec == res.Spec {
				return p, rest, nil
			}
		}
	}
	if res.Spec != "" {
		return res.Words, rest, nil
	}
	return res.At.Format(time.RFC3339), rest, nil
}

// isTime reports whether words are a time and nothing else.
func isTime(s string, now time.Time) bool {
	_, err := when.Parse(s, now)
	return err == nil
}

// noTime begins what when says of words that hold no time at all.
const noTime = "I found no time"

// questionOf gives the question that when asks about words it did not understand.
func questionOf(err error) string {
	var ask *when.AskError
	if errors.As(err, &ask) {
		return ask.Question
	}
	return sentenceOf(err.Error())
}
