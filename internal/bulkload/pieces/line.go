package pieces

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"

	"usertrail/internal/format/job"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// lineVersion is the version of a Line that refers to its piece in a file. A line of version 1
// is a whole piece.
const lineVersion = 2

// A Line refers to one piece. It has a few hundred bytes, whatever the size of the job and of
// the piece. The piece itself is in the folder of its plan:
//
//	plans/ID/pieces.jsonl   a Piece that has only the job and the splits, then all pieces without them, one a line
type Line struct {
	piece.Header
	Access
	Common int64  `json:"common"` // bytes of the first line of the file
	At     int64  `json:"at"`     // offset of the piece in the file
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of both

	inline *Piece // of version 1
}

// Access has what a worker needs to open the table, in addition to its address.
type Access struct {
	Catalog string `json:"catalog,omitempty"`
	Family  string `json:"family,omitempty"`
	Root    string `json:"root,omitempty"`
	Others  bool   `json:"others,omitempty"`

	Protection string `json:"protection,omitempty"` // the least of every connection that the job demands
}

// Job returns a job that has enough to open the table.
func (l *Line) Job() (*job.Job, error) {
	if l.inline != nil {
		return l.inline.ParseJob()
	}
	return &job.Job{
		Table:    job.Table{Catalog: l.Catalog, Family: l.Family, Root: l.Root, Others: l.Others},
		Kerberos: job.Kerberos{Protection: l.Protection},
	}, nil
}

// ReadLines reads lines of a plan. name is the name of r in errors.
func ReadLines(r io.Reader, name string) ([]Line, error) {
	var out []Line
	err := piece.Each(r, name, Kind, lineVersion, func(h piece.Header, text []byte) error {
		l := Line{Header: h}
		var err error
		if h.Version == piece.Version {
			l.inline = new(Piece)
			err = l.inline.read(text)
		} else if err = piece.Decode(text, &l); err == nil {
			err = l.check()
		}
		if err != nil {
			return fmt.Errorf("%s: piece %d: %w", name, h.Piece, err)
		}
		out = append(out, l)
		return nil
	})
	return out, err
}

// check returns an error for a line that no plan prints. Some fields become parts of file names.
func (l *Line) check() error {
	if err := checkPlan(l.Plan); err != nil {
		return err
	}
	if l.Table == "" || l.Common < 1 || l.At < l.Common || l.Bytes < 1 || l.At+l.Bytes < l.At {
		return fmt.Errorf("%w: its table is %q and it is %d bytes from byte %d on", piece.ErrPiece, l.Table, l.Bytes, l.At)
	}
	return nil
}

// Lines returns the lines of the pieces that Plan returned.
func Lines(all []Piece) ([]Line, error) {
	out, _, err := lines(all)
	return out, err
}

// lines returns the lines of pieces, and the file that has the pieces.
func lines(all []Piece) (out []Line, file []byte, err error) {
	first := &all[0]
	j, err := first.ParseJob()
	if err != nil {
		return nil, nil, err
	}
	access := Access{
		Catalog: j.Table.Catalog, Family: j.Table.Family, Root: j.Table.Root, Others: j.Table.Others,
		Protection: j.Kerberos.Protection,
	}
	file = append((&Piece{Header: first.Header, Splits: first.Splits, Job: first.Job}).Line(), '\n')
	common := file[:len(file):len(file)]
	for _, p := range all {
		p.Splits, p.Job = nil, Job{}
		text := p.Line()
		l := Line{
			Header: p.Header, Access: access, Common: int64(len(common)), At: int64(len(file)), Bytes: int64(len(text)),
			SHA256: digestOf(common, text),
		}
		l.Version = lineVersion
		out = append(out, l)
		file = append(append(file, text...), '\n')
	}
	return out, file, nil
}

func digestOf(parts ...[]byte) string {
	h := sha256.New()
	for _, b := range parts {
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Text returns the line as it is printed, without its end.
func (l *Line) Text() []byte { return encode(l) }

// OpenAll is Open for the complete list of a plan's lines.
func OpenAll(ctx context.Context, fs dfs.FS, store table.Store, all []Line) ([]Piece, error) {
	headers := make([]piece.Header, len(all))
	for i := range all {
		headers[i] = all[i].Header
	}
	if err := piece.Check(headers); err != nil {
		return nil, err
	}
	return Open(ctx, fs, store, all)
}

// Open reads the pieces of some lines of one plan from its folder. If the folder is gone,
// they have their headers only: Run and Commit find out whether the plan is committed.
func Open(ctx context.Context, fs dfs.FS, store table.Store, all []Line) ([]Piece, error) {
	var f dfs.File
	var folder catalog.Folder
	out := make([]Piece, len(all))
	for i := range all {
		l := &all[i]
		if l.inline != nil {
			out[i] = *l.inline
			continue
		}
		out[i].Header = l.Header
		out[i].Version = piece.Version
		if f == nil {
			var err error
			folder = catalog.Folder{FS: fs, Plans: store.Plans(), ID: l.Plan}
			f, err = folder.OpenPieces(ctx)
			if errors.Is(err, iofs.ErrNotExist) {
				return headersOf(all), nil
			}
			if err != nil {
				return nil, err
			}
			defer f.Close()
		}
		if err := l.readFrom(f, &out[i]); errors.Is(err, piece.ErrPiece) {
			return nil, fmt.Errorf("piece %d of plan %s: %w, or in %s: give the lines unchanged, or plan again", l.Piece, l.Plan, err, folder.Lines())
		} else if err != nil {
			return nil, fmt.Errorf("piece %d of plan %s: %w", l.Piece, l.Plan, err)
		}
	}
	return out, nil
}

// headersOf returns pieces with only their headers.
func headersOf(all []Line) []Piece {
	out := make([]Piece, len(all))
	for i := range all {
		out[i].Header = all[i].Header
	}
	return out
}

// readFrom reads the piece of l from the file of the plan's pieces.
func (l *Line) readFrom(f dfs.File, p *Piece) error {
	changed := fmt.Errorf("%w: the lines are not those that bulkload plan printed: something in them was changed", piece.ErrPiece)
	if l.At+l.Bytes > f.Size() {
		return changed
	}
	common, text := make([]byte, l.Common), make([]byte, l.Bytes)
	for at, b := range map[int64][]byte{0: common, l.At: text} {
		if _, err := io.ReadFull(io.NewSectionReader(f, at, int64(len(b))), b); err != nil {
			return err
		}
	}
	if digestOf(common, text) != l.SHA256 {
		return changed
	}
	var shared Piece
	if err := errors.Join(piece.Decode(common, &shared), piece.Decode(text, p)); err != nil {
		return err
	}
	p.Splits, p.Job = shared.Splits, shared.Job
	if p.Plan != l.Plan || p.Piece != l.Piece || p.Of != l.Of || p.Table != l.Table {
		return changed
	}
	return p.complete()
}
