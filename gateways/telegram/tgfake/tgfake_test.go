package tgfake

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var ann = Person{ID: 7, First: "Ann"}

// answered is an answer of the API.
type answered struct {
	OK          bool            `json:"ok"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Result      json.RawMessage `json:"result"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MovedTo    int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
	status int
}

func ask(ctx context.Context, s *Server, method string, params url.Values) (answered, error) {
	var a answered
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/bot"+s.Token()+"/"+method, strings.NewReader(params.Encode()))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := s.Client().Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.status = resp.StatusCode
	if strings.Contains(resp.Header.Get("Content-Type"), "json") {
		err = json.NewDecoder(resp.Body).Decode(&a)
	}
	return a, err
}

func must(t *testing.T, s *Server, method string, params url.Values) answered {
	t.Helper()
	a, err := ask(t.Context(), s, method, params)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func words(text string, more ...string) url.Values {
	v := url.Values{"chat_id": {"7"}, "text": {text}}
	for i := 0; i < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v
}

// TestLint holds requests to the list: what Telegram would take no notice of is found.
func TestLint(t *testing.T) {
	for _, c := range []struct {
		method string
		params url.Values
		want   string // "" = nothing is wrong
	}{
		{"sendMessage", words("x"), ""},
		{"SENDMESSAGE", words("x"), ""},
		{"sendMessage", words("x", "entities", `[{"type":"bold","offset":0,"length":1}]`, "link_preview_options", `{"is_disabled":true}`, "message_thread_id", "7", "reply_parameters", `{"message_id":1,"allow_sending_without_reply":true}`), ""},
		{"sendMessage", words("x", "disable_web_page_preview", "true"), "sendMessage has no parameter disable_web_page_preview"},
		{"sendMessage", url.Values{"text": {"x"}}, "sendMessage needs chat_id"},
		{"sendMessage", words("x", "entities", "null"), "sendMessage.entities is no JSON of a MessageEntity[]"},
		{"sendMessage", words("x", "entities", `[{"type":"bold","offset":0}]`), "sendMessage.entities[0] needs length"},
		{"sendMessage", words("x", "entities", `[{"type":"loud","offset":0,"length":1}]`), "is no 'mention': loud"},
		{"sendMessage", words("x", "entities", `[{"type":"bold","offset":0,"length":1,"size":3}]`), "a MessageEntity has no size"},
		{"sendMessage", words("x", "entities", `[{"type":"bold","offset":1e0,"length":1}]`), "is no number"},
		{"sendMessage", words("x", "entities", `{}`), "is no list"},
		{"sendMessage", words("x", "link_preview_options", `{"is_disabled":"yes"}`), "is no boolean"},
		{"sendMessage", words("x", "reply_markup", `{"inline_keyboard":[[{"text":"a","callback":"b"}]]}`), "a InlineKeyboardButton has no callback"},
		{"sendMessage", words("x", "message_thread_id", "7.0"), "is no whole number"},
		{"sendMessage", words("x", "protect_content", "1"), "is no boolean"},
		{"sendMessage", words("x", "parse_mode", "html"), "is no 'HTML': html"},
		{"sendChatAction", url.Values{"chat_id": {"7"}, "action": {"typing"}}, ""},
		{"sendChatAction", url.Values{"chat_id": {"7"}, "action": {"thinking"}}, "is no 'typing': thinking"},
		{"sendCarrierPigeon", nil, "there is no method sendCarrierPigeon"},
	} {
		s := New(t)
		s.Open(ann.Private(), 7)
		must(t, s, c.method, c.params)
		got := strings.Join(s.Violations(), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s %v: %q, want %q", c.method, c.params, got, c.want)
		}
	}
}

// complaints is a test that notes its errors.
type complaints struct {
	testing.TB
	words []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.words = append(c.words, fmt.Sprintf(format, args...))
}
func (c *complaints) Helper() {}

func TestLintOfUpdates(t *testing.T) {
	c := &complaints{TB: t}
	s := New(c)
	s.Say(ann, "fine")
	if len(c.words) > 0 {
		t.Errorf("%q", c.words)
	}
	s.Say(ann, "x", Set("forward_from", ann.json()))
	if len(c.words) != 1 || !strings.Contains(c.words[0], "a Message has no forward_from") {
		t.Errorf("%q", c.words)
	}
	s.Push(map[string]any{"message": map[string]any{"text": "x"}})
	if got := strings.Join(c.words, "\n"); !strings.Contains(got, "needs chat") || !strings.Contains(got, "needs message_id") {
		t.Errorf("%q", c.words)
	}
}

// TestTextRules is what Telegram refuses, in its own words.
func TestTextRules(t *testing.T) {
	bold := func(offset, length int) []string {
		return []string{"entities", fmt.Sprintf(`[{"type":"bold","offset":%d,"length":%d}]`, offset, length)}
	}
	many := strings.TrimSuffix(strings.Repeat(`{"type":"bold","offset":0,"length":1},`, 101), ",")
	for name, c := range map[string]struct {
		text string
		more []string
		want string // what is shown, or why not
	}{
		"plain":                  {"hello", nil, "hello"},
		"trimmed":                {" \n hello \n", nil, "hello"},
		"code keeps its indent":  {"  a\n", bold(0, 3), "  a"},
		"white space before it":  {" \n  a", bold(4, 1), "a"},
		"empty":                  {" \n\t", nil, "Bad Request: message text is empty"},
		"invisible":              {"\u200b\u2060", nil, "Bad Request: message text is empty"},
		"bad UTF-8":              {"a\xff", nil, "Bad Request: strings must be encoded in UTF-8"},
		"4096":                   {strings.Repeat("x", 4096), nil, strings.Repeat("x", 4096)},
		"4097":                   {strings.Repeat("x", 4097), nil, "Bad Request: message is too long"},
		"2049 emoji":             {strings.Repeat("😀", 2049), nil, "Bad Request: message is too long"},
		"32 KB":                  {strings.Repeat("é", 16385), nil, "Bad Request: Text is too long"},
		"an entity at the end":   {"ab😀", bold(2, 2), "ab😀"},
		"one behind the end":     {"ab", bold(1, 2), "Bad Request: entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 3"},
		"one beyond the end":     {"ab", bold(5, 1), "Bad Request: entity begins after the end of the text at UTF-16 offset 5"},
		"one from within a pair": {"😀a", bold(1, 2), "Bad Request: entity beginning at UTF-16 offset 1 begins or ends in a middle of a UTF-16 symbol"},
		"one to within a pair":   {"a😀", bold(0, 2), "Bad Request: entity beginning at UTF-16 offset 0 begins or ends in a middle of a UTF-16 symbol"},
		"a link to nowhere":      {"a", []string{"entities", `[{"type":"text_link","offset":0,"length":1}]`}, "Bad Request: can't parse entities: there is no url in a text_link"},
		"101 entities":           {"a", []string{"entities", "[" + many + "]"}, "Bad Request: ENTITIES_TOO_LONG"},
		"a button without data":  {"a", []string{"reply_markup", `{"inline_keyboard":[[{"text":"a","callback_data":""}]]}`}, "Bad Request: BUTTON_DATA_INVALID"},
		"a button of 65 bytes":   {"a", []string{"reply_markup", `{"inline_keyboard":[[{"text":"a","callback_data":"` + strings.Repeat("x", 65) + `"}]]}`}, "Bad Request: BUTTON_DATA_INVALID"},
		"a button of 64 bytes":   {"a", []string{"reply_markup", `{"inline_keyboard":[[{"text":"a","callback_data":"` + strings.Repeat("x", 64) + `"}]]}`}, "a"},
		"a reply to nothing":     {"a", []string{"reply_parameters", `{"message_id":99}`}, "Bad Request: message to be replied not found"},
		"General":                {"a", []string{"message_thread_id", "1"}, "Bad Request: message thread not found"},
		"a chat nobody knows":    {"a", []string{"chat_id", "8"}, "Bad Request: chat not found"},
		"a chat that blocked us": {"a", []string{"chat_id", "9"}, "Forbidden: bot was blocked by the user"},
		"a group that moved":     {"a", []string{"chat_id", "-5"}, "Bad Request: group chat was upgraded to a supergroup chat"},
	} {
		s := New(t)
		s.Open(ann.Private())
		s.Block(9)
		s.Move(Chat{ID: -5, Type: "group"}, Chat{ID: -1005, Type: "supergroup"})
		a := must(t, s, "sendMessage", words(c.text, c.more...))
		got := a.Description
		if a.OK {
			got = s.Shown(7)[0].Text
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if a.Description != "" && a.status != a.Code || c.text == "a" && strings.Contains(a.Description, "upgraded") && a.Parameters.MovedTo != -1005 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestEditsAndPresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewInMemory(t)
		s.Open(ann.Private())
		must(t, s, "sendMessage", words("x", "reply_markup", `{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}`))
		id := s.Shown(7)[0].ID
		edit := func(text string) string {
			return must(t, s, "editMessageText", words(text, "message_id", fmt.Sprint(id))).Description
		}
		press := s.Press(7, ann, id, "b")
		for _, want := range []string{"", "Bad Request: query is too old and response timeout expired or query ID is invalid"} {
			if got := must(t, s, "answerCallbackQuery", url.Values{"callback_query_id": {press}}).Description; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		late := s.Press(7, ann, id, "b")
		time.Sleep(callbackLife + time.Second)
		if got := must(t, s, "answerCallbackQuery", url.Values{"callback_query_id": {late}}); got.OK {
			t.Error("a press was answered after its time")
		}
		if got := must(t, s, "getUpdates", nil); string(got.Result) != "[]" {
			t.Errorf("a press is offered after its time: %s", got.Result)
		}
		if got := edit("x"); got != "" {
			t.Errorf("taking the buttons away: %q", got)
		}
		if got := edit("x"); !strings.Contains(got, "message is not modified") {
			t.Errorf("%q", got)
		}
		if got := edit("y"); got != "" || s.Shown(7)[0].Text != "y" || s.Shown(7)[0].Edits != 2 {
			t.Errorf("%q, %+v", got, s.Shown(7))
		}
		if got := must(t, s, "editMessageText", words("y", "message_id", "9999")).Description; got != "Bad Request: message to edit not found" {
			t.Errorf("%q", got)
		}
	})
}

// TestOffsets are the rules of Telegram's queue.
func TestOffsets(t *testing.T) {
	for name, c := range map[string]struct {
		offset, limit string
		want          []int // of 1000 to 1004
		left          int
	}{
		"none":            {"", "", []int{1000, 1001, 1002, 1003, 1004}, 5},
		"confirms":        {"1002", "", []int{1002, 1003, 1004}, 3},
		"all":             {"1005", "", nil, 0},
		"a little high":   {"1015", "", nil, 0}, // and forgets what it has not seen
		"too high":        {"1016", "", []int{1000, 1001, 1002, 1003, 1004}, 5},
		"far too high":    {"900000", "", []int{1000, 1001, 1002, 1003, 1004}, 5},
		"from the end":    {"-2", "", []int{1003, 1004}, 2},
		"only two":        {"1001", "2", []int{1001, 1002}, 4},
		"a limit of none": {"1001", "0", []int{1001, 1002, 1003, 1004}, 4},
	} {
		s := New(t)
		for i := range 5 {
			s.Say(ann, fmt.Sprint(i))
		}
		params := url.Values{}
		if c.offset != "" {
			params.Set("offset", c.offset)
		}
		if c.limit != "" {
			params.Set("limit", c.limit)
		}
		var got []int
		var updates []struct {
			ID int `json:"update_id"`
		}
		if err := json.Unmarshal(must(t, s, "getUpdates", params).Result, &updates); err != nil {
			t.Fatal(err)
		}
		for _, u := range updates {
			got = append(got, u.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || len(s.Pending()) != c.left {
			t.Errorf("%s: %d left, %s", name, len(s.Pending()), diff)
		}
		s.Replay()
		if len(s.Pending()) != 5 {
			t.Errorf("%s: a replay offers %v", name, s.Pending())
		}
		s.RestartIDs(3)
		s.Say(ann, "lower")
		if !slices.Equal(s.Pending(), []int{3}) {
			t.Errorf("%s: after a restart of the ids %v", name, s.Pending())
		}
	}
}

func TestPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewInMemory(t)
		s.Say(ann, "a")
		s.Say(ann, "b")
		for i, want := range []int{2, 1, 2} { // the same offset so soon gets one; after half a second all again
			if i == 2 {
				time.Sleep(sameSoon)
			}
			var updates []any
			if err := json.Unmarshal(must(t, s, "getUpdates", url.Values{"offset": {"1000"}}).Result, &updates); err != nil || len(updates) != want {
				t.Errorf("poll %d: %d updates, %v", i, len(updates), err)
			}
		}
		began := time.Now()
		if a := must(t, s, "getUpdates", url.Values{"offset": {"1002"}, "timeout": {"900"}}); string(a.Result) != "[]" || time.Since(began) != longestPoll*time.Second {
			t.Errorf("a long poll: %s after %v", a.Result, time.Since(began))
		}
		older := make(chan answered, 1)
		go func() {
			a, _ := ask(t.Context(), s, "getUpdates", url.Values{"offset": {"1002"}, "timeout": {"50"}})
			older <- a
		}()
		synctest.Wait()
		go func() { _, _ = ask(t.Context(), s, "getUpdates", url.Values{"offset": {"1002"}, "timeout": {"1"}}) }()
		if a := <-older; a.Code != 409 || !strings.Contains(a.Description, "terminated by other getUpdates") {
			t.Errorf("the older of two polls: %+v", a)
		}
		s.Webhook("https://x.example")
		if a := must(t, s, "getUpdates", nil); a.Code != 409 || !strings.Contains(a.Description, "webhook") {
			t.Errorf("with a webhook: %+v", a)
		}
		must(t, s, "deleteWebhook", nil)
		s.Say(ann, "c")
		if a := must(t, s, "getUpdates", url.Values{"allowed_updates": {`["callback_query"]`}}); string(a.Result) != "[]" {
			t.Errorf("an update that is not wanted: %s", a.Result)
		}
	})
}
