package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/store/dfs"
)

const (
	plansName   = "plans"
	planName    = "plan.json"
	piecesName  = "pieces"
	begunEnding = ".begun.json"
	linesName   = "pieces.jsonl" // in a plan's folder
)

// Plans returns the folder of the plans of the catalog in dir. Loads do not change it, because
// workers do pieces without the table's lock.
func Plans(dir string) string { return dfs.Join(dir, plansName) }

// PieceName returns the name of the file of a piece and a region of a plan, without its ending.
// The name is relative to the catalog's directory.
func PieceName(plan string, piece, region int) string {
	return fmt.Sprintf("%s/%s/%05d-%04d", piecesName, plan, piece, region)
}

// PieceRoll returns the name of the roll of a piece whose cells are put.
func PieceRoll(plan string, piece int) string {
	return fmt.Sprintf("%s/%s/%05d.roll", piecesName, plan, piece)
}

// OfPlan returns the plan to which a file of PieceName or PieceRoll belongs, and the rest of
// its name.
func OfPlan(name string) (plan, rest string, ok bool) {
	if name, ok = strings.CutPrefix(name, piecesName+"/"); !ok {
		return "", "", false
	}
	return strings.Cut(name, "/")
}

// PieceFolder returns the folder of the files of a plan's pieces, relative to the catalog's
// directory.
func PieceFolder(plan string) string { return piecesName + "/" + plan }

// planOfLoad matches the name of a file that records which plan became a load. It is in the folder of the pieces, because it is kept as
// long as the files of the plan's pieces.
var planOfLoad = regexp.MustCompile(`^(\d{6,})-([0-9a-f]+)\.json$`)

// PlanOfLoad returns the name of the record that a plan became load n, relative to the catalog's directory.
func PlanOfLoad(n int, plan string) string {
	return fmt.Sprintf("%s/%06d-%s.json", piecesName, n, plan)
}

// setPlan records that a plan becomes load n. The names of the files of its pieces have no number, so without the record no file would
// show a load whose ledger is lost.
func (c *Catalog) setPlan(ctx context.Context, n int, plan string) error {
	err := manifest.Write(ctx, c.fs, dfs.Join(c.dir, PlanOfLoad(n, plan)), &manifest.Loading{Version: manifest.Version, Load: n})
	if err != nil {
		return fmt.Errorf("commit load %d: %w", n, unwritable(err))
	}
	return nil
}

// A Folder holds the files of a plan until the plan is committed.
type Folder struct {
	FS    dfs.FS
	Plans string // as Plans returns it
	ID    string
}

func (f Folder) at(name string) string { return dfs.Join(f.Plans, f.ID, name) }

func (f Folder) piece(n int, ending string) string { return f.at(fmt.Sprintf("%05d%s", n, ending)) }

// Begin writes the plan. The caller holds the table's lock.
func (f Folder) Begin(ctx context.Context, p *manifest.Plan) error {
	p.Version, p.ID = manifest.Version, f.ID
	return manifest.Write(ctx, f.FS, f.at(planName), p)
}

// Plan reads the plan. If the plan was never written or has been removed, the error wraps
// fs.ErrNotExist. If the file is damaged, or something else has the name of a folder, the error has the next step.
func (f Folder) Plan(ctx context.Context) (*manifest.Plan, error) {
	p := new(manifest.Plan)
	err := read(ctx, f.FS, f.at(planName), p)
	if errors.Is(err, manifest.ErrDamaged) {
		err = fmt.Errorf("%w: %s", err, planAgain)
	}
	return p, err
}

// Next steps after the error of a directory, link to itself or pipe in the place of a file of a plan.
const (
	planAgain  = "remove it, and plan again"
	PieceAgain = "remove it, and run the piece again"
)

// SetPieces writes the lines of the plan's pieces, unless the file has them already. The same
// plan ID always has the same pieces. SetPieces replaces a damaged file. Callers call Begin
// after it.
func (f Folder) SetPieces(ctx context.Context, text []byte) error {
	have, err := dfs.ReadFile(ctx, f.FS, f.at(linesName))
	if err == nil && bytes.Equal(have, text) {
		return nil
	}
	if err == nil || errors.Is(err, iofs.ErrNotExist) {
		err = dfs.WriteFile(ctx, f.FS, f.at(linesName), text)
	}
	return f.explained(ctx, err)
}

// explained adds the next step to the error of a file of the plan. If something else has the name of the folder of the plans or of the
// plan's folder, the error names this folder.
func (f Folder) explained(ctx context.Context, err error) error {
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, dfs.ErrNotDir) || errors.Is(err, syscall.ELOOP) {
		if wrong := f.check(ctx); wrong != nil {
			return wrong
		}
	}
	return unlistable(plansName, dfs.InPlace(err, planAgain))
}

// check returns an error if something else has the name of the folder of the plans or of the plan's folder. Neither need exist.
func (f Folder) check(ctx context.Context) error {
	for _, folder := range []string{plansName, plansName + "/" + f.ID} {
		if err := checkFolder(ctx, f.FS, dfs.Dir(f.Plans), folder); err != nil {
			return err
		}
	}
	return nil
}

// Lines returns the path of the file that SetPieces wrote.
func (f Folder) Lines() string { return f.at(linesName) }

// OpenPieces opens the file that SetPieces wrote.
func (f Folder) OpenPieces(ctx context.Context) (dfs.File, error) {
	file, err := dfs.OpenRegular(ctx, f.FS, f.at(linesName))
	return file, f.explained(ctx, err)
}

// Reported returns the numbers of the pieces that have a report.
func (f Folder) Reported(ctx context.Context) ([]int, error) {
	reports, err := f.reports(ctx)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, name := range reports {
		n, err := strconv.Atoi(strings.TrimSuffix(dfs.Base(name), ".json"))
		if err == nil && dfs.Base(name) == dfs.Base(f.piece(n, ".json")) { // not 000002.json
			out = append(out, n)
		}
	}
	return out, nil
}

// reports returns the paths of the reports.
func (f Folder) reports(ctx context.Context) ([]string, error) {
	list, err := f.FS.List(ctx, dfs.Join(f.Plans, f.ID))
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, file := range list {
		if reportName.MatchString(dfs.Base(file.Name)) {
			out = append(out, file.Name)
		}
	}
	return out, f.explained(ctx, err)
}

// dropReports removes all reports, so that each piece is done again.
func (f Folder) dropReports(ctx context.Context) error {
	reports, err := f.reports(ctx)
	if err != nil {
		return err
	}
	for _, name := range reports {
		if err := f.FS.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// reportName matches the names of reports.
var reportName = regexp.MustCompile(`^\d{5,}\.json$`)

// Lock locks a piece for one worker. If another worker does the piece, the error wraps
// dfs.ErrLocked.
func (f Folder) Lock(ctx context.Context, piece int) (dfs.Lock, error) {
	l, err := f.FS.Lock(ctx, f.piece(piece, ".lock"))
	if err == nil {
		breakpoint.Reach(breakpoint.Begun)
	}
	return l, err
}

// Report returns the report of a piece, or nil if the piece has not reported.
func (f Folder) Report(ctx context.Context, piece int) (*manifest.Report, error) {
	r := new(manifest.Report)
	name := f.piece(piece, ".json")
	err := read(ctx, f.FS, name, r)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, dfs.ErrDirectory) {
		return nil, fmt.Errorf("%w: %s", err, PieceAgain)
	}
	if err == nil && (r.Plan != f.ID || r.Piece != piece) {
		err = fmt.Errorf("%s: %w: it is the report of piece %d of plan %s", name, manifest.ErrDamaged, r.Piece, r.Plan)
	}
	return r, err
}

// SetReport writes the report of a finished piece.
func (f Folder) SetReport(ctx context.Context, r *manifest.Report) error {
	r.Version, r.Plan = manifest.Version, f.ID
	return manifest.Write(ctx, f.FS, f.piece(r.Piece, ".json"), r)
}

// DropReport removes the report of a piece, so that the piece is done again.
func (f Folder) DropReport(ctx context.Context, piece int) error {
	return f.FS.Remove(ctx, f.piece(piece, ".json"))
}

// Bad returns the path of the file of bad records of a piece's input.
func (f Folder) Bad(piece, input int) string {
	return dfs.Join(f.Plans, f.BadBase(piece, input))
}

// BadBase returns Bad relative to the plans' folder.
func (f Folder) BadBase(piece, input int) string {
	return fmt.Sprintf("%s/%05d-%04d.bad", f.ID, piece, input)
}

// Plans returns the plans that are not committed.
func (c *Catalog) Plans(ctx context.Context) ([]*manifest.Plan, error) {
	var out []*manifest.Plan
	all, err := listDirs(ctx, c.fs, Plans(c.dir))
	if err != nil {
		return nil, err
	}
	for _, dir := range all {
		p, err := c.plan(ctx, dfs.Base(dir))
		if err != nil {
			return nil, err
		}
		if p != nil {
			out = append(out, p)
		}
	}
	return out, nil
}

// plan returns the plan in the folder id, nil if the folder has none.
func (c *Catalog) plan(ctx context.Context, id string) (*manifest.Plan, error) {
	p, err := Folder{c.fs, Plans(c.dir), id}.Plan(ctx)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case p.ID != id: // EndPlan removes the folder of the plan's name
		return nil, fmt.Errorf("%s: %w: it says that it is plan %q; remove that folder if no one commits the plan", dfs.Join(Plans(c.dir), id), manifest.ErrDamaged, p.ID)
	}
	return p, nil
}

// hasPlan reports whether the folder id of the plans in dir has a plan.
func hasPlan(ctx context.Context, fs dfs.FS, dir, id string) (bool, error) {
	f := Folder{fs, Plans(dir), id}
	_, err := fs.Stat(ctx, f.at(planName))
	if err == nil {
		return true, nil
	}
	if wrong := f.check(ctx); wrong != nil {
		return false, wrong
	}
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return false, nil
	case errors.Is(err, syscall.ELOOP): // the link is in the folder
		_, err = f.Plan(ctx)
		return err == nil, err
	}
	return false, unlistable(plansName, err)
}

// EndPlan removes a plan. The next Sweep removes the files of its pieces that the manifest does
// not name. The caller holds the table's lock.
func (c *Catalog) EndPlan(ctx context.Context, id string) error {
	return c.fs.Remove(ctx, dfs.Join(Plans(c.dir), id))
}

// sweepPieces removes the reports and the files of pieces whose plan no longer exists. It keeps the files in
// known.
func (c *Catalog) sweepPieces(ctx context.Context, known []string) error {
	all, err := listDirs(ctx, c.fs, dfs.Join(c.dir, piecesName))
	if err != nil {
		return err
	}
	for _, dir := range all {
		id := dfs.Base(dir)
		planned, err := hasPlan(ctx, c.fs, c.dir, id)
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		if planned {
			continue
		}
		if err := (Folder{c.fs, Plans(c.dir), id}).dropReports(ctx); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		if err := c.sweepFolder(ctx, dir, PieceFolder(id), known); err != nil {
			return err
		}
	}
	return c.sweepPlans(ctx)
}

// sweepPlans removes the records of the plans whose pieces have no files any more, and of loads that were killed before the manifest
// named them: their plans may become other loads.
func (c *Catalog) sweepPlans(ctx context.Context) error {
	list, err := c.fs.List(ctx, dfs.Join(c.dir, piecesName))
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return fmt.Errorf("sweep: %w", unlistable(piecesName, err))
	}
	folders := map[string]bool{}
	for _, f := range list {
		folders[dfs.Base(f.Name)] = f.Dir
	}
	for _, f := range list {
		match := planOfLoad.FindStringSubmatch(dfs.Base(f.Name))
		if f.Dir || match == nil {
			continue
		}
		n, err := strconv.Atoi(match[1])
		if err != nil || folders[match[2]] && n < c.Manifest().Next() {
			continue
		}
		if err := c.fs.Remove(ctx, f.Name); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	return nil
}

// sweepFolder removes the files in dir that are not in known. If no file in dir is in known, it
// also removes dir. dir is a folder of the catalog.
func (c *Catalog) sweepFolder(ctx context.Context, dir, folder string, known []string) error {
	if !slices.ContainsFunc(known, func(name string) bool { return strings.HasPrefix(name, folder+"/") }) {
		if err := c.fs.Remove(ctx, dir); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		return nil
	}
	if err := c.fs.Sweep(ctx, dir); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return c.sweepOthers(ctx, folder, known)
}

// listDirs returns the folders in dir, a folder of the catalog. It returns none if dir does not exist, and an error if dir is a link to
// nothing.
func listDirs(ctx context.Context, fs dfs.FS, dir string) ([]string, error) {
	list, err := fs.List(ctx, dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, checkFolder(ctx, fs, dfs.Dir(dir), dfs.Base(dir))
	}
	var out []string
	for _, f := range list {
		if f.Dir {
			out = append(out, f.Name)
		}
	}
	return out, unlistable(dfs.Base(dir), err)
}

// LeavePiece records the files and rolls that a piece of a plan may put into the table from now
// on. Finish removes the record once a load holds its files.
func (c *Catalog) LeavePiece(ctx context.Context, plan string, piece int, b *manifest.Begun) error {
	b.Version = manifest.Version
	return manifest.Write(ctx, c.fs, Folder{c.fs, Plans(c.dir), plan}.piece(piece, begunEnding), b)
}

// leftByPieces returns, by file name, the records in which pieces list the files they may have
// put.
func leftByPieces(ctx context.Context, fs dfs.FS, dir string) (map[string]*manifest.Begun, error) {
	plans, err := listDirs(ctx, fs, Plans(dir))
	if err != nil {
		return nil, err
	}
	out := map[string]*manifest.Begun{}
	for _, plan := range plans { // a few: those that are committed have none
		list, err := fs.List(ctx, plan)
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			return nil, err
		}
		for _, f := range list {
			if !strings.HasSuffix(f.Name, begunEnding) {
				continue
			}
			b := new(manifest.Begun)
			err := read(ctx, fs, f.Name, b)
			if errors.Is(err, iofs.ErrNotExist) {
				continue // a load that holds it ended meanwhile
			}
			if err != nil {
				return nil, putAgain(err)
			}
			out[f.Name] = b
		}
	}
	return out, nil
}
