package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/behaviour"
)

// Retired lists files of a table that its manifest named before and no longer names. Readers
// that opened the table before may still read them.
type Retired struct {
	Version int `json:"version"`
	// Rewritten is Table.Rewritten of the manifest for which the list was written; 0 in lists of older releases.
	Rewritten int `json:"rewritten,omitempty"`
	// RewrittenSHA256 is Table.RewrittenSHA256 of that manifest.
	RewrittenSHA256 string        `json:"rewritten_sha256,omitempty"`
	Files           []RetiredFile `json:"files"`
	// Undrop holds the entries that restore the days of the last drop; nil if no drop can be
	// undone.
	Undrop *Undrop `json:"undrop,omitempty"`
	// DroppedBefore is the date of the last drop, as in Table. Lists without Rewritten do not have it.
	DroppedBefore *behaviour.Date `json:"dropped_before,omitempty"`
}

// SetRewritten sets t.RewrittenSHA256 if a compact, drop or undrop made t of the manifest before. The digest depends on the digest of
// before, and on all loads, drops and files of t. So two copies of a table on which different commands ran have different digests.
func (t *Table) SetRewritten(before *Table) {
	if t.Rewritten == before.Rewritten {
		return
	}
	h := sha256.New()
	fmt.Fprintln(h, before.RewrittenSHA256, t.Rewritten, t.State())
	for i := range t.Files {
		f := &t.Files[i]
		fmt.Fprintln(h, f.Name, f.Sum, f.Roll, f.RollSum)
	}
	t.RewrittenSHA256 = hex.EncodeToString(h.Sum(nil))
}

// OtherRewrites reports whether two files that were written for manifests with the same number have different digests of the
// replacements. A file of an older release has no digest.
func OtherRewrites(a, b string) bool { return a != "" && b != "" && a != b }

// Dropped returns the date before which the list shows that all days were dropped. It is nil if the list shows no drop.
func (r *Retired) Dropped() *behaviour.Date {
	if r.Rewritten == 0 && r.DroppedBefore == nil && r.Undrop != nil {
		return &r.Undrop.Before
	}
	return r.DroppedBefore
}

// An Undrop holds the entries that a drop removed from a manifest.
type Undrop struct {
	Before  behaviour.Date `json:"before"`         // the date of the drop
	Files   []File         `json:"files"`          // that were removed or rewritten without the days
	Made    []string       `json:"made,omitempty"` // HFiles that were written
	Earlier *Earlier       `json:"earlier,omitempty"`
}

// Lacks returns the first file of Made that a table no longer has, or "". A compact has merged it, or a reread has replaced it. The drop
// can then no longer be undone.
func (u *Undrop) Lacks(t *Table) string {
	has := map[string]bool{}
	for i := range t.Files {
		has[t.Files[i].Name] = true
	}
	for _, name := range u.Made {
		if !has[name] {
			return name
		}
	}
	return ""
}

// An Earlier holds the entries of the drops before.
type Earlier struct {
	DroppedBefore behaviour.Date `json:"dropped_before"`
	Dropped       []Region       `json:"dropped,omitempty"`
}

func (r *Retired) version() int { return r.Version }

// A RetiredFile is an HFile or a roll.
type RetiredFile struct {
	Name  string    `json:"name"` // below the table's directory
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // then it may be removed
}

// Names returns the names of the HFile and its roll.
func (f *File) Names() []string {
	if f.Name == "" {
		return []string{f.Roll}
	}
	return []string{f.Name, f.Roll}
}

// Brought reports whether a load wrote rows of f.
func (f *File) Brought(load int) bool { return f.Load == load || slices.Contains(f.Loads, load) }

// Kept returns the days that were not dropped.
func (t *Table) Kept(days []Day) []Day {
	if t.DroppedBefore == nil {
		return days
	}
	return slices.DeleteFunc(days, func(d Day) bool { return d.Date < *t.DroppedBefore })
}

// CheckDropped returns an error if a file has rows of dropped days.
func (t *Table) CheckDropped() error {
	if t.DroppedBefore == nil {
		return nil
	}
	for i := range t.Files {
		if f := &t.Files[i]; f.Span.From < *t.DroppedBefore {
			return fmt.Errorf("%s has rows of %s, and the days before %s were dropped meanwhile: begin it again, and they are skipped", f.Name, f.Span.From, t.DroppedBefore)
		}
	}
	return nil
}
