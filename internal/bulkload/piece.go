package bulkload

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/catalog"
	"usertrail/internal/job"
	"usertrail/internal/manifest"
	"usertrail/internal/split"
)

// ErrStale is wrapped where a plan no longer fits what is in the table: plan again.
var ErrStale = fmt.Errorf("%w: the plan is out of date", ErrRequest)

// PieceKind and PieceVersion stand in every line of a load's plan.
const (
	PieceKind    = "load"
	PieceVersion = 1
)

// A Piece is some of the delivered files of a load, and all that a worker needs to know
// of them. As one line of JSON it goes to whoever does it.
type Piece struct {
	Usertrail string          `json:"usertrail"`
	Version   int             `json:"version"`
	Plan      string          `json:"plan"`  // a digest of all pieces
	Number    int             `json:"piece"` // from 0
	Of        int             `json:"of"`
	Table     string          `json:"table"`
	Mode      Mode            `json:"mode"`
	Span      behaviour.Span  `json:"span"`
	Types     []string        `json:"types"` // all behaviours of the job where there are none
	Alone     bool            `json:"alone,omitempty"`
	Splits    *[]manifest.Key `json:"splits,omitempty"` // of a table that was not there
	Inputs    []PieceInput    `json:"inputs"`
	Job       PieceJob        `json:"job"`
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
	SameAs    string           `json:"same_as,omitempty"` // the file that has its bytes
	SHA256    string           `json:"sha256,omitempty"`  // where it is the same as another
}

// ReadPieces reads lines of a plan, each of them with or without the offset and the tab
// that Hadoop's NLineInputFormat puts before it. Blank lines are passed over.
func ReadPieces(r io.Reader) ([]Piece, error) {
	var out []Piece
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read pieces: %w", err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			p, wrong := ParsePiece(text)
			if wrong != nil {
				return nil, fmt.Errorf("line %d: %w", n, wrong)
			}
			out = append(out, *p)
		}
		if err == io.EOF {
			return out, nil
		}
	}
}

// ParsePiece reads one line of a plan.
func ParsePiece(line []byte) (*Piece, error) {
	if offset, rest, ok := bytes.Cut(line, []byte("\t")); ok && len(bytes.Trim(offset, "0123456789")) == 0 {
		line = rest
	}
	head := struct {
		Usertrail string
		Version   int
	}{}
	p := new(Piece)
	err := json.Unmarshal(line, &head)
	if err == nil {
		err = wrongHead(head.Usertrail, head.Version)
	}
	if err == nil {
		err = json.Unmarshal(line, p)
	}
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it is not a piece of a load, as bulkload plan prints them: %w", ErrRequest, err)
	}
	return p, nil
}

func wrongHead(kind string, version int) error {
	switch {
	case kind == "":
		return errors.New(`"usertrail" is missing`)
	case kind != PieceKind:
		return fmt.Errorf("it is a piece of another command: %q", kind)
	case version != PieceVersion:
		return fmt.Errorf("it has version %d, this program knows %d: plan and do pieces with one version", version, PieceVersion)
	}
	return nil
}

// check refuses what no plan prints; names of files are made of some of it.
func (p *Piece) check() error {
	id, err := hex.DecodeString(p.Plan)
	switch {
	case err != nil || len(id) != idBytes:
		return fmt.Errorf("its plan is %q", p.Plan)
	case p.Number < 0 || p.Number >= p.Of:
		return fmt.Errorf("it is number %d of %d", p.Number, p.Of)
	case p.Table == "" || len(p.Inputs) == 0 || p.Job.Text == "":
		return errors.New("its table, its inputs or its job are missing")
	case p.Mode != HFile && p.Mode != Put:
		return fmt.Errorf("its mode is %q", p.Mode)
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

// planID is the digest of all that pieces say, but for what they are called after it.
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
	if len(pieces) == 0 {
		return nil, fmt.Errorf("%w: there is no piece: give all lines that bulkload plan printed", ErrRequest)
	}
	first := &pieces[0]
	all := make([]Piece, first.Of)
	for i := range pieces {
		p := &pieces[i]
		if p.Plan != first.Plan || p.Of != first.Of {
			return nil, fmt.Errorf("%w: lines of two plans, %s and %s: commit each by its own lines", ErrRequest, first.Plan, p.Plan)
		}
		all[p.Number] = *p
	}
	var missing []int
	for n := range all {
		if all[n].Plan == "" {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w: of the %d lines of plan %s those of %s are missing", ErrRequest, first.Of, first.Plan, numbers(missing))
	}
	if planID(all) != first.Plan {
		return nil, fmt.Errorf("%w: the lines are not those that bulkload plan printed: something in them was changed", ErrRequest)
	}
	return all, nil
}

// numbers are pieces by number, of many the first few.
func numbers(ns []int) string {
	const most = 20
	words := make([]string, 0, most)
	for _, n := range ns[:min(len(ns), most)] {
		words = append(words, fmt.Sprint(n))
	}
	out := strings.Join(words, ", ")
	if len(ns) > most {
		out += fmt.Sprintf(" and %d more", len(ns)-most)
	}
	if len(ns) == 1 {
		return "piece " + out
	}
	return "pieces " + out
}

// ParseJob is the job of the piece.
func (p *Piece) ParseJob() (*job.Job, error) { return job.Parse(p.Job.Name, []byte(p.Job.Text)) }

// folder is what the plan keeps until it is committed.
func (p *Piece) folder(l *load) catalog.Folder {
	return catalog.Folder{FS: l.cfg.FS, Plans: l.cfg.Store.Plans(), ID: p.Plan}
}

// splits are those of the table where it is not there.
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
				return nil, fmt.Errorf("%w: the job of the piece has no behaviour %q", ErrRequest, f.Behaviour)
			}
		}
		in := &input{number: f.Number, part: f.Part, covered: slices.Clone(f.Covered)}
		in.Path, in.Rel, in.Date, in.Kind, in.Size, in.Modified = f.Path, f.Rel, f.Date, kind, f.Size, f.Modified
		out = append(out, in)
	}
	return out, nil
}

// pieceInput is the inverse of inputsOf.
func (l *load) pieceInput(in *input) PieceInput {
	f := PieceInput{
		Path: in.Path, Rel: in.Rel, Date: in.Date, Behaviour: l.behaviour(in), Size: in.Size, Modified: in.Modified,
		Number: in.number, Part: in.part, Covered: in.covered, SameAs: in.sameAs,
	}
	if in.sameAs != "" {
		f.SHA256 = in.sha
	}
	return f
}
