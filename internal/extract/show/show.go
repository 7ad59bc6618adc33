// Package show is one user's trail, read from a table a page at a time:
//
//	ask       the question is checked, the token says where the last page ended
//	read      from there on a few days at a time, as many as the page needs
//	write     as a table for a screen, as JSON or as CSV
//
// Behaviours come in the order of a trail. What lies before the token is not read,
// but for the day it lies in where that day's behaviours are counted, and what lies
// after the page hardly: a page costs its page, not the trail.
//
// The last behaviours of a trail are read from its end on, a few days at a time. A
// layout that has the latest first is asked for no more of them than are wanted. Where
// recent days have nothing, rolls tell on which the user did something.
//
// # Tokens
//
// A token names the behaviour that was shown last, so it stays true when later
// loads bring more: what they add before it was not shown, what they add after it
// will be. It is bound to its question, and base64url (RFC 4648) of
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
	"usertrail/internal/format/layout"
	"usertrail/internal/table"
	"usertrail/internal/trail"
)

// ErrQuestion is wrapped by errors that another try of the same command cannot
// mend: an unknown behaviour, a token of another question.
var ErrQuestion = errors.New("wrong question")

// MinMemory is the least Config.Memory, in bytes, that a process keeps to.
const MinMemory = 64 << 20

// Config is one page of a trail.
type Config struct {
	Table table.Loader
	User  string
	// From and To are the first and last date; nil is the table's.
	From, To *behaviour.Date
	Types    []string // behaviours; none is all
	Fields   []string // NAME or BEHAVIOUR.NAME; none is all
	Page     int      // behaviours; 0 is all there are
	After    string   // the token of the page before; empty at the first

	// Latest asks for no page but the last so many behaviours; 0 does not.
	Latest int
	// At asks for no page but the last behaviour of each type at or before a time,
	// microseconds since 1970-01-01 UTC; nil does not.
	At *int64

	// Uncounted says that of no behaviour it need be known how many its day has: then a
	// page that goes on amid a day does not read what was shown of it.
	Uncounted bool

	Memory int64 // bytes of the process; 1 GiB
}

// A Result is what came of a page.
type Result struct {
	User   string `json:"user"`
	Events int64  `json:"events"` // shown
	Next   string `json:"next"`   // token of the next page, empty if this is the last

	Foreign int64    `json:"foreign,omitempty"` // cells that were read and skipped
	Notes   []string `json:"notes,omitempty"`
}

// A Behaviour is one of the trail.
type Behaviour struct {
	trail.Event
	Values [][]byte // one for each field of its kind; nil is null, or was not asked for
	Nth    int      // which of its day's it is, from 1 on; 0 is not known
	OfDay  int      // how many its day has; 0 is not known
}

// A Writer takes a page. What it is given is valid until it returns.
type Writer interface {
	// Begin is told what was asked.
	Begin(a *Asked) error
	// Add takes the next behaviour.
	Add(b *Behaviour) error
	// End ends the page.
	End() error
}

// Asked is a question that has been checked against its table.
type Asked struct {
	User   string
	Span   behaviour.Span
	Schema *behaviour.Schema
	Zone   *time.Location
	Kinds  []int       // in order of behaviour ID
	Fields []FieldName // that come out, of all kinds
	Latest int
	At     *int64

	layout    layout.Layout
	want      layout.Want
	key       []byte
	question  string
	after     *trail.Event // what was shown last; nil at the first page
	uncounted bool
	budget    budget
	foreign   layout.Foreign // cells that were skipped
}

// A FieldName is a column of what comes out.
type FieldName struct {
	behaviour.Field
	slots []int // index among the fields of each kind of the schema, -1 where it has none
}

// Of is f's value in b, or nil.
func (f *FieldName) Of(b *Behaviour) []byte {
	if i := f.slots[b.Kind]; i >= 0 {
		return b.Values[i]
	}
	return nil
}

// Page writes one page of a trail, or its last behaviours.
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
	err = each(ctx, p.add)
	p.result.Foreign, p.result.Notes = a.foreign.Cells, a.foreign.Notes()
	if err != nil && err != errFull {
		return a, p.result, fmt.Errorf("show user %q: %w", c.User, err)
	}
	return a, p.result, w.End()
}

// errFull ends the reading of a page.
var errFull = errors.New("the page is full")

// A page counts what is written.
type page struct {
	asked  *Asked
	writer Writer
	left   int // negative is no end
	last   trail.Event
	result Result
}

// add writes b, unless the page is full: then there is a next one.
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

// ask checks a question.
func ask(ctx context.Context, c *Config) (*Asked, error) {
	info := c.Table.Info()
	a := &Asked{
		User: c.User, Schema: info.Schema, Latest: c.Latest, At: c.At,
		layout: info.Layout, question: c.question(), uncounted: c.Uncounted, budget: budgetOf(c.Memory),
	}
	var err error
	if a.Zone, err = time.LoadLocation(info.Schema.Zone); err != nil {
		return nil, fmt.Errorf("zone of the table: %w", err)
	}
	switch {
	case c.User == "":
		return nil, fmt.Errorf("%w: --user is missing: write --user ID", ErrQuestion)
	case len(c.User) > behaviour.MaxUserLen:
		return nil, fmt.Errorf("%w: --user is longer than %d bytes", ErrQuestion, behaviour.MaxUserLen)
	case !utf8.ValidString(c.User):
		return nil, fmt.Errorf("%w: --user is not UTF-8", ErrQuestion)
	case c.Page < 0:
		return nil, fmt.Errorf("%w: --page %d: write how many behaviours, or 0 for all", ErrQuestion, c.Page)
	}
	if err := c.ends(); err != nil {
		return nil, err
	}
	a.key = info.Layout.AppendUserKey(nil, []byte(c.User))
	if a.Kinds, err = info.Schema.Select(c.Types); err != nil {
		return nil, fmt.Errorf("%w: --types: the table has %w", ErrQuestion, err)
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
	if c.At != nil && c.From != nil && *c.At < c.From.Start(a.Zone).UnixMicro() {
		return nil, fmt.Errorf("%w: --at %s comes before --from %s: nothing that is looked at can be that old", ErrQuestion, a.at(), *c.From)
	}
	return a, nil
}

// ends checks what asks for the end of a trail.
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
		return fmt.Errorf("%w: --latest %d: write how many behaviours, at least 1", ErrQuestion, c.Latest)
	case c.Latest > 0 && c.At != nil:
		return fmt.Errorf("%w: --latest and --at are two questions: choose one; the last behaviours up to a day are --latest and --to", ErrQuestion)
	case paged != "" && c.Latest > 0:
		return fmt.Errorf("%w: %s goes with no --latest, which is no page: write how many behaviours behind --latest", ErrQuestion, paged)
	case paged != "" && c.At != nil:
		return fmt.Errorf("%w: %s goes with no --at, which is no page: it shows one behaviour of each type", ErrQuestion, paged)
	}
	return nil
}

// at is the time asked for, as the table's zone shows it.
func (a *Asked) at() string {
	return time.UnixMicro(*a.At).In(a.Zone).Format("2006-01-02 15:04:05.999999")
}

// chooseFields settles which fields come out.
func (a *Asked) chooseFields(names []string) error {
	chosen, unknown, ok := a.Schema.Choose(a.Kinds, names)
	if !ok {
		return fmt.Errorf("%w: --fields: there is no field %q; there is %s", ErrQuestion, unknown, strings.Join(a.Schema.FieldNames(a.Kinds), ", "))
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
