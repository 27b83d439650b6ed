package vault

import "slices"

// From the words of an order to the tools it shuts.

var (
	lockVerbs    = set("write send message text contact notify ping run execute use start search browse fetch google surf open visit access go look download read query")
	webNouns     = set("web internet online website websites webpage webpages page pages site sites google url urls")
	commandNouns = set("command commands shell script scripts program programs run_command")
	fileNouns    = set("file files write_file")
	wordings     = set("message messages text texts sms anything something words word letter wordings dm dms whatsapp telegram")
	filler       = set("a an any anything something the more back out another further even")
	everyone     = set("anyone anybody someone somebody everyone everybody people others other else strangers any all")
	oneself      = set("me us myself you yourself")
	conjunctions = set("or and nor ,")
	// breaks begin what says when or about what. An order that holds only sometimes is asked about always.
	breaks = set("about after before at on in if when whenever unless until except while during without that which who but for with as because since between only more too than from via by regarding concerning")
)

// locks gives what the program can enforce of words that begin with a verb, or with what is done: "messages to Bob".
func (c clause) locks(words []string) (out []Order) {
	for _, part := range parts(words) {
		out = append(out, c.lock(part)...)
	}
	return out
}

// parts cuts "send messages or run commands" in two.
func parts(words []string) (out [][]string) {
	from := 0
	for i := 1; i < len(words); i++ {
		if !conjunctions[words[i-1]] {
			continue
		}
		verb := base(words[i])
		also := words[i-1] != "and" || verb != words[i] || commandNouns[words[i]] || wordings[words[i]]
		if lockVerbs[verb] && also && !wordings[words[i]] || commandNouns[words[i]] && i+1 == len(words) {
			out = append(out, words[from:i-1])
			from = i
		}
	}
	return append(out, words[from:])
}

func (c clause) lock(words []string) []Order {
	for len(words) > 0 && conjunctions[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return nil
	}
	verb, obj := base(words[0]), words[1:]
	if !lockVerbs[verb] || wordings[words[0]] && len(obj) > 0 && obj[0] == "to" {
		verb, obj = "", words
	}
	if cut := slices.IndexFunc(obj, func(w string) bool { return breaks[w] }); cut >= 0 {
		c.condition = c.condition || !onWeb(obj[cut:])
		if !onWeb(obj[cut:]) {
			obj = obj[:cut]
		}
	}
	do := OrderDeny
	if c.asks || c.condition {
		do = OrderAsk
	}
	has := func(of map[string]bool) bool { return slices.ContainsFunc(obj, func(w string) bool { return of[w] }) }
	last := func(of map[string]bool) bool { return len(obj) > 0 && of[obj[len(obj)-1]] }
	only := func(of map[string]bool) bool {
		return !slices.ContainsFunc(obj, func(w string) bool { return !of[w] && !filler[w] })
	}
	switch verb {
	case "run", "execute", "use", "start", "":
		if last(commandNouns) && (verb != "start" || has(commandNouns)) {
			if do == OrderDeny {
				do = OrderOff
			}
			return []Order{{Do: do, Tools: []string{"run_command"}}}
		}
	case "write":
		if last(fileNouns) {
			return []Order{{Do: do, Tools: []string{"write_file"}}}
		}
	}
	switch verb {
	case "search", "browse", "google", "surf", "fetch", "open", "visit", "access", "use", "go", "look", "download", "read", "query":
		bare := (verb == "search" || verb == "browse" || verb == "google") && len(obj) == 0
		if has(webNouns) || bare || verb == "google" {
			return []Order{{Do: do, Tools: []string{"web_fetch", "web_search"}}}
		}
		return nil
	case "run", "execute", "start":
		return nil
	case "message", "text", "contact", "notify", "ping":
		return letter(do, obj, false)
	}
	// write, send, and "messages to Bob"
	if to := slices.Index(obj, "to"); to >= 0 {
		whom := obj[to+1:]
		obj = obj[:to]
		if only(wordings) && (verb != "" || len(obj) > 0) {
			return letter(do, whom, true)
		}
		return nil
	}
	if verb == "send" && len(obj) > 0 && last(wordings) && !only(wordings) { // "send Bob a message"
		whom := obj
		for len(whom) > 0 && (wordings[whom[len(whom)-1]] || filler[whom[len(whom)-1]]) {
			whom = whom[:len(whom)-1]
		}
		return letter(do, whom, true)
	}
	if only(wordings) && (len(obj) > 0 || verb == "send" || verb == "write" && do == OrderAsk && !c.condition) {
		return letter(do, nil, false)
	}
	return nil
}

// onWeb: "on the web" and "in the internet" are no condition.
func onWeb(words []string) bool {
	if len(words) < 2 || words[0] != "on" && words[0] != "in" && words[0] != "from" && words[0] != "for" {
		return false
	}
	return webNouns[words[1]] || words[1] == "the" && len(words) > 2 && webNouns[words[2]]
}

// letter makes an order of each that is named. named: a name has to follow.
func letter(do string, whom []string, named bool) (out []Order) {
	send := func(to string) { out = append(out, Order{Do: do, Tools: []string{"send"}, to: to}) }
	if len(whom) == 0 {
		if !named {
			send("")
		}
		return out
	}
	name := ""
	end := func() {
		if name != "" {
			send(name)
		}
		name = ""
	}
	for _, w := range whom {
		switch {
		case conjunctions[w] || w == "to":
			end()
		case everyone[w] && name == "":
			return []Order{{Do: do, Tools: []string{"send"}}}
		case oneself[w] && name == "":
		case name == "":
			name = w
		default:
			name += " " + w
		}
	}
	end()
	return out
}
