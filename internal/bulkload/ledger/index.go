// Package ledger knows from the ledgers of all loads which delivered files a table has, and which
// part of each.
package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"usertrail/internal/column"
	"usertrail/internal/format/manifest"
)

// An Index holds the entries of delivered files in all loads of a table. Paths are below the logs'
// root. One goroutine at a time may use it.
type Index struct {
	loads   []*manifest.Load
	byPath  map[string][]*manifest.Input
	names   Names                        // nil if there is no job
	copies  map[string][]Copy            // the loaded files of a SHA-256, the oldest first
	partly  map[int64][]Copy             // by size: the loaded files of which a condition skipped records
	replays map[string][]replayed        // by SHA-256
	numbers map[uint32]string            // path
	commits map[string]int               // by plan: number of its load
	begun   map[string][]*manifest.Input // by path
	planned map[string]uint32            // by path: numbers of planned files that no load has
	plans   []*manifest.Plan             // that are not committed
}

// replayed has the offsets of the records of a file that a replay added. behaviour is of the file's Content.
type replayed struct {
	behaviour string
	offsets   []int64
	texts     manifest.TextSums
}

// A ReplayedText is the checksum of the text of a replayed record, with the offset of the record.
type ReplayedText struct {
	Offset int64
	Sum    uint32
}

// New returns the index of loads, the oldest first. The index keeps the ledgers. names may be nil.
func New(loads []*manifest.Load, names Names) *Index {
	x := &Index{
		loads: loads, names: names, byPath: map[string][]*manifest.Input{}, copies: map[string][]Copy{}, partly: map[int64][]Copy{}, replays: map[string][]replayed{}, numbers: map[uint32]string{}, commits: map[string]int{},
		begun: map[string][]*manifest.Input{}, planned: map[string]uint32{},
	}
	for _, l := range loads {
		if l.Plan != "" {
			x.commits[l.Plan] = l.Number
		}
		for i := range l.Inputs {
			x.Add(&l.Inputs[i])
		}
	}
	return x
}

// Loads returns the ledgers that the index was made of.
func (x *Index) Loads() []*manifest.Load { return x.loads }

// Add adds a delivered file that was loaded.
func (x *Index) Add(in *manifest.Input) {
	x.byPath[in.Path] = append(x.byPath[in.Path], in)
	x.numbers[in.Number] = in.Path
	of, foreign := x.identify(in)
	if in.SameAs == "" && in.Offsets == nil {
		c := CopyOf(in)
		c.behaviour, c.foreign = of.Behaviour, foreign
		x.Remember(of, c)
		if c.SkippedBy != "" && !c.none() {
			x.partly[in.Size] = append(x.partly[in.Size], c)
		}
	}
	if len(in.Offsets) > 0 {
		x.replays[of.SHA256] = append(x.replays[of.SHA256], replayed{of.Behaviour, in.Offsets, in.Texts})
	}
}

// Replayed returns the offsets of the records of a content that replays added, in order.
func (x *Index) Replayed(of Content) (offsets []int64) {
	for _, r := range x.replays[of.SHA256] {
		if sameBehaviour(r.behaviour, of.Behaviour) {
			offsets = append(offsets, r.offsets...)
		}
	}
	slices.Sort(offsets)
	return slices.Compact(offsets)
}

// ReplayedTexts returns the texts of the records of a content that replays added, in order of their offsets. Ledgers of older versions
// do not have them.
func (x *Index) ReplayedTexts(of Content) (texts []ReplayedText) {
	for _, r := range x.replays[of.SHA256] {
		if !sameBehaviour(r.behaviour, of.Behaviour) {
			continue
		}
		for i, offset := range r.offsets {
			if sum, ok := r.texts.At(i); ok {
				texts = append(texts, ReplayedText{offset, sum})
			}
		}
	}
	slices.SortStableFunc(texts, func(a, b ReplayedText) int { return cmp.Compare(a.Offset, b.Offset) })
	return texts
}

// Inputs returns the entries of the delivered file at path in all loads, the oldest first.
func (x *Index) Inputs(path string) []*manifest.Input { return x.byPath[path] }

// File returns one entry of the delivered file at path. It prefers an entry with records. It
// returns nil if no load had the file.
func (x *Index) File(path string) *manifest.Input {
	known := x.byPath[path]
	for _, in := range known {
		if in.Offsets == nil && in.Read > 0 {
			return in
		}
	}
	if len(known) == 0 {
		return nil
	}
	return known[0]
}

// Reached returns the number of loads, except replays, that read records of the file at path.
func (x *Index) Reached(path string) int {
	n := 0
	for _, in := range x.byPath[path] {
		if in.Offsets == nil && in.Read > 0 {
			n++
		}
	}
	return n
}

// AddBegun adds a delivered file that a killed load by puts began. Some of its cells may be in the
// table. No ledger has the file.
func (x *Index) AddBegun(in *manifest.Input) {
	x.begun[in.Path] = append(x.begun[in.Path], in)
	x.numbers[in.Number] = in.Path
}

// Begun returns the entries of the file at path that were added by AddBegun.
func (x *Index) Begun(path string) []*manifest.Input { return x.begun[path] }

// Number returns the number of the file at path. If it has none, Number returns a new number.
func (x *Index) Number(path string) (uint32, error) {
	if have := x.byPath[path]; len(have) > 0 {
		return have[0].Number, nil
	}
	if begun := x.begun[path]; len(begun) > 0 {
		return begun[0].Number, nil
	}
	if n, ok := x.planned[path]; ok {
		return n, nil
	}
	n, err := column.Number(path, func(n uint32) bool { return x.numbers[n] == "" })
	if err == nil {
		x.numbers[n] = path
	}
	return n, err
}

// PathOf returns the path of the file that has a number, or "".
func (x *Index) PathOf(number uint32) string { return x.numbers[number] }

// Reserve reserves the numbers of the files of plans that are not committed.
func (x *Index) Reserve(plans []*manifest.Plan) {
	x.plans = append(x.plans, plans...)
	for _, p := range plans {
		for _, in := range p.Inputs {
			if x.numbers[in.Number] == "" {
				x.numbers[in.Number] = in.Path
				x.planned[in.Path] = in.Number
			}
		}
	}
}

// Commit records the number of the load that a plan became.
func (x *Index) Commit(plan string, number int) { x.commits[plan] = number }

// LoadOf returns the number of the load that a plan became. It returns 0 if the plan is not
// committed.
func (x *Index) LoadOf(plan string) int { return x.commits[plan] }

// Ended returns the reserved plans that are committed now, or whose files other loads have loaded.
func (x *Index) Ended() []string {
	var out []string
	for _, p := range x.plans {
		if x.commits[p.ID] != 0 || x.holds(p) {
			out = append(out, p.ID)
		}
	}
	return out
}

// holds reports whether loads have all files of a plan.
func (x *Index) holds(p *manifest.Plan) bool {
	return !slices.ContainsFunc(p.Inputs, func(f manifest.PlannedFile) bool {
		return !slices.ContainsFunc(x.byPath[f.Path], f.HeldBy)
	})
}

// Identity returns a string that identifies a delivered file and the records of it that a load
// requested. It has a hash of the part's texts.
func Identity(in *manifest.Input) string {
	part, texts := in.Part, ""
	if part != nil && part.Texts != nil {
		short := *part
		short.Texts, part, texts = nil, &short, hashOf(part.Texts)
	}
	b, err := json.Marshal(struct {
		Path, SHA256 string
		Part         *manifest.Part
		Texts        string `json:",omitempty"`
		Offsets      []int64
		SkippedBy    string              `json:",omitempty"`
		Reread       map[string][]string `json:",omitempty"`
	}{in.Path, in.SHA256, part, texts, in.Offsets, in.SkippedBy, in.Reread})
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(b)
}

// hashOf returns a hash of texts and their behaviours. It does not depend on their order.
func hashOf(texts map[string]string) string {
	var sum uint64
	for text, name := range texts {
		sum += xxh3.HashString(text + "\x00" + name)
	}
	return fmt.Sprintf("%d texts %016x", len(texts), sum)
}
