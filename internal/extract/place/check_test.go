package place_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/extract"
	"usertrail/internal/extract/extracttest"
	"usertrail/internal/extract/pieces"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
	"usertrail/internal/test/testworld"
)

// A site is a folder with a table of files and a place for results, out.
type site struct {
	*extracttest.Fixture
	w   *testworld.W
	u   extracttest.Turn
	q   testworld.Query
	out string
}

func newSite(t *testing.T) *site {
	t.Helper()
	w, h := extracttest.Tiny(t)
	s := &site{Fixture: h, w: w, u: extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20, Overwrite: true, PieceSize: 1 << 40}, out: filepath.Join(h.Dir, "home", "out")}
	s.Load(t, s.u, w.Span)
	s.q = testworld.Query{Span: w.Span, Kinds: w.Names(), Active: "any"}
	s.write(t, "home/precious.txt", "precious")
	return s
}

// write writes a file below the folder.
func (s *site) write(t *testing.T, name, text string) {
	t.Helper()
	if err := dfs.WriteFile(t.Context(), s.FS, filepath.Join(s.Dir, name), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// link makes a link below the folder.
func (s *site) link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(s.Dir, name)); err != nil {
		t.Fatal(err)
	}
}

// result makes a result below the folder.
func (s *site) result(t *testing.T, name string, o query.Output) {
	t.Helper()
	u := s.u
	u.Output, u.PieceSize = o, 0
	if _, err := s.Extract(t.Context(), s.q, u, filepath.Join(s.Dir, name)); err != nil {
		t.Fatal(err)
	}
}

// tree is all that is below the folder, hidden files and links too.
func (s *site) tree(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(s.Dir, func(name string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			out[name] = "a folder"
		case e.Type()&iofs.ModeSymlink != 0:
			out[name], err = os.Readlink(name)
		default:
			var b []byte
			b, err = os.ReadFile(name)
			out[name] = string(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refused has Run and Plan make a result in out, which must fail for a reason before
// anything is read, and must leave everything as it was.
func (s *site) refused(t *testing.T, out string, reason error) {
	t.Helper()
	before := s.tree(t)
	for what, do := range map[string]func(extract.Config) error{
		"extract": func(c extract.Config) error { _, err := extract.Run(t.Context(), c); return err },
		"plan": func(c extract.Config) error {
			_, _, err := pieces.Plan(t.Context(), c, c.Table.Info().Address, pieces.Access{})
			return err
		},
	} {
		c, err := s.Config(t.Context(), s.q, s.u, out)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Table.Close()
		c.Table, c.Homes = extracttest.Untouched{Table: c.Table, T: t}, []string{s.Store(s.u.Name).Dir}
		if err := do(c); !errors.Is(err, reason) {
			t.Errorf("%s --out %s: %v, want %v", what, out, err, reason)
		} else {
			t.Logf("%s says: %v", what, err)
		}
	}
	if after := s.tree(t); !maps.Equal(after, before) {
		t.Errorf("--out %s: %s", out, extracttest.Differ(after, before))
	}
}

// TestOverwriteReplacesOnlyResults has extract and plan replace all sorts of things.
func TestOverwriteReplacesOnlyResults(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, s *site){
		"a folder of documents": func(t *testing.T, s *site) { s.write(t, "home/out/letter.txt", "dear") },
		"a folder of folders":   func(t *testing.T, s *site) { s.write(t, "home/out/a/b/c", "c") },
		"a file":                func(t *testing.T, s *site) { s.write(t, "home/out", "text") },
		"another table": func(t *testing.T, s *site) {
			s.Load(t, extracttest.Turn{Name: "home/out", Workers: 1, Memory: 1 << 20}, s.w.Span)
		},
		"a link to a result": func(t *testing.T, s *site) {
			s.result(t, "home/other", query.Output{})
			s.link(t, "other", "home/out")
		},
		"a link to nothing": func(t *testing.T, s *site) { s.link(t, "nothing", "home/out") },
		"a result with a file of others": func(t *testing.T, s *site) {
			s.result(t, "home/out", query.Output{})
			s.write(t, "home/out/notes.txt", "mine")
		},
		"a result with a folder of others": func(t *testing.T, s *site) {
			s.result(t, "home/out", query.Output{})
			s.write(t, "home/out/part-00000/letter.txt", "dear")
		},
		"a result with a file of others in a partition": func(t *testing.T, s *site) {
			s.result(t, "home/out", query.Output{Partition: "behaviour"})
			s.write(t, "home/out/behaviour="+s.w.Names()[0]+"/notes.txt", "mine")
		},
		"a result with a partition of others": func(t *testing.T, s *site) {
			s.result(t, "home/out", query.Output{Partition: "behaviour"})
			s.write(t, "home/out/behaviour=other/part-00000.parquet", "PAR1")
		},
		"a result without its manifest": func(t *testing.T, s *site) {
			s.result(t, "home/out", query.Output{})
			if err := os.Remove(filepath.Join(s.out, place.ManifestName)); err != nil {
				t.Fatal(err)
			}
		},
		"a damaged manifest": func(t *testing.T, s *site) { s.write(t, "home/out/_manifest.json", `{"version":1,`) },
		"another program's manifest": func(t *testing.T, s *site) {
			s.write(t, "home/out/_manifest.json", `{"version":1,"parts":[{"name":"letter.txt"}]}`)
			s.write(t, "home/out/letter.txt", "dear")
		},
		"a folder with the name of an older result": func(t *testing.T, s *site) { s.write(t, "home/.out.old/letter.txt", "dear") },
		"a folder with the name of a place":         func(t *testing.T, s *site) { s.write(t, "home/.out.partial/letter.txt", "dear") },
		"a folder of files with names like parts":   func(t *testing.T, s *site) { s.write(t, "home/.out.partial/part-of-my-thesis.txt", "dear") },
		"a folder with dates, and files below":      func(t *testing.T, s *site) { s.write(t, "home/.out.partial/date=home/deep/x.txt", "dear") },
		"a file in the folder of a date":            func(t *testing.T, s *site) { s.write(t, "home/.out.partial/date=2014-09-01/x.txt", "dear") },
		"a file in the folder of a piece":           func(t *testing.T, s *site) { s.write(t, "home/.out.partial/_piece-00000/x.txt", "dear") },
		"a file with the name of a place":           func(t *testing.T, s *site) { s.write(t, "home/.out.partial", "dear") },
		"a link with the name of a place": func(t *testing.T, s *site) {
			s.write(t, "home/other/part-1", "mine")
			s.link(t, "other", "home/.out.partial")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			make(t, s)
			s.refused(t, s.out, iofs.ErrExist)
		})
	}
}

// TestOverwriteReplacesResults replaces everything that may be replaced. Nothing of the old
// directory remains.
func TestOverwriteReplacesResults(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, s *site){
		"nothing":              func(t *testing.T, s *site) {},
		"an empty folder":      func(t *testing.T, s *site) { mkdir(t, s.out) },
		"a result":             func(t *testing.T, s *site) { s.result(t, "home/out", query.Output{Format: query.CSV}) },
		"a partitioned result": func(t *testing.T, s *site) { s.result(t, "home/out", query.Output{Partition: "date"}) },
		"an older result": func(t *testing.T, s *site) {
			s.result(t, "home/out", query.Output{})
			if err := os.Rename(s.out, filepath.Join(s.Dir, "home", ".out.old")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			clean := filepath.Join(s.Dir, "clean")
			if _, err := s.Extract(t.Context(), s.q, s.u, clean); err != nil {
				t.Fatal(err)
			}
			make(t, s)
			if _, err := s.Extract(t.Context(), s.q, s.u, s.out); err != nil {
				t.Fatal(err)
			}
			if diff := extracttest.Differ(dfstest.Snapshot(t, s.FS, s.out), dfstest.Snapshot(t, s.FS, clean)); diff != "" {
				t.Error(diff)
			}
			if left := extracttest.Leftovers(t, filepath.Dir(s.out)); len(left) != 1 {
				t.Errorf("there is also %q, want the precious file", left)
			}
		})
	}
}

func mkdir(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(name, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestOutIsApartFromTheTable names the table's directory, its parent and places inside
// it, in all sorts of ways.
func TestOutIsApartFromTheTable(t *testing.T) {
	s := newSite(t)
	mkdir(t, filepath.Join(s.Dir, "home", "deep"))
	s.link(t, "../trails", "home/link")
	s.link(t, s.Dir, "home/parent")
	s.link(t, "deep/../../trails/new", "home/to-be")
	s.Load(t, extracttest.Turn{Name: "home/other", Workers: 1, Memory: 1 << 20}, s.w.Span)
	t.Chdir(filepath.Join(s.Dir, "home"))
	for _, out := range []string{
		s.Dir + "/trails", s.Dir + "/trails/", s.Dir + "//home/deep/../../trails", "../trails", "link", "parent/trails", "deep/../link",
		s.Dir, "..//../" + filepath.Base(s.Dir), "parent", "/",
		s.Dir + "/trails/x", "../trails/d/x", "link/x/y", "parent/trails/x", "to-be", "to-be/x",
		"other/x", "other/d/x/y", "link/../home/new", ".", "..", "deep/.", "deep/..", "",
	} {
		s.refused(t, out, query.ErrWrong)
	}
	if _, err := s.Extract(t.Context(), s.q, s.u, "deep/../../home/fine"); err != nil {
		t.Error(err)
	}
}

// TestOutNamesThatAreTooLong names results that no file system can have next to their hidden
// directory, and one that just fits.
func TestOutNamesThatAreTooLong(t *testing.T) {
	s := newSite(t)
	long := strings.Repeat("a", 300)
	for _, out := range []string{long, long[:247], long + "/x", long[:247] + "/"} {
		s.refused(t, s.Dir+"/"+out, query.ErrWrong)
	}
	if _, err := s.Extract(t.Context(), s.q, s.u, s.Dir+"/"+long[:246]); err != nil {
		t.Error(err)
	}
}

// TestOverwriteKeepsWhatIsRead replaces a result that the list of users is read from, and
// one that the command is started in.
func TestOverwriteKeepsWhatIsRead(t *testing.T) {
	s := newSite(t)
	s.result(t, "home/out", query.Output{Partition: "behaviour"})
	list := filepath.Join(s.out, "behaviour="+s.w.Names()[0], "part-00000.parquet")
	before := s.tree(t)
	c, err := s.Config(t.Context(), s.q, s.u, s.out)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Table.Close()
	c.Lists = []string{list}
	if _, err := extract.Run(t.Context(), c); !errors.Is(err, query.ErrWrong) {
		t.Errorf("%v, want ErrWrong", err)
	}
	t.Chdir(filepath.Dir(list))
	s.refused(t, s.out, query.ErrWrong)
	if diff := extracttest.Differ(s.tree(t), before); diff != "" {
		t.Error(diff)
	}
}

// TestTheResultOfTheSameQueryIsKnown extracts a query twice, then others, and then the first of
// a table that has changed.
func TestTheResultOfTheSameQueryIsKnown(t *testing.T) {
	t.Run("whole", func(t *testing.T) { testSameQuery(t, 0, 100) })
	t.Run("pieces", func(t *testing.T) { testSameQuery(t, 100, 0, 50) })
}

// testSameQuery extracts with a size of pieces. With the other sizes, the result has other files.
func testSameQuery(t *testing.T, size int64, others ...int64) {
	w := testworld.World(1, 30)
	h := extracttest.Delivered(t, w)
	first := w.Span
	first.To--
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20}, first)
	u := extracttest.Turn{Name: "trails", Workers: 1, Output: query.Output{Format: query.CSV}, PieceSize: size}
	q := testworld.Query{Users: w.Users, Span: w.Span, Kinds: w.Names(), Active: "any"}
	q.Conditions.Without = w.Names()[:1]
	out := filepath.Join(h.Dir, "out")
	want, err := h.Extract(t.Context(), q, u, out)
	if err != nil {
		t.Fatal(err)
	}
	again := func(what string, q testworld.Query, u extracttest.Turn, already bool) {
		t.Helper()
		r, err := h.Extract(t.Context(), q, u, out)
		if !errors.Is(err, iofs.ErrExist) || r.Already != already {
			t.Errorf("%s: %+v, %v, want an error about an existing result, already %t", what, r, err, already)
		}
		if r.Already = false; already && (r.Users != want.Users || r.Found != want.Found || r.Events != want.Events || r.Files != want.Files || r.Out != out) {
			t.Errorf("%s: %+v, want %+v", what, r, want)
		}
	}
	again("the same", q, u, true)
	other := q
	other.Users = q.Users[1:]
	again("other users", other, u, false)
	other = q
	other.Conditions.Without = nil
	again("without a condition", other, u, false)
	unrolled := u
	unrolled.Unrolled = true
	again("without rolls", q, unrolled, false)
	for _, other := range others {
		pieces := u
		pieces.PieceSize = other
		again(fmt.Sprintf("in pieces of %d", other), q, pieces, false)
	}
	testDamage(t, out, func(what string, whole bool) error {
		again(what, q, u, whole)
		_, err := h.Extract(t.Context(), q, u, out)
		return err
	})
	h.Load(t, extracttest.Turn{Name: "trails", Workers: 1, Memory: 1 << 20}, w.Span)
	again("a later table", q, u, false)
}

// testDamage damages files of the result in out, one after the other, and makes it whole again. again
// repeats the extract, and checks whether it accepts the result as whole.
func testDamage(t *testing.T, out string, again func(what string, whole bool) error) {
	for _, name := range []string{"part-00000.csv", place.SuccessName} {
		path := filepath.Join(out, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write := func(text []byte) {
			testkit.WriteFile(t, path, string(text))
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := again(name+" is missing", false); !strings.Contains(err.Error(), "it is damaged") || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not say that %s is damaged", err, name)
		}
		if len(text) > 0 {
			write(text[1:])
			if err := again(name+" is shorter", false); !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name %s", err, name)
			}
		}
		write(text)
	}
	again("mended", true)
}

// swapping is files in which OUT becomes something else right before it is moved aside.
type swapping struct {
	dfs.FS
	t    *testing.T
	out  string
	swap func()
}

// Publish implements dfs.FS.
func (f *swapping) Publish(ctx context.Context, from, to string) error {
	if swap := f.swap; from == f.out && swap != nil {
		f.swap = nil
		swap()
	}
	return f.FS.Publish(ctx, from, to)
}

// TestOutThatBecomesSomethingElseStays puts a folder of documents in OUT's place while a
// result is made, by one process and by pieces.
func TestOutThatBecomesSomethingElseStays(t *testing.T) {
	for name, make := range map[string]func(*site, dfs.FS) error{
		"extract": func(s *site, fs dfs.FS) error {
			h := *s.Fixture
			h.FS = fs
			_, err := h.Extract(t.Context(), s.q, s.u, s.out)
			return err
		},
		"pieces": func(s *site, fs dfs.FS) error { return s.ByPieces(t.Context(), fs, s.q, s.u, s.out) },
	} {
		for _, before := range []bool{false, true} { // there was a result
			s := newSite(t)
			if before {
				s.result(t, "home/out", query.Output{})
			}
			mkdir(t, s.out)
			swap := func() {
				if err := os.RemoveAll(s.out); err != nil {
					t.Fatal(err)
				}
				s.write(t, "home/out/letter.txt", "dear")
			}
			if err := make(s, &swapping{s.FS, t, s.out, swap}); !errors.Is(err, iofs.ErrExist) {
				t.Errorf("%s: %v, want fs.ErrExist", name, err)
			}
			if got := dfstest.Snapshot(t, s.FS, s.out); len(got) != 1 || got["letter.txt"] != "dear" {
				t.Errorf("%s: OUT holds %q, want the letter", name, got)
			}
			if left, err := filepath.Glob(filepath.Join(s.Dir, "home", ".*.old")); err != nil || len(left) > 0 {
				t.Errorf("%s: %q are left, %v", name, left, err)
			}
		}
	}
}

// TestCommitLooksAgain commits a plan whose OUT has become something else.
func TestCommitLooksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		become func(t *testing.T, s *site)
		want   error
	}{
		"documents": {func(t *testing.T, s *site) { s.write(t, "home/out/letter.txt", "dear") }, iofs.ErrExist},
		"a place in the table": {func(t *testing.T, s *site) {
			if err := os.Rename(filepath.Join(s.Dir, "home"), filepath.Join(s.Dir, "trails", "home")); err != nil {
				t.Fatal(err)
			}
			s.link(t, "trails/home", "home")
		}, query.ErrWrong},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			list, err := s.PlanPieces(t.Context(), s.q, s.u, s.out)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.RunPieces(t.Context(), s.u, list); err != nil {
				t.Fatal(err)
			}
			c.become(t, s)
			before := s.tree(t)
			if _, err := pieces.Commit(t.Context(), s.FS, list); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if diff := extracttest.Differ(s.tree(t), before); diff != "" {
				t.Error(diff)
			}
		})
	}
}
