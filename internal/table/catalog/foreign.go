package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/runlog"
)

// ours matches the names of files that runs write into a catalog, relative to the catalog's
// directory. A family may have any name.
var ours = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join([]string{
		`lock|begun\.json|handover\.json|loading\.json|retired\.json`,
		`runs/\d{8}T\d{6}\.\d{3}Z-\d+-[0-9a-z]+\.json`,
		`(?:loads|base)/\d{6,}\.json`,
		`[^/]+/r?\d{6,}-\d{4,}(?:-\d+)*\.(?:hfile|roll)`,
		`[^/]+/(?:puts|lost)-[0-9a-f]{16}\.roll`,
		`tmp/(?:.+/)?(?:run-\d{3,}|merge)-\d{5,}`,
		`quarantine/[^/]+\.jsonl(?:\.kept-[0-9a-f]{16})?`,
		`plans/[0-9a-f]+/(?:plan\.json|pieces\.jsonl|\d{5,}(?:\.json|\.lock|\.begun\.json|-\d{4,}\.bad))`,
		`pieces/\d{6,}-[0-9a-f]+\.json`,
		`pieces/[0-9a-f]+/(?:staging/.+/)?\d{5,}(?:-\d{4,})?(?:-\d+)*\.(?:hfile|roll)`,
		`staging/(?:.+/)?\d{6,}-\d{4,}(?:-\d+)*\.hfile`,
		`convert/(?:plan|\d{6,})\.json`,
		`forgotten/\d{6,}/.+`,
	}, "|") + `)$`)
})

// isOurs reports whether runs write files, or directories, with a name. All that is in the folder of a plan is of its pieces.
func isOurs(name string, isDir bool) bool {
	if _, _, ofPiece := OfPlan(name); ofPiece {
		return true
	}
	return !isDir && ours().MatchString(name)
}

// ofTable matches the names that runs write only for a table that exists or is being made.
var ofTable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:begun|handover|retired)\.json|loads/.*|base/.*|quarantine/.*|.*\.(?:hfile|roll))$`)
})

// CheckBare checks a directory without a manifest.
//
//   - It returns an error that wraps table.ErrNoManifest if dir held a table: the directory
//     has files of a table, or its run log has a run that loaded, and no first load or
//     conversion is under way or was killed. It returns such an error also if dir is a link to
//     nothing, because a disk may not be mounted.
//   - It returns an error that wraps fs.ErrExist if dir has a file that no run wrote: a load
//     would remove it.
//
// CheckBare returns nil if the directory does not exist or has a manifest.
func CheckBare(ctx context.Context, fs dfs.FS, dir string) error {
	there, err := hasManifest(ctx, fs, dir)
	if there {
		return nil
	}
	b := bare{fs: fs, dir: dir, pieces: map[string]string{}, plans: map[string]bool{}}
	if err == nil {
		err = b.look(ctx, "")
	}
	if absent(err) {
		return linkToNothing(ctx, fs, dir)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", dir, err)
	}
	if err := b.lost(ctx); err != nil {
		// The first load may have ended meanwhile.
		if there, fail := hasManifest(ctx, fs, dir); there || fail != nil {
			return fail
		}
		return err
	}
	if b.foreign != "" {
		return fmt.Errorf("table %s: %w: the directory holds %s, and no table: name another directory, or move the file away", dir, iofs.ErrExist, b.foreign)
	}
	return nil
}

// CheckNew does the same as CheckBare and, if dir has no manifest, as CheckPlace.
func CheckNew(ctx context.Context, fs dfs.FS, dir string) error {
	if there, err := hasManifest(ctx, fs, dir); there && err == nil {
		return nil
	}
	if err := CheckBare(ctx, fs, dir); err != nil {
		return err
	}
	return CheckPlace(ctx, fs, dir)
}

// CheckPlace returns an error that wraps table.ErrUnfit if dir is inside a manifest.Outer. Loads of an outer table would remove the files
// of a new table in dir.
func CheckPlace(ctx context.Context, fs dfs.FS, dir string) error {
	around, err := manifest.Around(ctx, fs, dir)
	if err != nil {
		return fmt.Errorf("table %s: %w", dir, noDirectory(table.Unreadable(err)))
	}
	const advice = "name another directory, with --table or in the job"
	why := around.Why(advice)
	switch {
	case around.Dir == "":
		return nil
	case why != "":
		return fmt.Errorf("%w: %s is inside %s", table.ErrUnfit, dir, why)
	}
	return fmt.Errorf("%w: %s is inside the table %s, whose loads remove files that they do not know: "+advice, table.ErrUnfit, dir, around.Dir)
}

// linkToNothing returns an error if dir, or a directory above it, is a link to nothing.
func linkToNothing(ctx context.Context, fs dfs.FS, dir string) error {
	link, err := dfs.LinkToNothing(ctx, fs, dir)
	if err == nil && link != "" {
		err = fmt.Errorf("%w: %s is a link to nothing: mount the disk to which the link leads, or remove the link", table.ErrNoManifest, link)
	}
	if err != nil {
		return fmt.Errorf("table %s: %w", dir, err)
	}
	return nil
}

func hasManifest(ctx context.Context, fs dfs.FS, dir string) (bool, error) {
	_, err := fs.Stat(ctx, dfs.Join(dir, ManifestName))
	switch {
	case absent(err):
		return false, nil
	case errors.Is(err, syscall.ELOOP):
		return true, nil // ReadTable has the next step
	}
	return err == nil, table.Unreadable(err)
}

// A bare is a directory without a manifest.
type bare struct {
	fs        dfs.FS
	dir       string
	foreign   string            // the first file that no run wrote; "" if there is none
	tableFile string            // the first file of a table; "" if there is none
	plans     map[string]bool   // those that are not committed
	pieces    map[string]string // a file of a piece by its plan
	making    bool              // the plan of a conversion is there
	ledger    string            // the first ledger or base; "" if there is none
}

// look scans the files in a folder of the directory, and in the folders below it.
func (b *bare) look(ctx context.Context, folder string) error {
	list, err := b.fs.List(ctx, dfs.Join(b.dir, folder))
	if err != nil {
		return err
	}
	for _, f := range list {
		name := strings.TrimPrefix(folder+"/"+dfs.Base(f.Name), "/")
		if !f.Dir {
			b.file(name)
		} else if deep := folder != ""; deep && b.foreign != "" {
			continue // it may be a large tree of others
		} else if err := b.look(ctx, name); err != nil && !errors.Is(err, iofs.ErrNotExist) { // removed meanwhile
			return err
		}
	}
	return nil
}

func (b *bare) file(name string) {
	plan, _, ofPiece := OfPlan(name)
	switch {
	case !ours().MatchString(name):
		b.foreign = cmp.Or(b.foreign, name)
	case strings.HasPrefix(name, forgottenName+"/"):
	case name == dfs.Join(convertName, planName):
		b.making = true
	case strings.HasPrefix(name, plansName+"/"):
		b.plans[strings.Split(name, "/")[1]] = true
	case ofPiece:
		b.pieces[plan] = name
	case ofTable().MatchString(name):
		b.tableFile = cmp.Or(b.tableFile, name)
		if strings.HasPrefix(name, loadsName+"/") || strings.HasPrefix(name, baseName+"/") {
			b.ledger = cmp.Or(b.ledger, name)
		}
	}
}

// lost returns an error that wraps table.ErrNoManifest if the directory held a table.
func (b *bare) lost(ctx context.Context) error {
	l, err := loadingIn(ctx, b.fs, b.dir)
	if err != nil {
		return err
	}
	run, err := runlog.Loaded(ctx, b.fs, b.dir)
	if err != nil || run == nil && l == 1 || b.converting(l, run) {
		return err
	}
	for plan, name := range b.pieces {
		if !b.plans[plan] {
			b.tableFile = cmp.Or(b.tableFile, name)
		}
	}
	if b.tableFile != "" {
		return lostManifest(b.dir, "the directory holds "+b.tableFile)
	}
	if run == nil {
		return nil
	}
	return lostManifest(b.dir, fmt.Sprintf("bulkload %s ended there on %s", run.Command, run.End.At.UTC().Format("2006-01-02 15:04 MST")))
}

// converting reports whether a conversion is making the table, or was killed before it wrote the manifest. Its lock records load 1 before
// the plan is written, and the record is removed after the manifest is written. Without the record, the conversion has written no ledger.
// A run that ended with success, of the conversion or of a later command, shows that the table was finished: these files came from a copy.
func (b *bare) converting(loading int, run *runlog.Run) bool {
	if !b.making || run != nil && run.End.Status == exit.OK {
		return false
	}
	return loading == 1 || loading == 0 && run == nil && b.ledger == ""
}

func lostManifest(dir, why string) error {
	return fmt.Errorf("table %s: %w: %s: mount the disk, or put the file back from a copy, or let bulkload rebuild make it again; if no table is to be kept there, move the directory away", dir, table.ErrNoManifest, why)
}
