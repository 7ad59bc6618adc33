package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/piece"
	"usertrail/internal/split"
	"usertrail/internal/table/catalog"
)

// ErrStale is wrapped if a plan no longer fits the contents of the table. The caller must plan
// again.
var ErrStale = fmt.Errorf("%w: the plan is out of date", bulkload.ErrRequest)

// PieceKind is the kind of the pieces in the lines of a load's plan.
const PieceKind = "load"

// A Piece lists some of the delivered files of a load, and all that a worker needs to load
// them. A Line refers to it.
type Piece struct {
	piece.Header                 // its plan is a digest of all pieces
	Mode         bulkload.Mode   `json:"mode"`
	Span         behaviour.Span  `json:"span"`
	Types        []string        `json:"types"`            // all behaviours of the job where there are none
	Alone        bool            `json:"alone,omitempty"`  // all that is in a live table came by loads
	Splits       *[]manifest.Key `json:"splits,omitempty"` // of a table that was not there
	Inputs       []PieceInput    `json:"inputs"`
	Job          PieceJob        `json:"job"`
}

// A PieceJob is a job file. Its name says which folder its relative paths are of.
type PieceJob struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// A PieceInput is a delivered file of a piece.
type PieceInput struct {
	Path      string           `json:"path"`
	Rel       string           `json:"rel"` // below the logs' root
	Date      *behaviour.Date  `json:"date,omitempty"`
	Behaviour string           `json:"behaviour,omitempty"` // that its path names
	Size      int64            `json:"size"`
	Modified  time.Time        `json:"modified"`
	Number    uint32           `json:"number"`
	Part      *manifest.Part   `json:"part,omitempty"`
	Covered   []*manifest.Part `json:"covered,omitempty"`
	SameAs    string           `json:"same_as,omitempty"` // the first of its copies, if they have all that is asked for
	Copies    []ledger.Copy    `json:"copies,omitempty"`  // that are in the table, or come before it in the plan
	SHA256    string           `json:"sha256,omitempty"`  // where it has copies
	Range     *manifest.Range  `json:"range,omitempty"`   // that alone is read
	Cuts      []int64          `json:"cuts,omitempty"`    // where the ranges of the file begin: only digests are made
}

// ReadPieces reads whole pieces, one a line; name is r's, for errors.
func ReadPieces(r io.Reader, name string) ([]Piece, error) {
	var out []Piece
	err := piece.Each(r, name, PieceKind, piece.Version, func(h piece.Header, line []byte) error {
		var p Piece
		if err := p.read(line); err != nil {
			return fmt.Errorf("%s: piece %d: %w", name, h.Piece, err)
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

// read reads a whole piece.
func (p *Piece) read(line []byte) error {
	if err := piece.Decode(line, p); err != nil {
		return err
	}
	return p.check()
}

// checkPlan returns an error if id is not a valid ID of a plan.
func checkPlan(id string) error {
	if b, err := hex.DecodeString(id); err != nil || len(b) != idBytes {
		return fmt.Errorf("%w: its plan is %q", piece.ErrPiece, id)
	}
	return nil
}

// check refuses what no plan prints; names of files are made of some of it.
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

// Line is the piece as one line, without its end.
func (p *Piece) Line() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		panic(err) // strings, numbers and dates only
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// idBytes is how much of a digest tells plans apart.
const idBytes = 10

// planID returns the digest of the pieces without the name of their plan.
func planID(pieces []Piece) string {
	h := sha256.New()
	for _, p := range pieces {
		p.Plan = ""
		h.Write(append(p.Line(), '\n'))
	}
	return hex.EncodeToString(h.Sum(nil)[:idBytes])
}

// wholePlan brings pieces in order, and refuses those that are not all of one plan.
func wholePlan(pieces []Piece) ([]Piece, error) {
	headers := make([]piece.Header, len(pieces))
	for i := range pieces {
		headers[i] = pieces[i].Header
	}
	if err := piece.Check(headers); err != nil {
		return nil, err
	}
	all := make([]Piece, pieces[0].Of)
	for _, p := range pieces {
		all[p.Piece] = p
	}
	if all[0].gone() { // with the folder of the plan
		return all, nil
	}
	if planID(all) != all[0].Plan {
		return nil, fmt.Errorf("%w: the lines are not those that bulkload plan printed: something in them was changed", piece.ErrPiece)
	}
	return all, nil
}

// ParseJob is the job of the piece.
func (p *Piece) ParseJob() (*job.Job, error) { return job.Parse(p.Job.Name, []byte(p.Job.Text)) }

// folder returns the folder that the plan keeps until it is committed.
func (p *Piece) folder(l *load) catalog.Folder {
	return catalog.Folder{FS: l.cfg.FS, Plans: l.cfg.Store.Plans(), ID: p.Plan}
}

// splits returns the split points of the table if it does not exist yet.
func (p *Piece) splits() split.Points {
	var out split.Points
	if p.Splits != nil {
		for _, k := range *p.Splits {
			out = append(out, []byte(k))
		}
	}
	return out
}

// inputs are the piece's files as a load knows them.
func (l *load) inputsOf(p *Piece) ([]*input, error) {
	var out []*input
	for i := range p.Inputs {
		f := &p.Inputs[i]
		kind := -1
		if f.Behaviour != "" {
			var ok bool
			if kind, ok = l.job.Schema.Kind(f.Behaviour); !ok {
				return nil, fmt.Errorf("%w: the job of the piece has no behaviour %q", bulkload.ErrRequest, f.Behaviour)
			}
		}
		in := &input{number: f.Number, part: f.Part, covered: slices.Clone(f.Covered), only: f.Range, cuts: f.Cuts, planned: f.plannedCopies()}
		in.Path, in.Rel, in.Date, in.Kind, in.Size, in.Modified = f.Path, f.Rel, f.Date, kind, f.Size, f.Modified
		out = append(out, in)
	}
	return out, nil
}

// pieceInput is the inverse of inputsOf.
func (l *load) pieceInput(in *input) PieceInput {
	f := PieceInput{
		Path: in.Path, Rel: in.Rel, Date: in.Date, Behaviour: l.behaviour(in), Size: in.Size, Modified: in.Modified,
		Number: in.number, Part: in.part, Covered: in.covered, SameAs: in.sameAs, Range: in.only, Cuts: in.cuts,
	}
	if len(in.copies) > 0 {
		f.Copies, f.SHA256 = in.copies, in.sha
	}
	return f
}
