package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"hearth/brain/ollama"
)

// tell is told how far something is: whole percents, each once and never back, and the words for people.
type tell func(percent int, words string)

// pullModel has a model server install a model. What is told ends with 100 when it is there.
func pullModel(ctx context.Context, url, model string, told tell) error {
	last := -1
	at := func(percent int) {
		if percent > last {
			last = percent
			told(percent, fmt.Sprintf("pulling %s %d %%", model, percent))
		}
	}
	at(0)
	err := ollama.Pull(ctx, url, model, func(_ string, done, total int64) {
		if total > 0 {
			at(min(99, int(100*done/total))) // what follows the last byte takes a while: checking, writing
		}
	})
	if err != nil {
		return err
	}
	at(100)
	return nil
}

// barWidth is that of the bar itself, in columns.
const barWidth = 24

// bar shows progress as a line that is written over. Elsewhere than on a terminal it is a line for every ten percent.
func bar(out io.Writer) tell {
	tty, shown := isTerminal(out), -1
	return func(percent int, words string) {
		if tty {
			full := barWidth * percent / 100
			line := fmt.Sprintf("\r%s [%s%s]", words, strings.Repeat("#", full), strings.Repeat("-", barWidth-full))
			_, _ = io.WriteString(out, line) // a bar that does not show stops nothing
			return
		}
		if percent/10 > shown/10 || shown < 0 {
			shown = percent
			_, _ = io.WriteString(out, words+"\n")
		}
	}
}
