package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// ledgerName matches the name of a ledger in its folder.
var ledgerName = regexp.MustCompile(`^(\d{6,})\.json$`)

// numbered returns the number in the name of a ledger or of a base, and false for another name.
func numbered(name string) (int, bool) {
	match := ledgerName.FindStringSubmatch(name)
	if match == nil {
		return 0, false
	}
	n, _ := strconv.Atoi(match[1])
	return n, true
}

// highest returns the highest number in the names of a folder's ledgers or bases, -1 if there
// are none.
func highest(there map[string]int64) int {
	last := -1
	for name := range there {
		if n, ok := numbered(name); ok {
			last = max(last, n)
		}
	}
	return last
}

// checkLedgers compares a manifest with the ledgers in the directory, by name and size. It
// returns the manifest. If a load, compact or drop has replaced the manifest meanwhile, it
// returns the newer manifest.
func checkLedgers(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table) (*manifest.Table, error) {
	for {
		wrong, err := wrongLedger(ctx, fs, dir, m)
		if wrong == nil {
			return m, err
		}
		again, err := ReadTable(ctx, fs, dir)
		if err != nil {
			return nil, err
		}
		if sameTable(m, again) {
			return nil, wrong
		}
		m = again
	}
}

// sameTable reports whether no load, compact or drop happened between two manifests of a table.
func sameTable(a, b *manifest.Table) bool {
	return a.Rewritten == b.Rewritten && a.Next() == b.Next() && len(a.Loads) == len(b.Loads)
}

// wrongLedger returns as wrong the first fault of the ledgers and the base of m, if m is still
// the manifest. A ledger that m does not name is no fault if it belongs to the load that is
// being made.
func wrongLedger(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table) (wrong, err error) {
	there, err := sizes(ctx, fs, dfs.Join(dir, loadsName))
	if err != nil {
		return nil, err
	}
	for _, ref := range m.Loads {
		name := dfs.Base(ref.Name)
		switch size, ok := there[name]; {
		case !ok:
			return table.Damaged("%s is missing, the ledger of load %d", ref.Name, ref.Number), nil
		case ref.Size > 0 && size != ref.Size:
			return table.OtherSize(ref.Name, size, ref.Size), nil
		}
		delete(there, name)
	}
	if newest, err := newestBase(ctx, fs, dir); err != nil {
		return nil, err
	} else if newest > m.Rewritten {
		return olderThanBase(ctx, fs, dir, newest)
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		n, ok := numbered(name)
		if !ok {
			continue
		}
		switch being, err := beingMade(ctx, fs, dir, n); {
		case err != nil:
			return nil, err
		case !being:
			return olderThanLedger(ctx, fs, dir, m, n)
		}
	}
	if wrong, err := wrongList(ctx, fs, dir, m); wrong != nil || err != nil {
		return wrong, err
	}
	return wrongFile(ctx, fs, dir, m)
}

// olderThanBase returns as wrong that the manifest is older than a base. If the base is of another state of the table, it is wrong.
func olderThanBase(ctx context.Context, fs dfs.FS, dir string, number int) (wrong, err error) {
	b := new(manifest.Table)
	err = read(ctx, fs, dfs.Join(dir, baseOf(number)), b)
	switch {
	case err == nil && b.Rewritten != number:
		return strangeBase(number, b.Rewritten), nil
	case err == nil:
		return older(baseOf(number)), nil
	case isFault(err), errors.Is(err, iofs.ErrNotExist), errors.Is(err, dfs.ErrDirectory): // Rebuild says what is wrong with it
		return fmt.Errorf("%w; %s", older(baseOf(number)), moveBase(number)), nil
	}
	return nil, err
}

// moveBase returns the next step if the file in the place of a base cannot be read, and no base of that number was written.
func moveBase(number int) string {
	return fmt.Sprintf("if no newer manifest exists, move %s away", baseOf(number))
}

// olderThanLedger returns as wrong that the manifest m is older than ledger n. If the ledger is the next one and does not follow the last
// one, it is wrong.
func olderThanLedger(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table, n int) (wrong, err error) {
	name := ledgerOf(n)
	l, _, err := manifest.FindLedger(ctx, fs, dir, name)
	switch {
	case err == nil && len(m.Loads) > 0 && n == m.Next() && !l.Follows(m.Loads[len(m.Loads)-1]):
		return fmt.Errorf("%w: %w", table.ErrDamaged, strangeLedger(name)), nil
	case err == nil, isFault(err), errors.Is(err, iofs.ErrNotExist), errors.Is(err, manifest.ErrNewer), errors.Is(err, dfs.ErrDirectory): // Rebuild says what is wrong with it
		return older(name), nil
	}
	return nil, table.Unreadable(err)
}

// wrongList returns as wrong that the list of retired files is of a later state of the table than m, or of another copy of the table, unless
// a compact, drop or undrop is under way or was killed. Without the lock it may begin or end meanwhile, so wrongList reads the list before
// and after the record of the replacement. If the list does not have the number of m, wrongList compares m with the base.
func wrongList(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table) (wrong, err error) {
	for range 2 {
		list, err := listOf(ctx, fs, dir)
		switch {
		case err != nil:
			return nil, err
		case list == nil || list.Rewritten < m.Rewritten:
			return otherBase(ctx, fs, dir, m), nil
		case list.Rewritten > m.Rewritten:
			wrong = fmt.Errorf("%w: %s is an older one, from before the %s: put back the newest manifest, or let bulkload rebuild make it again",
				table.ErrDamaged, ManifestName, changeOf(list, m))
		default:
			wrong = otherList(ManifestName, m, list)
		}
		if wrong == nil {
			return nil, nil
		}
		if l, err := readLoading(ctx, fs, dir); err != nil || l.Explains(list, m) {
			return nil, err
		}
	}
	return wrong, nil
}

// errOtherState is wrapped if two files of the catalog have the same number and different drops, or were written after different
// compacts, drops or undrops. Each of these commands increases the number.
var errOtherState = errors.New("one of these files is of another state or copy of the table")

// A state is what a file of the catalog has about the compacts, drops and undrops before it.
type state struct {
	name    string          // of the file
	dropped *behaviour.Date // before this date, all days were dropped
	digest  string          // of these commands; "" in files of older releases
}

func stateOf(name string, m *manifest.Table) state {
	return state{name, m.DroppedBefore, m.RewrittenSHA256}
}

// otherState returns an error if two files of the catalog with the same number have different drops, or were written after different commands.
func otherState(number int, a, b state) error {
	var what string
	switch {
	case !sameDate(a.dropped, b.dropped):
		what = a.drop() + ", and " + b.drop()
	case manifest.OtherRewrites(a.digest, b.digest):
		what = fmt.Sprintf("different compacts, drops or undrops were number %d in %s and in %s", number, a.name, b.name)
	default:
		return nil
	}
	return fmt.Errorf("%w: %s: %w: put the right file back from a copy of the table, or move the wrong file away, then type bulkload rebuild",
		table.ErrDamaged, what, errOtherState)
}

// drop describes the last drop.
func (s state) drop() string {
	if s.dropped == nil {
		return s.name + " has no drop"
	}
	return fmt.Sprintf("%s has a drop of the days before %s", s.name, s.dropped)
}

// otherList returns an error if the list of retired files has the number of m, which was read from the file called name, and another
// state. The list of an older release has no number.
func otherList(name string, m *manifest.Table, list *manifest.Retired) error {
	if m.Rewritten == 0 || list.Rewritten != m.Rewritten {
		return nil
	}
	return otherState(m.Rewritten, stateOf(name, m), state{retiredName, list.Dropped(), list.RewrittenSHA256})
}

// otherBase returns an error if the base of m exists and has another state.
func otherBase(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table) error {
	if !needsBase(m) {
		return nil
	}
	b := new(manifest.Table)
	if err := read(ctx, fs, dfs.Join(dir, baseOf(m.Rewritten)), b); err != nil {
		return nil //nolint:nilerr // checkBase says what is wrong with it
	}
	return otherCopy(m, b)
}

// otherCopy returns an error if the base b has the number of m and another state.
func otherCopy(m, b *manifest.Table) error {
	if b.Rewritten != m.Rewritten {
		return nil
	}
	return otherState(m.Rewritten, stateOf(ManifestName, m), stateOf(baseOf(b.Rewritten), b))
}

// changeOf describes the newest change of the table that the list of retired files has and m does not have.
func changeOf(list *manifest.Retired, m *manifest.Table) string {
	switch before, had := list.Dropped(), m.DroppedBefore; {
	case before != nil && (had == nil || *had < *before):
		return fmt.Sprintf("drop of the days before %s, which %s has", before, retiredName)
	case had != nil && (before == nil || *before < *had):
		return fmt.Sprintf("undrop of the days before %s, which %s has", had, retiredName)
	}
	return fmt.Sprintf("compact, drop or undrop number %d, which %s has", list.Rewritten, retiredName)
}

// listOf returns the list of retired files, nil if there is none or if it is damaged.
func listOf(ctx context.Context, fs dfs.FS, dir string) (*manifest.Retired, error) {
	list := new(manifest.Retired)
	err := read(ctx, fs, dfs.Join(dir, retiredName), list)
	switch {
	case errors.Is(err, iofs.ErrNotExist), errors.Is(err, manifest.ErrDamaged):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return list, nil
}

// wrongFile returns as wrong the first file of a load that m does not name, unless the load is being made. Releases that wrote
// no digest of a ledger did not record which load is being made.
func wrongFile(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table) (wrong, err error) {
	if n := len(m.Loads); n == 0 || m.Loads[n-1].SHA256 == "" {
		return nil, nil
	}
	later, err := laterFiles(ctx, fs, dir, m.Family, m.Next()-1)
	if err != nil {
		return nil, err
	}
	for _, f := range later {
		switch being, err := beingMade(ctx, fs, dir, f.load); {
		case err != nil:
			return nil, err
		case !being:
			return fmt.Errorf("%w; if an older state of the table was put back on purpose, or %s was removed after a load was killed, move the files of later loads away", older(f.name), loadingName), nil
		}
	}
	return nil, nil
}

// A laterFile is a file of a load, which may have more of them.
type laterFile struct {
	load int
	name string // relative to the table's directory
}

// laterFiles returns a file of each load with a higher number than last, in order.
func laterFiles(ctx context.Context, fs dfs.FS, dir, family string, last int) (out []laterFile, err error) {
	for _, in := range []struct {
		folder string
		names  *regexp.Regexp
	}{{family, ofLoad}, {piecesName, planOfLoad}} {
		there, err := sizes(ctx, fs, dfs.Join(dir, in.folder))
		if err != nil {
			return nil, err
		}
		for name := range there {
			match := in.names.FindStringSubmatch(name)
			if match == nil {
				continue
			}
			if n, err := strconv.Atoi(match[1]); err == nil && n > last {
				out = append(out, laterFile{n, in.folder + "/" + name})
			}
		}
	}
	slices.SortFunc(out, func(a, b laterFile) int { return cmp.Or(cmp.Compare(a.load, b.load), cmp.Compare(a.name, b.name)) })
	return slices.CompactFunc(out, func(a, b laterFile) bool { return a.load == b.load }), nil
}

// older returns the error for a manifest that is older than the file called name.
func older(name string) error {
	return fmt.Errorf("%w: %s is an older one, which does not name %s: put back the newest manifest, or let bulkload rebuild make it again",
		table.ErrDamaged, ManifestName, name)
}

// beingMade reports whether load n is being made, or was being made when its process was
// killed.
func beingMade(ctx context.Context, fs dfs.FS, dir string, n int) (bool, error) {
	l, err := loadingIn(ctx, fs, dir)
	if l == n || err != nil {
		return l == n, err
	}
	h, err := Handover(ctx, fs, dir)
	if err != nil {
		return false, err
	}
	return h != nil && h.Load.Number == n, nil
}

// sizes returns the sizes in bytes of the files in a folder, by name. A link to nothing is no file, and a pipe is none. The result is empty if
// the folder does not exist.
func sizes(ctx context.Context, fs dfs.FS, dir string) (map[string]int64, error) {
	list, err := fs.List(ctx, dir)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil, unlistable(dfs.Base(dir), err)
	}
	out := map[string]int64{}
	for _, f := range list {
		if !f.Dir && !f.Lost && !f.Special {
			out[dfs.Base(f.Name)] = f.Size
		}
	}
	return out, nil
}

// Check compares the manifest m of the table in dir with the ledgers and files there. It returns
// an error that wraps table.ErrDamaged if m is older than a ledger, or if a file that m names is
// missing or has another size. It takes no lock. If a load replaces m meanwhile, Check compares
// the newer manifest.
func Check(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table) error {
	m, err := checkLedgers(ctx, fs, dir, m)
	if err != nil {
		return err
	}
	return checkFiles(ctx, fs, dir, m)
}

// CheckFiles returns an error that wraps table.ErrDamaged if a file that the manifest names
// is missing, or has another size. It also returns an error if the list of retired files is missing,
// damaged or not whole, or if the record of the load that is being made is damaged. It reads no other file than the list and the record.
func (c *Catalog) CheckFiles(ctx context.Context) error {
	if err := c.checkRetiredNow(ctx); err != nil {
		return err
	}
	if err := c.checkLoading(ctx); err != nil {
		return err
	}
	if err := checkFiles(ctx, c.fs, c.dir, c.Manifest()); err != nil {
		return fmt.Errorf("table %s: %w", c.dir, err)
	}
	return nil
}

// checkFiles returns the first fault of the files that m names, if m is still the manifest.
// Without the lock files may be replaced meanwhile.
func checkFiles(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table) error {
	for {
		wrong, err := wrongFiles(ctx, fs, dir, m)
		if len(wrong) == 0 {
			return err
		}
		again, err := ReadTable(ctx, fs, dir)
		if err != nil {
			return err
		}
		if sameTable(m, again) {
			return table.Damaged("%s", wrong[0])
		}
		m = again
	}
}

// wrongFiles returns the faults of the files that m names. A live table has only rolls.
func wrongFiles(ctx context.Context, fs dfs.FS, dir string, m *manifest.Table) (wrong []string, err error) {
	folders := map[string]map[string]int64{}
	look := func(name string, want int64) error {
		folder := dfs.Dir(name)
		if folders[folder] == nil {
			if folders[folder], err = sizes(ctx, fs, dfs.Join(dir, folder)); err != nil {
				return err
			}
		}
		size, ok := folders[folder][dfs.Base(name)]
		switch {
		case !ok:
			wrong = append(wrong, name+" is missing")
		case want > 0 && size != want:
			wrong = append(wrong, fmt.Sprintf("%s has %d bytes; %d were written", name, size, want))
		}
		return nil
	}
	for i := range m.Files {
		f := &m.Files[i]
		if f.Name != "" && m.Address == "" {
			if err := look(f.Name, f.Size); err != nil {
				return nil, err
			}
		}
		if err := look(f.Roll, f.RollSize); err != nil {
			return nil, err
		}
	}
	return wrong, nil
}
