package brain

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A command that is to be waved through unread is written in base64, hex or escapes and handed to a shell. A person cannot
// read that, so what it says is shown beside it. This is a help and no protection: a text can be hidden in more ways than
// can be listed, and what keeps a command from doing harm is the sandbox.

// decoding is a piece of a command and what it says.
type decoding struct{ from, text string }

// Bounds of what is looked for.
const (
	mostDecodings  = 8
	deepestNesting = 3
	longestDecoded = 4000 // characters, all together
)

var (
	wrapped   = regexp.MustCompile(`[A-Za-z0-9+/_-]{40,}(?:\n[A-Za-z0-9+/_-]+={0,2})+`) // long base64 stands on several lines
	base64s   = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}={0,2}`)
	hexes     = regexp.MustCompile(`(?:[0-9a-fA-F]{2}){4,}`)
	escaped   = regexp.MustCompile(`(?:\\x[0-9a-fA-F]{1,2}|\\u[0-9a-fA-F]{4}|\\0?[0-7]{3}|%[0-9a-fA-F]{2}){3,}`)
	oneEscape = regexp.MustCompile(`\\x[0-9a-fA-F]{1,2}|\\u[0-9a-fA-F]{4}|\\0?[0-7]{3}|%[0-9a-fA-F]{2}`)
)

// decodings finds what a command says in another alphabet, also within what was decoded.
func decodings(command string) []decoding {
	d := decoder{seen: map[string]bool{}, room: longestDecoded}
	d.look(command, 1)
	return d.found
}

type decoder struct {
	found []decoding
	seen  map[string]bool
	room  int // characters that may still be shown
}

func (d *decoder) look(text string, depth int) {
	text = wrapped.ReplaceAllStringFunc(text, func(piece string) string {
		lines := strings.Split(piece, "\n")
		for n := len(lines); n > 1; n-- { // what stands below may be another word
			if d.take(piece, fromBase64(strings.Join(lines[:n], "")), depth) {
				return strings.Join(lines[n:], "\n")
			}
		}
		return piece
	})
	for _, kind := range []struct {
		pattern *regexp.Regexp
		decode  func(string) []byte
	}{{base64s, fromBase64}, {hexes, fromHex}, {escaped, fromEscapes}} {
		for _, piece := range kind.pattern.FindAllString(text, -1) {
			d.take(piece, kind.decode(piece), depth)
		}
	}
}

// take keeps what a piece says, if it says something.
func (d *decoder) take(piece string, data []byte, depth int) bool {
	said, ok := readable(data)
	if !ok || d.seen[said] || len(d.found) == mostDecodings || d.room <= 0 {
		return ok
	}
	d.seen[said] = true
	said = shorten(said, d.room)
	d.room -= utf8.RuneCountInString(said)
	d.found = append(d.found, decoding{piece, said})
	if depth < deepestNesting {
		d.look(said, depth+1)
	}
	return true
}

func fromBase64(piece string) []byte {
	piece = strings.TrimRight(piece, "=")
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if data, err := alphabet.DecodeString(piece); err == nil {
			return unpacked(data)
		}
	}
	return nil
}

func fromHex(piece string) []byte {
	data, err := hex.DecodeString(piece)
	if err != nil {
		return nil
	}
	return unpacked(data)
}

func fromEscapes(piece string) []byte {
	return []byte(oneEscape.ReplaceAllStringFunc(piece, func(e string) string {
		base, digits := 16, e[1:]
		switch {
		case e[0] == '%':
		case e[1] == 'x' || e[1] == 'u':
			digits = e[2:]
		default:
			base = 8
		}
		n, err := strconv.ParseUint(digits, base, 16)
		switch {
		case err != nil:
			return e
		case e[0] == '\\' && e[1] == 'u':
			return string(rune(n))
		}
		return string([]byte{byte(n)})
	}))
}

// unpacked opens what was packed with gzip.
func unpacked(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	data, err = io.ReadAll(io.LimitReader(r, 4*longestDecoded))
	if err != nil {
		return nil
	}
	return data
}

// readable tells a text from noise: most words happen to be base64 of something.
func readable(data []byte) (string, bool) {
	text := strings.TrimSpace(string(data))
	if len(text) < 3 || !utf8.ValidString(text) {
		return "", false
	}
	letters := false
	for _, r := range text {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return "", false
		}
		letters = letters || unicode.IsLetter(r)
	}
	return text, letters
}
