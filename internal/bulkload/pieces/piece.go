// Package pieces shares the work of a load among many machines. Plan cuts a load into pieces of
// delivered files, or of ranges of large files. A Line of text refers to each. Run does one piece as a
// load does a batch, without the commit, and writes a report. Commit judges the files of all pieces,
// and publishes them as one load.
//
// The files that Plan writes stay in a folder of the table's catalog until the commit: see
// catalog.Folder.
package pieces

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// ErrStale is wrapped if a plan no longer fits the contents of the table. The caller must plan
// again.
var ErrStale = fmt.Errorf("%w: the plan is out of date", bulkload.ErrRequest)

// Kind is the kind of the pieces in the lines of a load's plan.
const Kind = "load"

// A Piece lists some of the delivered files of a load, and all that a worker needs to load
// them.
type Piece struct {
	piece.Header                 // its Plan is a digest of all pieces
	Mode         bulkload.Mode   `json:"mode"`
	Span         behaviour.Span  `json:"span"`
	Types        []string        `json:"types"`            // all behaviours of the job if it is empty
	Alone        bool            `json:"alone,omitempty"`  // all rows of a live table came from loads
	Splits       *[]manifest.Key `json:"splits,omitempty"` // of a new table
	Inputs       []Input         `json:"inputs"`
	Job          Job             `json:"job"`
	// Texts has the Texts of the parts while the piece is written or read.
	Texts manifest.TextList `json:"texts,omitempty"`
}

// A Job is a job file. Its relative paths are relative to the folder of Name.
type Job struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// An Input is a delivered file of a piece.
type Input struct {
	Path      string                     `json:"path"`
	Rel       string                     `json:"rel"` // below the logs' root
	Date      *behaviour.Date            `json:"date,omitempty"`
	Behaviour string                     `json:"behaviour,omitempty"` // that its path names
	Size      int64                      `json:"size"`
	Modified  time.Time                  `json:"modified"`
	Number    uint32                     `json:"number"`
	Part      *manifest.Part             `json:"part,omitempty"`
	Covered   []*manifest.Part           `json:"covered,omitempty"`
	Partly    []manifest.Except          `json:"partly,omitempty"`
	StaysOut  map[manifest.Setting]int64 `json:"stays_out,omitempty"`
	Loaded    string                     `json:"loaded_sha256,omitempty"` // File.Loaded; plans of older releases do not have it
	SameAs    string                     `json:"same_as,omitempty"`       // the first of its copies, if they have every requested record
	Copies    []ledger.Copy              `json:"copies,omitempty"`        // that are in the table, or come before it in the plan
	SHA256    string                     `json:"sha256,omitempty"`        // set if it has copies
	Replayed  manifest.Offsets           `json:"replayed,omitempty"`      // of the records that replays added
	Range     *manifest.Range            `json:"range,omitempty"`         // if it is set, only this range is read
	Cuts      []int64                    `json:"cuts,omitempty"`          // beginnings of the ranges of the file; if it is set, only digests are computed
}

// read reads a whole piece.
func (p *Piece) read(line []byte) error {
	if err := piece.Decode(line, p); err != nil {
		return err
	}
	return p.complete()
}

// complete checks a piece that was read, and restores its texts.
func (p *Piece) complete() error {
	if err := p.Texts.Restore(p.parts()); err != nil {
		return fmt.Errorf("%w: %w", piece.ErrPiece, err)
	}
	p.Texts = nil
	return p.check()
}

// parts returns the places of all parts of files.
func (p *Piece) parts() (all []**manifest.Part) {
	for i := range p.Inputs {
		in := &p.Inputs[i]
		all = append(all, &in.Part)
		for j := range in.Covered {
			all = append(all, &in.Covered[j])
		}
		for j := range in.Partly {
			all = append(all, &in.Partly[j].Part)
		}
		for j := range in.Copies {
			all = append(all, &in.Copies[j].Part)
		}
	}
	return all
}

// checkPlan returns an error if id is not a valid ID of a plan.
func checkPlan(id string) error {
	if b, err := hex.DecodeString(id); err != nil || len(b) != idBytes {
		return fmt.Errorf("%w: its plan is %q", piece.ErrPiece, id)
	}
	return nil
}

// check returns an error for a piece that no plan has. Some fields become parts of file names.
func (p *Piece) check() error {
	if err := checkPlan(p.Plan); err != nil {
		return err
	}
	switch {
	case p.Table == "" || len(p.Inputs) == 0 || p.Job.Text == "":
		return fmt.Errorf("%w: its table, its inputs or its job are missing", piece.ErrPiece)
	case p.Mode != bulkload.HFile && p.Mode != bulkload.Put:
		return fmt.Errorf("%w: its mode is %q", piece.ErrPiece, p.Mode)
	}
	for i := range p.Inputs {
		in := &p.Inputs[i]
		if r := in.Range; r != nil && (r.From < 0 || r.From >= r.To || r.To > in.Size) || !slices.IsSorted(in.Cuts) {
			return fmt.Errorf("%w: it has no such range of %s as is in it", piece.ErrPiece, in.Path)
		}
	}
	return nil
}

// Line returns the piece as one line, without its end. It has the texts of all parts once.
func (p *Piece) Line() []byte {
	out := *p
	out.Inputs = slices.Clone(p.Inputs)
	for i := range out.Inputs {
		in := &out.Inputs[i]
		in.Covered, in.Partly, in.Copies = slices.Clone(in.Covered), slices.Clone(in.Partly), slices.Clone(in.Copies)
	}
	out.Texts.Refer(out.parts())
	return encode(&out)
}

// encode returns v as one line of JSON, without its end.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings, numbers and dates only
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// idBytes is the number of bytes of a digest that distinguish plans.
const idBytes = 10

// planID returns the digest of the pieces without the name of their plan.
func planID(all []Piece) string {
	h := sha256.New()
	for _, p := range all {
		p.Plan = ""
		h.Write(append(p.Line(), '\n'))
	}
	return hex.EncodeToString(h.Sum(nil)[:idBytes])
}

// inOrder sorts pieces. It returns an error unless they are all pieces of one plan.
func inOrder(all []Piece) ([]Piece, error) {
	headers := make([]piece.Header, len(all))
	for i := range all {
		headers[i] = all[i].Header
	}
	if err := piece.Check(headers); err != nil {
		return nil, err
	}
	out := make([]Piece, all[0].Of)
	for _, p := range all {
		out[p.Piece] = p
	}
	if out[0].gone() { // with the folder of the plan
		return out, nil
	}
	if planID(out) != out[0].Plan {
		return nil, fmt.Errorf("%w: the lines are not those that bulkload plan printed: something in them was changed", piece.ErrPiece)
	}
	return out, nil
}

// gone reports whether the folder of the piece's plan was removed.
func (p *Piece) gone() bool { return p.Job.Text == "" }

// ParseJob returns the job of the piece.
func (p *Piece) ParseJob() (*job.Job, error) { return job.Parse(p.Job.Name, []byte(p.Job.Text)) }

// folder returns the folder that the plan has until it is committed.
func (p *Piece) folder(fs dfs.FS, store table.Store) catalog.Folder {
	return catalog.Folder{FS: fs, Plans: store.Plans(), ID: p.Plan}
}

// splits returns the split points of a new table.
func (p *Piece) splits() split.Points {
	var out split.Points
	if p.Splits != nil {
		for _, k := range *p.Splits {
			out = append(out, []byte(k))
		}
	}
	return out
}

// inputOf returns a file as an input of a piece.
func inputOf(f *plannedFile, s *behaviour.Schema) Input {
	in := Input{
		Path: f.Path, Rel: f.Rel, Date: f.Date, Behaviour: f.Behaviour(s), Size: f.Size, Modified: f.Modified,
		Number: f.Number, Part: f.Part, Covered: f.Covered, Partly: f.Partly, StaysOut: f.StaysOut, Loaded: f.Loaded, SameAs: f.sameAs, Replayed: f.replayed, Range: f.Only, Cuts: f.Cuts,
	}
	if len(f.copies) > 0 {
		in.Copies, in.SHA256 = f.copies, f.sha
	}
	return in
}

// file is the inverse of inputOf.
func (in *Input) file(s *behaviour.Schema) (*delivered.File, error) {
	kind := -1
	if in.Behaviour != "" {
		var ok bool
		if kind, ok = s.Kind(in.Behaviour); !ok {
			return nil, fmt.Errorf("%w: the job of the piece has no behaviour %q: plan again", bulkload.ErrRequest, in.Behaviour)
		}
	}
	f := in.asked()
	f.Number, f.Only, f.Cuts = in.Number, in.Range, in.Cuts
	f.Path, f.Rel, f.Date, f.Kind, f.Size, f.Modified = in.Path, in.Rel, in.Date, kind, in.Size, in.Modified
	return f, nil
}

// asked returns the file with its requested part and its parts that are in the table.
func (in *Input) asked() *delivered.File {
	return &delivered.File{Part: in.Part, Covered: slices.Clone(in.Covered), Partly: slices.Clone(in.Partly), StaysOut: in.StaysOut, Loaded: in.Loaded}
}

// copiesOf returns the planned copies of the file, which turned out to have the digest sha. If the plan
// expected another digest, it returns nil. Plans of old releases have no Copies. They name at most one
// copy, and that copy has all records of the file.
func (in *Input) copiesOf(sha string) []ledger.Copy {
	switch {
	case in.SHA256 != sha:
		return nil
	case in.SameAs != "" && len(in.Copies) == 0:
		return []ledger.Copy{{Path: in.SameAs}}
	}
	return in.Copies
}

// pathOf returns the path of a file of the piece. rel is its path below the logs' root.
func (p *Piece) pathOf(rel string) string {
	i := slices.IndexFunc(p.Inputs, func(in Input) bool { return in.Rel == rel })
	if i < 0 {
		return rel
	}
	return p.Inputs[i].Path
}

// day returns the date of the path, or MaxDate if it has none.
func (in *Input) day() behaviour.Date {
	if in.Date == nil {
		return behaviour.MaxDate
	}
	return *in.Date
}
