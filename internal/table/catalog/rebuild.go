package catalog

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// Each load writes into its ledger the files that it wrote and the rest of the manifest at
// that time. Rebuild makes the manifest again from these ledgers. Ledgers do not have the
// files that a compact or drop makes, and ledgers of older versions have no files. In both
// cases the catalog keeps a copy of the manifest, the base. The ledgers after the base add
// to it. If the directory has a manifest that can be read, and no newer base, Rebuild adds the
// ledgers to that manifest: so it never makes an older one.

const baseName = "base"

// ErrWhole is returned by Rebuild if the table has an intact manifest.
var ErrWhole = errors.New("nothing to rebuild")

func baseOf(rewritten int) string { return fmt.Sprintf("%s/%06d.json", baseName, rewritten) }

// newestBase returns the number of the newest base in dir, which is how often the files of its
// manifest had been rewritten. It returns -1 if dir has no base. It counts a directory in the place of a
// base. Something else in the place of the folder is an error: the table may have bases that cannot be seen.
func newestBase(ctx context.Context, fs dfs.FS, dir string) (int, error) {
	list, err := fs.List(ctx, dfs.Join(dir, baseName))
	if errors.Is(err, iofs.ErrNotExist) {
		return -1, checkFolder(ctx, fs, dir, baseName)
	}
	newest := -1
	for _, f := range list {
		if n, ok := numbered(dfs.Base(f.Name)); ok {
			newest = max(newest, n)
		}
	}
	return newest, unlistable(baseName, err)
}

// needsBase reports whether the ledgers cannot make m again.
func needsBase(m *manifest.Table) bool {
	complete := m.Rewritten == 0 && !slices.ContainsFunc(m.Loads, func(l manifest.LoadRef) bool { return l.SHA256 == "" })
	return len(m.Loads) > 0 && !complete
}

// keepBase writes the base if the ledgers need one and it does not exist, and removes older
// bases. All loads must be in the manifest.
func (c *Catalog) keepBase(ctx context.Context) error {
	m := c.Manifest()
	if !needsBase(m) {
		return nil
	}
	there, err := sizes(ctx, c.fs, dfs.Join(c.dir, baseName))
	if err != nil {
		return err
	}
	name := baseOf(m.Rewritten)
	if _, ok := there[dfs.Base(name)]; !ok {
		err := manifest.Write(ctx, c.fs, dfs.Join(c.dir, name), m)
		if errors.Is(err, syscall.EISDIR) {
			return fmt.Errorf("%w: %s: %w: %s", manifest.ErrDamaged, dfs.Join(c.dir, name), dfs.ErrDirectory, adviceBase)
		}
		if err != nil {
			return unlistable(baseName, err)
		}
	}
	return c.sweepOthers(ctx, baseName, []string{name})
}

// Rebuild makes the manifest of the table in dir again, unless a newer release wrote it. It
// returns ErrWhole if the manifest is intact. If something is missing, it returns an error that
// wraps table.ErrDamaged and names the missing files, and writes no manifest. If only the list of
// retired files is damaged, Rebuild writes the manifest and returns it with the error of the list: a
// copy of the list may exist, and without the list the last drop cannot be undone.
//
// The ledgers do not have a drop after the last load: the base has it. If the base is missing too, the list of retired
// files may still name the drop. Then the manifest would have the dropped days again, and Rebuild makes it only if withDropped is set.
func Rebuild(ctx context.Context, fs dfs.FS, dir string, withDropped bool) (m *manifest.Table, err error) {
	_, wrong := Open(ctx, fs, dir)
	switch {
	case wrong == nil:
		return nil, ErrWhole
	case errors.Is(wrong, manifest.ErrNewer),
		!errors.Is(wrong, table.ErrNoManifest) && !errors.Is(wrong, table.ErrDamaged) && !errors.Is(wrong, manifest.ErrDamaged):
		return nil, wrong
	}
	if err := linkToNothing(ctx, fs, dir); err != nil {
		return nil, err
	}
	lock, err := lockRun(ctx, fs, dir)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	r := newRebuild(fs, dir)
	r.withDropped = withDropped
	err = r.read(ctx)
	if err == nil {
		err = r.fitRetired(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", dir, err)
	}
	if len(r.missing) > 0 {
		return nil, fmt.Errorf("rebuild %s: %w, and the manifest cannot be made again: %s%s", dir, table.ErrDamaged, listed(r.missing), r.otherSteps())
	}
	r.m.SetVersion()
	if err := r.m.Validate(); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", dir, err)
	}
	if err := manifest.Write(ctx, fs, dfs.Join(dir, ManifestName), r.m); err != nil {
		return nil, fmt.Errorf("rebuild %s: %w", dir, err)
	}
	loading, err := loadingIn(ctx, fs, dir)
	if err == nil {
		err = endLoaded(ctx, fs, dir, loading, r.m)
	}
	if err != nil {
		return r.m, fmt.Errorf("rebuild %s: the manifest is made again: %w", dir, err)
	}
	c, err := newCatalog(fs, dir, r.m)
	if err != nil {
		return r.m, err
	}
	if err = c.fitList(ctx); err == nil {
		err = c.checkRetired(ctx)
	}
	if isFault(err) {
		err = fmt.Errorf("rebuild %s: the manifest is made again, and another file must be repaired: %w", dir, err)
	}
	return r.m, err
}

// maxListed is the maximum number of missing things that an error names.
const maxListed = 10

// listed lists the errors of missing things, and adds the next step of those without one of their own.
func listed(all []error) string {
	shown := all[:min(len(all), maxListed)]
	var texts []string
	for _, err := range shown {
		texts = append(texts, err.Error())
	}
	if more := len(all) - len(shown); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	list := strings.Join(texts, "; ")
	if !slices.ContainsFunc(all, func(err error) bool { return !errors.As(err, new(*manifest.Advised)) }) {
		return list
	}
	return list + ": put these files back from a copy of the table, or load all nights into a new table"
}

// A rebuild makes one manifest.
type rebuild struct {
	fs      dfs.FS
	dir     string
	m       *manifest.Table
	missing []error
	brought map[string]bool // the files that ledgers list as written by their loads

	from        string          // the file to which the ledgers are added; empty if there is none
	there       *manifest.Table // the manifest in the directory; nil if it cannot be read, or must not be used
	strays      []string        // the ledgers that are added, if none of the files of their loads exists
	withDropped bool            // the manifest may have dropped days again
}

func newRebuild(fs dfs.FS, dir string) *rebuild {
	return &rebuild{fs: fs, dir: dir, m: new(manifest.Table), brought: map[string]bool{}}
}

func (r *rebuild) miss(err error) { r.missing = append(r.missing, err) }

// otherSteps returns the next steps for a ledger or a manifest of another table or copy.
func (r *rebuild) otherSteps() (steps string) {
	if len(r.strays) > 0 {
		steps = fmt.Sprintf("; or, if bulkload runs lists no such load of this table, move %s away", english.WordSeries(r.strays, "and"))
	}
	if r.there != nil {
		steps += fmt.Sprintf("; or, if %s is a file of another table, move it away and rebuild again", ManifestName)
	}
	return steps
}

// read makes the manifest, and records the missing files, and files of loads that no ledger has.
func (r *rebuild) read(ctx context.Context) error {
	there, err := ReadTable(ctx, r.fs, r.dir)
	switch {
	case err == nil:
		r.there = there
	case !isFault(err) && !errors.Is(err, iofs.ErrNotExist) && !errors.Is(err, syscall.EISDIR) && !errors.Is(err, syscall.ELOOP):
		return err
	}
	last, err := r.fromLedgers(ctx)
	if err != nil || len(r.missing) > 0 {
		return err
	}
	if err := r.later(ctx, last); err != nil || len(r.missing) > 0 {
		return err
	}
	return r.laterPieces(ctx)
}

// fromLedgers makes the manifest from the manifest in the directory or the base, and the ledgers. It records the missing files. It
// returns the number of the last load.
func (r *rebuild) fromLedgers(ctx context.Context) (last int, err error) {
	if err := r.begin(ctx); err != nil {
		return 0, err
	}
	ledgers, err := sizes(ctx, r.fs, dfs.Join(r.dir, loadsName))
	if err != nil {
		return 0, err
	}
	last = max(r.m.Next()-1, highest(ledgers))
	if r.there != nil {
		last = max(last, r.there.Next()-1)
	}
	if last == 0 {
		r.miss(&manifest.Advised{Err: errors.New("no ledger is there"), Step: fmt.Sprintf("put the folder %s back from a copy of the table; if %s was removed after the first load was killed, move the directory away", loadsName, loadingName)})
		return 0, nil
	}
	for i := range r.m.Loads {
		l, err := manifest.ReadLedger(ctx, r.fs, r.dir, &r.m.Loads[i])
		if err == nil {
			err = r.bring(l)
		}
		if err != nil {
			r.miss(err)
		}
	}
	for n := r.m.Next(); n <= last; n++ {
		if err := r.add(ctx, n); err != nil {
			r.miss(err)
		}
	}
	if len(r.missing) > 0 {
		return last, nil
	}
	wrong, err := wrongFiles(ctx, r.fs, r.dir, r.m)
	for _, text := range wrong {
		r.miss(errors.New(text))
	}
	if err == nil && len(wrong) > 0 {
		r.strays, err = r.findStrays(ctx)
	}
	return last, err
}

// findStrays returns the ledgers that the manifest in the directory does not name, if the table is whole without them and none of the
// files of their loads exists. They may be of a copy of the table.
func (r *rebuild) findStrays(ctx context.Context) (strays []string, err error) {
	if r.from != ManifestName {
		return nil, nil
	}
	if wrong, err := wrongFiles(ctx, r.fs, r.dir, r.there); err != nil || len(wrong) > 0 {
		return nil, err
	}
	had := namesOf(r.there)
	for name := range namesOf(r.m) {
		if had[name] {
			continue
		}
		if _, err := r.fs.Stat(ctx, dfs.Join(r.dir, name)); !errors.Is(err, iofs.ErrNotExist) {
			return nil, err
		}
	}
	for _, l := range r.m.Loads[len(r.there.Loads):] {
		strays = append(strays, l.Name)
	}
	return strays, nil
}

// bring records the files that a load wrote, if its ledger has them.
func (r *rebuild) bring(l *manifest.Load) error {
	m, err := l.Manifest()
	if m != nil {
		maps.Copy(r.brought, namesOf(m))
	}
	return err
}

// fitRetired compares the manifest with the list of retired files. It records that a drop or undrop is missing which the list has.
// It sets the number of the manifest so that the next compact or drop writes no file with the name of a retired file.
func (r *rebuild) fitRetired(ctx context.Context) error {
	list, err := listOf(ctx, r.fs, r.dir) // Rebuild checks the list when the manifest is made again
	if list == nil || err != nil {
		return err
	}
	record, err := readLoading(ctx, r.fs, r.dir)
	if err != nil {
		return err
	}
	before, had := list.Dropped(), r.m.DroppedBefore
	newer := list.Rewritten == 0 || list.Rewritten > r.m.Rewritten // older releases wrote no number
	switch {
	case record.Explains(list, r.m) || len(r.missing) > 0:
	case otherList(r.from, r.m, list) != nil:
		return otherList(r.from, r.m, list)
	case newer && before != nil && (had == nil || *had < *before) && !r.withDropped:
		r.miss(&manifest.Advised{Err: fmt.Errorf("a drop of the days before %s", before), Step: fmt.Sprintf(
			"put the newest %s or the newest file of %s back from a copy of the table; or make the manifest without the drop, which restores these days: bulkload rebuild --with-dropped", ManifestName, baseName)})
	case had != nil && list.Rewritten > r.m.Rewritten && (before == nil || *before < *had):
		r.miss(&manifest.Advised{Err: fmt.Errorf("an undrop of the days before %s", had), Step: fmt.Sprintf(
			"put the newest %s or the newest file of %s back from a copy of the table; or, if the newest drop or undrop in bulkload runs is an undrop that died, and no later one ended, move %s away and rebuild again: then the dropped days cannot be restored",
			ManifestName, baseName, retiredName)})
	}
	for _, f := range list.Files {
		if n, ok := rewriteOf(dfs.Base(f.Name)); ok && n > r.m.Rewritten {
			r.m.Rewritten, r.m.RewrittenSHA256 = n, "" // the manifest is not of that compact or drop
		}
	}
	return nil
}

// begin reads the manifest to which the ledgers are added: the manifest in the directory, or the newest base if it is newer or there is
// no manifest. It is empty if there is neither.
func (r *rebuild) begin(ctx context.Context) error {
	newest, err := newestBase(ctx, r.fs, r.dir)
	if err != nil {
		return err
	}
	if r.there != nil && newest <= r.there.Rewritten {
		m := *r.there
		m.Loads = slices.Clone(m.Loads)
		r.m, r.from = &m, ManifestName
		return otherBase(ctx, r.fs, r.dir, r.m)
	}
	if newest < 0 {
		return nil
	}
	r.from = baseOf(newest)
	step := fmt.Sprintf("put this file or %s back from a copy of the table", ManifestName)
	if r.there != nil {
		step += "; " + moveBase(newest)
	}
	err = read(ctx, r.fs, dfs.Join(r.dir, r.from), r.m)
	switch {
	case errors.Is(err, manifest.ErrDamaged):
		return fmt.Errorf("%w: the manifest cannot be made again: %s", err, step)
	case errors.Is(err, iofs.ErrNotExist):
		return fmt.Errorf("%w: %s is a link to nothing, and the manifest cannot be made again: %s", table.ErrDamaged, r.from, step)
	case err != nil:
		return err
	case r.m.Rewritten != newest:
		return strangeBase(newest, r.m.Rewritten)
	}
	return r.fitBase(ctx, newest)
}

// fitBase returns an error if the base is of another state of the table than the manifest in the directory: a file that the manifest
// names exists, and neither the base nor the list of retired files has it.
func (r *rebuild) fitBase(ctx context.Context, number int) error {
	if r.there == nil {
		return nil
	}
	list, err := listOf(ctx, r.fs, r.dir)
	if err != nil {
		return err
	}
	known := namesOf(r.m)
	if list != nil {
		for _, f := range list.Files {
			known[f.Name] = true
		}
	}
	for i := range r.there.Files {
		for _, name := range r.there.Files[i].Names() {
			if known[name] {
				continue
			}
			if _, err := r.fs.Stat(ctx, dfs.Join(r.dir, name)); err == nil {
				return fmt.Errorf("%w: %s is not a file of this state of the table, because it does not have %s, which %s names: if %s is an older copy, move it away and rebuild again; if it is the newest manifest, move %s away; bulkload runs lists the compacts, drops and undrops of this table",
					table.ErrDamaged, baseOf(number), name, ManifestName, ManifestName, baseOf(number))
			} else if !errors.Is(err, iofs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// strangeBase returns the error for a base whose name has another number than its content.
func strangeBase(number, rewritten int) error {
	return fmt.Errorf("%w: %s is not a file of this state of the table, because it is the copy of %s: move it away; if a file of that name was there, put it back from a copy of the table",
		table.ErrDamaged, baseOf(number), baseOf(rewritten))
}

// strangeLedger returns the error for a ledger that does not follow the ledger before it.
func strangeLedger(name string) error {
	return &manifest.Advised{
		Err:  fmt.Errorf("%s does not follow the ledger before it, so it is a file of another table", name),
		Step: "move it and the files of its load away; if files of these names were there, put them back from a copy of the table",
	}
}

// add adds load n from its ledger.
func (r *rebuild) add(ctx context.Context, n int) error {
	l, ref, err := manifest.FindLedger(ctx, r.fs, r.dir, ledgerOf(n))
	if err != nil {
		return fmt.Errorf("the ledger of load %d: %w", n, err)
	}
	if l.Number != n {
		return fmt.Errorf("%s: it is the ledger of load %d", ref.Name, l.Number)
	}
	if len(r.missing) > 0 {
		return nil // the ledger before may be missing
	}
	if err := r.bring(l); err != nil {
		return err
	}
	if loads := r.m.Loads; len(loads) > 0 && !l.Follows(loads[len(loads)-1]) {
		return strangeLedger(ref.Name)
	}
	t, err := l.Manifest()
	if err != nil {
		return err
	}
	if t == nil {
		return fmt.Errorf("the ledger of load %d was written by an older release, and does not name the table's files", n)
	}
	if t.Rewritten > r.m.Rewritten {
		return fmt.Errorf("%s, which names the merged files of the loads before %d", baseOf(t.Rewritten), n)
	}
	m := *t
	if m.Files, err = withFiles(r.m.Files, l.Replaced, t.Files); err != nil {
		return fmt.Errorf("the ledger of load %d: %w", n, err)
	}
	m.Loads = append(r.m.Loads, ref)
	r.m = &m
	return nil
}

// withFiles returns the files of the earlier loads and the new files of a load. The first new files are in the
// places of the HFiles that they replaced.
func withFiles(files []manifest.File, replaced []string, more []manifest.File) ([]manifest.File, error) {
	out := append([]manifest.File{}, files...)
	for i, name := range replaced {
		at := slices.IndexFunc(out, func(f manifest.File) bool { return f.Name == name })
		if at < 0 || i >= len(more) {
			return nil, fmt.Errorf("%s, which it replaced, and which no earlier ledger names", name)
		}
		out[at] = more[i]
	}
	return append(out, more[len(replaced):]...), nil
}

// ofLoad matches an HFile or roll of a load.
var ofLoad = regexp.MustCompile(`^(\d{6,})-\d{4,}\.(?:hfile|roll)$`)

// later records files of loads whose number is higher than last, except the files of the load
// that is being made.
func (r *rebuild) later(ctx context.Context, last int) error {
	later, err := laterFiles(ctx, r.fs, r.dir, r.m.Family, last)
	if err != nil {
		return err
	}
	loading, err := loadingIn(ctx, r.fs, r.dir)
	if err != nil {
		return err
	}
	for _, f := range later {
		if f.load != loading {
			r.miss(fmt.Errorf("%s, whose load has files: %s (if %s was removed after that load was killed, move its files out of the table)", ledgerOf(f.load), f.name, loadingName))
		}
	}
	return nil
}

// laterPieces records files of a load in pieces that no ledger has. The plan of such a load exists until the load is committed.
func (r *rebuild) laterPieces(ctx context.Context) error {
	all, err := listDirs(ctx, r.fs, dfs.Join(r.dir, piecesName))
	if err != nil {
		return err
	}
	for _, dir := range all {
		id := dfs.Base(dir)
		planned, err := hasPlan(ctx, r.fs, r.dir, id)
		if err != nil {
			return err
		}
		if planned {
			continue
		}
		there, err := sizes(ctx, r.fs, dir)
		if err != nil {
			return err
		}
		folder := PieceFolder(id)
		if slices.ContainsFunc(slices.Collect(maps.Keys(there)), func(base string) bool { return r.brought[folder+"/"+base] }) {
			continue
		}
		for _, base := range slices.Sorted(maps.Keys(there)) {
			if name := folder + "/" + base; isOurs(name, false) {
				r.miss(&manifest.Advised{Err: fmt.Errorf("the ledger of a load in pieces, which wrote %s", name), Step: fmt.Sprintf(
					"put it back from a copy of the table; if the plan was removed and no load has committed it, move the folder %s away", folder)})
				break
			}
		}
	}
	return nil
}
