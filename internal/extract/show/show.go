// Package show prints one user's trail, which it reads from a table a page at a time:
//
//	ask       check the query; the token names the end of the previous page
//	read      from there on a few days at a time, as many as the page needs
//	write     as a table for a terminal, as JSON or as CSV
//
// Events are in the order of a trail. Events before the token are not read, except the events
// of the token's day if the events of a day are counted. Hardly any events after the page are
// read. The cost of a page therefore depends on the page and not on the length of the trail.
//
// The last events of a trail are read from its end, a few days at a time. If the layout
// stores the latest events first, only as many as needed are read. If recent days have no
// events, the rolls show on which days the user has some.
//
// # Tokens
//
// A token names the last event that was shown, so it remains valid after later loads. Events
// that they add before it are not shown; events that they add after it are. A token is bound
// to its query. It is the base64url (RFC 4648) of
//
//	1 byte   version, 1
//	8 bytes  time, microseconds since 1970-01-01 UTC, big endian
//	2 bytes  behaviour ID, big endian
//	8 bytes  column ID, big endian
//	4 bytes  of the SHA-256 of user, dates, types and all bytes before
package show

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/query"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/outcome"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// ErrQuery is wrapped by errors that a retry of the same command cannot correct: an
// unknown behaviour, a token of another query.
var ErrQuery = exit.New(exit.Usage, "wrong query")

// MinMemory is the least value of Config.Memory, in bytes, that a process can keep to.
const MinMemory = 64 << 20

// Config selects one page of a trail.
type Config struct {
	Table table.Loader
	User  string
	// From and To are the first and last date; nil is the table's.
	From, To *behaviour.Date
	Types    []string // behaviours; none, and query.EveryType, are all
	Fields   []string // NAME or BEHAVIOUR.NAME; empty is all
	Page     int      // number of events; 0 is all
	After    string   // the token of the previous page; empty for the first

	// Latest requests the last Latest events in place of a page; 0 requests a page.
	Latest int
	// At requests the last event of each type at or before a time, in place of a page. It is in
	// microseconds since 1970-01-01 UTC; nil requests a page.
	At *int64
	// Around requests a page of events before and after a time, half of them before it. If one side
	// has fewer, the other has more. It is in microseconds since 1970-01-01 UTC; nil requests a page.
	Around *int64

	// Uncounted is set if the number of events of a day is not needed. A page that continues
	// within a day then does not read the events of the day that were shown before.
	Uncounted bool

	Memory int64 // bytes of memory of the process; 1 GiB
}

// A Result describes a written page.
type Result struct {
	User   string `json:"user"`
	Events int64  `json:"events"` // number of events shown
	Next   string `json:"next"`   // token of the next page, empty if this is the last

	Foreign int64    `json:"foreign,omitempty"` // number of cells that were read and skipped
	Notes   []string `json:"notes,omitempty"`
}

// Counted implements outcome.Result.
func (r Result) Counted() outcome.Counts {
	return outcome.Counts{outcome.Events: float64(r.Events)}
}

// A Behaviour is one event of the trail.
type Behaviour struct {
	trail.Event
	Values [][]byte // one for each field of its kind; nil is null or not requested
	Nth    int      // its number among the events of its day, from 1 on; 0 is unknown
	OfDay  int      // number of events of its day; 0 is unknown
}

// A Writer receives a page. Arguments are valid until the method returns.
type Writer interface {
	// Begin receives the query.
	Begin(a *Asked) error
	// Add receives the next event.
	Add(b *Behaviour) error
	// End ends the page.
	End() error
}

// Asked is a query that has been checked against its table.
type Asked struct {
	User   string
	Span   behaviour.Span
	Schema *behaviour.Schema
	Zone   *time.Location
	Kinds  []int       // in order of behaviour ID
	Fields []FieldName // the columns of the output, for all kinds
	Latest int
	At     *int64
	Around *int64

	layout    layout.Layout
	want      layout.Want
	key       []byte
	binding   string
	after     *trail.Event // the last event shown; nil for the first page
	uncounted bool
	budget    budget
	foreign   layout.Foreign // cells that were skipped
}

// A FieldName is a column of the output.
type FieldName struct {
	behaviour.Field
	slots []int // index among the fields of each kind of the schema, -1 if the kind does not have it
}

// Of returns f's value in b, or nil.
func (f *FieldName) Of(b *Behaviour) []byte {
	if i := f.slots[b.Kind]; i >= 0 {
		return b.Values[i]
	}
	return nil
}

// Page writes one page of a trail, or its last events.
func Page(ctx context.Context, c Config, w Writer) (*Asked, Result, error) {
	a, err := ask(ctx, &c)
	if err != nil {
		return nil, Result{User: c.User}, err
	}
	p := &page{writer: w, left: c.Page, asked: a, result: Result{User: c.User}}
	if c.Page == 0 {
		p.left = -1
	}
	if err := w.Begin(a); err != nil {
		return a, p.result, err
	}
	each := newReader(c.Table, a, c.Page).each
	if a.Latest > 0 || a.At != nil {
		each = newBackward(c.Table, a).each
	}
	if a.Around != nil {
		each = func(ctx context.Context, emit func(*Behaviour) error) error {
			return around(ctx, c.Table, a, c.Page, emit)
		}
	}
	err = each(ctx, p.add)
	p.result.Foreign, p.result.Notes = a.foreign.Cells, a.foreign.Notes()
	if err != nil && err != errFull {
		return a, p.result, fmt.Errorf("show user %q: %w", c.User, err)
	}
	return a, p.result, w.End()
}

// errFull ends the reading of a page.
var errFull = errors.New("the page is full")

// A page counts the written events.
type page struct {
	asked  *Asked
	writer Writer
	left   int // negative is no limit
	last   trail.Event
	result Result
}

// add writes b, unless the page is full. In that case there is a next page.
func (p *page) add(b *Behaviour) error {
	if p.left == 0 {
		p.result.Next = p.asked.token(&p.last)
		return errFull
	}
	p.left--
	p.last = b.Event
	p.result.Events++
	return p.writer.Add(b)
}

// ask checks a query.
func ask(ctx context.Context, c *Config) (*Asked, error) {
	info := c.Table.Info()
	a := &Asked{
		User: c.User, Schema: info.Schema, Latest: c.Latest, At: c.At, Around: c.Around,
		layout: info.Layout, binding: c.binding(), uncounted: c.Uncounted, budget: budgetOf(c.Memory),
	}
	var err error
	if a.Zone, err = time.LoadLocation(info.Schema.Zone); err != nil {
		return nil, fmt.Errorf("zone of the table: %w", err)
	}
	switch {
	case c.User == "":
		return nil, fmt.Errorf("%w: --user is missing: write --user ID", ErrQuery)
	case len(c.User) > behaviour.MaxUserLen:
		return nil, fmt.Errorf("%w: --user is longer than %d bytes", ErrQuery, behaviour.MaxUserLen)
	case !utf8.ValidString(c.User):
		return nil, fmt.Errorf("%w: --user is not UTF-8", ErrQuery)
	case c.Page < 0:
		return nil, fmt.Errorf("%w: --page %d: write how many events, or 0 for all", ErrQuery, c.Page)
	}
	if err := c.ends(); err != nil {
		return nil, err
	}
	a.key = info.Layout.AppendUserKey(nil, []byte(c.User))
	if a.Kinds, err = query.KindsOf(info.Schema, c.Types); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	if err := a.chooseFields(c.Fields); err != nil {
		return nil, err
	}
	a.want.Kinds = a.Kinds
	if c.After != "" {
		if a.after, err = parseToken(c, info.Schema); err != nil {
			return nil, err
		}
	}
	if a.Span, err = span(ctx, c); err != nil {
		return nil, err
	}
	if c.Around != nil && !a.Span.Has(behaviour.DateAt(*c.Around, a.Zone)) {
		return nil, fmt.Errorf("%w: --around %s is not of the days %s: choose a time of these days, or other --from and --to", ErrQuery, a.clock(*c.Around), a.Span)
	}
	if c.At != nil && c.From != nil && *c.At < c.From.Start(a.Zone).UnixMicro() {
		return nil, fmt.Errorf("%w: --at %s comes before --from %s: nothing that is looked at can be that old", ErrQuery, a.at(), *c.From)
	}
	return a, nil
}

// ends checks the options for the end of a trail.
func (c *Config) ends() error {
	paged := ""
	switch {
	case c.After != "":
		paged = "--after"
	case c.Page > 0:
		paged = "--page"
	}
	switch {
	case c.Latest < 0:
		return fmt.Errorf("%w: --latest %d: write how many events, at least 1", ErrQuery, c.Latest)
	case c.Latest > 0 && c.At != nil:
		return fmt.Errorf("%w: --latest and --at are two queries: choose one; the last events up to a day are --latest and --to", ErrQuery)
	case c.Around != nil && (c.Latest > 0 || c.At != nil || c.After != ""):
		return fmt.Errorf("%w: --around goes with none of --latest, --at and --after: it shows the events before and after a time", ErrQuery)
	case c.Around != nil && c.Page == 0:
		return fmt.Errorf("%w: --around with --page 0: write how many events, or leave --around out", ErrQuery)
	case paged != "" && c.Latest > 0:
		return fmt.Errorf("%w: %s goes with no --latest, which is no page: write how many events behind --latest", ErrQuery, paged)
	case paged != "" && c.At != nil:
		return fmt.Errorf("%w: %s goes with no --at, which is no page: it shows the last event of each behaviour", ErrQuery, paged)
	}
	return nil
}

// at returns the requested time in the table's zone.
func (a *Asked) at() string { return a.clock(*a.At) }

// clock returns a time in the table's zone.
func (a *Asked) clock(micros int64) string { return local(micros, a.Zone, dateTime) }

// chooseFields sets the fields of the output.
func (a *Asked) chooseFields(names []string) error {
	chosen, unknown, ok := a.Schema.Choose(a.Kinds, names)
	if !ok {
		return fmt.Errorf("%w: --fields: there is no field %q; there is %s", ErrQuery, unknown, strings.Join(a.Schema.FieldNames(a.Kinds), ", "))
	}
	a.want.Fields = chosen
	for _, f := range a.Schema.Columns(a.Kinds) {
		name := FieldName{Field: f, slots: make([]int, len(a.Schema.Kinds))}
		asked := false
		for k := range name.slots {
			i := slices.Index(a.Schema.Kinds[k].Fields, f)
			if i >= 0 && slices.Contains(a.Kinds, k) && a.want.Has(k, i) {
				name.slots[k], asked = i, true
			} else {
				name.slots[k] = -1
			}
		}
		if asked {
			a.Fields = append(a.Fields, name)
		}
	}
	return nil
}
