package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/zeebo/xxh3"
)

const (
	// MaxUnmapped is the maximum number of texts that an Unmapped counts.
	MaxUnmapped = 1024
	// ListedUnmapped is the maximum number of texts that a ledger lists for a file.
	ListedUnmapped = 32
	// shownUnmapped is the maximum number of texts that a last line has.
	shownUnmapped = 10
	// namedUnmapped is the maximum number of texts that a message has.
	namedUnmapped = 5
	// maxUnmappedLen is the maximum size of a text in bytes. Longer texts are cut.
	maxUnmappedLen = 64
)

// A TextCount is the number of records whose behaviour is named by a text.
type TextCount struct {
	Text    string `json:"text"`
	Records int64  `json:"records"`
}

// An Unmapped counts the records whose text names no behaviour of the job, by this text. If
// there are more than MaxUnmapped texts, it counts the texts with the smallest hashes. Its counts
// are exact, so they do not depend on the order in which records and other Unmapped are added.
//
// The zero value is empty. Its JSON is the list of the commonest texts.
type Unmapped struct {
	counts map[string]*int64
	most   uint64 // texts with larger hashes are not counted, if full is set
	full   bool
}

// ClipText returns the form in which an Unmapped has a text: at most 64 bytes of valid UTF-8. A
// text that is cut ends in an ellipsis.
func ClipText(text []byte) []byte {
	if !utf8.Valid(text) {
		text = []byte(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	if len(text) <= maxUnmappedLen {
		return text
	}
	const end = "…"
	n := maxUnmappedLen - len(end)
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return append(text[:n:n], end...)
}

// Add counts records whose behaviour is named by a text.
func (u *Unmapped) Add(text []byte, records int64) {
	text = ClipText(text)
	if n, ok := u.counts[string(text)]; ok {
		*n += records
		return
	}
	if u.full && xxh3.Hash(text) > u.most {
		return
	}
	if u.counts == nil {
		u.counts = map[string]*int64{}
	}
	u.counts[string(text)] = &records
	if len(u.counts) >= 2*MaxUnmapped {
		u.trim()
	}
}

// Merge adds the counts of o.
func (u *Unmapped) Merge(o *Unmapped) {
	for text, n := range o.counts {
		u.Add([]byte(text), *n)
	}
}

// AddList adds the counts of a list.
func (u *Unmapped) AddList(list []TextCount) {
	for _, c := range list {
		u.Add([]byte(c.Text), c.Records)
	}
}

// trim removes the texts with the largest hashes. A removed text is never added again, because
// the remaining texts have smaller hashes.
func (u *Unmapped) trim() {
	if len(u.counts) <= MaxUnmapped {
		return
	}
	texts := slices.SortedFunc(maps.Keys(u.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(xxh3.HashString(a), xxh3.HashString(b)), cmp.Compare(a, b))
	})
	for _, text := range texts[MaxUnmapped:] {
		delete(u.counts, text)
	}
	u.full, u.most = true, xxh3.HashString(texts[MaxUnmapped-1])
}

// List returns the commonest texts, at most n of them, in order of their counts. Equally common
// texts are in alphabetical order.
func (u *Unmapped) List(n int) []TextCount {
	u.trim()
	var out []TextCount
	for text, records := range u.counts {
		out = append(out, TextCount{text, *records})
	}
	slices.SortFunc(out, func(a, b TextCount) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Text, b.Text))
	})
	return out[:min(n, len(out))]
}

// Shorten keeps only the commonest texts, at most n of them. Records must not be added to u after
// that.
func (u *Unmapped) Shorten(n int) {
	list := u.List(n)
	*u = Unmapped{}
	u.AddList(list)
}

// Describe returns the commonest texts in quotes, each with its number of records. all is the
// number of records of all texts. Describe returns "" if u is empty.
func (u *Unmapped) Describe(all int64) string {
	if u.IsZero() {
		return ""
	}
	var out []string
	for _, c := range u.List(namedUnmapped) {
		all -= c.Records
		out = append(out, humanize.Comma(c.Records)+" "+strconv.Quote(c.Text))
	}
	if all > 0 {
		out = append(out, fmt.Sprintf("%s of other texts", humanize.Comma(all)))
	}
	return strings.Join(out, ", ")
}

// IsZero reports whether u is empty.
func (u Unmapped) IsZero() bool { return len(u.counts) == 0 }

// MarshalJSON writes the commonest texts.
func (u Unmapped) MarshalJSON() ([]byte, error) { return json.Marshal(u.List(shownUnmapped)) }

// UnmarshalJSON reads a list of texts.
func (u *Unmapped) UnmarshalJSON(b []byte) error {
	var list []TextCount
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*u = Unmapped{}
	u.AddList(list)
	return nil
}
