package inbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"hearth/gateways"
	"hearth/vault"
)

// strangerLine is all that strangers are told, at most once a day.
const strangerLine = "This is a private assistant. If you were given a code, send /pair CODE."

// who finds the person behind an event. vault.ErrNotFound: a stranger.
func (i *Inbox) who(ctx context.Context, in vault.Inbound) (vault.Person, error) {
	if !local(in.Gateway) {
		return i.opt.Vault.PersonBy(ctx, in.Gateway, in.Sender)
	}
	// On the machine itself the sender is the person's own number: the login has seen to it.
	number, err := strconv.ParseInt(in.Sender, 10, 64)
	if err != nil {
		return vault.Person{}, fmt.Errorf("read person number: %w", err)
	}
	people, err := i.opt.Vault.People(ctx)
	if err != nil {
		return vault.Person{}, err
	}
	for _, p := range people {
		if p.ID == number {
			return p, nil
		}
	}
	return vault.Person{}, fmt.Errorf("find person %d: they are not known, or no longer", number)
}

// local reports whether a gateway is a door of this machine rather than a messenger.
func local(gateway string) bool { return gateway == "terminal" || gateway == "web" }

// stranger reads nothing but a pairing code, and keeps nothing but the sender's id. In groups strangers get no word at all.
func (i *Inbox) stranger(ctx context.Context, in vault.Inbound) error {
	if in.ChatKind != vault.Private || in.Kind == "press" || in.EditTime > 0 {
		return nil
	}
	i.strangers.Lock()
	defer i.strangers.Unlock()
	if code := pairingCode(in); code != "" {
		p, err := i.opt.Vault.Pair(ctx, in, code)
		if err == nil {
			return i.welcome(ctx, in, p)
		}
		if !errors.Is(err, vault.ErrBadCode) {
			return fmt.Errorf("pair: %w", err)
		}
		i.opt.Log.Warn("somebody tried a pairing code that does not work", "gateway", in.Gateway)
	}
	return i.opt.Vault.Stranger(ctx, in, strangerLine)
}

// pairingCode gives the code of "/pair CODE" or of the link's "/start CODE"; "" for anything else.
func pairingCode(in vault.Inbound) string {
	cmd, ok := parse(in.Text)
	if !ok || in.Kind != "text" || in.Forwarded != "" || cmd.name != "pair" && cmd.name != "start" {
		return ""
	}
	fields := strings.Fields(cmd.arg)
	if len(fields) != 1 || len(fields[0]) > 64 {
		return ""
	}
	return fields[0]
}

// welcome greets somebody who has just been paired, and tells the first owner about it. The used code is not kept.
func (i *Inbox) welcome(ctx context.Context, in vault.Inbound, p vault.Person) error {
	in.Kind, in.Text, in.Raw = "command", "/pair", nil
	first, err := i.opt.Vault.FirstOwner(ctx)
	if err != nil && !errors.Is(err, vault.ErrNotFound) {
		return err
	}
	err = i.opt.Vault.Command(ctx, in, p, func(tx *vault.Tx, _ vault.Conversation) ([]vault.Part, error) {
		if first.ID != p.ID {
			words := fmt.Sprintf("%s is paired now, as %s, on %s.", p.Name, p.Role, gateways.Title(in.Gateway))
			if err := tx.Tell("paired:"+in.Gateway+":"+in.Sender, words); err != nil {
				return nil, err
			}
		}
		return []vault.Part{{Text: fmt.Sprintf("Welcome, %s. You are paired as %s. /help says what I can do.", p.Name, p.Role)}}, nil
	})
	if errors.Is(err, vault.ErrRepeat) {
		return nil
	}
	return err
}

// The lengths of what messengers say about people. Names are shown in prompts, where they must not look like more than that.
const (
	maxName   = 60
	maxQuoted = 4000
)

// tidy makes an event safe to keep: valid text, names that are one short line, a time of sending that can be right.
func (i *Inbox) tidy(in vault.Inbound) vault.Inbound {
	in.Text = strings.ReplaceAll(strings.ToValidUTF8(in.Text, "\uFFFD"), "\x00", "")
	in.Quoted = clip(strings.ReplaceAll(strings.ToValidUTF8(in.Quoted, "\uFFFD"), "\x00", ""), maxQuoted)
	in.SenderName = oneLine(in.SenderName, maxName)
	if in.Forwarded != "" {
		if in.Forwarded = oneLine(in.Forwarded, maxName); in.Forwarded == "" {
			in.Forwarded = "somebody" // whoever it was, they are not the sender's own words
		}
	}
	if in.Kind == "" {
		in.Kind = "text"
	}
	if now := i.opt.Now(); in.Sent.IsZero() || in.Sent.After(now) {
		in.Sent = now
	}
	return in
}

// oneLine cleans a name: no control letters, no line breaks, nothing that turns the direction of reading, no more than n
// letters.
func oneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case r == unicode.ReplacementChar, unicode.Is(unicode.Cf, r) && r != 0x200d: // a joiner holds emoji together
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return clip(strings.Join(strings.Fields(s), " "), n)
}

// clip shortens a text for a sentence, at a letter.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimSpace(string(r[:n-1])) + "…"
}

// timezone shows or sets the zone that a person's times are meant in.
func timezone(r *request) ([]string, error) {
	old := r.zone.String()
	if r.arg == "" {
		return say("Your zone is %s, where it is %s. /timezone ZONE changes it, for example /timezone Europe/Lisbon.", old, r.clock())
	}
	switch strings.ToLower(r.arg) {
	case "move":
		return r.travel(true)
	case "keep":
		return r.travel(false)
	}
	name, near := r.i.findZone(r.arg)
	if name == "" {
		if len(near) > 0 {
			return say("I do not know the zone %q. Did you mean %s?", clip(r.arg, 40), strings.Join(near, " or "))
		}
		return say("I do not know the zone %q. It is written as a place, for example Europe/Lisbon.", clip(r.arg, 40))
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("load zone: %w", err)
	}
	if err := r.tx.SetZone(r.from.ID, name); err != nil {
		return nil, err
	}
	r.zone, r.now = zone, r.now.In(zone)
	return r.askTravel(fmt.Sprintf("Your zone is now %s, where it is %s.", name, r.clock()))
}

// findZone gives the zone that is meant: by its whole name or by its city, whatever the case. Else what is near to it.
func (i *Inbox) findZone(words string) (name string, near []string) {
	words = strings.ReplaceAll(strings.TrimSpace(words), " ", "_")
	if len(words) > 64 {
		return "", nil
	}
	var cities []string
	for _, zone := range i.opt.Zones {
		if strings.EqualFold(zone, words) {
			return zone, nil
		}
		if strings.EqualFold(city(zone), words) {
			cities = append(cities, zone)
		}
	}
	if len(cities) == 1 {
		return cities[0], nil
	}
	if len(cities) > 1 {
		return "", cities[:min(3, len(cities))]
	}
	// Go knows more names than are zones of a person: "Local", and on some systems whatever lies in the zone folder.
	if _, err := time.LoadLocation(words); err == nil && len(i.opt.Zones) == 0 && words != "" && words != "Local" {
		return words, nil
	}
	whole := nearestFew(words, i.opt.Zones, func(s string) string { return s })
	if len(whole) == 0 {
		whole = nearestFew(words, i.opt.Zones, city)
	}
	return "", whole
}

func city(zone string) string { return zone[strings.LastIndexByte(zone, '/')+1:] }
