package catalog

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
)

// A sweep removes the files that neither the manifest nor retired.json names. If retired.json is
// lost, it would remove the files of the days that were dropped last. The manifest records whether
// the last replacement of files wrote the list. Then each replaced file that exists is in the list.

// adviceRetired is the next step after an error of the list of retired files.
const adviceRetired = "put it back from a copy of the table, or let bulkload rebuild give up the replaced files"

// ofRewrite matches an HFile or roll that a compact or drop wrote.
var ofRewrite = regexp.MustCompile(`^r(\d{6,})-\d{4,}(?:-\d)*\.(?:hfile|roll)$`)

// rewriteOf returns the number of the compact or drop that wrote a file, and false for another file.
func rewriteOf(base string) (int, bool) {
	match := ofRewrite.FindStringSubmatch(base)
	if match == nil {
		return 0, false
	}
	n, err := strconv.Atoi(match[1])
	return n, err == nil
}

// checkRetired returns an error if the list of retired files is damaged, or if it lacks a retired
// file that exists. If the file is lacking, the error wraps table.ErrDamaged.
func (c *Catalog) checkRetired(ctx context.Context) error {
	r, err := c.retired(ctx)
	if err != nil {
		return err
	}
	name, err := c.unlisted(ctx, r)
	if name == "" || err != nil {
		return err
	}
	what := "it is not the newest list"
	if r.empty() {
		what = "it is missing"
	}
	return fmt.Errorf("table %s: %w: %s: %s, and the files that were replaced, such as %s, still exist: %s",
		c.dir, table.ErrDamaged, retiredName, what, name, adviceRetired)
}

// checkRetiredNow is checkRetired for callers without the lock: if a load, compact or drop has replaced the manifest meanwhile, it
// compares the list with the newer manifest.
func (c *Catalog) checkRetiredNow(ctx context.Context) error {
	for {
		err := c.checkRetired(ctx)
		if !isFault(err) {
			return err
		}
		again, fail := ReadTable(ctx, c.fs, c.dir)
		if fail != nil || sameTable(c.Manifest(), again) {
			return err
		}
		c = &Catalog{fs: c.fs, dir: c.dir, layout: c.layout, m: again}
	}
}

// unlisted returns the name of a retired file that exists and is not in the list. It returns "" if
// there is none, or if the manifest does not record that the list has all of them.
func (c *Catalog) unlisted(ctx context.Context, r retired) (string, error) {
	m := c.Manifest()
	if !m.Retired {
		return "", nil
	}
	known := namesOf(m)
	for _, name := range r.names() {
		known[name] = true
	}
	there, err := sizes(ctx, c.fs, dfs.Join(c.dir, m.Family))
	if err != nil {
		return "", err
	}
	for _, base := range slices.Sorted(maps.Keys(there)) {
		if name := m.Family + "/" + base; !known[name] && hasNamed(m, base) {
			return name, nil
		}
	}
	return c.unlistedPiece(ctx, known)
}

// hasNamed reports whether m or an earlier manifest of the table named a file. Later numbers are the
// numbers of commands that were killed.
func hasNamed(m *manifest.Table, base string) bool {
	if match := ofLoad.FindStringSubmatch(base); match != nil {
		n, err := strconv.Atoi(match[1])
		return err == nil && n < m.Next()
	}
	n, ok := rewriteOf(base)
	return ok && n <= m.Rewritten
}

// unlistedPiece returns the name of a file of pieces that a load wrote and that is not known. The
// names of such files do not have the numbers of their loads, so it looks into the ledgers.
func (c *Catalog) unlistedPiece(ctx context.Context, known map[string]bool) (string, error) {
	var left []string
	plans, err := listDirs(ctx, c.fs, dfs.Join(c.dir, piecesName))
	if err != nil {
		return "", err
	}
	for _, dir := range plans {
		planned, err := hasPlan(ctx, c.fs, c.dir, dfs.Base(dir))
		if err != nil {
			return "", err
		}
		if planned {
			continue // no load has committed them
		}
		there, err := sizes(ctx, c.fs, dir)
		if err != nil {
			return "", err
		}
		for _, base := range slices.Sorted(maps.Keys(there)) {
			if name := PieceFolder(dfs.Base(dir)) + "/" + base; !known[name] {
				left = append(left, name)
			}
		}
	}
	if len(left) == 0 {
		return "", nil
	}
	brought, err := c.brought(ctx)
	if i := slices.IndexFunc(left, func(name string) bool { return brought[name] }); i >= 0 {
		return left[i], nil
	}
	return "", err
}

// brought returns the names of the files that the ledgers list as written by their loads.
func (c *Catalog) brought(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	refs := c.Manifest().Loads
	for i := range refs {
		l, err := c.Ledger(ctx, &refs[i])
		if err != nil {
			return nil, err
		}
		m, err := l.Manifest()
		if err != nil {
			return nil, err
		}
		if m != nil { // older releases did not list them
			maps.Copy(out, namesOf(m))
		}
	}
	return out, nil
}
