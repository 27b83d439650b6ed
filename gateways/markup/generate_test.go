package markup

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// tokens are what Markdown documents are made of here; %s stands for the next word, which must not get lost.
var tokens = []string{
	"**", "*", "_", "__", "`", "``", "```\n", "```go\n", "~~~\n", "\n", "\n\n", "- ", "1. ", "> ", "# ", "|", "|---|---|\n", "| %s | %s |\n", "[", "](https://e.org/_x)",
	"](no:such)", "![", "<b>", "</b>", "<script>", "</script>\n", "<!-- ", " -->", "&lt;", "&amp;", "&", "\\", "~~", "😀", "👨‍👩‍👧", "🇵🇹", "%s", " %s", " ", " %s_%s_", "日本%s", "\t",
	"    ", "!", "(", ")", "---\n", "[%s]: ", "https://%s.example/_%s_ ", "<%s@e.org>", "- [ ] ", "- [x] ", "e\u0301", "```%s\n", "\u200b",
}

// document composes a document of some tokens and gives the words in it.
func document(r *rand.Rand) (doc string, words []string) {
	var b strings.Builder
	for range 3 + r.IntN(40) {
		token := tokens[r.IntN(len(tokens))]
		for strings.Contains(token, "%s") {
			words = append(words, fmt.Sprintf("w%04d", len(words)))
			token = strings.Replace(token, "%s", words[len(words)-1], 1)
		}
		b.WriteString(token)
	}
	return b.String(), words
}

// corpus are documents of the kinds that other agents got wrong. The numbers are those of the reports they come from.
var corpus = []string{
	"This unmatched_underscore breaks",
	"http://x.y/flash/7/NRR-JaUmg_hm7jYl and http://x.y/a_b",          // 5
	"1. a\n2. b\n   - c\n     - d_e\n3. f",                            // 12
	"| 期限 | 总利息 |\n|------|--------|\n| 30 年 | 91 万 |\n| a | `b|c` |", // 11
	"**bold *it* ~~s~~** `c_o*d` [l_k](https://e.org/a_(b)?x=1&y=2)",
	"> q1\n> > nested\n> - li **b**\n\nafter",
	"```go\nif a < b && c > d { fmt.Println(`x`) }\n```\ntail",
	"<table><tr><td>1</td></tr></table> <b>raw</b> a&b &amp; &lt;", // 7, 11
	"😀👨‍👩‍👧 **é👍🏽** 🇩🇪 " + strings.Repeat("😀", 4200),               // 3
	"# H **b**\n\ntext\n\n---\n\n- [ ] todo\n- [x] done",
	"```python\n" + strings.Repeat("print(1)\n", 900) + "```", // 8
	"```\n" + strings.Repeat("x", 9000) + "\n```",
	"unclosed **bold and `code and ```fence", // 8
	"   ", "", "\n\n", "\u200b",              // 13
	"\x00\x07zero\x1b[0m",
	"a\\_b \\* \\` \\\\ &nbsp;|",
	strings.Repeat("**b** _i_ `c` ", 200),
	"![img](https://e.org/i.png) [bad](javascript:alert(1)) [file](./x.md) <https://auto.link/a_b>",
	"a" + strings.Repeat("🙂", 4096),                           // 4
	strings.Repeat("z", 4095) + "😀tail",                       // 15
	strings.Repeat("&<", 3000),                                // 2
	strings.Repeat("`inline code with words` and more ", 300), // 9
	"line\r\nline2\r\n\r\npara",
	"Chad <chad@example.com>", // 6
	"a" + strings.Repeat("\u0301", 9000),
	strings.Repeat("**", 3000) + "x",
	strings.Repeat("> ", 300) + "deep",
	strings.Repeat("[", 2000) + "x" + strings.Repeat("](http://e.org)", 2000),
}
