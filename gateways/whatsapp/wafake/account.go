package wafake

import (
	"slices"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
)

// Account is a WhatsApp user: a phone number, a LID and any number of devices.
type Account struct {
	Name string
	PN   types.JID // <phone number>@s.whatsapp.net
	LID  types.JID // <opaque number>@lid

	s        *Server
	shows    Addressing
	identity *keys.KeyPair // the account's key; also the identity key of device 0, the phone
	devices  []*device
	linking  *linkCode
}

// Addressing says under which JID others see a user's messages.
type Addressing int

// The ways to be shown.
const (
	AsSent    Addressing = iota // whichever of the two the sender's client used
	ByNumber                    // the phone number, with the LID beside it
	ByLID                       // the LID, with the phone number beside it
	ByLIDOnly                   // the LID; the phone number isn't told
)

// Show changes under which JID others see this user's messages.
func (a *Account) Show(as Addressing) {
	a.s.mu.Lock()
	a.shows = as
	a.s.mu.Unlock()
}

type device struct {
	account *Account
	jid     types.JID // phone-number JID with device number
	noise   []byte    // static Noise key it must log in with; nil for any
	bundle  []waBinary.Node
	preKeys []waBinary.Node
	waiting []waBinary.Node // sent, or to be sent, but not acknowledged
	payload *waWa6.ClientPayload
	last    chan struct{}
}

// turn hands out the channels that keep deliveries to one device in order. s.mu must be held.
func (d *device) turn() (prev <-chan struct{}, done chan<- struct{}) {
	p, n := d.last, make(chan struct{})
	if p == nil {
		p = make(chan struct{})
		close(p)
	}
	d.last = n
	return p, n
}

// AddAccount registers a user. phone is the number in international form, digits only.
func (s *Server) AddAccount(name, phone string) *Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &Account{
		Name: name, s: s, identity: keys.NewKeyPair(),
		PN:  types.NewJID(phone, types.DefaultUserServer),
		LID: types.NewJID(strconv.Itoa(100000000000001+1111*len(s.accounts)), types.HiddenUserServer),
	}
	s.accounts = append(s.accounts, a)
	return a
}

type group struct {
	jid     types.JID
	subject string
	lid     bool // addressed by LID
	members []*Account
}

// AddGroup makes a group; lid says whether its members address each other by LID.
func (s *Server) AddGroup(subject string, lid bool, members ...*Account) types.JID {
	s.mu.Lock()
	defer s.mu.Unlock()
	jid := types.NewJID(strconv.Itoa(120363000000000001+len(s.groups)), types.GroupServer)
	s.groups[jid] = &group{jid: jid, subject: subject, lid: lid, members: members}
	return jid
}

func (a *Account) pnDevice(n uint16) types.JID { jid := a.PN; jid.Device = n; return jid }

func (a *Account) lidDevice(n uint16) types.JID { jid := a.LID; jid.Device = n; return jid }

func (a *Account) owns(jid types.JID) bool {
	return jid.ToNonAD() == a.PN || jid.ToNonAD() == a.LID
}

// account and lookup find a user, and one device, by either kind of JID. s.mu must be held.
func (s *Server) account(jid types.JID) *Account {
	i := slices.IndexFunc(s.accounts, func(a *Account) bool { return a.owns(jid) })
	if i < 0 {
		return nil
	}
	return s.accounts[i]
}

func (s *Server) lookup(jid types.JID) (*Account, *device) {
	account := s.account(jid)
	if account == nil {
		return nil, nil
	}
	for _, dev := range account.devices {
		if dev.jid.Device == jid.Device {
			return account, dev
		}
	}
	return account, nil
}

// addDevice adds a device with the lowest free number from first up. s.mu must be held.
func (a *Account) addDevice(first uint16) *device {
	n := first
	for slices.ContainsFunc(a.devices, func(d *device) bool { return d.jid.Device == n }) {
		n++
	}
	dev := &device{account: a, jid: a.pnDevice(n)}
	a.devices = append(a.devices, dev)
	return dev
}

// unlink removes a linked device. s.mu must be held.
func (s *Server) unlink(dev *device) {
	dev.account.devices = slices.DeleteFunc(dev.account.devices, func(d *device) bool { return d == dev })
}

// Rename changes what a user is called from now on.
func (a *Account) Rename(name string) {
	a.s.mu.Lock()
	a.Name = name
	a.s.mu.Unlock()
}
