package whatsapp

import (
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"hearth/vault"
)

func words(s string) *waE2E.Message { return &waE2E.Message{Conversation: proto.String(s)} }

func wrapped(m *waE2E.Message) *waE2E.FutureProofMessage {
	return &waE2E.FutureProofMessage{Message: m}
}

// Every kind of message is named, its words are kept, and what is none for a person makes no event.
func TestKindsOfMessages(t *testing.T) {
	caption := proto.String("look")
	for name, c := range map[string]struct {
		m          *waE2E.Message
		kind, text string
	}{
		"text":          {words("hello"), "text", "hello"},
		"empty text":    {words(""), "text", ""},
		"extended text": {&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("hi")}}, "text", "hi"},
		"picture":       {&waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: caption}}, "photo", "look"},
		"film":          {&waE2E.Message{VideoMessage: &waE2E.VideoMessage{Caption: caption}}, "video", "look"},
		"animation":     {&waE2E.Message{VideoMessage: &waE2E.VideoMessage{GifPlayback: proto.Bool(true)}}, "animation", ""},
		"round film":    {&waE2E.Message{PtvMessage: &waE2E.VideoMessage{}}, "video note", ""},
		"voice":         {&waE2E.Message{AudioMessage: &waE2E.AudioMessage{PTT: proto.Bool(true)}}, "voice", ""},
		// hermes-agent#105809: a voice note that is forwarded is plain audio
		"sound":           {&waE2E.Message{AudioMessage: &waE2E.AudioMessage{}}, "audio", ""},
		"file":            {&waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: caption}}, "document", "look"},
		"file, wrapped":   {&waE2E.Message{DocumentWithCaptionMessage: wrapped(&waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: caption}})}, "document", "look"},
		"sticker":         {&waE2E.Message{StickerMessage: &waE2E.StickerMessage{}}, "sticker", ""},
		"place":           {&waE2E.Message{LocationMessage: &waE2E.LocationMessage{}}, "location", ""},
		"moving place":    {&waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{}}, "location", ""},
		"card":            {&waE2E.Message{ContactMessage: &waE2E.ContactMessage{}}, "contact", ""},
		"cards":           {&waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{}}, "contact", ""},
		"poll":            {&waE2E.Message{PollCreationMessageV3: &waE2E.PollCreationMessage{}}, "poll", ""},
		"invitation":      {&waE2E.Message{GroupInviteMessage: &waE2E.GroupInviteMessage{}}, "invitation", ""},
		"order":           {&waE2E.Message{OrderMessage: &waE2E.OrderMessage{}}, "attachment", ""},
		"disappearing":    {&waE2E.Message{EphemeralMessage: wrapped(words("psst"))}, "text", "psst"},
		"shown once":      {&waE2E.Message{ViewOnceMessageV2: wrapped(&waE2E.Message{ImageMessage: &waE2E.ImageMessage{}})}, "photo", ""},
		"of an album":     {&waE2E.Message{AssociatedChildMessage: wrapped(&waE2E.Message{ImageMessage: &waE2E.ImageMessage{}})}, "photo", ""},
		"album":           {&waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{}}, "", ""},
		"keys":            {&waE2E.Message{SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{}, MessageContextInfo: &waE2E.MessageContextInfo{}}, "", ""},
		"vote":            {&waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{}}, "", ""},
		"pinned":          {&waE2E.Message{PinInChatMessage: &waE2E.PinInChatMessage{}}, "", ""},
		"protocol":        {&waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_SHARE.Enum()}}, "", ""},
		"nothing":         {&waE2E.Message{}, "", ""},
		"a button's word": {&waE2E.Message{ButtonsResponseMessage: &waE2E.ButtonsResponseMessage{Response: &waE2E.ButtonsResponseMessage_SelectedDisplayText{SelectedDisplayText: "Yes"}}}, "text", "Yes"},
	} {
		got := contentOf(c.m)
		if got.kind != c.kind || got.text != c.text {
			t.Errorf("%s is %q with %q, want %q with %q", name, got.kind, got.text, c.kind, c.text)
		}
	}
	deep := words("deep")
	for range 100 {
		deep = &waE2E.Message{EphemeralMessage: wrapped(deep)}
	}
	if got := contentOf(deep); got.text == "deep" {
		t.Error("it unwraps without end")
	}
}

// A mention counts where it is made, not where it is quoted; an answer to what the agent said is one, under either id.
func TestOpenclaw51804MentionsCountWhereTheyAreMade(t *testing.T) {
	w := linked(t, Dedicated)
	c := w.client()
	pn, lid := w.me.PN.String(), w.me.LID.String()
	other := w.ann.PN.String()
	mention := func(jid string) *waE2E.ContextInfo { return &waE2E.ContextInfo{MentionedJID: []string{other, jid}} }
	for name, c2 := range map[string]struct {
		info *waE2E.ContextInfo
		want bool
	}{
		"nothing":           {nil, false},
		"number":            {mention(pn), true},
		"LID":               {mention(lid), true},
		"somebody else":     {mention(other), false},
		"nonsense":          {mention("@@"), false},
		"answer to number":  {&waE2E.ContextInfo{StanzaID: proto.String("A"), Participant: &pn}, true},
		"answer to LID":     {&waE2E.ContextInfo{StanzaID: proto.String("A"), Participant: &lid}, true},
		"answer to another": {&waE2E.ContextInfo{StanzaID: proto.String("A"), Participant: &other}, false},
		"a mention in what is quoted": {&waE2E.ContextInfo{StanzaID: proto.String("A"), Participant: &other, QuotedMessage: &waE2E.Message{
			ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("@me"), ContextInfo: mention(pn)},
		}}, false},
	} {
		if got := addressed(c, c2.info); got != c2.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for text, want := range map[string]string{
		"@" + w.me.LID.User + " soup?": "soup?", "@" + w.me.PN.User + ", soup?": "soup?", "@" + w.me.PN.User: "@" + w.me.PN.User,
		"@" + w.me.PN.User + "9 soup?": "@" + w.me.PN.User + "9 soup?", "soup?": "soup?",
	} {
		if got := withoutMention(c, text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// The three ways to take part in a group.
func TestGroupsOffMentionAll(t *testing.T) {
	var mode atomic.Value
	mode.Store(groupsOff)
	w := linked(t, Dedicated, func(g *Gateway) { g.opt.Groups = func() string { return mode.Load().(string) } })
	group := w.server.AddGroup("Family", true, w.me, w.ann)
	named := &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: proto.String("@" + w.me.LID.User + " soup?"), ContextInfo: &waE2E.ContextInfo{MentionedJID: []string{w.me.LID.String()}},
	}}
	w.sends(w.ann, group, named)
	w.says(w.ann, "one")
	w.inbound(1)
	mode.Store(groupsMention)
	w.sends(w.ann, group, words("bread?"))
	w.sends(w.ann, group, named)
	in := w.inbound(3)
	if in[0].Text != "one" || in[1].Text != "bread?" || in[1].Mentioned || in[2].Text != "soup?" || !in[2].Mentioned || in[2].Sender != "+"+w.ann.PN.User {
		t.Errorf("%+v", in)
	}
}

// Status, newsletters, broadcasts and what devices tell each other are nobody's words to the agent.
func TestNoiseIsDropped(t *testing.T) {
	jid := func(s string) types.JID {
		j, err := types.ParseJID(s)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	event := func(chat string) *events.Message {
		return &events.Message{Message: words("x"), Info: types.MessageInfo{MessageSource: types.MessageSource{Chat: jid(chat), Sender: jid("1555@s.whatsapp.net")}}}
	}
	for _, chat := range []string{"status@broadcast", "1234@broadcast", "1234@newsletter", "13135550002@bot", "1@g.us.invalid"} {
		if !noise(event(chat)) {
			t.Errorf("%s is no noise", chat)
		}
	}
	for _, chat := range []string{"1555@s.whatsapp.net", "1555@lid", "1555@g.us"} {
		if noise(event(chat)) {
			t.Errorf("%s is noise", chat)
		}
	}
	peer := event("1555@s.whatsapp.net")
	peer.Info.Category = "peer"
	if !noise(peer) || !noise(&events.Message{Info: peer.Info}) {
		t.Error("a peer message, or none at all, is no noise")
	}
}

// Forwards say so, quotes are kept, and a voice note or a picture comes as what it is.
func TestForwardsQuotesAndMedia(t *testing.T) {
	w := linked(t, Dedicated)
	w.sends(w.ann, w.me.PN, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("/stop"), ContextInfo: &waE2E.ContextInfo{IsForwarded: proto.Bool(true)}}})
	w.sends(w.ann, w.me.PN, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("this one"), ContextInfo: &waE2E.ContextInfo{
		StanzaID: proto.String("X"), QuotedMessage: words("what was said"),
	}}})
	w.sends(w.ann, w.me.PN, &waE2E.Message{AudioMessage: &waE2E.AudioMessage{PTT: proto.Bool(true)}})
	w.sends(w.ann, w.me.PN, &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("the cat")}})
	var got [][4]string
	for _, in := range w.inbound(4) {
		got = append(got, [4]string{in.Kind, in.Text, in.Forwarded, in.Quoted})
	}
	want := [][4]string{{"text", "/stop", "somebody else", ""}, {"text", "this one", "", "what was said"}, {"voice", "", "", ""}, {"photo", "the cat", "", ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A message that its sender deletes before it was answered is not answered.
func TestDeletedMessageIsWithdrawn(t *testing.T) {
	w := linked(t, Dedicated)
	id := w.says(w.ann, "buy a boat")
	if err := w.vaultTakes(w.inbound(1)[0]); err != nil {
		t.Fatal(err)
	}
	p := w.phone(w.ann)
	w.sends(w.ann, w.me.PN, p.BuildRevoke(w.me.PN, types.EmptyJID, id))
	w.eventually("the run is stopped", func() bool {
		runs, err := w.vault.Runs(t.Context(), 0, 10)
		return err == nil && len(runs) == 1 && runs[0].State == vault.Stopped
	})
	w.says(w.ann, "the end")
	if in := w.inbound(2); len(in) != 2 || in[1].Text != "the end" {
		t.Errorf("%+v", in)
	}
}

// In a chat whose messages disappear the agent's do too, also after a restart, until the timer is off again.
func TestDisappearingTimerIsKept(t *testing.T) {
	w := newWorld(t, Dedicated)
	stop := w.receive()
	w.link()
	timed := func(text string, seconds uint32) {
		w.sends(w.ann, w.me.PN, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &text, ContextInfo: &waE2E.ContextInfo{Expiration: &seconds}}})
	}
	expires := func() uint32 {
		t.Helper()
		if _, err := w.gw.Send(t.Context(), w.part(w.to(w.ann), "hello")); err != nil {
			t.Fatal(err)
		}
		m, _, err := w.phone(w.ann).Hear(hearLimit)
		if err != nil {
			t.Fatal(err)
		}
		return m.Message.GetExtendedTextMessage().GetContextInfo().GetExpiration()
	}
	timed("psst", 86400)
	w.inbound(1)
	if got := expires(); got != 86400 {
		t.Errorf("it disappears after %d s", got)
	}
	stop()
	w.gw = w.gateway(Dedicated)
	w.receive()
	w.up()
	if got := expires(); got != 86400 {
		t.Errorf("after a restart it disappears after %d s", got)
	}
	w.sends(w.ann, w.me.PN, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum(), EphemeralExpiration: proto.Uint32(0)}})
	w.says(w.ann, "loud")
	for in := w.inbound(2); in[len(in)-1].Text != "loud"; in = w.inbound(len(in) + 1) { // the first may have come again after the restart
	}
	if got := expires(); got != 0 {
		t.Errorf("it still disappears after %d s", got)
	}
}

// What models write in Markdown arrives in WhatsApp's own marks (moltis#1220).
func TestMoltis1220MarkdownIsTranslated(t *testing.T) {
	p := vault.Part{Text: "# Plan\n**Buy** *milk* at [the shop](https://shop.example) and ~~bread~~\n`code`", Class: vault.Answer}
	want := "*Plan*\n*Buy* _milk_ at the shop (https://shop.example) and ~bread~\n`code`"
	if got := strings.ReplaceAll(body(p), "\n\n", "\n"); got != want {
		t.Errorf("%q", got)
	}
}

// Only a question lists its choices: the buttons of a reminder have commands to type instead.
func TestRemindersListNoChoices(t *testing.T) {
	p := vault.Part{Text: "Reminder 7: stretch", Class: vault.Reminder, Buttons: []vault.Button{{Label: "Done", Data: "j:7@1:done"}}}
	if got := body(p); got != "Reminder 7: stretch" {
		t.Errorf("%q", got)
	}
	if p.Class = vault.Asks; !strings.Contains(body(p), "1. Done") {
		t.Errorf("a question: %q", body(p))
	}
}

func FuzzMessage(f *testing.F) {
	for _, m := range []*waE2E.Message{
		words("hello"),
		{ReactionMessage: &waE2E.ReactionMessage{Key: &waCommon.MessageKey{ID: proto.String("A")}, Text: proto.String("👍")}},
		{EphemeralMessage: wrapped(words("x"))},
		{EditedMessage: wrapped(&waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{ID: proto.String("A")}, EditedMessage: words("y")}})},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("z"), ContextInfo: &waE2E.ContextInfo{QuotedMessage: words("q"), MentionedJID: []string{"1@lid"}}}},
	} {
		raw, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m waE2E.Message
		if proto.Unmarshal(raw, &m) != nil {
			t.Skip()
		}
		e := (&events.Message{RawMessage: &m, Info: types.MessageInfo{ID: "A"}}).UnwrapRaw()
		if e.Message == nil {
			return
		}
		p := parse(e)
		_ = noise(e)
		_ = quoted(p.info)
		if p.edited < 0 || p.deleted && p.target == "" || p.kind != "" && p.kind != strings.ToLower(p.kind) {
			t.Errorf("%+v", p)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add("1", "👍🏽")
	f.Add("approve", "👎")
	f.Add("/approve 7", "❤️")
	buttons := []vault.Button{{Label: "Approve", Data: "a:7:approve"}, {Label: "Deny", Data: "a:7:deny"}, {Label: "Always", Data: "a:7:always"}}
	f.Fuzz(func(t *testing.T, text, reaction string) {
		for _, data := range []string{chosen(buttons, text), thumb(buttons, reaction)} {
			if data != "" && data != buttons[0].Data && data != buttons[1].Data && data != buttons[2].Data {
				t.Errorf("%q and %q chose %q", text, reaction, data)
			}
		}
		if n := lone(text); n < 0 || n > 9 || n > 0 && utf8.RuneCountInString(strings.TrimSpace(text)) != 1 {
			t.Errorf("%q is the number %d", text, n)
		}
	})
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"+351912345678", "123@lid", "1203@g.us", "120-3@g.us", "1@s.whatsapp.net", "+", "@", "+1@lid"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, chat string) {
		jid, err := address(chat)
		if err != nil {
			return
		}
		if back := external(jid); back != chat {
			t.Errorf("%q became %q", chat, back)
		}
	})
}
