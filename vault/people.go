package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Role is what a person may do: owners decide and see everything, members have their own things.
type Role string

// The roles.
const (
	Owner  Role = "owner"
	Member Role = "member"
)

// Person is a known human.
type Person struct {
	ID         int64
	Name       string
	Role       Role
	Zone       string // IANA name; "" = the household's
	Source     string // config, paired or terminal
	Identities []Identity
}

// Identity is how a person is known on a messenger.
type Identity struct{ Gateway, Ext string }

// IsOwner reports whether the person may decide approvals and settings.
func (p Person) IsOwner() bool { return p.Role == Owner }

const personColumns = `id, name, role, zone, source`

func scanPerson(s scanner) (p Person, err error) {
	err = s.Scan(&p.ID, &p.Name, &p.Role, &p.Zone, &p.Source)
	return p, err
}

// PersonBy gives the person behind a messenger id. ErrNotFound: a stranger.
func (v *Vault) PersonBy(ctx context.Context, gateway, ext string) (Person, error) {
	return one(ctx, v.rdb, scanPerson, `SELECT p.id, p.name, p.role, p.zone, p.source FROM person p JOIN identity i ON i.person_id = p.id
		WHERE i.gateway = ? AND i.ext = ? AND p.gone IS NULL`, gateway, ext)
}

// PersonNamed gives a person by name, whatever the case. ErrNotFound if nobody is called so.
func (v *Vault) PersonNamed(ctx context.Context, name string) (Person, error) {
	return one(ctx, v.rdb, scanPerson, `SELECT `+personColumns+` FROM person WHERE name = ? AND gone IS NULL`, strings.TrimSpace(name))
}

// Person gives a person by number, also one that was removed.
func (v *Vault) Person(ctx context.Context, number int64) (Person, error) {
	return one(ctx, v.rdb, scanPerson, `SELECT `+personColumns+` FROM person WHERE id = ?`, number)
}

// FirstOwner is who is told what concerns the household. ErrNotFound before anybody was paired.
func (v *Vault) FirstOwner(ctx context.Context) (Person, error) { return firstOwner(ctx, v.rdb) }

func firstOwner(ctx context.Context, q querier) (Person, error) {
	return one(ctx, q, scanPerson, `SELECT `+personColumns+` FROM person WHERE role = 'owner' AND gone IS NULL ORDER BY id LIMIT 1`)
}

// People lists everybody known, with their identities.
func (v *Vault) People(ctx context.Context) ([]Person, error) {
	people, err := collect(ctx, v.rdb, scanPerson, `SELECT `+personColumns+` FROM person WHERE gone IS NULL ORDER BY id`)
	if err != nil {
		return nil, err
	}
	for i := range people {
		people[i].Identities, err = collect(ctx, v.rdb, func(s scanner) (id Identity, err error) {
			err = s.Scan(&id.Gateway, &id.Ext)
			return id, err
		}, `SELECT gateway, ext FROM identity WHERE person_id = ? ORDER BY gateway, ext`, people[i].ID)
		if err != nil {
			return nil, err
		}
	}
	return people, nil
}

// SyncPeople makes the people of the YAML file known: new ones are added, changed ones changed, and those that came from
// the file and are no longer in it are removed with their identities, their jobs paused. Paired people stay. One who comes
// back, say after a name was mistyped, has everything as it was.
func (v *Vault) SyncPeople(ctx context.Context, people []Person) error {
	return v.write(ctx, "sync-people", durable, func(t *Tx) error {
		if _, err := t.exec(`DELETE FROM identity WHERE source = 'config'`); err != nil {
			return err
		}
		var keep []any
		for _, p := range people {
			number, err := t.upsertPerson(p, "config")
			if err != nil {
				return err
			}
			keep = append(keep, number)
			if err := t.welcomeBack(number); err != nil {
				return err
			}
			for _, ident := range p.Identities {
				if _, err := t.exec(`INSERT INTO identity(gateway, ext, person_id, source) VALUES(?,?,?,'config')
					ON CONFLICT(gateway, ext) DO UPDATE SET person_id = excluded.person_id, source = 'config'`, ident.Gateway, ident.Ext, number); err != nil {
					return err
				}
			}
		}
		marks := strings.TrimSuffix(strings.Repeat("?,", len(keep)), ",")
		if _, err := t.exec(`UPDATE person SET gone = ? WHERE source = 'config' AND gone IS NULL AND id NOT IN (`+marks+`)`, append([]any{t.now.UnixMilli()}, keep...)...); err != nil {
			return err
		}
		return t.pauseJobsOfTheGone()
	})
}

// personGone is the result of a job that waits for its person to come back.
const personGone = "its person was removed"

func (t *Tx) pauseJobsOfTheGone() error {
	_, err := t.exec(`UPDATE job SET state = 'paused', last_result = ?, changed = ? WHERE state = 'waiting' AND person_id IN (SELECT id FROM person WHERE gone IS NOT NULL)`, personGone, t.now.UnixMilli())
	return err
}

func (t *Tx) welcomeBack(person int64) error {
	_, err := t.exec(`UPDATE job SET state = 'waiting', changed = ? WHERE person_id = ? AND state = 'paused' AND last_result = ?`, t.now.UnixMilli(), person, personGone)
	return err
}

func (t *Tx) upsertPerson(p Person, source string) (int64, error) {
	return one(t.ctx, t.tx, scanInt, `INSERT INTO person(name, role, zone, file_zone, source, created) VALUES(?1,?2,?3,?3,?4,?5)
		ON CONFLICT(name) DO UPDATE SET role = excluded.role, zone = CASE WHEN excluded.zone IN ('', file_zone) THEN zone ELSE excluded.zone END,
			file_zone = CASE excluded.zone WHEN '' THEN file_zone ELSE excluded.zone END,
			source = excluded.source, gone = NULL RETURNING id`, strings.TrimSpace(p.Name), p.Role, p.Zone, source, t.now.UnixMilli())
}

// TerminalOwner gives the person who sits at this machine's terminal: the first owner, or a new one called "Me" when
// nobody is known yet.
func (v *Vault) TerminalOwner(ctx context.Context) (Person, error) {
	p, err := v.FirstOwner(ctx)
	if !errors.Is(err, ErrNotFound) {
		return p, err
	}
	err = v.write(ctx, "terminal-owner", durable, func(t *Tx) error {
		if p, err = firstOwner(t.ctx, t.tx); !errors.Is(err, ErrNotFound) {
			return err
		}
		p = Person{Name: "Me", Role: Owner, Source: "terminal"}
		p.ID, err = t.upsertPerson(p, "terminal")
		return err
	})
	return p, err
}

// RemovePerson forgets how a person is reached: messages from them are a stranger's from now on. Their jobs are paused.
// ErrNotFound if nobody is called so. One who stands in the YAML file comes back with the next start.
func (v *Vault) RemovePerson(ctx context.Context, name string) error {
	return v.write(ctx, "remove-person", durable, func(t *Tx) error {
		number, err := one(t.ctx, t.tx, scanInt, `UPDATE person SET gone = ? WHERE name = ? AND gone IS NULL RETURNING id`, t.now.UnixMilli(), strings.TrimSpace(name))
		if err != nil {
			return err
		}
		if err := t.pauseJobsOfTheGone(); err != nil {
			return err
		}
		_, err = t.exec(`DELETE FROM identity WHERE person_id = ?`, number)
		return err
	})
}

// Pairing codes live ten minutes and five wrong tries.
const (
	pairLife  = 10 * time.Minute
	pairTries = 5
)

// pairLetters leaves out what is misread: 0 O 1 I L.
const pairLetters = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

// NewPairCode makes a one-time code for a person (by name, "" = whoever uses it), replacing earlier open ones for the
// same name. The first person ever is an owner, whatever the role asked for.
func (v *Vault) NewPairCode(ctx context.Context, name string, role Role) (code string, expires time.Time, err error) {
	name = strings.TrimSpace(name)
	letters := make([]byte, 8)
	for i := range letters {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(pairLetters))))
		if err != nil {
			return "", time.Time{}, fmt.Errorf("draw pairing code: %w", err)
		}
		letters[i] = pairLetters[n.Int64()]
	}
	err = v.write(ctx, "pair-code", durable, func(t *Tx) error {
		if _, err := firstOwner(t.ctx, t.tx); errors.Is(err, ErrNotFound) {
			role = Owner
		} else if err != nil {
			return err
		}
		expires = t.now.Add(pairLife)
		if _, err := t.exec(`DELETE FROM pair_code WHERE person = ? OR expires <= ?`, name, t.now.UnixMilli()); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO pair_code(code, person, role, expires) VALUES(?,?,?,?)`, string(letters), name, role, expires.UnixMilli())
		return err
	})
	return string(letters), expires, err
}

// ErrBadCode says that a pairing code is wrong, used, or out of date. It never says which.
var ErrBadCode = errors.New("this pairing code does not work")

// Pair links the sender of a code to the person it was made for and gives that person. A wrong code counts against all
// open codes: after five none of them works any more, and new ones must be made.
// Errors: ErrBadCode (counted and committed all the same).
func (v *Vault) Pair(ctx context.Context, in Inbound, code string) (p Person, err error) {
	var bad bool
	err = v.write(ctx, "pair", durable, func(t *Tx) error {
		p, err = t.pair(in, strings.ToUpper(strings.TrimSpace(code)))
		bad = errors.Is(err, ErrBadCode)
		if bad {
			return nil
		}
		return err
	})
	if err == nil && bad {
		err = ErrBadCode
	}
	return p, err
}

func (t *Tx) pair(in Inbound, code string) (Person, error) {
	type row struct {
		person string
		role   Role
	}
	found, err := one(t.ctx, t.tx, func(s scanner) (r row, err error) { err = s.Scan(&r.person, &r.role); return r, err },
		`SELECT person, role FROM pair_code WHERE code = ? AND used IS NULL AND expires > ? AND tries < ?`, code, t.now.UnixMilli(), pairTries)
	if errors.Is(err, ErrNotFound) {
		if _, err := t.exec(`UPDATE pair_code SET tries = tries + 1 WHERE used IS NULL`); err != nil {
			return Person{}, err
		}
		return Person{}, ErrBadCode
	}
	if err != nil {
		return Person{}, err
	}
	var p Person
	if found.person == "" {
		p, err = t.newcomer(in, found.role)
	} else {
		p, err = t.named(found.person, found.role)
	}
	if err != nil {
		return Person{}, err
	}
	if _, err := t.exec(`INSERT INTO identity(gateway, ext, person_id, source) VALUES(?,?,?,'paired')
		ON CONFLICT(gateway, ext) DO UPDATE SET person_id = excluded.person_id`, in.Gateway, in.Sender, p.ID); err != nil {
		return Person{}, err
	}
	if _, err := t.exec(`DELETE FROM stranger WHERE gateway = ? AND ext = ?`, in.Gateway, in.Sender); err != nil {
		return Person{}, err
	}
	_, err = t.exec(`UPDATE pair_code SET used = ? WHERE code = ?`, t.now.UnixMilli(), code)
	return p, err
}

// named gives the person a code was made for: somebody known, on a second messenger, or somebody new.
func (t *Tx) named(name string, role Role) (Person, error) {
	p, err := one(t.ctx, t.tx, scanPerson, `SELECT `+personColumns+` FROM person WHERE name = ? AND gone IS NULL`, name)
	if !errors.Is(err, ErrNotFound) {
		return p, err
	}
	p = Person{Name: name, Role: role, Source: "paired"}
	if p.ID, err = t.upsertPerson(p, p.Source); err != nil {
		return p, err
	}
	return p, t.welcomeBack(p.ID)
}

// newcomer gives the sender of a code that names nobody: who they are already, else somebody new. One who is called like
// somebody known, or like somebody who was removed, does not become that person.
func (t *Tx) newcomer(in Inbound, role Role) (Person, error) {
	p, err := one(t.ctx, t.tx, scanPerson, `SELECT p.id, p.name, p.role, p.zone, p.source FROM person p JOIN identity i ON i.person_id = p.id
		WHERE i.gateway = ? AND i.ext = ? AND p.gone IS NULL`, in.Gateway, in.Sender)
	if !errors.Is(err, ErrNotFound) {
		return p, err
	}
	name := clip(strings.Join(strings.Fields(in.SenderName), " "), 60)
	if name == "" {
		name = in.Gateway + " " + in.Sender
	}
	p = Person{Name: name, Role: role, Source: "paired"}
	for n := 1; ; n++ {
		p.ID, err = one(t.ctx, t.tx, scanInt, `INSERT INTO person(name, role, source, created) VALUES(?,?,?,?) ON CONFLICT DO NOTHING RETURNING id`, p.Name, p.Role, p.Source, t.now.UnixMilli())
		if !errors.Is(err, ErrNotFound) {
			return p, err
		}
		p.Name = fmt.Sprintf("%s (%s %s)", name, in.Gateway, in.Sender)
		if n > 1 {
			p.Name += fmt.Sprintf(" %d", n)
		}
	}
}

// strangerEvery is how often a stranger gets the neutral line.
const strangerEvery = 24 * time.Hour

// Stranger notes that an unknown sender wrote and, at most once a day, queues one neutral line. Nothing of what was
// written is kept.
func (v *Vault) Stranger(ctx context.Context, in Inbound, line string) error {
	told, err := one(ctx, v.rdb, scanInt, `SELECT told FROM stranger WHERE gateway = ? AND ext = ?`, in.Gateway, in.Sender)
	if err == nil && v.now().UnixMilli()-told < strangerEvery.Milliseconds() {
		return nil // the common case costs no commit, however much a stranger writes
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return v.write(ctx, "stranger", durable, func(t *Tx) error {
		if _, err := t.exec(`INSERT INTO stranger(gateway, ext, told) VALUES(?,?,?) ON CONFLICT DO UPDATE SET told = excluded.told`, in.Gateway, in.Sender, t.now.UnixMilli()); err != nil {
			return err
		}
		if line == "" || in.ChatKind != Private {
			return nil
		}
		_, err := t.Post(Part{To: in.Address(), Class: Notice, Text: line})
		return err
	})
}

// SetZone records the time zone a person lives in now.
func (t *Tx) SetZone(person int64, zone string) error {
	if _, err := t.exec(`UPDATE person SET zone = ? WHERE id = ?`, zone, person); err != nil {
		return err
	}
	return t.rehold()
}
