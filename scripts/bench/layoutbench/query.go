package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/show"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/run/progress"
	"usertrail/internal/table"
)

// A benchQuery is about one user, as in extract show, or about many users, as in extract.
type benchQuery struct {
	Name string `json:"name"`

	User   string   `json:"user"`
	At     *int64   `json:"at"` // microseconds since 1970-01-01 UTC
	Latest int      `json:"latest"`
	From   string   `json:"from"` // empty is all days, if the query has one user
	To     string   `json:"to"`
	Types  []string `json:"types"` // empty is all, if the query has one user

	Users  string `json:"users"` // a file, or all
	Active string `json:"active"`
	Hours  string `json:"hours"`

	span behaviour.Span
}

// readQueries returns the names in order, and the queries of each name.
func readQueries(file string) (names []string, byName map[string][]benchQuery, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	byName = map[string][]benchQuery{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var q benchQuery
		err := json.Unmarshal(lines.Bytes(), &q)
		if err == nil {
			err = q.check()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: line %d: %w", file, n, err)
		}
		if !slices.Contains(names, q.Name) {
			names = append(names, q.Name)
		}
		byName[q.Name] = append(byName[q.Name], q)
	}
	return names, byName, lines.Err()
}

func (q *benchQuery) check() (err error) {
	if q.Name == "" || (q.User == "") == (q.Users == "") {
		return errors.New("a query has a name, and one of user and users")
	}
	if q.From == "" && q.To == "" && q.User != "" {
		return nil
	}
	if q.span.From, err = behaviour.ParseDate(q.From); err != nil {
		return err
	}
	q.span.To, err = behaviour.ParseDate(q.To)
	return err
}

// many reports whether the query is an extract.
func (q *benchQuery) many() bool { return q.Users != "" }

// ask runs q on t. It writes the result to w as JSON. If w is nil, it does what the command does.
func (b *bench) ask(ctx context.Context, t table.Loader, q *benchQuery, n int, w io.Writer) error {
	if q.many() {
		return b.extract(ctx, t, q, n, w)
	}
	c := show.Config{Table: t, User: q.User, Types: q.Types, Latest: q.Latest, At: q.At, Uncounted: true}
	if q.From != "" {
		c.From, c.To = &q.span.From, &q.span.To
	}
	if w == nil {
		w = io.Discard
	}
	_, _, err := show.Page(ctx, c, show.NewJSON(w))
	return err
}

// extract writes Parquet if w is nil.
func (b *bench) extract(ctx context.Context, t table.Loader, q *benchQuery, n int, w io.Writer) error {
	c := extract.Config{
		Spec:   query.Spec{Users: userlist.All(), Span: q.span, Types: q.Types, Active: q.Active, Conditions: query.Conditions{Hours: q.Hours}},
		Target: place.Target{FS: b.fs, Out: filepath.Join(b.temp, strconv.Itoa(n))},
		Table:  t, Workers: runtime.GOMAXPROCS(0), Progress: progress.Config{Quiet: true},
	}
	if w != nil {
		c.Output = query.Output{Format: query.JSONL, Stream: w}
	}
	if q.Users != "all" {
		var err error
		if c.Users, err = userlist.Open(ctx, b.fs, q.Users, t.Info().Layout, listMemory); err != nil {
			return err
		}
	}
	_, err := extract.Run(ctx, c)
	return errors.Join(err, os.RemoveAll(c.Out))
}

const listMemory = 256 << 20
