package brain

import "sync"

// A token is taken for three characters: less than most text needs, so that the estimate errs on the safe side.
const charsPerToken = 3

// weigh is how many characters a text counts as: many tokenizers make a token of each digit, and of most marks.
func weigh[T ~string | ~[]byte](s T) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			n += charsPerToken - 1
		case c == ' ' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80:
		default:
			n++
		}
	}
	return n
}

// measures knows of each backend how many characters it has made a token of at worst: many scripts need more
// than three, and the usage that a server reports tells.
type measures struct {
	mu    sync.Mutex
	least map[string]float64
}

// Bounds of what is learned: a short prompt is mostly the server's own template, and no token is less than a byte.
const (
	measuredFrom = 500 // tokens
	leastChars   = 1.0 // a token
	caution      = 0.95
)

// learn takes in that a prompt of so many characters was so many tokens.
func (m *measures) learn(backend string, chars, tokens int) {
	if tokens < measuredFrom {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.least == nil {
		m.least = map[string]float64{}
	}
	// It only ever shrinks: a budget that breathes would move the beginning of the history.
	if seen := max(leastChars, caution*float64(chars)/float64(tokens)); seen < m.of(backend) {
		m.least[backend] = seen
	}
}

func (m *measures) of(backend string) float64 {
	if least, ok := m.least[backend]; ok {
		return least
	}
	return charsPerToken
}

// budget is how many characters the conversation may take, beside a fixed part.
func (m *measures) budget(backend Backend, fixed, squeeze int) int {
	tokens := backend.Context
	if tokens <= 0 {
		tokens = 8192
	}
	answer := backend.MaxTokens
	if answer <= 0 {
		answer = 1024
	}
	m.mu.Lock()
	room := int(float64(tokens-answer)*m.of(backend.Name)) - fixed
	m.mu.Unlock()
	for range squeeze {
		room = room * 2 / 3
	}
	return max(room, leastRoom)
}

// leastRoom is what a conversation gets in any case; if that is too much for a server, its refusal is told.
const leastRoom = 1500
