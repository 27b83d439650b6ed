package offline

import (
	"strings"
)

const fileName = `"?([^\s":]+\.[A-Za-z0-9]{1,8})"?`

var (
	filesList  = lazily(`(?i)^(?:(?:list|show|see)(?: me)?(?: all)?(?: my| the)? (?:files?|workspace|folder)|(?:what|which) files\b.*?|ls|dir|files|my files)(?: (?:in|of)(?: the)?(?: folder)? (\S+?)(?: do (?:i|you) have)?)?$`)
	fileRead   = lazily(`(?i)^(?:read|open|show|print|cat|display|see|what's in|what is in)(?: me)?(?: out)?(?: the| my)?(?: file| note)? ` + fileName + `$`)
	fileWrite  = lazily(`(?is)^(?:please\s+)?(?:write|save|create|make|put|store)(?:\s+(?:a|an|the|me))?(?:\s+(?:new|text))?(?:\s+(?:note|file|list))?(?:\s+(?:called|named|to|in|into|as))?\s+` + fileName + `\s*(?::|\swith(?: the text)?|\ssaying)\s*(.+)$`)
	fileSaveTo = lazily(`(?is)^(?:please\s+)?(?:write|save|put|store)\s+(.+?)\s+(?:to|in|into|as)\s+(?:the |a |my )?(?:file |note )?(?:called |named )?` + fileName + `[.!]?$`)
)

func listFiles(_ talk, s sentence) (wish, bool) {
	m := s.match(filesList)
	if m == nil {
		return wish{}, false
	}
	args := map[string]any{}
	if m[1] != "" && !strings.EqualFold(m[1], "workspace") {
		args["path"] = m[1]
	}
	return reading("list_files", args, showFiles), true
}

func readFile(_ talk, s sentence) (wish, bool) {
	m := s.match(fileRead)
	if m == nil {
		return wish{}, false
	}
	return reading("read_file", map[string]any{"path": m[1]}, func(result string) string { return showFile(result, m[1]) }), true
}

// writeFile keeps the line breaks of what is to be written.
func writeFile(_ talk, s sentence) (wish, bool) {
	path, content := "", ""
	if m := fileWrite.get().FindStringSubmatch(s.raw); m != nil {
		path, content = m[1], m[2]
	} else if m := fileSaveTo.get().FindStringSubmatch(s.raw); m != nil {
		path, content = m[2], m[1]
	}
	if content = unquoted(content); content == "" {
		return wish{}, false
	}
	return call("write_file", map[string]any{"path": path, "content": content}), true
}

// unquoted takes away quotation marks around the whole.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	for _, pair := range [][2]string{{`"`, `"`}, {"“", "”"}, {"'", "'"}} {
		if inner, ok := strings.CutPrefix(s, pair[0]); ok {
			if inner, ok := strings.CutSuffix(inner, pair[1]); ok {
				return strings.TrimSpace(inner)
			}
		}
	}
	return s
}
