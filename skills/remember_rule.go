package skills

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"hearth/vault"
)

// A model words what it stores, and may word it wrongly. So a rule is what the person wrote, as they wrote it; the model's
// words take its place only where theirs need what was said before ("never write to him").

// kindOf says what kind of memory a fact is, and in whose words it is kept.
func kindOf(c Call, fact string) (kind, text string) {
	if c.Origin != "" || c.Unasked {
		return "fact", fact
	}
	for _, said := range slices.Backward(c.Words) {
		own := vault.OrderIn(said)
		if own == "" || !alike(own, fact) || len([]rune(own)) > maxFact {
			continue
		}
		if pronoun.MatchString(own) && vault.KindOf(fact) == "rule" && sameLocks(own, fact) {
			return "rule", fact
		}
		return "rule", asRule(own)
	}
	return "fact", fact
}

var (
	pronoun    = regexp.MustCompile(`(?i)\b(him|her|them|it|that|this|those|these|there)\b`)
	rememberMe = regexp.MustCompile(`(?i)^(?:please[ ,]+)?(?:remember|note)(?: that| to)?[ :,]+`)
)

// asRule is the person's sentence without the words that had it stored.
func asRule(own string) string {
	if bare := rememberMe.ReplaceAllString(own, ""); vault.KindOf(bare) == "rule" {
		return bare
	}
	return own
}

// sameLocks reports whether what the model worded shuts the same.
func sameLocks(own, fact string) bool {
	return slices.EqualFunc(vault.OrdersOf(own), vault.OrdersOf(fact), func(a, b vault.Order) bool {
		return a.Do == b.Do && slices.Equal(a.Tools, b.Tools)
	})
}

// alike reports whether two sentences share half of the words of the shorter one.
func alike(a, b string) bool {
	one, two := bag(a), bag(b)
	if len(two) < len(one) {
		one, two = two, one
	}
	both := 0
	for _, w := range one {
		if slices.Contains(two, w) {
			both++
		}
	}
	return both > 0 && 2*both >= len(one)
}

func bag(s string) []string {
	out := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) })
	slices.Sort(out)
	return slices.Compact(out)
}

// orderedToForget reports whether the person has named the memory that is to be forgotten: a page or a message that was
// passed on must not lift a rule.
func orderedToForget(c Call, number int64) bool {
	if c.Origin != "" || c.Unasked {
		return false
	}
	return slices.ContainsFunc(c.Words, func(s string) bool { return slices.Contains(bag(s), strconv.FormatInt(number, 10)) })
}
