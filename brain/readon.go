package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"hearth/skills"
	"hearth/vault"
)

// readFile is the tool with which a model reads on in a result that was cut: a result has a path as a file has, so that no
// further tool has to be told of in every prompt.
const readFile = "read_file"

// readOnAtOnce is how many bytes of a result are shown when it is read on.
const readOnAtOnce = 8000

// resultPath is the path of a result, with the place from which on it is read.
var resultPath = regexp.MustCompile(`^/?result-(\d{1,18})(?:#(\d{1,9}))?$`)

// readOn answers a call that reads on in what a tool returned earlier in this conversation. mine: it is such a call.
func (t *turn) readOn(ctx context.Context, p vault.Progress, c vault.Call) (result skills.Result, mine bool, err error) {
	number, from, ok := readsOn(c)
	if !ok {
		return result, false, nil
	}
	text, err := t.b.vault.ResultIn(ctx, p.Conversation, number)
	if errors.Is(err, vault.ErrNotFound) {
		return result, true, fmt.Errorf("there is no result-%d in this conversation", number)
	}
	if err != nil {
		return result, true, err
	}
	if from >= len(text) {
		return result, true, fmt.Errorf("result-%d has %d characters, so nothing comes after %d", number, len(text), from)
	}
	for from > 0 && text[from]&0xc0 == 0x80 {
		from--
	}
	to := min(from+readOnAtOnce, len(text))
	for to < len(text) && text[to]&0xc0 == 0x80 {
		to--
	}
	words := ""
	if to < len(text) {
		words = fmt.Sprintf("; read_file result-%d#%d goes on", number, to)
	}
	result.Text = text[from:to] + fmt.Sprintf("\n[this was %d to %d of %d characters%s]", from, to, len(text), words)
	return result, true, nil
}

// readsOn reports whether a call reads on, in what and from where.
func readsOn(c vault.Call) (call int64, from int, ok bool) {
	var args struct{ Path string }
	if c.Tool != readFile || json.Unmarshal([]byte(c.Args), &args) != nil {
		return 0, 0, false
	}
	m := resultPath.FindStringSubmatch(args.Path)
	if m == nil {
		return 0, 0, false
	}
	call, _ = strconv.ParseInt(m[1], 10, 64) // eighteen digits fit
	from, _ = strconv.Atoi(m[2])             // none is the beginning
	return call, from, true
}

// restOf is where a call's result is read on: one that reads on itself leads to the first.
func restOf(c vault.Call) onward {
	if call, from, ok := readsOn(c); ok {
		return onward{fmt.Sprintf("result-%d", call), from}
	}
	return onward{fmt.Sprintf("result-%d", c.ID), 0}
}
