package inbox

import "strings"

// slips counts the letters to add, drop, change or swap with their neighbour to get from one word to another.
func slips(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			differ := 0
			if x[i-1] != y[j-1] {
				differ = 1
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differ)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// maxWord is the longest word that is compared: nothing that is known here is nearly as long.
const maxWord = 64

// nearest finds the word that was most likely meant, "" when none is near. The first of several wins.
func nearest(word string, among []string) string {
	if few := nearestFew(word, among, func(s string) string { return s }); len(few) > 0 {
		return few[0]
	}
	return ""
}

// nearestFew finds up to three words that are equally near by what key makes of them.
func nearestFew(word string, among []string, key func(string) string) []string {
	if len(word) > maxWord {
		return nil
	}
	var best []string
	bestAt := min(3, max(1, len([]rune(word))/3)) // more slips than that are another word
	for _, candidate := range among {
		at := slips(word, key(candidate))
		if at > bestAt || at >= len([]rune(key(candidate))) {
			continue // too far, or no letter in common
		}
		if at < bestAt {
			best, bestAt = nil, at
		}
		if len(best) < 3 {
			best = append(best, candidate)
		}
	}
	return best
}
