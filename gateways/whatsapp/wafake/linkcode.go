package wafake

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// linkCode is a link by pairing code in progress.
type linkCode struct {
	conn    *conn
	ref     []byte
	wrapped []byte // the companion's ephemeral key, under the code: salt (32), IV (16), ciphertext (32)
	bundle  chan linkBundle
}

type linkBundle struct{ wrapped, identity []byte }

// linkCode handles the two requests of a client that links by pairing code. s.mu must be held.
func (s *Server) linkCode(c *conn, node waBinary.Node) []waBinary.Node {
	account := s.account(node.AttrGetter().JID("jid"))
	if account == nil {
		return nil
	}
	content := func(tag string) []byte {
		child := node.GetChildByTag(tag)
		data, _ := child.Content.([]byte)
		return data
	}
	if node.Attrs["stage"] == "companion_finish" {
		account.linking.bundle <- linkBundle{content("link_code_pairing_wrapped_key_bundle"), content("companion_identity_public")}
		return nil
	}
	ref := []byte(s.newID())
	account.linking = &linkCode{
		conn: c, ref: ref, bundle: make(chan linkBundle, 1),
		wrapped: content("link_code_pairing_wrapped_companion_ephemeral_pub"),
	}
	return []waBinary.Node{{Tag: "link_code_companion_reg", Content: []waBinary.Node{{Tag: "link_code_pairing_ref", Content: ref}}}}
}

// EnterCode does what the account's phone does with a pairing code (what Client.PairPhone returns):
// the two agree on a key with the code as the password, and the client is linked.
func (a *Account) EnterCode(code string) error {
	s := a.s
	s.mu.Lock()
	link := a.linking
	id := s.newID()
	s.mu.Unlock()
	if link == nil {
		return errors.New("no client asked for a pairing code")
	}
	code = strings.ReplaceAll(code, "-", "")
	companion, err := codeCipher(code, link.wrapped[:48], link.wrapped[48:])
	if err != nil {
		return err
	}
	ephemeral, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	saltAndIV := make([]byte, 48)
	_, _ = rand.Read(saltAndIV)
	mine, err := codeCipher(code, saltAndIV, ephemeral.PublicKey().Bytes())
	if err != nil {
		return err
	}
	link.conn.send(waBinary.Node{
		Tag:   "notification",
		Attrs: waBinary.Attrs{"from": types.ServerJID, "id": id, "type": "link_code_companion_reg", "t": now()},
		Content: []waBinary.Node{{Tag: "link_code_companion_reg", Content: []waBinary.Node{
			{Tag: "link_code_pairing_ref", Content: link.ref},
			{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: slices.Concat(saltAndIV, mine)},
			{Tag: "primary_identity_pub", Content: a.identity.Pub[:]},
		}}},
	})

	var bundle linkBundle
	select {
	case bundle = <-link.bundle:
	case <-time.After(10 * time.Second):
		return errors.New("the client didn't finish linking; wrong code?")
	}
	shared, err := x25519(ephemeral, companion)
	if err != nil {
		return err
	}
	key, err := hkdf.Key(sha256.New, shared, bundle.wrapped[:32], "link_code_pairing_key_bundle_encryption_key", 32)
	if err != nil {
		return err
	}
	plain, err := newGCM(key).Open(nil, bundle.wrapped[32:44], bundle.wrapped[44:], nil)
	if err != nil {
		return fmt.Errorf("key bundle: %w", err) // the code was wrong
	}
	identity, err := ecdh.X25519().NewPrivateKey(a.identity.Priv[:])
	if err != nil {
		return err
	}
	identityShared, err := x25519(identity, bundle.identity)
	if err != nil {
		return err
	}
	secret, err := hkdf.Key(sha256.New, slices.Concat(shared, identityShared, plain[64:96]), nil, "adv_secret", 32)
	if err != nil {
		return err
	}
	return a.link(link.conn, secret)
}

// codeCipher en- or decrypts an ephemeral public key under a pairing code.
func codeCipher(code string, saltAndIV, key []byte) ([]byte, error) {
	derived, err := pbkdf2.Key(sha256.New, code, saltAndIV[:32], 2<<16, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(key))
	cipher.NewCTR(block, saltAndIV[32:48]).XORKeyStream(out, key)
	return out, nil
}

func x25519(priv *ecdh.PrivateKey, pub []byte) ([]byte, error) {
	key, err := ecdh.X25519().NewPublicKey(pub)
	if err != nil {
		return nil, err
	}
	return priv.ECDH(key)
}
