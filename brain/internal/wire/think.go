package wire

import "strings"

// Filter takes thinking out of a text that comes in pieces. Servers do that too, but not for every model, and not where
// thinking was switched off and the model thinks all the same.
//
// A tag opens at the beginning of a line only, since an answer may speak of tags. One that closes without having been
// opened means that the model's template opened it: then all before was thinking. What it gives does not depend on where
// the pieces were cut.
type Filter struct {
	held    string // the end of what came, which may be the beginning of a tag
	closing string // inside: the tag that ends it
	skip    bool   // blanks after a block
	inLine  bool   // something stands on the present line already
	last    byte   // of what was let through
}

var thinkTags = []string{"think", "thinking", "thought", "reasoning"}

// Write gives what may be shown. afresh: nothing that was given before may.
func (f *Filter) Write(piece string) (visible string, afresh bool) {
	rest := f.held + piece
	f.held = ""
	var out strings.Builder
	for rest != "" {
		if f.closing != "" {
			_, after, found := strings.Cut(rest, f.closing)
			if !found {
				f.held = rest[len(rest)-overlap(rest, f.closing):]
				return out.String(), afresh
			}
			f.closing, rest = "", after
			f.skip, f.inLine = true, false
			continue
		}
		if f.skip {
			if rest = strings.TrimLeft(rest, " \t\r\n"); rest == "" {
				break
			}
			f.skip = false
		}
		at := strings.IndexByte(rest, '<')
		if at < 0 {
			f.pass(&out, rest)
			break
		}
		f.pass(&out, rest[:at])
		rest = rest[at:]
		tag, closes, partial := f.tag(rest)
		switch {
		case partial:
			f.held = rest
			return out.String(), afresh
		case tag == "":
			f.pass(&out, "<")
			rest = rest[1:]
		case closes:
			out.Reset()
			afresh = true
			f.skip, f.inLine, f.last = true, false, 0
			rest = rest[len(tag):]
		default:
			f.closing = "</" + tag[1:]
			rest = rest[len(tag):]
		}
	}
	return out.String(), afresh
}

// End gives what was held back when nothing more comes.
func (f *Filter) End() string {
	held := f.held
	f.held = ""
	if f.closing != "" {
		return "" // it never stopped thinking
	}
	return held
}

// unthought is a whole text without its thinking.
func unthought(text string) string {
	var f Filter
	visible, _ := f.Write(text)
	return visible + f.End()
}

func (f *Filter) pass(out *strings.Builder, s string) {
	if s == "" {
		return
	}
	out.WriteString(s)
	f.last = s[len(s)-1]
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		f.inLine, s = false, s[i+1:]
	}
	if strings.Trim(s, " \t\r") != "" {
		f.inLine = true
	}
}

// tag looks at a text that begins with "<". partial: it may become a tag that counts.
func (f *Filter) tag(text string) (tag string, closes, partial bool) {
	mentioned := f.last == '`' || f.last == '"' || f.last == '\''
	for _, name := range thinkTags {
		if full := "<" + name + ">"; !f.inLine {
			if strings.HasPrefix(text, full) {
				return full, false, false
			}
			partial = partial || strings.HasPrefix(full, text)
		}
		if full := "</" + name + ">"; !mentioned {
			if strings.HasPrefix(text, full) {
				return full, true, false
			}
			partial = partial || strings.HasPrefix(full, text)
		}
	}
	return "", false, partial
}

// overlap is how much of the end of s may be the beginning of tag.
func overlap(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
