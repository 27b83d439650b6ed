package vault

import (
	"regexp"
	"slices"
	"strings"
)

// negations turn a sentence round, so that they count where other words of grammar do not: who forgets that they like tea has
// not forgotten that they do not.
var negations = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`no not nor cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt without nobody nothing none`) {
		out[w] = true
	}
	return out
}()

// What an apostrophe ties to a word is grammar; the same letter by itself may be all the difference: vitamin D.
var (
	tiedNot = regexp.MustCompile(`(?i)(?:\b(?:ca|wo|sha)|\B)n['’]t\b`)
	tied    = regexp.MustCompile(`(?i)['’](?:d|m|s|ll|re|ve)\b`)
)

// others are the words for somebody who is neither the speaker nor spoken to.
var others = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`he him his himself she her hers herself they them their theirs themselves`) {
		out[w] = true
	}
	return out
}()

// contents gives what a fact is about, in order: its words without endings and grammar. The names of whoever tells it count
// as "I" does. A fact that is all grammar keeps its words.
func contents(fact, teller string) []string {
	own, known := map[string]bool{}, map[string]string{}
	for _, w := range tokens(teller) {
		own[w] = true
	}
	all := tokens(tied.ReplaceAllString(tiedNot.ReplaceAllString(fact, " not"), ""))
	var out []string
	for i, w := range all {
		switch {
		case negations[w]:
			out = append(out, "not")
		case len(w) == 1 && w != "i" && (w != "a" || i == len(all)-1):
			out = append(out, w)
		case own[w], stopWords[w]:
		default:
			out = append(out, stems(w, known)...)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// gist is what two ways to tell one fact share: the words that it is about, whatever their order and endings. It is the same
// for whatever person it speaks of without a name, so it is no measure for what a person said outright; see sameTold.
func gist(fact, teller string) string {
	words := slices.Compact(slices.Sorted(slices.Values(contents(fact, teller))))
	return strings.Join(words, " ")
}

// sameTold reports whether two facts of one gist are also told in the same order and of the same person, so that nothing is
// lost when the second is not kept.
func sameTold(a, b, teller string) bool {
	return slices.Equal(contents(a, teller), contents(b, teller)) && ofOthers(a) == ofOthers(b)
}

func ofOthers(fact string) bool {
	return slices.ContainsFunc(tokens(fact), func(w string) bool { return others[w] })
}

// backs reports whether words hold enough of what a fact is about to be where it comes from: half of it.
func backs(words, fact, teller string) bool {
	shared, about := overlap(words, fact, teller)
	return shared > 0 && 2*shared >= about
}

// shares reports whether two texts are about one thing at all.
func shares(words, fact, teller string) bool {
	shared, _ := overlap(words, fact, teller)
	return shared > 0
}

// overlap counts what a fact is about, and how much of that stands in words.
func overlap(words, fact, teller string) (shared, about int) {
	said := map[string]bool{}
	for _, w := range contents(words, teller) {
		said[w] = true
	}
	for _, w := range strings.Fields(gist(fact, teller)) {
		if about++; said[w] {
			shared++
		}
	}
	return shared, about
}

// Backs is backs for who checks before the vault does.
func Backs(words, fact, teller string) bool { return backs(words, fact, teller) }

// Substance is how many different words a text is about something with.
func Substance(words string) int {
	n := 0
	for _, w := range slices.Compact(slices.Sorted(slices.Values(contents(words, "")))) {
		if !stopWords[w] {
			n++
		}
	}
	return n
}
