package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"hearth/gateways/terminal"
	"hearth/scheduler/when"
)

// nearest gives the word of a list that was most likely meant; "" when none is near.
func nearest(word string, list []string) string {
	best, bestAt := "", max(1, len(word)/3)+1
	for _, candidate := range list {
		if d := distance(strings.ToLower(word), candidate); d < bestAt {
			best, bestAt = candidate, d
		}
	}
	return best
}

// distance counts the letters to put in, take out, replace or swap with their neighbour.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// table prints aligned columns. A listing without rows says so in a sentence.
func table(w io.Writer, none string, head []string, lines [][]string) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(w, none)
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range append([][]string{head}, lines...) {
		if _, err := fmt.Fprintln(tw, strings.TrimRight(strings.Join(line, "\t"), "\t ")); err != nil {
			return err
		}
	}
	return tw.Flush()
}

// clip makes one line of a text, of at most n letters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(terminal.Clean(s)), " ")
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// short writes an instant for a listing, to the minute; "-" when there is none.
func short(s stamp, now time.Time) string { return exact(stamp{s.Truncate(time.Minute)}, now) }

// exact is short, with the seconds of an instant that has some.
func exact(s stamp, now time.Time) string {
	if s.IsZero() {
		return "-"
	}
	return when.FormatShort(s.Time, now)
}

// dash stands for what is absent.
func dash[T ~string](s T) string {
	if s == "" {
		return "-"
	}
	return string(s)
}

// inZone gives a stamp the name of its zone back, which JSON does not carry.
func inZone(s stamp, zone string) stamp {
	if loc, err := time.LoadLocation(zone); err == nil {
		return at(loc, s.Time)
	}
	return s
}

// plural writes "1 job" and "2 jobs".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
