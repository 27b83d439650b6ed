package wafake

import (
	"crypto/ecdh"
	"crypto/rand"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

// identity is what the server proves itself with: a root key that clients are told to trust, and
// a chain root -> intermediate -> leaf, whose leaf is the server's static Noise key.
type identity struct {
	root   *keys.KeyPair
	static *ecdh.PrivateKey
	chain  []byte
}

func newIdentity() (*identity, error) {
	static, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	root, intermediate := keys.NewKeyPair(), keys.NewKeyPair()
	const intermediateSerial = 1
	from, until := uint64(time.Now().Add(-time.Hour).Unix()), uint64(time.Now().Add(24*time.Hour).Unix())
	middle, err := signCert(root, &waCert.CertChain_NoiseCertificate_Details{
		Serial:       proto.Uint32(intermediateSerial),
		IssuerSerial: proto.Uint32(0), // whatsmeow.WACertIssuerSerial
		Key:          intermediate.Pub[:],
		NotBefore:    &from, NotAfter: &until,
	})
	if err != nil {
		return nil, err
	}
	leaf, err := signCert(intermediate, &waCert.CertChain_NoiseCertificate_Details{
		Serial:       proto.Uint32(2),
		IssuerSerial: proto.Uint32(intermediateSerial),
		Key:          static.PublicKey().Bytes(),
		NotBefore:    &from, NotAfter: &until,
	})
	if err != nil {
		return nil, err
	}
	chain, err := proto.Marshal(&waCert.CertChain{Intermediate: middle, Leaf: leaf})
	if err != nil {
		return nil, err
	}
	return &identity{root: root, static: static, chain: chain}, nil
}

func signCert(signer *keys.KeyPair, details *waCert.CertChain_NoiseCertificate_Details) (*waCert.CertChain_NoiseCertificate, error) {
	raw, err := proto.Marshal(details)
	if err != nil {
		return nil, err
	}
	return &waCert.CertChain_NoiseCertificate{Details: raw, Signature: sign(signer, raw)}, nil
}

// sign makes an XEdDSA signature, the kind WhatsApp and Signal make with Curve25519 keys.
func sign(signer *keys.KeyPair, message []byte) []byte {
	sig := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*signer.Priv), message)
	return sig[:]
}
