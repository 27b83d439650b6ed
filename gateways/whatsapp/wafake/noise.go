package wafake

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"

	"go.mau.fi/whatsmeow/socket"
)

// noiseState is the responder's half of Noise_XX_25519_AESGCM_SHA256, the way WhatsApp uses it:
// the 32-byte pattern name is the first hash, salt and key as it is, and "WA\x06\x03" (the bytes
// that open the client's first frame) is the prologue.
type noiseState struct {
	hash, salt []byte
	aead       cipher.AEAD
	counter    uint64
}

func newNoiseState() *noiseState {
	start := []byte(socket.NoiseStartPattern)
	st := &noiseState{hash: start, salt: start, aead: newGCM(start)}
	st.mixHash(socket.WAConnHeader)
	return st
}

func (st *noiseState) mixHash(data []byte) {
	sum := sha256.Sum256(append(append([]byte{}, st.hash...), data...))
	st.hash = sum[:]
}

// mixKey folds a Diffie-Hellman result into the chain and restarts the message counter.
func (st *noiseState) mixKey(priv *ecdh.PrivateKey, pub []byte) error {
	remote, err := ecdh.X25519().NewPublicKey(pub)
	if err != nil {
		return err
	}
	secret, err := priv.ECDH(remote)
	if err != nil {
		return err
	}
	var key []byte
	if st.salt, key, err = expand(secret, st.salt); err != nil {
		return err
	}
	st.aead, st.counter = newGCM(key), 0
	return nil
}

func (st *noiseState) encrypt(plaintext []byte) []byte {
	out := st.aead.Seal(nil, nonce(st.counter), plaintext, st.hash)
	st.counter++
	st.mixHash(out)
	return out
}

func (st *noiseState) decrypt(ciphertext []byte) ([]byte, error) {
	out, err := st.aead.Open(nil, nonce(st.counter), ciphertext, st.hash)
	st.counter++
	if err == nil {
		st.mixHash(ciphertext)
	}
	return out, err
}

func expand(secret, salt []byte) (first, second []byte, err error) {
	both, err := hkdf.Key(sha256.New, secret, salt, "", 64)
	if err != nil {
		return nil, nil, err
	}
	return both[:32], both[32:], nil
}

func newGCM(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for a key that isn't 32 bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}

func nonce(counter uint64) []byte {
	iv := make([]byte, 12)
	binary.BigEndian.PutUint64(iv[4:], counter)
	return iv
}
