package openai

import (
	"net/http"
	"strconv"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// sort reads what a server said. OpenAI and those like it tell more by the type and the code of an error than by its status:
// an empty account and a limit of requests a minute are both 429.
func (c *Client) sort(t *wire.Told) *brain.ModelError {
	if status, err := strconv.Atoi(t.Code); err == nil && t.Status == 0 && status >= 400 && status < 600 {
		t.Status = status // an error in the middle of a stream, as OpenRouter and vLLM write it
	}
	switch {
	case t.Status == http.StatusRequestEntityTooLarge, wire.TooLongStatus(t.Status) && t.Has(wire.TooLongWords...):
		return wire.TooLong(t)
	case t.Has("insufficient_quota", "billing_hard_limit", "billing_not_active", "insufficient_balance", "insufficient credits", "credit balance"):
		return c.api.Unpaid(t)
	case t.Has("content_filter", "content_policy_violation", "responsibleaipolicy"):
		return wire.BadReply(t, "The provider's filter held the model's answer back.")
	case (t.Status == 0 || t.Status == http.StatusBadRequest || t.Status >= 500) && badReply(t):
		return wire.BadReply(t, "The model wrote something that its own server could not read.")
	case noTools(t):
		return &brain.ModelError{Kind: brain.Permanent, Err: t, Human: "The model " + c.o.Model + " knows no tools: set " + c.api.Key("tools") + " to schema, or choose another model."}
	case t.Has("invalid_api_key", "incorrect api key", "no auth credentials"):
		return c.api.Sort(&wire.Told{Status: http.StatusUnauthorized, Type: t.Type, Code: t.Code, Text: t.Text, AtOnce: t.AtOnce})
	case t.Has("model_not_found", "is not a valid model", "no such model", "invalid model"),
		(t.Status == http.StatusNotFound || t.Status == http.StatusBadRequest) && t.Has("model") && t.Has("not found", "does not exist", "not exist"):
		return c.api.NoModel(t)
	}
	return c.api.Sort(t)
}

// badReply recognises the errors of the parsers that servers read their models' calls with.
func badReply(t *wire.Told) bool {
	return t.Has("tool_use_failed", "error parsing tool call", "failed to parse tool", "failed to parse input", "failed to parse function", "failed to parse json", "invalid diff",
		"failed to call a function", "json_validate_failed", "unexpected end of json input", "malformed_function_call")
}
