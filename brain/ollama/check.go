package ollama

import (
	"context"
	"errors"
	"fmt"

	"github.com/ollama/ollama/types/model"

	"hearth/brain"
)

// Check looks whether the model can be used as it is configured. It loads nothing and asks the model nothing.
func (c *Client) Check(ctx context.Context) []brain.Finding {
	version, err := c.server.version(ctx, askTime)
	if err != nil {
		return []brain.Finding{{What: "server", Text: human(err)}}
	}
	out := []brain.Finding{{What: "server", OK: true, Text: fmt.Sprintf("Ollama %s answers at %s.", version, c.server.host)}}
	f, err := c.server.show(ctx, c.o.Model)
	if err != nil {
		return append(out, brain.Finding{What: "model", Text: human(err)})
	}
	where := "installed"
	if f.remote != "" {
		where = "run by " + f.remote + ": what you say leaves the house"
	}
	out = append(out, brain.Finding{What: "model", OK: true, Text: fmt.Sprintf("The model %s is %s.", c.o.Model, where)}, c.checkTools(f))
	if c.o.Think && len(f.capabilities) > 0 && !f.can(model.CapabilityThinking) {
		out = append(out, brain.Finding{What: "thinking", Text: fmt.Sprintf("The model %s cannot think before it answers: set %s to false.", c.o.Model, c.server.setting("think"))})
	}
	return append(out, c.checkContext(ctx, f))
}

func (c *Client) checkTools(f facts) brain.Finding {
	ok := func(text string) brain.Finding { return brain.Finding{What: "tools", OK: true, Text: text} }
	switch {
	case c.o.Tools == brain.ToolsOff:
		return ok("Tools are off (" + c.server.setting("tools") + "): it can talk, and do nothing.")
	case c.o.Tools == brain.ToolsNative && f.lacksTools():
		return brain.Finding{What: "tools", Text: fmt.Sprintf("The model %s knows no tools: set %s to auto, or choose another model.", c.o.Model, c.server.setting("tools"))}
	case c.o.Tools == brain.ToolsSchema, f.lacksTools():
		return ok("Its calls are forced into a schema. A model that knows tools of its own does better.")
	case len(f.capabilities) == 0:
		return ok("This server does not say whether the model knows tools. They are tried.")
	}
	return ok("It knows tools.")
}

func (c *Client) checkContext(ctx context.Context, f facts) brain.Finding {
	if f.context > 0 && f.context < c.o.Context {
		return brain.Finding{What: "context", Text: fmt.Sprintf("%s is %d, but the model %s was made for %d tokens: set it to %d.", c.server.setting("context"), c.o.Context, c.o.Model, f.context, f.context)}
	}
	loaded, err := c.loadedNow(ctx)
	switch {
	case err != nil:
		return brain.Finding{What: "context", Text: human(err)}
	case loaded == 0:
		return brain.Finding{What: "context", OK: true, Text: fmt.Sprintf("It is not loaded now; the next message loads it with %d tokens.", c.o.Context)}
	case loaded != c.o.Context:
		return brain.Finding{What: "context", OK: true, Text: fmt.Sprintf("It is loaded with %d tokens, for another program perhaps; the next message loads it anew with %d, which takes a while.", loaded, c.o.Context)}
	}
	return brain.Finding{What: "context", OK: true, Text: fmt.Sprintf("It is loaded with %d tokens.", loaded)}
}

// human is the sentence of an error.
func human(err error) string {
	var fault *brain.ModelError
	if errors.As(err, &fault) && fault.Human != "" {
		return fault.Human
	}
	return "The model server could not be asked."
}
