package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	tg "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// fields are those of a message that the library, which knows the Bot API of 2021, leaves out. They are decoded from the
// same bytes. Source: https://core.telegram.org/bots/api, version 10.3.
type fields struct {
	ThreadID      int            `json:"message_thread_id"`
	IsTopic       bool           `json:"is_topic_message"`
	ForwardOrigin *forwardOrigin `json:"forward_origin"`
	Quote         *struct {
		Text string `json:"text"`
	} `json:"quote"`
	ExternalReply *struct {
		Origin *forwardOrigin `json:"origin"`
	} `json:"external_reply"`
	Reply *fields `json:"reply_to_message"`
	names map[string]json.RawMessage
}

// UnmarshalJSON also notes which fields there are.
func (f *fields) UnmarshalJSON(raw []byte) error {
	type plain fields
	if err := json.Unmarshal(raw, (*plain)(f)); err != nil {
		return err
	}
	return json.Unmarshal(raw, &f.names)
}

type forwardOrigin struct {
	SenderUser *tg.User `json:"sender_user"`
	SenderName string   `json:"sender_user_name"`
	SenderChat *tg.Chat `json:"sender_chat"`
	Chat       *tg.Chat `json:"chat"`
}

// name says whose words they were; never "".
func (o *forwardOrigin) name() string {
	switch {
	case o.SenderUser != nil:
		return named(person(o.SenderUser))
	case o.SenderName != "":
		return named(o.SenderName)
	case o.Chat != nil:
		return named(o.Chat.Title)
	case o.SenderChat != nil:
		return named(o.SenderChat.Title)
	}
	return somebody
}

// update is a decoded update with the parts the library leaves out.
type update struct {
	tg.Update
	more fields // of the message, or of the one whose button was pressed
}

// decode reads one update. An error names what is wrong with it, and nothing of what it says.
func decode(raw []byte) (update, error) {
	var u update
	var more struct {
		Message       *fields `json:"message"`
		EditedMessage *fields `json:"edited_message"`
		CallbackQuery struct {
			Message *fields `json:"message"`
		} `json:"callback_query"`
	}
	err := json.Unmarshal(raw, &u.Update)
	if err == nil {
		err = json.Unmarshal(raw, &more)
	}
	if err != nil {
		return u, undecodable(err)
	}
	for _, f := range []*fields{more.Message, more.EditedMessage, more.CallbackQuery.Message} {
		if f != nil {
			u.more = *f
			break
		}
	}
	if m := u.message(); m != nil && (m.Chat == nil || m.MessageID == 0) {
		return u, errors.New("decode update: the message has no chat or no number")
	}
	if q := u.CallbackQuery; q != nil && (q.From == nil || q.ID == "") {
		return u, errors.New("decode update: the press has no sender or no number")
	}
	return u, nil
}

// undecodable describes an error of encoding/json without the values that it quotes.
func undecodable(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("decode update: %s is no %s", kind.Field, kind.Type)
	}
	return errors.New("decode update: it is no JSON of an update")
}

func (u update) message() *tg.Message {
	if u.Message != nil {
		return u.Message
	}
	return u.EditedMessage
}

// migrated reports that a group became a supergroup, which has another id. Both of them are told.
func (u update) migrated() (from, to string, ok bool) {
	switch m := u.Message; {
	case m == nil:
	case m.MigrateToChatID != 0:
		return number(m.Chat.ID), number(m.MigrateToChatID), true
	case m.MigrateFromChatID != 0:
		return number(m.MigrateFromChatID), number(m.Chat.ID), true
	}
	return "", "", false
}

// kinds are the fields of a message that are something else than text, and what they are called; the first one counts.
var kinds = []struct{ field, kind string }{
	{"voice", "voice"},
	{"photo", "photo"},
	{"live_photo", "photo"},
	{"animation", "animation"},
	{"document", "document"},
	{"audio", "audio"},
	{"video", "video"},
	{"video_note", "video_note"},
	{"sticker", "sticker"},
	{"venue", "venue"},
	{"location", "location"},
	{"contact", "contact"},
	{"poll", "poll"},
	{"dice", "dice"},
	{"story", "story"},
	{"game", "game"},
	{"invoice", "invoice"},
	{"paid_media", "paid media"},
	{"checklist", "checklist"},
	{"rich_message", "rich message"},
	{"web_app_data", "web app data"},
	{"users_shared", "contact"},
	{"chat_shared", "shared chat"},
	{"giveaway", "giveaway"},
	{"gift", "gift"},
	{"unique_gift", "gift"},
	{"passport_data", "passport data"},
}

// silent are the fields of a message that say nothing to the bot: what comes with every message, and what Telegram itself
// tells, such as who joined. A field that is in neither list is something new, and somebody is told that it cannot be read.
var silent = func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(`message_id message_thread_id direct_messages_topic from sender_chat sender_boost_count sender_business_bot sender_tag
		receiver_user ephemeral_message_id date guest_query_id business_connection_id chat forward_origin forward_from forward_from_chat
		forward_from_message_id forward_signature forward_sender_name forward_date is_topic_message is_automatic_forward reply_to_message external_reply
		quote reply_to_story reply_to_checklist_task_id reply_to_poll_option_id via_bot guest_bot_caller_user guest_bot_caller_chat edit_date
		has_protected_content is_from_offline is_paid_post media_group_id author_signature paid_star_count text entities link_preview_options
		suggested_post_info effect_id caption caption_entities show_caption_above_media has_media_spoiler reply_markup new_chat_members new_chat_member
		new_chat_participant left_chat_member left_chat_participant chat_owner_left chat_owner_changed new_chat_title new_chat_photo delete_chat_photo
		group_chat_created supergroup_chat_created channel_chat_created message_auto_delete_timer_changed migrate_to_chat_id migrate_from_chat_id
		pinned_message successful_payment refunded_payment gift_upgrade_sent connected_website write_access_allowed proximity_alert_triggered boost_added
		chat_background_set checklist_tasks_done checklist_tasks_added community_chat_added community_chat_joined community_chat_removed
		direct_message_price_changed forum_topic_created forum_topic_edited forum_topic_closed forum_topic_reopened general_forum_topic_hidden
		general_forum_topic_unhidden giveaway_created giveaway_winners giveaway_completed managed_bot_created paid_message_price_changed poll_option_added
		poll_option_deleted suggested_post_approved suggested_post_approval_failed suggested_post_declined suggested_post_paid suggested_post_refunded
		video_chat_scheduled video_chat_started video_chat_ended video_chat_participants_invited voice_chat_scheduled voice_chat_started voice_chat_ended
		voice_chat_participants_invited`) {
		out[name] = true
	}
	return out
}()

// kind names what a message is when it is no text; "" for what Telegram itself tells.
func (f fields) kind() string {
	for _, k := range kinds {
		if _, has := f.names[k.field]; has {
			return k.kind
		}
	}
	for name := range f.names {
		if !silent[name] {
			return "attachment"
		}
	}
	return ""
}

// somebody is whose words are forwarded when no name is left.
const somebody = "somebody else"

// person gives a user's name as they chose it.
func person(u *tg.User) string {
	name := strings.TrimSpace(u.FirstName + " " + u.LastName)
	if name == "" {
		name = u.UserName
	}
	return name
}

// named is clean for a name that must not be empty.
func named(name string) string {
	if name = clean(name); name == "" {
		return somebody
	}
	return name
}

const nameLimit = 60

// clean makes a name that a stranger chose harmless: one line, no control or direction characters, short.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case r == unicode.ReplacementChar, unicode.Is(unicode.Cf, r) && r != 0x200d: // a joiner holds emoji together
			return -1
		}
		return r
	}, name)
	r := []rune(strings.Join(strings.Fields(name), " "))
	if len(r) > nameLimit {
		return string(r[:nameLimit-1]) + "…"
	}
	return string(r)
}
