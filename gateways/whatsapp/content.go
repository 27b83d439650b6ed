package whatsapp

import (
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// content is what a message holds.
type content struct {
	kind string // "text", or what it is that cannot be read; "" when there is nothing for a person in it
	text string
	info *waE2E.ContextInfo // what it answers, whom it names; nil when there is nothing of the kind
}

// layers is how deep messages may lie in one another.
const layers = 8

// unwrap takes a message out of what it is wrapped in and the library leaves on.
func unwrap(m *waE2E.Message) *waE2E.Message {
	for range layers {
		var inner *waE2E.Message
		for _, w := range []*waE2E.FutureProofMessage{
			m.GetEphemeralMessage(), m.GetViewOnceMessage(), m.GetViewOnceMessageV2(), m.GetViewOnceMessageV2Extension(),
			m.GetDocumentWithCaptionMessage(), m.GetAssociatedChildMessage(), m.GetGroupMentionedMessage(), m.GetBotForwardedMessage(),
			m.GetSpoilerMessage(), m.GetLottieStickerMessage(),
		} {
			if inner = w.GetMessage(); inner != nil {
				break
			}
		}
		if inner == nil {
			break
		}
		m = inner
	}
	return m
}

// contentOf says what a message holds.
func contentOf(m *waE2E.Message) content {
	m = unwrap(m)
	if m == nil {
		return content{}
	}
	switch {
	case m.Conversation != nil:
		return content{"text", m.GetConversation(), nil}
	case m.ExtendedTextMessage != nil:
		return content{"text", m.GetExtendedTextMessage().GetText(), m.GetExtendedTextMessage().GetContextInfo()}
	case m.ImageMessage != nil:
		return content{"photo", m.GetImageMessage().GetCaption(), m.GetImageMessage().GetContextInfo()}
	case m.VideoMessage != nil:
		kind := "video"
		if m.GetVideoMessage().GetGifPlayback() {
			kind = "animation"
		}
		return content{kind, m.GetVideoMessage().GetCaption(), m.GetVideoMessage().GetContextInfo()}
	case m.PtvMessage != nil:
		return content{"video note", "", m.GetPtvMessage().GetContextInfo()}
	case m.AudioMessage != nil:
		kind := "audio"
		if m.GetAudioMessage().GetPTT() {
			kind = "voice"
		}
		return content{kind, "", m.GetAudioMessage().GetContextInfo()}
	case m.DocumentMessage != nil:
		return content{"document", m.GetDocumentMessage().GetCaption(), m.GetDocumentMessage().GetContextInfo()}
	case m.StickerMessage != nil:
		return content{"sticker", "", m.GetStickerMessage().GetContextInfo()}
	case m.LocationMessage != nil:
		return content{"location", m.GetLocationMessage().GetComment(), m.GetLocationMessage().GetContextInfo()}
	case m.LiveLocationMessage != nil:
		return content{"location", m.GetLiveLocationMessage().GetCaption(), m.GetLiveLocationMessage().GetContextInfo()}
	case m.ContactMessage != nil:
		return content{"contact", "", m.GetContactMessage().GetContextInfo()}
	case m.ContactsArrayMessage != nil:
		return content{"contact", "", m.GetContactsArrayMessage().GetContextInfo()}
	case m.ButtonsResponseMessage != nil:
		return content{"text", m.GetButtonsResponseMessage().GetSelectedDisplayText(), m.GetButtonsResponseMessage().GetContextInfo()}
	case m.TemplateButtonReplyMessage != nil:
		return content{"text", m.GetTemplateButtonReplyMessage().GetSelectedDisplayText(), m.GetTemplateButtonReplyMessage().GetContextInfo()}
	case m.ListResponseMessage != nil:
		return content{"text", m.GetListResponseMessage().GetTitle(), m.GetListResponseMessage().GetContextInfo()}
	}
	return content{kind: otherKind(m)}
}

// silentFields say nothing to the agent: keys, what the protocol tells, votes, and what belongs to another message.
var silentFields = func() map[protoreflect.Name]bool {
	out := map[protoreflect.Name]bool{}
	for name := range strings.FieldsSeq(`senderKeyDistributionMessage fastRatchetKeySenderKeyDistributionMessage protocolMessage messageContextInfo
		reactionMessage encReactionMessage pollUpdateMessage keepInChatMessage pinInChatMessage call callLogMesssage bcallMessage
		stickerSyncRmrMessage placeholderMessage albumMessage secretEncryptedMessage pollResultSnapshotMessage pollResultSnapshotMessageV3
		messageHistoryBundle messageHistoryNotice encCommentMessage encEventResponseMessage statusMentionMessage groupStatusMentionMessage
		statusAddYours statusNotificationMessage groupStatusMessage groupStatusMessageV2 statusQuestionAnswerMessage statusQuotedMessage
		statusStickerInteractionMessage statusLinkPreviewMetadata limitSharingMessage scheduledCallCreationMessage scheduledCallEditMessage
		deviceSentMessage pollAddOptionMessage groupRootKeyShare rootSecretDistributeMessage botPlatformRegistrationSuccessMessage
		newsletterAdminInviteMessage newsletterFollowerInviteMessageV2 newsletterAdminProfileMessage newsletterAdminProfileStatusMessage
		pollCreationOptionImageMessage eventCoverImage requestPhoneNumberMessage botInvokeMessage editedMessage chat`) {
		out[protoreflect.Name(name)] = true
	}
	return out
}()

// otherKind names a message that is none of the common ones. What is new to this program is an attachment, so that somebody
// is told that it cannot be read.
func otherKind(m *waE2E.Message) (kind string) {
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		name := f.Name()
		switch {
		case silentFields[name]:
			return true
		case strings.HasPrefix(string(name), "pollCreationMessage"):
			kind = "poll"
		case strings.HasPrefix(string(name), "event"):
			kind = "event"
		case name == "groupInviteMessage":
			kind = "invitation"
		default:
			kind = "attachment"
		}
		return false
	})
	return kind
}

// quoted is the text that a message answers to.
func quoted(info *waE2E.ContextInfo) string {
	if info.GetQuotedMessage() == nil {
		return ""
	}
	c := contentOf(info.GetQuotedMessage())
	switch {
	case c.text != "":
		return c.text
	case c.kind != "":
		return "(" + c.kind + ")"
	}
	return ""
}
