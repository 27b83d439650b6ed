package config

import (
	"math"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kind is what one value may be. YAML decides by its own rules what a bare word or number is; here the words as they are
// written are read by what the key is for, so off, "off" and false can mean the same and 010 is ten.
type kind interface {
	// read returns the value in the form the layers carry. Its error is a *refusal.
	read(v value, in surroundings) (any, error)
	// wants describes what is accepted, to stand after "a list of values, each" or "takes".
	wants() string
}

// value is one scalar of a file or the environment.
type value struct {
	text  string // ${NAME} replaced
	shown string // as it was written: safe to show, a secret behind ${NAME} is not in it
}

func (v value) quoted() string {
	const most = 60
	shown := []rune(v.shown)
	if len(shown) > most {
		return strconv.Quote(string(shown[:most]) + "…")
	}
	return strconv.Quote(v.shown)
}

// refusal is why a value was not taken, in words for the person who wrote it.
type refusal struct{ text, suggest string }

func (r *refusal) Error() string { return r.text }

func refuse(parts ...string) error { return &refusal{text: strings.Join(parts, "")} }

// surroundings are what the meaning of a value depends on.
type surroundings struct {
	home string // $HOME, empty when it is not known
	data string // $XDG_DATA_HOME or what stands in for it
	dir  string // the folder of the config file
}

// offWords are the ways people write that they do not want something. A bare 0 is among them.
var offWords = []string{"off", "no", "false", "never", "none", "disabled", "0"}

func isOff(text string) bool { return slices.Contains(offWords, strings.ToLower(text)) }

func clean(v value) string { return strings.TrimSpace(v.text) }

type textKind struct {
	empty bool // may be ""
	line  bool // one line, a name of something
}

func (k textKind) wants() string {
	if k.line {
		return "a name"
	}
	return "text"
}

func (k textKind) read(v value, _ surroundings) (any, error) {
	text := v.text
	if k.line {
		text = strings.TrimSpace(text)
	}
	switch {
	case text == "" && !k.empty:
		return nil, refuse("is empty; it takes ", k.wants())
	case k.line && strings.ContainsAny(text, "\r\n\t"):
		return nil, refuse("must be one line")
	case k.line && len(text) > 200:
		return nil, refuse("is too long for a name")
	}
	return text, nil
}

type secretKind struct{ telegram bool }

var botToken = regexp.MustCompile(`^[0-9]+:\S+$`)

func (k secretKind) wants() string { return `a secret such as "${NAME}"` }

func (k secretKind) read(v value, _ surroundings) (any, error) {
	text := strings.TrimSpace(v.text)
	switch {
	case text == "" && v.shown != "":
		return nil, refuse("is empty: the variable in ", v.quoted(), " is set to nothing")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, refuse("has a space or a line break in it; copy it again, without what is around it")
	case k.telegram && text != "" && !botToken.MatchString(text):
		return nil, refuse("is no bot token: @BotFather gives one that begins with digits and a colon, as in 123456:ABC…")
	}
	return text, nil
}

// choiceKind is one word out of a few, in any case.
type choiceKind struct {
	values []string
	off    string            // the value that all the words for no mean
	words  map[string]string // other words for a value
}

func (k choiceKind) wants() string {
	return strings.Join(k.values[:len(k.values)-1], ", ") + " or " + k.values[len(k.values)-1]
}

func (k choiceKind) read(v value, _ surroundings) (any, error) {
	text := strings.ToLower(clean(v))
	if word, ok := k.words[text]; ok {
		return word, nil
	}
	if slices.Contains(k.values, text) {
		return text, nil
	}
	if k.off != "" && isOff(text) {
		return k.off, nil
	}
	if text == "" {
		return nil, refuse("is empty; it takes ", k.wants())
	}
	near, _ := nearest(text, k.values)
	return nil, &refusal{text: v.quoted() + " is not understood; it takes " + k.wants(), suggest: near}
}

type yesNoKind struct{}

func (yesNoKind) wants() string { return "true or false" }

func (yesNoKind) read(v value, _ surroundings) (any, error) {
	switch text := strings.ToLower(clean(v)); {
	case slices.Contains([]string{"true", "yes", "on", "1"}, text):
		return true, nil
	case isOff(text):
		return false, nil
	}
	return nil, refuse(v.quoted(), " is not understood; it takes true or false")
}

var plainNumber = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)

// parseNumber reads digits as people do: 010 is ten, 2e5 is 200000, 200_000 too.
func parseNumber(v value) (float64, error) {
	text := clean(v)
	digits := strings.ReplaceAll(text, "_", "")
	number, err := strconv.ParseFloat(digits, 64)
	if !plainNumber.MatchString(digits) || err != nil {
		return 0, refuse(v.quoted(), " is not a number")
	}
	return number, nil
}

type wholeKind struct{ min int }

func (k wholeKind) wants() string {
	return "a whole number, " + strconv.Itoa(k.min) + " or more"
}

func (k wholeKind) read(v value, _ surroundings) (any, error) {
	number, err := parseNumber(v)
	if err != nil || number != math.Trunc(number) {
		return nil, refuse(v.quoted(), " is not a whole number; write digits only, ", strconv.Itoa(k.min), " or more")
	}
	if number < float64(k.min) {
		return nil, refuse(v.quoted(), " is too small; it must be ", strconv.Itoa(k.min), " or more")
	}
	if number > math.MaxInt32 { // int has 32 bits on the smallest machines
		return nil, refuse(v.quoted(), " is too large")
	}
	return int(number), nil
}

type amountKind struct {
	max float64 // 0: a lot
}

func (amountKind) wants() string { return "a number such as 0.25" }

func (k amountKind) read(v value, _ surroundings) (any, error) {
	number, err := parseNumber(v)
	switch {
	case err != nil:
		return nil, refuse(v.quoted(), " is not a number; write one such as 0.25, without a currency sign")
	case number < 0:
		return nil, refuse(v.quoted(), " is less than nothing; it must be 0 or more")
	case number > 1e9, k.max > 0 && number > k.max:
		return nil, refuse(v.quoted(), " is too large")
	}
	return number, nil
}

type pathKind struct{}

func (pathKind) wants() string { return "a folder such as ~/hearth" }

func (pathKind) read(v value, in surroundings) (any, error) {
	text := clean(v)
	switch {
	case text == "":
		return nil, refuse("is empty; it takes a folder such as ~/hearth")
	case strings.ContainsRune(text, 0):
		return nil, refuse(v.quoted(), " is no folder")
	case text == "~" || strings.HasPrefix(text, "~/"):
		if in.home == "" {
			return nil, refuse(v.quoted(), " needs HOME, which is not set; write the folder in full, or set HOME")
		}
		return filepath.Join(in.home, text[1:]), nil
	case text[0] == '~':
		return nil, refuse(v.quoted(), " is another user's home; write the folder in full")
	case !filepath.IsAbs(text):
		return filepath.Join(in.dir, text), nil
	}
	return filepath.Clean(text), nil
}

type linkKind struct{ empty bool }

func (linkKind) wants() string { return "an address such as http://127.0.0.1:11434" }

func (k linkKind) read(v value, _ surroundings) (any, error) {
	text := clean(v)
	if k.empty && (text == "" || isOff(text)) {
		return "", nil
	}
	link, err := url.Parse(text)
	switch {
	case text == "":
		return nil, refuse("is empty; it takes ", k.wants())
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, refuse("has a space or a line break in it; it takes ", k.wants())
	case !strings.Contains(text, "://"):
		return nil, refuse("must begin with http:// or https://")
	case err != nil || link.Hostname() == "":
		return nil, refuse("is not a web address; it takes ", k.wants()) // the address is not quoted: it may hold a password
	case link.Scheme != "http" && link.Scheme != "https":
		return nil, refuse("must begin with http:// or https://, not ", strconv.Quote(link.Scheme+"://"))
	}
	return strings.TrimRight(text, "/"), nil
}

type listenKind struct{}

func (listenKind) wants() string { return "off, or an address and port such as 127.0.0.1:8717" }

func (k listenKind) read(v value, _ surroundings) (any, error) {
	text := clean(v)
	if text == "" || isOff(text) {
		return "", nil
	}
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		return nil, &refusal{text: v.quoted() + " is a port without an address; it takes " + k.wants(), suggest: "127.0.0.1:" + text}
	}
	if strings.Contains(text, "://") {
		return nil, refuse(v.quoted(), " has a scheme; leave out everything but the address and port, such as 127.0.0.1:8717")
	}
	host, port, err := net.SplitHostPort(text)
	number, portErr := strconv.Atoi(port)
	if err != nil || portErr != nil || number < 0 || number > 65535 || host != "" && !isHost(host) {
		return nil, refuse(v.quoted(), " is not understood; it takes ", k.wants())
	}
	return net.JoinHostPort(strings.ToLower(host), strconv.Itoa(number)), nil
}

type hostKind struct{}

func (hostKind) wants() string { return "a host such as nas.local or 192.168.1.20" }

func (k hostKind) read(v value, _ surroundings) (any, error) {
	text := strings.ToLower(strings.Trim(clean(v), "[]"))
	if !isHost(text) {
		return nil, refuse(v.quoted(), " is not a host; write one name or IP address, without http://, port or path, such as nas.local or 192.168.1.20")
	}
	return text, nil
}

// Lengths are checked beside it: counted classes of all letters make a program of a megabyte.
var hostName = regexp.MustCompile(`^[\pL\pN_]([\pL\pN_-]*\.?)*$`)

func isHost(text string) bool {
	return net.ParseIP(text) != nil || len(text) <= 253 && hostName.MatchString(text)
}
