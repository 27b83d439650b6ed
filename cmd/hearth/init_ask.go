package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// errNoMore says that the answers have ended: a pipe is empty, or somebody pressed Ctrl-D.
var errNoMore = errors.New("there are no more answers")

// asker puts questions to whoever is at the other end of standard input.
type asker struct {
	out    io.Writer
	typist *os.File // the terminal; nil: the answers come out of a pipe
	lines  *bufio.Scanner
}

// longestAnswer is that of one line, in bytes.
const longestAnswer = 64 << 10

func newAsker(in io.Reader, out io.Writer) *asker {
	a := &asker{out: out, lines: bufio.NewScanner(in)}
	a.lines.Buffer(nil, longestAnswer)
	if file, ok := in.(*os.File); ok && isTerminal(in) {
		a.typist = file
	}
	return a
}

// ask puts a question and gives the answer without the spaces around it; "" is just Enter. Errors: errNoMore, and that of
// ctx.
func (a *asker) ask(ctx context.Context, question string) (string, error) {
	return a.put(ctx, question, a.line)
}

// askSecret is ask for what must not be seen: a terminal does not show what is typed.
func (a *asker) askSecret(ctx context.Context, question string) (string, error) {
	if a.typist == nil {
		return a.ask(ctx, question)
	}
	fd := int(a.typist.Fd())
	shown, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("have the terminal show nothing: %w", err)
	}
	answer, err := a.put(ctx, question, func() (string, error) { return hiddenLine(a.typist) })
	// Also when the reading goes on, which it does until the program ends: the terminal would be left mute.
	if err := term.Restore(fd, shown); err != nil {
		return "", fmt.Errorf("give the terminal back: %w", err)
	}
	fmt.Fprintln(a.out) // the one that was typed did not show either
	return answer, err
}

// hiddenLine reads a line, key by key, from a terminal that does nothing by itself. Ctrl-C is context.Canceled.
func hiddenLine(keys io.Reader) (string, error) {
	var line []rune
	in := bufio.NewReaderSize(oneByte{keys}, 16)
	for {
		key, _, err := in.ReadRune()
		if err != nil {
			return "", err
		}
		switch key {
		case '\r', '\n':
			return string(line), nil
		case 0x03: // Ctrl-C
			return "", context.Canceled
		case 0x04: // Ctrl-D
			if len(line) == 0 {
				return "", io.EOF
			}
		case 0x7f, '\b':
			line = line[:max(0, len(line)-1)]
		case 0x15: // Ctrl-U
			line = nil
		default:
			if unicode.IsPrint(key) && len(line) < longestAnswer {
				line = append(line, key)
			}
		}
	}
}

// oneByte reads no further than it is asked to: what is typed for the next question stays where it is.
type oneByte struct{ from io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.from.Read(p[:min(1, len(p))]) }

// put writes a question and waits for its answer, or for the end of ctx.
func (a *asker) put(ctx context.Context, question string, read func() (string, error)) (string, error) {
	end := " "
	if a.typist == nil {
		end = "\n"
	}
	if _, err := io.WriteString(a.out, question+end); err != nil {
		return "", err
	}
	type answer struct {
		words string
		err   error
	}
	got := make(chan answer, 1)
	go func() {
		words, err := read()
		got <- answer{words, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case ans := <-got:
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if errors.Is(ans.err, io.EOF) {
			ans.err = errNoMore
		}
		return strings.TrimSpace(ans.words), ans.err
	}
}

func (a *asker) line() (string, error) {
	if a.lines.Scan() {
		return a.lines.Text(), nil
	}
	if err := a.lines.Err(); err != nil {
		return "", fmt.Errorf("read an answer: %w", err)
	}
	return "", io.EOF
}

// agree asks for yes or no. Enter is yes. When there are no more answers it is no: nobody has agreed.
func (a *asker) agree(ctx context.Context, question string) (bool, error) {
	for {
		answer, err := a.ask(ctx, question+" [Y/n]")
		switch {
		case errors.Is(err, errNoMore):
			return false, nil
		case err != nil:
			return false, err
		}
		switch strings.ToLower(answer) {
		case "", "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		if err := say(a.out, "Please answer y or n."); err != nil {
			return false, err
		}
	}
}
