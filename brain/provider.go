package brain

// The values of a model's setting tools.
const (
	ToolsAuto   = "auto"   // native if the server says that the model knows tools, else schema
	ToolsNative = "native" // the server's own tool calls
	ToolsSchema = "schema" // every answer is forced into JSON that is a call or words: works with any model
	ToolsOff    = "off"    // no tools
)

// Finding is one line of `hearth doctor` about a model.
type Finding struct {
	What string // server, key, model, tools, thinking or context
	OK   bool
	Text string // a sentence; when not OK, it says how to mend it
}
