package tgfake

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Person is somebody who uses Telegram.
type Person struct {
	ID                    int64
	First, Last, Username string
}

// Chat is a place where people and the bot write.
type Chat struct {
	ID    int64
	Type  string // private, group or supergroup
	Title string
	Forum bool
}

// Private is a person's own chat with the bot.
func (p Person) Private() Chat { return Chat{ID: p.ID, Type: "private"} }

func (p Person) json() map[string]any {
	out := map[string]any{"id": p.ID, "is_bot": false, "first_name": p.First}
	if p.Last != "" {
		out["last_name"] = p.Last
	}
	if p.Username != "" {
		out["username"] = p.Username
	}
	return out
}

func (c Chat) json() map[string]any {
	out := map[string]any{"id": c.ID, "type": c.Type}
	if c.Title != "" {
		out["title"] = c.Title
	}
	if c.Forum {
		out["is_forum"] = true
	}
	return out
}

// Open makes a chat known, with its topics: the bot can write there. A chat that somebody writes in is known too.
func (s *Server) Open(c Chat, topics ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open(c).topics = topics
}

// open gives a chat. s.mu is held.
func (s *Server) open(c Chat) *room {
	if s.chats[c.ID] == nil {
		s.chats[c.ID] = &room{Chat: c, said: map[int]bool{}, markup: map[int]json.RawMessage{}}
	}
	return s.chats[c.ID]
}

// Block has a chat refuse the bot.
func (s *Server) Block(chat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open(Chat{ID: chat, Type: "private"}).blocked = true
}

// Move gives a group another id: the bot is told by an update, and by the answer to whatever it sends to the old one.
func (s *Server) Move(from, to Chat) {
	s.mu.Lock()
	s.open(from).moved = to.ID
	s.open(to)
	id := s.newID(s.chats[from.ID])
	s.mu.Unlock()
	s.Push(map[string]any{"message": map[string]any{
		"message_id": id, "date": time.Now().Unix(), "chat": from.json(), "from": Person{ID: 1087968824, First: "Group"}.json(), "migrate_to_chat_id": to.ID,
	}})
}

// Field changes a message that somebody writes.
type Field func(message map[string]any)

// Set gives a message a field of the Bot API's Message.
func Set(name string, value any) Field {
	return func(m map[string]any) { m[name] = value }
}

// Without takes a field away.
func Without(name string) Field {
	return func(m map[string]any) { delete(m, name) }
}

// Say has a person write to the bot, and gives the message's id.
func (s *Server) Say(from Person, words string, fields ...Field) int {
	s.t.Helper()
	return s.SayIn(from.Private(), from, words, fields...)
}

// SayIn has a person write in a chat.
func (s *Server) SayIn(c Chat, from Person, words string, fields ...Field) int {
	s.t.Helper()
	s.mu.Lock()
	id := s.newID(s.open(c))
	s.mu.Unlock()
	s.Push(map[string]any{"message": message(id, c, from, words, fields)})
	return id
}

// Edit has a person change what they wrote.
func (s *Server) Edit(c Chat, from Person, id int, words string, fields ...Field) {
	s.t.Helper()
	s.Push(map[string]any{"edited_message": message(id, c, from, words, append([]Field{Set("edit_date", time.Now().Unix())}, fields...))})
}

func message(id int, c Chat, from Person, words string, fields []Field) map[string]any {
	out := map[string]any{"message_id": id, "date": time.Now().Unix(), "chat": c.json(), "from": from.json(), "text": words}
	for _, change := range fields {
		change(out)
	}
	return out
}

// Press has a person press a button that a message of the bot shows, and gives the id of the press.
func (s *Server) Press(chat int64, from Person, ref int, data string) string {
	s.t.Helper()
	s.mu.Lock()
	c := s.chats[chat]
	at := -1
	if c != nil {
		at = slices.IndexFunc(c.shown, func(m Shown) bool { return m.ID == ref })
	}
	if at < 0 || !slices.ContainsFunc(c.shown[at].Buttons, func(b Button) bool { return b.Data == data }) {
		s.mu.Unlock()
		s.t.Fatalf("message %d of chat %d shows no button %q", ref, chat, data)
	}
	id := fmt.Sprintf("%d%09d", from.ID, len(s.presses)+1)
	s.presses[id] = press{at: time.Now()}
	m := s.message(c, c.shown[at])
	s.mu.Unlock()
	s.Push(map[string]any{"callback_query": map[string]any{"id": id, "from": from.json(), "message": m, "chat_instance": "1", "data": data}})
	return id
}
