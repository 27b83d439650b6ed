package wafake

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// signDevice has the account vouch for a device's identity key, which is what a phone does when it
// links a device.
func (a *Account) signDevice(dev uint16, identityKey []byte) (*waAdv.ADVSignedDeviceIdentity, error) {
	details, err := proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID:     proto.Uint32(1),
		Timestamp: proto.Uint64(uint64(time.Now().Unix())),
		KeyIndex:  proto.Uint32(uint32(dev)),
	})
	if err != nil {
		return nil, err
	}
	return &waAdv.ADVSignedDeviceIdentity{
		Details:             details,
		AccountSignatureKey: a.identity.Pub[:],
		AccountSignature:    sign(a.identity, slices.Concat(whatsmeow.AdvAccountSignaturePrefix, details, identityKey)),
	}, nil
}

// ScanQR does what the account's phone does with a QR code (an item of events.QR.Codes): it links
// the client that shows it.
func (a *Account) ScanQR(code string) error {
	_, code, _ = strings.Cut(code, "#")
	parts := strings.Split(code, ",") // ref, Noise key, identity key, ADV secret, kind of client
	if len(parts) != 5 {
		return fmt.Errorf("QR code has %d parts, not 5", len(parts))
	}
	var bin [3][]byte // Noise key, identity key, ADV secret
	for i := range bin {
		var err error
		if bin[i], err = base64.StdEncoding.DecodeString(parts[i+1]); err != nil {
			return err
		}
	}
	s := a.s
	s.mu.Lock()
	c := s.pairing[parts[0]]
	s.mu.Unlock()
	if c == nil {
		return errors.New("nobody is waiting with that QR code")
	} else if !bytes.Equal(bin[0], c.static) || !bytes.Equal(bin[1], c.reg.EIdent) {
		return errors.New("the keys in the QR code aren't the client's")
	}
	return a.link(c, bin[2])
}

// link sends pair-success. The client answers with its own signature; see pairAnswer.
func (a *Account) link(c *conn, advSecret []byte) error {
	s := a.s
	s.mu.Lock()
	dev := a.addDevice(1)
	dev.noise = c.static
	dev.bundle = []waBinary.Node{
		{Tag: "registration", Content: c.reg.ERegid},
		{Tag: "type", Content: c.reg.EKeytype},
		{Tag: "identity", Content: c.reg.EIdent},
		{Tag: "skey", Content: []waBinary.Node{
			{Tag: "id", Content: c.reg.ESkeyID}, {Tag: "value", Content: c.reg.ESkeyVal}, {Tag: "signature", Content: c.reg.ESkeySig},
		}},
	}
	id := s.newID()
	s.mu.Unlock()

	signed, err := a.signDevice(dev.jid.Device, c.reg.EIdent)
	if err != nil {
		return err
	}
	details, err := proto.Marshal(signed)
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, advSecret)
	mac.Write(details)
	sealed, err := proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: details, HMAC: mac.Sum(nil)})
	if err != nil {
		return err
	}
	c.send(waBinary.Node{
		Tag:   "iq",
		Attrs: waBinary.Attrs{"from": types.ServerJID, "id": id, "type": "set", "t": now()},
		Content: []waBinary.Node{{Tag: "pair-success", Content: []waBinary.Node{
			{Tag: "device-identity", Content: sealed},
			{Tag: "device", Attrs: waBinary.Attrs{"jid": dev.jid, "lid": a.lidDevice(dev.jid.Device)}},
			{Tag: "platform", Attrs: waBinary.Attrs{"name": "android"}},
		}}},
	})
	return nil
}

// pairAnswer handles the answer to pair-success: it checks the device's signature and, as the real
// server does, ends the stream with code 515 to make the client log in.
func (s *Server) pairAnswer(c *conn, node *waBinary.Node) {
	answer, ok := node.GetOptionalChildByTag("pair-device-sign", "device-identity")
	if !ok || c.reg == nil {
		return // the answer to pair-device, or a pairing error
	}
	raw, _ := answer.Content.([]byte)
	var signed waAdv.ADVSignedDeviceIdentity
	if err := proto.Unmarshal(raw, &signed); err != nil || len(signed.DeviceSignature) != 64 {
		s.errorf("bad pair-device-sign: %v", err)
		return
	}
	for _, a := range s.accounts {
		message := slices.Concat(whatsmeow.AdvDeviceSignaturePrefix, signed.Details, c.reg.EIdent, a.identity.Pub[:])
		if ecc.VerifySignature(ecc.NewDjbECPublicKey([32]byte(c.reg.EIdent)), message, [64]byte(signed.DeviceSignature)) {
			c.hangUp(waBinary.Node{Tag: "stream:error", Attrs: waBinary.Attrs{"code": "515"}})
			return
		}
	}
	s.errorf("pair-device-sign has a bad signature")
}
