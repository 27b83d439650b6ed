package offline

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used. There are dozens, they take a megabyte and some
// 20 ms, and a household with a language model may never use one.
type pattern struct {
	*regexp.Regexp // nil before get
	text           string
	once           sync.Once
}

func lazily(text string) *pattern { return &pattern{text: text} }

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.Regexp = regexp.MustCompile(p.text) })
	return p.Regexp
}
