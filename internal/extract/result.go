package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/outcome"
	"usertrail/internal/table"
)

// A Result describes an extract.
type Result struct {
	Users int64 `json:"users"` // on the list; for all users, the same as Found
	Found int64 `json:"found"` // with at least one of the requested behaviours in the span
	// NotFound are the other users of the list.
	NotFound int64  `json:"not_found,omitempty"`
	Active   int64  `json:"active"` // users who meet --active and --without
	Kept     int64  `json:"kept"`   // users in the result
	Events   int64  `json:"events"`
	Foreign  int64  `json:"foreign,omitempty"` // cells that were read and skipped
	Files    int    `json:"files"`
	Out      string `json:"out"`

	Already bool `json:"already,omitempty"` // with an error that Out is there: it is the result of this query

	Calls int64 `json:"calls,omitempty"` // of servers, or reads of the table's files
	table.Held

	Notes []string `json:"notes,omitempty"` // of package notes

	Lost     notfound.Count `json:"-"` // the users of NotFound
	Skipped  layout.Foreign `json:"-"` // the cells of Foreign
	Replaced int            `json:"-"` // the finished pieces of an earlier plan whose results were removed
}

// ResultOf returns the Result of the extract that m describes. calls is the number of calls of
// servers.
func ResultOf(m *manifest.Extract, out string, calls int64) Result {
	return Result{Users: m.Users, Found: m.Found, NotFound: m.NotFound, Active: m.Active, Kept: m.Kept, Events: m.Events, Files: len(m.Parts), Out: out, Calls: calls}
}

// Skip sets the cells that were read and skipped.
func (r *Result) Skip(f layout.Foreign) { r.Foreign, r.Skipped = f.Cells, f }

// Counted implements outcome.Result.
func (r Result) Counted() outcome.Counts {
	return outcome.Counts{outcome.Users: float64(r.Users), outcome.Found: float64(r.Found), outcome.Active: float64(r.Active), outcome.Kept: float64(r.Kept), outcome.Events: float64(r.Events), outcome.Files: float64(r.Files)}
}

// Made implements outcome.Maker.
func (r Result) Made() string { return r.Out }

// existing returns the result in Out and err, if err means that Out already has the result of x. If
// this run finished the append of the result, existing returns no error.
// Otherwise it returns the zero Result and err. If the result in Out is damaged, the error names the
// file.
func (x *Extract) existing(ctx context.Context, err error) (Result, error) {
	appended := errors.Is(err, manifest.ErrAppended)
	if !appended && (x.Append || !errors.Is(err, iofs.ErrExist)) {
		return Result{}, err
	}
	p := place.At(x.FS, x.Out)
	if errors.As(err, new(place.Finished)) {
		return FinishedAppend(ctx, p, x.Query.Span)
	}
	m, failed := p.Result(ctx)
	if failed != nil || m == nil || !appended && !x.same(ctx, m) {
		return Result{}, err
	}
	switch damage, failed := p.Damage(ctx, m.Parts); {
	case failed != nil:
		return Result{}, err
	case damage != "":
		return Result{}, p.Damaged(ctx, m, damage)
	}
	r := ResultOf(m, x.Out, 0)
	if appended {
		r = resultOfAppend(m, x.Query.Span, x.Out)
	}
	r.Already = true
	return r, x.existsError(err)
}

// existsError adds to err that Out has the result of the same query, and the next step. It returns
// err unchanged if it does not wrap fs.ErrExist.
func (x *Extract) existsError(err error) error {
	if !errors.Is(err, iofs.ErrExist) {
		return err
	}
	if errors.Is(err, place.ErrKept) {
		return fmt.Errorf("--out %s has the result of this query: %w", x.Out, err)
	}
	return fmt.Errorf("--out %s: %w: it has the result of this query: use it, choose another directory, or add --overwrite", x.Out, iofs.ErrExist)
}

// added returns the parts of the result m that have the dates of a span.
func added(m *manifest.Extract, span behaviour.Span) []manifest.TrailPart {
	return slices.DeleteFunc(slices.Clone(m.Parts), func(p manifest.TrailPart) bool {
		d, ok := place.DateOf(p.Name)
		return !ok || !span.Has(d)
	})
}

// FinishedAppend returns the Result of the extract of a span, if this run has finished its append to the result in p. It returns an
// error that wraps fs.ErrExist if a part of the result is missing.
func FinishedAppend(ctx context.Context, p *place.Place, span behaviour.Span) (Result, error) {
	m, err := manifest.ReadExtract(ctx, p.FS, p.Out)
	if err != nil {
		return Result{}, err
	}
	damage, err := p.Damage(ctx, m.Parts)
	if err != nil {
		return Result{}, err
	}
	if damage != "" {
		return Result{}, p.Damaged(ctx, m, damage)
	}
	return resultOfAppend(m, span, p.Out), nil
}

// resultOfAppend returns the Result of the extract of a span that was appended to the result m.
func resultOfAppend(m *manifest.Extract, span behaviour.Span, out string) Result {
	r := Result{Users: m.Users, Files: len(added(m, span)), Out: out}
	for _, a := range m.Extracts() {
		if a.Span == span {
			r.Found, r.NotFound, r.Active, r.Kept, r.Events = a.Found, a.NotFound, a.Active, a.Kept, a.Events
			r.Lost = notfound.Count{Users: a.NotFound, File: a.NotFoundFile}
		}
	}
	if m.Query.Users == manifest.Everyone {
		r.Users = r.Found
	}
	return r
}

// same reports whether m is the result of the same query, in the same pieces, to the same version of the
// table. It returns false if the table has no version, because then nothing shows whether the table has
// changed. With PieceSize, it reads the rolls.
func (x *Extract) same(ctx context.Context, m *manifest.Extract) bool {
	q := x.Query
	if x.Overwrite || q.Version() == "" {
		return false
	}
	if m.Table != q.Info.Address || m.TableVersion != q.Version() || m.Unrolled != q.Unrolled {
		return false
	}
	was, err := json.Marshal(m.Query)
	if err != nil {
		return false
	}
	asked, err := json.Marshal(q.Manifest())
	if err != nil || !bytes.Equal(was, asked) {
		return false
	}
	pieces, err := x.Pieces(ctx)
	return err == nil && pieces.Plan == m.Plan
}
