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
	all []counted // in the order of the first record of each
}

// A counted is a reason with its number of records, and the first of them.
type counted struct {
	reason  record.Reason
	records int64
	line    int64
	detail  string
}

// add counts a bad record. Records are added in the order of the file.
func (r *Reasons) add(b *Record) {
	i := slices.IndexFunc(r.all, func(c counted) bool { return c.reason == b.Reason })
	if i < 0 {
		i, r.all = len(r.all), append(r.all, counted{reason: b.Reason, line: b.Line, detail: b.Detail})
	}
	r.all[i].records++
}

// String lists the commonest reasons, each with its first record. Equally common reasons are in
// the order of their first records.
func (r *Reasons) String() string {
	sorted := slices.SortedStableFunc(slices.Values(r.all), func(a, b counted) int { return cmp.Compare(b.records, a.records) })
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
	f, err := fs.Open(ctx, from.Name)
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
		r.add(&b)
	}
}
