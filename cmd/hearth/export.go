package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"hearth/vault"
)

// An export is a stream of JSON objects, one a line; docs/export.md tells their types. It begins with a line of type export
// and ends with one of type end: a stream without that has broken off.

// exportVersion is raised when a field changes its meaning; fields are only ever added.
const exportVersion = 1

// exportHead is the first line.
type exportHead struct {
	Type    string `json:"type"`
	Version int    `json:"version"`
	Person  text   `json:"person"`
	Run     number `json:"run"`
	At      stamp  `json:"at"`
	Zone    string `json:"zone"`
	Program string `json:"program"`
}

// exportEnd is the last line.
type exportEnd struct {
	Type  string `json:"type"`
	Lines int    `json:"lines"` // between the first and this one
}

// exportOrder is a query, looked up: whose or of which run, and in which zone its instants are written.
type exportOrder struct {
	head   exportHead
	zone   *time.Location
	person int64
	run    int64
}

// exporting looks up what is asked for, so that a mistake is told before anything is written.
func (s *service) exporting(ctx context.Context, q query) (o exportOrder, err error) {
	var p vault.Person
	switch {
	case (q.Person == "") == (q.ID == 0):
		return o, usage("This is `hearth export --person NAME` or `hearth export --run N`.")
	case q.Person != "":
		if p, err = s.vault.PersonEver(ctx, q.Person); errors.Is(err, vault.ErrNotFound) {
			return o, s.nobody(ctx, q.Person)
		}
		o.person, o.head.Person = p.ID, text(p.Name)
	default:
		progress, failure := s.vault.Progress(ctx, q.ID)
		p, err = progress.Person, missing(failure, "There is no run %d; `hearth runs` shows them.", q.ID)
		o.run, o.head.Run = q.ID, number(q.ID)
	}
	if err != nil {
		return o, err
	}
	o.zone = s.zoneOf(p)
	o.head.Type, o.head.Version, o.head.Zone, o.head.Program = "export", exportVersion, o.zone.String(), "hearth "+programVersion()
	o.head.At = at(o.zone, s.now().Truncate(time.Second))
	return o, nil
}

// export writes the stream.
func (s *service) export(ctx context.Context, o exportOrder, w io.Writer) error {
	lines, out := 0, bufio.NewWriterSize(w, 32<<10)
	write := func(v any) error {
		b, err := marshal(v)
		if err != nil {
			return err
		}
		_, err = out.Write(append(b, '\n'))
		return err
	}
	take := func(l vault.Record) error {
		lines++
		return write(exportLine{Record: l, zone: o.zone, mask: s.mask})
	}
	if err := write(o.head); err != nil {
		return err
	}
	var err error
	if o.run != 0 {
		err = s.vault.ExportRun(ctx, o.run, take)
	} else {
		err = s.vault.ExportPerson(ctx, o.person, take)
	}
	if err != nil {
		return err
	}
	return errors.Join(write(exportEnd{"end", lines}), out.Flush())
}

// exportLine writes a row of the vault as an object whose first field is its type.
type exportLine struct {
	vault.Record
	zone *time.Location
	mask func(string) string
}

// MarshalJSON keeps the order of the columns.
func (l exportLine) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	kind, err := marshal(l.Kind)
	if err != nil {
		return nil, err
	}
	b.WriteString(`{"type":`)
	b.Write(kind)
	for _, f := range l.Fields {
		value, err := marshal(l.value(f.Value))
		if err != nil {
			return nil, fmt.Errorf("write %s of a %s: %w", f.Name, l.Kind, err)
		}
		fmt.Fprintf(&b, ",%q:", f.Name)
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// value masks secrets, and puts an instant into the zone.
func (l exportLine) value(v any) any {
	switch v := v.(type) {
	case string:
		return l.mask(v)
	case vault.Document:
		return document(l.mask(string(v)))
	case time.Time:
		return at(l.zone, v)
	case []byte:
		if utf8.Valid(v) {
			return l.mask(string(v))
		}
		return map[string]string{"base64": base64.StdEncoding.EncodeToString(v)}
	}
	return v
}

// export streams to the command line.
func (a *api) export(w http.ResponseWriter, r *http.Request) {
	q, err := readQuery(r.URL.Query())
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	o, err := a.service.exporting(r.Context(), q)
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	if err := a.service.export(r.Context(), o, w); err != nil {
		if r.Context().Err() == nil {
			a.log.Error("an export broke off", "error", err)
		}
		panic(http.ErrAbortHandler) // the client must not take what it has for all
	}
}

// cmdExport prints the stream.
func cmdExport(ctx context.Context, in *invocation) (err error) {
	q := query{Person: in.flags["person"]}
	if in.has("run") {
		n, err := in.count("run", 0)
		if err != nil {
			return err
		}
		q.ID = int64(n)
	}
	s, err := in.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.local != nil {
		o, err := s.local.exporting(ctx, q)
		if err != nil {
			return err
		}
		return s.local.export(ctx, o, in.out)
	}
	answer, err := s.remote.do(ctx, http.MethodGet, "/api/export?"+q.values().Encode(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return readAnswer(answer, nil)
	}
	if _, err := io.Copy(in.out, answer.Body); err != nil {
		return &failure{code: exitFailed, sentence: "The export broke off: its last line is not of type end. Look at the daemon's log and try again.", cause: err}
	}
	return nil
}
