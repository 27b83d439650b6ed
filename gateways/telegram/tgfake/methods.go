package tgfake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Shown is a message of the bot in a chat.
type Shown struct {
	ID         int
	Text       string
	Entities   []Entity
	Buttons    []Button
	Thread     int // 0 = none
	ReplyTo    int // 0 = none
	PreviewOff bool
	Edits      int
	First      string // the text with which it was sent
}

// room is what the server knows of a chat.
type room struct {
	Chat
	topics  []int
	blocked bool
	moved   int64 // the id it has now
	said    map[int]bool
	shown   []Shown
	markup  map[int]json.RawMessage // what stands under a message, in its rows
}

// Shown gives what a chat shows of the bot, oldest first.
func (s *Server) Shown(chat int64) []Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chats[chat]; c != nil {
		return slices.Clone(c.shown)
	}
	return nil
}

// ShownFrom is Shown without the first n messages.
func (s *Server) ShownFrom(chat int64, n int) []Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chats[chat]; c != nil && n < len(c.shown) {
		return slices.Clone(c.shown[n:])
	}
	return nil
}

// call carries a method out.
func (s *Server) call(r *http.Request, method string, p map[string]string) (any, error) {
	if method == "getUpdates" {
		return s.getUpdates(r, p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.happened()
	switch method {
	case "getMe":
		return map[string]any{
			"id": s.bot, "is_bot": true, "first_name": "Hearth", "username": Username, "can_join_groups": true, "can_read_all_group_messages": false,
			"supports_inline_queries": false,
		}, nil
	case "setMyCommands":
		return true, s.setCommands(p["commands"])
	case "setWebhook":
		s.webhook = p["url"]
		return true, nil
	case "deleteWebhook":
		s.webhook = ""
		return true, nil
	case "sendMessage":
		return s.sendMessage(p)
	case "editMessageText", "editMessageReplyMarkup":
		return s.edit(method, p)
	case "answerCallbackQuery":
		return true, s.answerPress(p["callback_query_id"])
	case "sendChatAction":
		_, _, err := s.place(p)
		return true, err
	}
	return nil, &apiError{404, "Not Found", nil}
}

// place finds the chat and the topic that a request is for.
func (s *Server) place(p map[string]string) (*room, int, error) {
	id, err := strconv.ParseInt(p["chat_id"], 10, 64)
	if err != nil {
		return nil, 0, bad("chat not found")
	}
	c := s.chats[id]
	switch {
	case c == nil:
		return nil, 0, bad("chat not found")
	case c.moved != 0:
		return nil, 0, Migrated(c.moved).api
	case c.blocked:
		return nil, 0, Blocked().api
	}
	thread := 0
	if p["message_thread_id"] != "" {
		thread = whole(p["message_thread_id"], -1)
		if !slices.Contains(c.topics, thread) { // the General topic has the id 1, which nothing may be sent to
			return nil, 0, bad("message thread not found")
		}
	}
	return c, thread, nil
}

func (s *Server) sendMessage(p map[string]string) (any, error) {
	c, thread, err := s.place(p)
	if err != nil {
		return nil, err
	}
	m := Shown{Thread: thread}
	if m.Text, m.Entities, err = text(p); err != nil {
		return nil, err
	}
	if m.Buttons, err = keyboard(p["reply_markup"]); err != nil {
		return nil, err
	}
	if p["reply_parameters"] != "" {
		var reply struct {
			ID      int  `json:"message_id"`
			Without bool `json:"allow_sending_without_reply"`
		}
		if err := json.Unmarshal([]byte(p["reply_parameters"]), &reply); err != nil {
			return nil, bad("can't parse reply parameters")
		}
		switch {
		case c.said[reply.ID]:
			m.ReplyTo = reply.ID
		case !reply.Without:
			return nil, bad("message to be replied not found")
		}
	}
	m.PreviewOff, m.First = previewOff(p), m.Text
	m.ID = s.newID(c)
	c.shown = append(c.shown, m)
	c.markup[m.ID] = json.RawMessage(p["reply_markup"])
	return s.message(c, m), nil
}

// newID numbers a message: one row of numbers for all chats of a bot.
func (s *Server) newID(c *room) int {
	s.nextID++
	c.said[s.nextID] = true
	return s.nextID
}

func previewOff(p map[string]string) bool {
	var o struct {
		Off bool `json:"is_disabled"`
	}
	return json.Unmarshal([]byte(p["link_preview_options"]), &o) == nil && o.Off
}

// message writes a message of the bot as the API gives it.
func (s *Server) message(c *room, m Shown) map[string]any {
	out := map[string]any{
		"message_id": m.ID, "date": time.Now().Unix(), "chat": c.json(), "text": m.Text,
		"from": map[string]any{"id": s.bot, "is_bot": true, "first_name": "Hearth", "username": Username},
	}
	if len(m.Entities) > 0 {
		out["entities"] = m.Entities
	}
	if len(m.Buttons) > 0 {
		out["reply_markup"] = c.markup[m.ID]
	}
	if m.Thread != 0 {
		out["message_thread_id"], out["is_topic_message"] = m.Thread, true
	}
	return out
}

func (s *Server) edit(method string, p map[string]string) (any, error) {
	c, _, err := s.place(p)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(c.shown, func(m Shown) bool { return m.ID == whole(p["message_id"], -1) })
	if at < 0 {
		return nil, bad("message to edit not found")
	}
	m := c.shown[at]
	if method == "editMessageText" {
		if m.Text, m.Entities, err = text(p); err != nil {
			return nil, err
		}
		m.PreviewOff = previewOff(p)
	}
	if m.Buttons, err = keyboard(p["reply_markup"]); err != nil {
		return nil, err
	}
	old := c.shown[at]
	if m.Text == old.Text && slices.Equal(m.Entities, old.Entities) && slices.Equal(m.Buttons, old.Buttons) {
		return nil, bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m.Edits++
	c.shown[at] = m
	c.markup[m.ID] = json.RawMessage(p["reply_markup"])
	return s.message(c, m), nil
}

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

func (s *Server) setCommands(raw string) error {
	var commands []struct{ Command, Description string }
	if err := json.Unmarshal([]byte(raw), &commands); err != nil || len(commands) > 100 {
		return bad("can't parse commands")
	}
	for _, c := range commands {
		if !commandName.MatchString(c.Command) {
			return bad("BOT_COMMAND_INVALID")
		}
		if c.Description == "" || len([]rune(c.Description)) > 256 {
			return bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.commands = raw
	return nil
}

// Commands gives the menu that was set, as JSON.
func (s *Server) Commands() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commands
}

// press is a button that somebody pressed.
type press struct {
	at       time.Time
	answered bool
}

func (s *Server) answerPress(id string) error {
	p, known := s.presses[id]
	if !known || p.answered || time.Since(p.at) > callbackLife {
		return bad("query is too old and response timeout expired or query ID is invalid")
	}
	p.answered = true
	s.presses[id] = p
	return nil
}

// Answered reports whether a press was answered.
func (s *Server) Answered(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.presses[id].answered
}

func (m Shown) String() string { return fmt.Sprintf("%d %.40q", m.ID, m.Text) }
