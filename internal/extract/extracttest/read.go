package extracttest

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"usertrail/internal/extract"
	"usertrail/internal/extract/notfound"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testtable"
	"usertrail/internal/test/testworld"
)

// Result extracts the result of q and reads it.
func (h *Fixture) Result(t testing.TB, q testworld.Query, u Turn) testworld.Result {
	t.Helper()
	out := filepath.Join(testkit.Scratch(t), "out")
	r, err := h.Extract(t.Context(), q, u, out)
	if err != nil {
		t.Fatalf("extract %+v: %v", q, err)
	}
	return h.Read(t, r, out)
}

// Read reads the result in out, and compares it with the counts of r.
func (h *Fixture) Read(t testing.TB, r extract.Result, out string) testworld.Result {
	t.Helper()
	rows := ReadTrails(t, h.FS, out)
	lost, err := dfs.ReadFile(t.Context(), h.FS, filepath.Join(out, notfound.FileName))
	if n := int64(bytes.Count(lost, []byte("\n"))); n != r.NotFound || n != r.Users-r.Found || (err == nil) != (n > 0) {
		t.Errorf("%s: of %d users %d were found, it says %d were not, and names %d, %v", out, r.Users, r.Found, r.NotFound, n, err)
	}
	if r.Events != int64(len(rows)) {
		t.Errorf("%s: says it wrote %d events, there are %d", out, r.Events, len(rows))
	}
	return testworld.Result{Users: int(r.Users), Found: int(r.Found), Active: int(r.Active), Rows: rows}
}

// ReadTrails reads all parts. It checks that each part is in order and that each user is in
// one part. Parts are in order of users' keys, and the rows returned are in order of users' IDs.
func ReadTrails(t testing.TB, fs dfs.FS, dir string) []testworld.Row {
	t.Helper()
	parts, err := dfs.Glob(t.Context(), fs, dir+"/part-*.parquet")
	if err != nil || len(parts) == 0 {
		t.Fatalf("%d parts in %s: %v", len(parts), dir, err)
	}
	var all []testworld.Row
	partOf := map[string]string{}
	for _, p := range parts {
		rows := readPart(t, fs, p.Name)
		if !slices.IsSortedFunc(rows, func(a, b testworld.Row) int { return cmp.Compare(a.User, b.User) }) {
			t.Errorf("%s: users are not in order", p.Name)
		}
		for _, r := range rows {
			if have, ok := partOf[r.User]; ok && have != p.Name {
				t.Fatalf("user %q is in %s and in %s", r.User, have, p.Name)
			}
			partOf[r.User] = p.Name
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b testworld.Row) int { return cmp.Compare(a.User, b.User) })
	return all
}

func readPart(t testing.TB, fs dfs.FS, name string) []testworld.Row {
	t.Helper()
	file, err := fs.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := trailfile.Open(file, file.Size())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	info, err := f.Info()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	lines, err := f.Head(int(info.Rows) + 1)
	if err != nil || len(lines) != int(info.Rows) {
		t.Fatalf("%s: %d rows of %d: %v", name, len(lines), info.Rows, err)
	}
	rows := make([]testworld.Row, len(lines))
	for i, line := range lines {
		rows[i] = rowOf(t, info.Columns, line)
	}
	return rows
}

func rowOf(t testing.TB, columns []trailfile.ColumnInfo, line []string) testworld.Row {
	t.Helper()
	id, err := strconv.ParseInt(line[4], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	row := testworld.Row{User: line[0], Date: line[1], Time: line[2], Behaviour: line[3], ID: id, Values: map[string]string{}}
	for i, c := range columns[5:] {
		if v := line[5+i]; v != "" {
			row.Values[c.Name] = v
		}
	}
	return row
}

// Parts returns the bytes of the parts of a result, by their names.
func Parts(t testing.TB, fs dfs.FS, dir string) map[string]string {
	t.Helper()
	return testtable.OnlyParts(dfstest.Snapshot(t, fs, dir))
}

// ReadManifest reads the manifest of the result in out.
func ReadManifest(t *testing.T, fs dfs.FS, out string) *manifest.Extract {
	t.Helper()
	m := new(manifest.Extract)
	if err := manifest.Read(t.Context(), fs, dfs.Join(out, place.ManifestName), m); err != nil {
		t.Fatal(err)
	}
	return m
}
