package config

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	digitsOnly   = regexp.MustCompile(`^[+-]?[0-9]+$`)
	inexactID    = regexp.MustCompile(`^[+-]?[0-9]*\.?[0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?$`)
	inexactList  = regexp.MustCompile(`^[0-9]+([\s,;]+[0-9]+)+$`)
	inexactPhone = regexp.MustCompile(`^[+-]?([0-9]{6,}\.[0-9]*|[0-9.]+[eE][+-]?[0-9]+)$`)
	phoneFiller  = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "", "/", "", "\u00a0", "", "\u2011", "", "\u2013", "")
	phoneDigits  = regexp.MustCompile(`^[1-9][0-9]{6,14}$`) // E.164: up to 15 digits
	whatsAppHost = regexp.MustCompile(`@(s\.whatsapp\.net|c\.us)$`)
)

// maxTelegramID is what the Bot API promises never to exceed: 52 significant bits.
const maxTelegramID = 1<<52 - 1

// telegramID is a person's number or a group's, which begins with a minus.
type telegramID struct{}

func (telegramID) wants() string { return "a number such as 123456789" }

func (k telegramID) read(v value, _ surroundings) (any, error) {
	text := clean(v)
	switch {
	case text == "":
		return nil, refuse("is empty; it takes ", k.wants())
	case strings.HasPrefix(text, "@"):
		return nil, refuse(v.quoted(), " is a name, which its owner can give away; write the number, or leave it out and use `hearth pair`")
	case !digitsOnly.MatchString(text) && inexactID.MatchString(text):
		return nil, refuse(v.quoted(), " is not a whole number; write every digit of the id, such as 123456789")
	case !digitsOnly.MatchString(text) && inexactList.MatchString(text):
		return nil, refuse(v.quoted(), " looks like several ids; write them as a list, such as [123456789, 987654321]")
	case !digitsOnly.MatchString(text):
		return nil, refuse(v.quoted(), " is no Telegram id; it takes ", k.wants())
	}
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	digits := strings.TrimLeft(text, "+-0")
	if digits == "" {
		return nil, refuse(v.quoted(), " is no Telegram id; it takes ", k.wants())
	}
	if number, err := strconv.ParseInt(digits, 10, 64); err != nil || number > maxTelegramID {
		return nil, refuse(v.quoted(), " is too long for a Telegram id")
	}
	return sign + digits, nil
}

// phoneNumber is kept as + and digits, however it was written.
type phoneNumber struct{}

func (phoneNumber) wants() string { return `a number with its country code such as "+351912345678"` }

func (k phoneNumber) read(v value, _ surroundings) (any, error) {
	text := whatsAppHost.ReplaceAllString(clean(v), "")
	digits := phoneFiller.Replace(text)
	switch {
	case text == "":
		return nil, refuse("is empty; it takes ", k.wants())
	case inexactPhone.MatchString(text):
		return nil, refuse(v.quoted(), " is not a whole number; write every digit, such as \"+351912345678\"")
	case strings.HasPrefix(digits, "00"):
		digits = digits[2:]
	case strings.HasPrefix(digits, "0"):
		return nil, refuse(v.quoted(), " has no country code; it takes ", k.wants())
	}
	digits = strings.TrimPrefix(digits, "+")
	if !phoneDigits.MatchString(digits) {
		return nil, refuse(v.quoted(), " is no phone number; it takes ", k.wants())
	}
	return "+" + digits, nil
}
