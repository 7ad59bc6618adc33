package metamorphic_test

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The ways in which a finished piece of an extract is damaged. The files of an earlier piece replace its files.
const (
	emptyPart  = "empty part"
	cutPart    = "cut part"
	lostPart   = "lost part"
	olderPart  = "older part"
	lostReport = "lost report"
	cutReport  = "cut report"
	oldReport  = "older report"
)

// partDamages lists the ways.
var partDamages = []string{emptyPart, cutPart, lostPart, olderPart, lostReport, cutReport, oldReport}

// pieceFile matches the path of a report of a piece or of a part, and the number of the piece.
var pieceFile = regexp.MustCompile(`_piece-(\d+)(?:\.json|/(?:.*/)?part-[^/]*)$`)

// A partFile is a file of a finished piece.
type partFile struct {
	path  string
	piece int
}

// pieceFiles returns the reports, or the parts, of the pieces for a result.
func (x *run) pieceFiles(out string, reports bool) ([]partFile, error) {
	var all []partFile
	dir := filepath.Join(x.path(filepath.Dir(out)), "."+filepath.Base(out)+".partial")
	err := filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		m := pieceFile.FindStringSubmatch(path)
		if m == nil || reports != strings.HasSuffix(path, ".json") {
			return nil
		}
		n, err := strconv.Atoi(m[1])
		all = append(all, partFile{path, n})
		return err
	})
	return all, err
}

// damagePart damages a file of a finished piece. The commit must publish nothing. The same plan then counts one finished piece
// less, and only this piece runs again. The commit of the caller then succeeds.
func (x *run) damagePart(s *Step, p *cutPlan) error {
	if s.Damage == "" || x.table(s.Table) == nil || x.table(s.Table).version() != p.table.version() || x.table(s.Table).dropped != p.table.dropped {
		return nil
	}
	reports := slices.Contains([]string{lostReport, cutReport, oldReport}, s.Damage)
	files, err := x.pieceFiles(s.Out, reports)
	if err != nil || len(files) == 0 {
		return err
	}
	f := files[s.Pick%len(files)]
	damaged, err := x.spoil(s.Damage, f)
	if err != nil || !damaged {
		return err
	}
	once := &Step{Do: "damaged " + s.Do}
	if !reports || s.Pick%2 == 0 {
		got, err := x.committing(once, p)
		if err = errors.Join(err, got.want([]int{75})); err != nil {
			return fmt.Errorf("extract commit: %w", err)
		}
	}
	plan, err := x.plannedCut(once, p)
	if err = errors.Join(err, plan.want([]int{0})); err != nil {
		return fmt.Errorf("extract plan: %w", err)
	}
	if n := plan.number("done"); n != len(p.lines)-1 || plan.Stdout != strings.Join(p.lines, "") {
		return fmt.Errorf("extract plan: %d of %d pieces are done, want one less than all pieces of the same plan", n, len(p.lines))
	}
	for n, line := range p.lines {
		did, err := x.runPiece(once, line, n)
		if err = errors.Join(err, did.want([]int{0})); err != nil {
			return fmt.Errorf("extract run-piece: %w", err)
		}
		if already := did.last["already"] == true; already != (n != f.piece) {
			return fmt.Errorf("extract run-piece: piece %d was done before: %t; the damaged piece is %d", n, already, f.piece)
		}
	}
	return nil
}

// spoil damages a file. It reports false if there is no older file.
func (x *run) spoil(damage string, f partFile) (bool, error) {
	b, err := os.ReadFile(f.path)
	if err != nil {
		return false, err
	}
	kind := filepath.Ext(f.path)
	older := x.parts[kind]
	x.parts[kind] = b
	name, err := filepath.Rel(x.path(""), f.path)
	if err != nil {
		return false, err
	}
	now := b[:0]
	switch damage {
	case lostPart, lostReport:
		x.script.line("rm %s", word(name))
		return true, os.Remove(f.path)
	case cutPart, cutReport:
		now = b[:len(b)-2] // a report ends in a line end
	case olderPart, oldReport:
		if older == nil || string(older) == string(b) {
			return false, nil
		}
		now = older
	}
	x.script.write(name, now)
	return true, os.WriteFile(f.path, now, 0o644)
}
