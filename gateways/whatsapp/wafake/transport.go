package wafake

import (
	"context"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/socket"
	"google.golang.org/protobuf/proto"
)

// transport carries stanzas over one websocket once the handshake is done.
type transport struct {
	ws      *websocket.Conn
	buf     []byte // bytes received but not yet cut into frames
	recv    cipher.AEAD
	recvN   uint64
	writeMu sync.Mutex
	send    cipher.AEAD
	sendN   uint64
}

// accept runs the handshake as the responder. It returns the transport, the client's static Noise
// key (what a linked device authenticates with) and its ClientPayload (login or registration).
func accept(ctx context.Context, ws *websocket.Conn, id *identity) (*transport, []byte, *waWa6.ClientPayload, error) {
	ws.SetReadLimit(socket.FrameMaxSize)
	tr := &transport{ws: ws}
	st := newNoiseState()

	// -> e (preceded, once, by the connection header)
	header, err := tr.readRaw(ctx, len(socket.WAConnHeader))
	if err != nil {
		return nil, nil, nil, err
	} else if string(header) != string(socket.WAConnHeader) {
		return nil, nil, nil, fmt.Errorf("unexpected connection header %x", header)
	}
	var hello waWa6.HandshakeMessage
	if err = tr.readProto(ctx, &hello); err != nil {
		return nil, nil, nil, err
	}
	clientEphemeral := hello.GetClientHello().GetEphemeral()
	st.mixHash(clientEphemeral)

	// <- e, ee, s, es (the certificate chain is the payload)
	ephemeral, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	st.mixHash(ephemeral.PublicKey().Bytes())
	if err = st.mixKey(ephemeral, clientEphemeral); err != nil {
		return nil, nil, nil, err
	}
	encStatic := st.encrypt(id.static.PublicKey().Bytes())
	if err = st.mixKey(id.static, clientEphemeral); err != nil {
		return nil, nil, nil, err
	}
	reply, err := proto.Marshal(&waWa6.HandshakeMessage{ServerHello: &waWa6.HandshakeMessage_ServerHello{
		Ephemeral: ephemeral.PublicKey().Bytes(),
		Static:    encStatic,
		Payload:   st.encrypt(id.chain),
	}})
	if err != nil {
		return nil, nil, nil, err
	}
	if err = tr.writeFrame(ctx, reply); err != nil {
		return nil, nil, nil, err
	}

	// -> s, se (the ClientPayload is the payload)
	var finish waWa6.HandshakeMessage
	if err = tr.readProto(ctx, &finish); err != nil {
		return nil, nil, nil, err
	}
	clientStatic, err := st.decrypt(finish.GetClientFinish().GetStatic())
	if err != nil {
		return nil, nil, nil, fmt.Errorf("client static key: %w", err)
	}
	if err = st.mixKey(ephemeral, clientStatic); err != nil {
		return nil, nil, nil, err
	}
	rawPayload, err := st.decrypt(finish.GetClientFinish().GetPayload())
	if err != nil {
		return nil, nil, nil, fmt.Errorf("client payload: %w", err)
	}
	var payload waWa6.ClientPayload
	if err = proto.Unmarshal(rawPayload, &payload); err != nil {
		return nil, nil, nil, err
	}
	fromClient, toClient, err := expand(nil, st.salt)
	if err != nil {
		return nil, nil, nil, err
	}
	tr.recv, tr.send = newGCM(fromClient), newGCM(toClient)
	return tr, clientStatic, &payload, nil
}

func (tr *transport) readRaw(ctx context.Context, n int) ([]byte, error) {
	for len(tr.buf) < n {
		kind, data, err := tr.ws.Read(ctx)
		if err != nil {
			return nil, err
		} else if kind != websocket.MessageBinary {
			return nil, errors.New("not a binary websocket message")
		}
		tr.buf = append(tr.buf, data...)
	}
	out := tr.buf[:n:n]
	tr.buf = tr.buf[n:]
	return out, nil
}

// readFrame reads one frame: a 3-byte big-endian length, then that many bytes.
func (tr *transport) readFrame(ctx context.Context) ([]byte, error) {
	size, err := tr.readRaw(ctx, socket.FrameLengthSize)
	if err != nil {
		return nil, err
	}
	return tr.readRaw(ctx, int(size[0])<<16|int(size[1])<<8|int(size[2]))
}

func (tr *transport) writeFrame(ctx context.Context, data []byte) error {
	n := len(data)
	return tr.ws.Write(ctx, websocket.MessageBinary, append([]byte{byte(n >> 16), byte(n >> 8), byte(n)}, data...))
}

func (tr *transport) readProto(ctx context.Context, into proto.Message) error {
	data, err := tr.readFrame(ctx)
	if err != nil {
		return err
	}
	return proto.Unmarshal(data, into)
}

// readNode reads and decrypts one stanza.
func (tr *transport) readNode(ctx context.Context) (*waBinary.Node, error) {
	frame, err := tr.readFrame(ctx)
	if err != nil {
		return nil, err
	}
	plain, err := tr.recv.Open(nil, nonce(tr.recvN), frame, nil)
	tr.recvN++
	if err != nil {
		return nil, err
	}
	if plain, err = waBinary.Unpack(plain); err != nil {
		return nil, err
	}
	return waBinary.Unmarshal(plain)
}

// writeNode encrypts and sends one stanza. It may be called from any goroutine.
func (tr *transport) writeNode(ctx context.Context, node waBinary.Node) error {
	plain, err := waBinary.Marshal(node)
	if err != nil {
		return err
	}
	tr.writeMu.Lock()
	defer tr.writeMu.Unlock()
	frame := tr.send.Seal(nil, nonce(tr.sendN), plain, nil)
	tr.sendN++
	return tr.writeFrame(ctx, frame)
}
