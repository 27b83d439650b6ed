package main

import (
	"context"
	"net/url"
	"strconv"
)

// What the command line can ask of a vault is written once, as a view or a change beside its rows. The command line does
// it on a vault it has opened itself, or asks the daemon to, which does the same behind its socket.

// query says what a view shows. Absent fields mean all, or the default.
type query struct {
	ID     int64
	Person string // by name
	Text   string
	All    bool // also what has ended
	Limit  int
}

// view is something to look at: GET /api/PATH.
type view[A any] struct {
	path string
	do   func(s *service, ctx context.Context, q query) (A, error)
}

// change is something to do: POST /api/PATH.
type change[Q any] struct {
	path string
	do   func(s *service, ctx context.Context, q Q) (told, error)
}

// told is what a person is told about a change.
type told struct {
	Text string `json:"text"`
	ID   number `json:"id"` // of the row it made, if any

	Code  string `json:"code,omitempty"`  // for pairing
	Until string `json:"until,omitempty"` // how long the code lives, in words
}

// backend is who answers: a service here, or the daemon.
type backend struct {
	local  *service
	remote *client
}

func look[A any](ctx context.Context, b backend, v view[A], q query) (answer A, err error) {
	if b.local != nil {
		return v.do(b.local, ctx, q)
	}
	err = b.remote.get(ctx, v.path, q.values(), &answer)
	return answer, err
}

func alter[Q any](ctx context.Context, b backend, c change[Q], q Q) (answer told, err error) {
	if b.local != nil {
		return c.do(b.local, ctx, q)
	}
	err = b.remote.post(ctx, c.path, q, &answer)
	return answer, err
}

// values writes a query as that of a URL.
func (q query) values() url.Values {
	v := url.Values{}
	if q.ID != 0 {
		v.Set("id", strconv.FormatInt(q.ID, 10))
	}
	if q.Person != "" {
		v.Set("person", q.Person)
	}
	if q.Text != "" {
		v.Set("text", q.Text)
	}
	if q.All {
		v.Set("all", "true")
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

// readQuery is the reverse of values.
func readQuery(v url.Values) (q query, err error) {
	q.Person, q.Text, q.All = v.Get("person"), v.Get("text"), v.Get("all") == "true"
	if s := v.Get("id"); s != "" {
		if q.ID, err = strconv.ParseInt(s, 10, 64); err != nil || q.ID < 1 {
			return q, usage("id is a number from 1 on, not %q.", s)
		}
	}
	if s := v.Get("limit"); s != "" {
		if q.Limit, err = strconv.Atoi(s); err != nil || q.Limit < 1 {
			return q, usage("limit is a number from 1 on, not %q.", s)
		}
	}
	return q, nil
}

// limit gives the number of rows to show, or a default.
func (q query) limit(def int) int {
	if q.Limit == 0 {
		return def
	}
	return q.Limit
}

// everything is the limit of listings that show all.
const everything = 1_000_000
