package quarantine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"usertrail/internal/format/record"
	"usertrail/internal/run/visible"
	"usertrail/internal/store/dfs"
)

// mostReasons is the number of reasons that Reasons.String lists.
const mostReasons = 3

// Reasons counts the bad records of a delivered file by reason. The zero value is empty.
type Reasons struct {
	all []counted
}

// A counted is a reason with its number of records, and the first of them.
type counted struct {
	reason  record.Reason
	records int64
	line    int64
	detail  string
}

// Add counts a bad record.
func (r *Reasons) Add(reason record.Reason, line int64, detail string) {
	r.count(counted{reason, 1, line, detail})
}

// Merge adds the counts of o.
func (r *Reasons) Merge(o *Reasons) {
	for _, c := range o.all {
		r.count(c)
	}
}

func (r *Reasons) count(c counted) {
	i := slices.IndexFunc(r.all, func(o counted) bool { return o.reason == c.reason })
	if i < 0 {
		r.all = append(r.all, c)
		return
	}
	has := &r.all[i]
	if c.line < has.line {
		has.line, has.detail = c.line, c.detail
	}
	has.records += c.records
}

// String lists the commonest reasons, each with its first record. Equally common reasons are in
// the order of their first records.
func (r *Reasons) String() string {
	sorted := slices.SortedFunc(slices.Values(r.all), func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.records, a.records), cmp.Compare(a.line, b.line), cmp.Compare(a.reason, b.reason))
	})
	var texts []string
	for _, c := range sorted[:min(len(sorted), mostReasons)] {
		texts = append(texts, fmt.Sprintf("%d %s (line %d: %s)", c.records, c.reason, c.line, visible.Text(c.detail)))
	}
	return strings.Join(texts, ", ")
}

// ReasonsOf counts the bad records of a delivered file that was read in ranges.
func ReasonsOf(ctx context.Context, fs dfs.FS, ranges []Range) (*Reasons, error) {
	out := &Reasons{}
	for _, r := range ranges {
		if err := out.addRange(ctx, fs, r); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return out, nil
}

func (r *Reasons) addRange(ctx context.Context, fs dfs.FS, from Range) error {
	f, err := openPart(ctx, fs, from.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var b Record
		if err := d.Decode(&b); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		b.Line += from.Before
		r.Add(b.Reason, b.Line, b.Detail)
	}
}
