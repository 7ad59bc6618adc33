package quarantine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/run/exit"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

var quiet = slog.New(slog.DiscardHandler)

// bad returns the line of a bad record of the delivered file at path.
func bad(path string, offset int64, raw string) Record {
	return NewRecord(path, &record.Reject{Line: offset/10 + 1, Offset: offset, Reason: record.TooLong, Err: errors.New("too long"), Raw: []byte(raw)})
}

// read returns the text of a file.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lines returns the offsets, texts and digests of a quarantine file.
func lines(t *testing.T, name string) []string {
	t.Helper()
	var out []string
	for _, line := range strings.SplitAfter(read(t, name), "\n") {
		var b Record
		if line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &b); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		raw, err := b.Text()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %d:%d %s %s", b.Path, b.Line, b.Offset, raw, b.SHA256))
	}
	return out
}

func wantLines(t *testing.T, name string, want ...string) {
	t.Helper()
	if got := lines(t, name); !slices.Equal(got, want) {
		t.Errorf("%s has\n%s\nwant\n%s", filepath.Base(name), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// write writes the bad records of one chunk as a quarantine file.
func write(t *testing.T, name, sha string, keeps Keeps, records ...Record) {
	t.Helper()
	f := NewFile(t.Context(), local.New(), quiet, name, func(string) Keeps { return keeps })
	defer f.Abort()
	if err := errors.Join(f.Add(0, records), f.Commit(sha)); err != nil {
		t.Fatal(err)
	}
}

func TestAFileHasTheOrderOfTheDeliveredFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.jsonl")
	f := NewFile(t.Context(), local.New(), quiet, name, nil)
	for _, chunk := range []int{2, 0, 3, 1} {
		records := []Record{bad("a.csv", int64(20*chunk), fmt.Sprint("r", chunk)), bad("a.csv", int64(20*chunk+10), "\xff")}
		if chunk == 3 {
			records = nil
		}
		if err := f.Add(chunk, records); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before Commit: %v, want no file", err)
	}
	if err := f.Commit("abc"); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	wantLines(t, name, "a.csv 1:0 r0 abc", "a.csv 2:10 \xff abc", "a.csv 3:20 r1 abc", "a.csv 4:30 \xff abc", "a.csv 5:40 r2 abc", "a.csv 6:50 \xff abc")
	if list := f.BadAt().List(); f.Count() != 6 || !slices.Equal(list, []int64{0, 10, 20, 30, 40, 50}) {
		t.Errorf("%d records at %d, want 6 at 0, 10, … 50", f.Count(), list)
	}
	if all, err := os.ReadDir(filepath.Dir(name)); err != nil || len(all) != 1 {
		t.Errorf("the directory has %v, want the quarantine file alone: %v", all, err)
	}
}

func TestAFileWithoutBadRecordsIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	f := NewFile(t.Context(), local.New(), quiet, filepath.Join(dir, "a.jsonl"), nil)
	if err := errors.Join(f.Add(0, nil), f.Commit("abc")); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	aborted := NewFile(t.Context(), local.New(), quiet, filepath.Join(dir, "b.jsonl"), nil)
	if err := aborted.Add(0, []Record{bad("b.csv", 0, "x")}); err != nil {
		t.Fatal(err)
	}
	aborted.Abort()
	if all, err := os.ReadDir(dir); err != nil || len(all) != 0 {
		t.Errorf("the directory has %v, want nothing: %v", all, err)
	}
}

func TestTooManyOffsetsAreNotListed(t *testing.T) {
	f := NewFile(t.Context(), local.New(), quiet, filepath.Join(t.TempDir(), "a.jsonl"), nil)
	defer f.Abort()
	var records []Record
	for i := range int64(manifest.MaxBadOffsets + 1) {
		records = append(records, bad("a.csv", i, "x"))
	}
	if err := f.Add(0, records[:manifest.MaxBadOffsets]); err != nil {
		t.Fatal(err)
	}
	if n := len(f.BadAt().List()); n != manifest.MaxBadOffsets {
		t.Errorf("%d offsets, want %d", n, manifest.MaxBadOffsets)
	}
	if err := f.Add(1, records[manifest.MaxBadOffsets:]); err != nil {
		t.Fatal(err)
	}
	if f.BadAt() != nil {
		t.Errorf("%d offsets, want none", len(f.BadAt().List()))
	}
}

// TestEarlierLinesStay writes a quarantine file twice. A line of another text was corrected.
func TestEarlierLinesStay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.jsonl")
	write(t, name, "one", nil, bad("a.csv", 0, "w"), bad("a.csv", 10, "x"), bad("a.csv", 20, "corrected"), bad("a.csv", 40, "y"), bad("other.csv", 5, "o"))
	write(t, name, "one", KeepsOfLoad("a.csv", "one", true), bad("a.csv", 10, "x"), bad("a.csv", 20, "z"), bad("a.csv", 30, "new"))
	wantLines(t, name,
		"a.csv 1:0 w one", "a.csv 2:10 x one", "a.csv 3:20 corrected one", "a.csv 3:20 z one", "a.csv 4:30 new one", "a.csv 5:40 y one", "other.csv 1:5 o one")

	write(t, name, "two", KeepsOfLoad("a.csv", "two", true), bad("a.csv", 0, "w"))
	wantLines(t, name, "other.csv 1:5 o one", "a.csv 1:0 w two")
	write(t, name, "two", KeepsOfLoad("a.csv", "two", false), bad("a.csv", 7, "v"))
	wantLines(t, name, "other.csv 1:5 o one", "a.csv 1:7 v two")
}

// TestCorrectedLinesStay writes the bad records of a file that was refused twice, and corrected in between.
func TestCorrectedLinesStay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.jsonl")
	write(t, name, "one", nil, bad("a.csv", 0, "w"), bad("a.csv", 10, "corrected"), bad("a.csv", 20, "good now"))
	for range 2 {
		write(t, name, "one", KeepsOfLoad("a.csv", "one", false), bad("a.csv", 0, "w"), bad("a.csv", 10, "x"))
		wantLines(t, name, "a.csv 1:0 w one", "a.csv 2:10 corrected one", "a.csv 2:10 x one")
	}
	write(t, name, "two", KeepsOfLoad("a.csv", "two", false), bad("a.csv", 0, "w"), bad("a.csv", 10, "x"))
	wantLines(t, name, "a.csv 1:0 w two", "a.csv 2:10 x two")
}

// correct replaces text in a quarantine file.
func correct(t *testing.T, name, from, to string) {
	t.Helper()
	testkit.WriteFile(t, name, strings.Replace(read(t, name), from, to, 1))
}

// TestCorrectedLinesAreKept replaces a quarantine file, or removes it. Corrected lines that do not stay are in a file of their own.
func TestCorrectedLinesAreKept(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.jsonl")
	kept := func() (out []string) {
		t.Helper()
		all, err := filepath.Glob(filepath.Join(dir, "*.kept-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			out = append(out, lines(t, name)...)
		}
		slices.Sort(out)
		return out
	}
	want := []string{"a.csv 2:10 new x one"}
	first := func() {
		t.Helper()
		write(t, name, "one", nil, bad("a.csv", 0, "w"), bad("a.csv", 10, "x"))
		correct(t, name, `"raw":"x"`, `"raw":"new x"`)
	}
	for range 2 { // the second time, the file of the kept line exists
		first()
		write(t, name, "two", KeepsOfLoad("a.csv", "two", false), bad("a.csv", 0, "w"))
		wantLines(t, name, "a.csv 1:0 w two")
		if got := kept(); !slices.Equal(got, want) {
			t.Errorf("replaced: %q is kept, want %q", got, want)
		}
	}
	correct(t, name, `"raw":"w"`, `"raw":"new w"`)
	write(t, name, "two", KeepsOfLoad("a.csv", "two", false), bad("a.csv", 10, "x"))
	wantLines(t, name, "a.csv 2:10 x two") // the first record is good for a corrected job
	want = append([]string{"a.csv 1:0 new w two"}, want...)
	if got := kept(); !slices.Equal(got, want) {
		t.Errorf("good now: %q is kept, want %q", got, want)
	}
	first()
	correct(t, name, `"raw":"new x"`, `"raw":"newer x"`)
	if err := Remove(t.Context(), local.New(), quiet, []string{"a.csv"}, func(string) string { return name }); err != nil {
		t.Fatal(err)
	}
	want = append(want, "a.csv 2:10 newer x one")
	if got := kept(); !slices.Equal(got, want) {
		t.Errorf("removed: %q is kept, want %q", got, want)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != len(want) {
		t.Errorf("the directory has %v, want only the kept lines: %v", all, err)
	}
}

// TestADamagedLineStays checks that a damaged line stays in the file, so that the user sees it.
func TestADamagedLineStays(t *testing.T) {
	dir := t.TempDir()
	name, from := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	testkit.WriteFile(t, name, "\n{damaged")
	write(t, from, "", nil, bad("a.csv", 0, "x"))
	if err := Copy(t.Context(), local.New(), quiet, from, name, KeepsOfLoad("a.csv", "", false)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, name); got != "{damaged\n"+read(t, from) {
		t.Errorf("the file is %q, want the damaged line and then the copied one", got)
	}
}

// TestThingsInThePlaceOfFiles puts something else in the place of a quarantine file, of its folder, and of the bad records of a piece. To
// read a pipe would block.
func TestThingsInThePlaceOfFiles(t *testing.T) {
	const step = ": move it away, then type the same command again"
	const again = ": remove it, and run the piece again"
	pipe := func(name string) error { return syscall.Mkfifo(name, 0o600) }
	folder := func(name string) error { return os.Mkdir(name, 0o700) }
	loop := func(name string) error { return os.Symlink(filepath.Base(name), name) }
	for _, x := range []struct {
		name, of, step string
		put            func(name string) error
	}{
		{"a pipe", "quarantine/a.jsonl", "a pipe, socket or device, and not a file" + step, pipe},
		{"a folder", "quarantine/a.jsonl", "is a directory" + step, folder},
		{"a link to itself", "quarantine/a.jsonl", "a link to itself has the name of the file" + step, loop},
		{"a link to itself", "quarantine", "a link to itself has the name of the folder quarantine" + step, loop},
		{"a pipe", "quarantine", "a file has the name of the folder quarantine" + step, pipe},
		{"a pipe", "part", "a pipe, socket or device, and not a file" + again, pipe},
		{"a folder", "part", "a directory is in its place" + again, folder},
	} {
		t.Run(x.name+" in the place of "+x.of, func(t *testing.T) {
			dir := t.TempDir()
			name, part := filepath.Join(dir, "quarantine", "a.jsonl"), filepath.Join(dir, "part")
			write(t, name, "one", nil, bad("a.csv", 0, "x"))
			write(t, part, "", nil, bad("a.csv", 0, "x"))
			at := filepath.Join(dir, x.of)
			if err := errors.Join(os.RemoveAll(at), x.put(at)); err != nil {
				t.Fatal(err)
			}
			keeps, files := KeepsOfLoad("a.csv", "one", false), local.New()
			errs := map[string]error{
				"copy": Copy(t.Context(), files, quiet, part, name, keeps),
				"join": Join(t.Context(), files, quiet, []Range{{part, 0}}, name, "one", keeps),
			}
			if x.of == "part" {
				_, errs["reasons"] = ReasonsOf(t.Context(), files, []Range{{part, 0}})
			} else {
				errs["remove"] = Remove(t.Context(), files, quiet, []string{"a.csv"}, func(string) string { return name })
				f := NewFile(t.Context(), files, quiet, name, func(string) Keeps { return keeps })
				defer f.Abort()
				if errs["load"] = f.Add(0, []Record{bad("a.csv", 0, "x")}); errs["load"] == nil {
					errs["load"] = f.Commit("one")
				}
			}
			for what, err := range errs {
				if err == nil || !strings.Contains(err.Error(), filepath.Dir(at)) || !strings.HasSuffix(err.Error(), x.step) {
					t.Errorf("%s: %v, want an error that ends in %q", what, err, x.step)
				}
				if x.of != "part" && exit.Of(err) != exit.Usage {
					t.Errorf("%s: %v has the status %d, want 64", what, err, exit.Of(err))
				}
			}
		})
	}
}

// TestRangesAreJoined adds the lines before a range to the line numbers, and nothing else changes.
func TestRangesAreJoined(t *testing.T) {
	dir := t.TempDir()
	one, two, name := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "a.jsonl")
	write(t, one, "", nil, bad("a.csv", 10, "<&>"))
	cut := bad("a.csv", 30, "\xfe")
	cut.Cut = true
	write(t, two, "", nil, cut)
	if err := Join(t.Context(), local.New(), quiet, []Range{{one, 0}, {two, 7}}, name, "abc", nil); err != nil {
		t.Fatal(err)
	}
	shifted := cut
	shifted.Line += 7
	write(t, two, "abc", nil, shifted)
	write(t, one, "abc", nil, bad("a.csv", 10, "<&>"))
	got := read(t, name)
	if want := read(t, one) + read(t, two); got != want {
		t.Errorf("the joined file is\n%s\nwant the lines of a file that was read whole\n%s", got, want)
	}
	if err := Join(t.Context(), local.New(), quiet, []Range{{filepath.Join(dir, "gone"), 0}}, name, "abc", nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of a range is gone: %v", err)
	}
	if again := read(t, name); again != got {
		t.Errorf("after a failed Join the file is %q", again)
	}
	testkit.WriteFile(t, one, strings.TrimSuffix(read(t, one), "\n"))
	if err := Join(t.Context(), local.New(), quiet, []Range{{one, 0}}, name, "abc", nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file of a range is cut short: %v", err)
	}
}

// TestRemoveLeavesLinesOfOtherPaths removes a file into which a person has moved a line of another path.
func TestRemoveLeavesLinesOfOtherPaths(t *testing.T) {
	dir := t.TempDir()
	nameOf := func(path string) string { return filepath.Join(dir, path) }
	write(t, nameOf("a"), "one", nil, bad("a", 0, "x"))
	write(t, nameOf("b"), "two", nil, bad("b", 7, "y"))
	own, err := os.ReadFile(nameOf("a"))
	if err != nil {
		t.Fatal(err)
	}
	moved, err := os.ReadFile(nameOf("b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(nameOf("a"), slices.Concat(own, moved), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Remove(t.Context(), local.New(), quiet, []string{"a"}, nameOf); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(nameOf("a")); err != nil || !bytes.Equal(got, moved) {
			t.Errorf("the file has %q, %v; want the line of b", got, err)
		}
	}
}

// TestOnlyUTF8IsDecoded decodes lines of an editor that saves in another encoding, and lines with escapes.
func TestOnlyUTF8IsDecoded(t *testing.T) {
	for line, want := range map[string]string{
		`{"raw":"u\u00e92"}`:                          "ué2",
		"{\"raw\":\"用户\ufffd\"}":                      "用户\ufffd",
		`{"raw":"\uFFFD and \ufffd"}`:                 "\ufffd and \ufffd",
		`{"raw":"\ud83d\ude00"}`:                      "😀",
		"{\"raw\":\"u\xe92\"}":                        "",
		"{\"raw\":\"\xd3\xc3\xbb\xa7\"}":              "",
		`{"raw":"\ud800 is half", "detail":"\ufffd"}`: "",
		`{"raw":"\\ufffd \ud800"}`:                    "",
		`{"raw":"\\ufffd is text"}`:                   "\\ufffd is text",
		`{"raw":"\ud800 is half"}`:                    "",
		"{\"raw\":\"\ufffd and \\ude00 too\"}":        "",
	} {
		var r Record
		if err := r.Decode([]byte(line)); (err != nil) != (want == "") || err == nil && r.Raw != want {
			t.Errorf("%q is %q, %v; want %q", line, r.Raw, err, want)
		}
	}
}

// TestRemoveLeavesFilesOfOtherPaths leaves a file whose name another path has, too.
func TestRemoveLeavesFilesOfOtherPaths(t *testing.T) {
	dir := t.TempDir()
	nameOf := func(path string) string { return filepath.Join(dir, "quarantine", strings.ToLower(path)) }
	if err := Remove(t.Context(), local.New(), quiet, []string{"a"}, nameOf); err != nil {
		t.Errorf("without a directory: %v", err)
	}
	for _, path := range []string{"a", "b", "c"} {
		write(t, nameOf(path), "one", nil, bad(path, 0, "x"))
	}
	if err := Remove(t.Context(), local.New(), quiet, []string{"a", "B", "d"}, nameOf); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(filepath.Join(dir, "quarantine"))
	if err != nil || len(all) != 2 || all[0].Name() != "b" || all[1].Name() != "c" {
		t.Errorf("the directory has %v, want b, which is of another path, and c: %v", all, err)
	}
}
