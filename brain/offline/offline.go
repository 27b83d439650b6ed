// Package offline is the built-in model of a machine that has no language model. It reads plain sentences (reminders,
// memory, lists, files), turns them into tool calls like any other model, and says honestly what it cannot do.
//
// It is a pure function of the request: of the moment, the words of the run, what was said just before, and the tool
// results that stand after the last words of the person. The tour: talk.go takes the request apart, wish.go reads
// sentences by the rules of reminders.go, memory.go and files.go, present.go puts results into sentences, texts.go holds
// what it says of itself.
package offline

import (
	"context"
	"encoding/json"
	"fmt"

	"hearth/brain"
)

// name is what the model is called in a response.
const name = "offline"

type model struct{}

// New gives the built-in model.
func New() brain.Model { return model{} }

// Generate answers. It fails only when ctx has ended or the arguments of a call cannot be written down.
func (model) Generate(ctx context.Context, req brain.Request, onDelta func(text string)) (brain.Response, error) {
	if err := ctx.Err(); err != nil {
		return brain.Response{}, err
	}
	text, wanted := answer(listen(req))
	res := brain.Response{Text: text, Model: name}
	for _, w := range wanted {
		args, err := json.Marshal(w.args)
		if err != nil {
			return brain.Response{}, fmt.Errorf("write the arguments of %s: %w", w.tool, err)
		}
		res.Calls = append(res.Calls, brain.ToolCall{ID: fmt.Sprintf("call-%d", w.number), Name: w.tool, Args: args})
	}
	if onDelta != nil && text != "" {
		onDelta(text)
	}
	return res, nil
}
