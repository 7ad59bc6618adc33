package pieces_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// linesOf prints pieces as a version does, and reads the lines.
func linesOf(y *bulkloadtest.Fixture, version int, parts []pieces.Piece) []pieces.Line {
	y.T.Helper()
	all, err := pieces.Lines(parts)
	if err != nil {
		y.T.Fatal(err)
	}
	var text bytes.Buffer
	for i := range all {
		line := all[i].Text()
		if version == 1 {
			line = parts[i].Line()
		}
		fmt.Fprintf(&text, "%s\n", line)
	}
	read, err := pieces.ReadLines(&text, "lines")
	if err != nil {
		y.T.Fatal(err)
	}
	return read
}

// found reads the pieces of lines.
func found(y *bulkloadtest.Fixture, lines []pieces.Line) []pieces.Piece {
	y.T.Helper()
	parts, err := pieces.OpenAll(y.T.Context(), local.New(), y.Store, lines)
	if err != nil {
		y.T.Fatal(err)
	}
	return parts
}

// TestLinesOfBothVersions does a plan's pieces by lines of one version, or of both, and
// commits them, again and again.
func TestLinesOfBothVersions(t *testing.T) {
	for _, versions := range [][2]int{{2, 2}, {1, 1}, {1, 2}, {2, 1}} {
		y, w := newDelivery(t, 3)
		one := y.Twin()
		from, to := w.Span.From.String(), w.Span.To.String()
		one.Load(nil, from, to)
		parts := y.Plan(nil, 400, from, to)
		do, commit := linesOf(y, versions[0], parts), linesOf(y, versions[1], parts)
		for i, p := range found(y, do) {
			if !bytes.Equal(p.Line(), parts[i].Line()) {
				t.Errorf("versions %v: piece %d is read as\n%s\nand was\n%s", versions, i, p.Line(), parts[i].Line())
			}
		}
		y.DoAll(found(y, do))
		y.Commit(nil, found(y, commit))
		y.Same(one)
		y.Commit(bulkload.ErrNothing, found(y, commit))
		if r := y.Do(&found(y, do)[1]); !r.Already {
			t.Errorf("versions %v: a piece of a plan that is committed: %+v", versions, r)
		}
	}
}

// TestLinesOfAPlanThatIsGone removes the folder of a plan.
func TestLinesOfAPlanThatIsGone(t *testing.T) {
	y, w := newDelivery(t, 3)
	from, to := w.Span.From.String(), w.Span.To.String()
	parts := y.Plan(nil, 400, from, to)
	lines := linesOf(y, 2, parts)
	folder := filepath.Join(y.Store.Plans(), parts[0].Plan)
	stale := func(what string) {
		t.Helper()
		gone := found(y, lines)
		if _, err := pieces.Run(t.Context(), y.Worker(local.New()), &gone[0], 0); !errors.Is(err, pieces.ErrStale) {
			t.Errorf("a piece without %s: %v, want ErrStale", what, err)
		}
		y.Commit(pieces.ErrStale, gone)
	}
	if err := os.Remove(filepath.Join(folder, "pieces.jsonl")); err != nil {
		t.Fatal(err)
	}
	stale("the file of its plan")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	stale("the folder of its plan")
	if again := linesOf(y, 2, y.Plan(nil, 400, from, to)); !bytes.Equal(again[0].Text(), lines[0].Text()) {
		t.Errorf("planned again the first line is %s, and was %s", again[0].Text(), lines[0].Text())
	}
	y.DoAll(found(y, lines))
	y.Commit(nil, found(y, lines))
}

// TestAPlanIsMendedByPlanningAgain changes a byte of the data that the lines refer to.
func TestAPlanIsMendedByPlanningAgain(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-01")
	lines := linesOf(y, 2, parts)
	name := filepath.Join(y.Store.Plans(), parts[0].Plan, "pieces.jsonl")
	text, err := os.ReadFile(name)
	if err == nil {
		text[len(text)-20] ^= 1
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pieces.Open(t.Context(), local.New(), y.Store, lines); !errors.Is(err, piece.ErrPiece) {
		t.Errorf("%v, want ErrPiece", err)
	}
	y.Plan(nil, 1<<20, "2014-09-01", "2014-09-01")
	y.DoAll(found(y, lines))
	y.WantCounts(y.Commit(nil, found(y, lines)), 2, 2, 0, 0, 0)
}

// TestChangedLinesAreRefused changes a line, or the data that it refers to.
func TestChangedLinesAreRefused(t *testing.T) {
	y, w := newDelivery(t, 3)
	parts := y.Plan(nil, 400, w.Span.From.String(), w.Span.To.String())
	good := linesOf(y, 2, parts)
	name := filepath.Join(y.Store.Plans(), parts[0].Plan, "pieces.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, change func(*pieces.Line)) {
		t.Helper()
		line := good[1]
		change(&line)
		read, err := pieces.ReadLines(bytes.NewReader(line.Text()), "FILE")
		if err == nil {
			_, err = pieces.Open(t.Context(), local.New(), y.Store, read)
		}
		if !errors.Is(err, piece.ErrPiece) {
			t.Errorf("%s: %v, want ErrPiece", what, err)
		}
	}
	for what, change := range map[string]func(*pieces.Line){
		"the plan": func(l *pieces.Line) { l.Plan = "../" + l.Plan }, "the number": func(l *pieces.Line) { l.Piece = 0 }, "the table": func(l *pieces.Line) { l.Table = "" },
		"the begin": func(l *pieces.Line) { l.At++ }, "a begin before": func(l *pieces.Line) { l.At = -5 }, "the length": func(l *pieces.Line) { l.Bytes-- },
		"no length": func(l *pieces.Line) { l.Bytes = 0 }, "a huge length": func(l *pieces.Line) { l.Bytes = 1<<63 - 1 }, "a length past the end": func(l *pieces.Line) { l.Bytes = 1 << 40 },
		"the common bytes": func(l *pieces.Line) { l.Common-- }, "more common bytes": func(l *pieces.Line) { l.Common = l.At + 1 }, "the digest": func(l *pieces.Line) { l.SHA256 = "" },
	} {
		refused(what, change)
	}
	changed := bytes.ReplaceAll(text, []byte("2014"), []byte("2015"))
	testkit.WriteFile(t, name, string(changed))
	refused("the file", func(*pieces.Line) {})
}

// TestAPieceOfAnotherBehaviourIsRefused changes a line of an earlier release, whose lines have no digest.
func TestAPieceOfAnotherBehaviourIsRefused(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	parts := y.Plan(nil, 1<<20, "2014-09-01", "2014-09-01")
	parts[0].Inputs[0].Behaviour = "seek"
	changed := found(y, linesOf(y, 1, parts))
	const says = `the job of the piece has no behaviour "seek": plan again`
	if _, err := pieces.Run(t.Context(), y.Worker(local.New()), &changed[0], 0); !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want ErrRequest and %q", err, says)
	}
}

// watched is a file system that calls a function when most of a delivered file has been read.
type watched struct {
	dfs.FS
	logs string
	read func(name string)
}

// Open implements dfs.FS.
func (f watched) Open(ctx context.Context, name string) (dfs.File, error) {
	file, err := f.FS.Open(ctx, name)
	if err != nil || !strings.HasPrefix(name, f.logs) {
		return file, err
	}
	return &watchedFile{File: file, read: func() { f.read(name) }}, nil
}

type watchedFile struct {
	dfs.File
	n    int64
	read func()
	once sync.Once
}

// Read implements dfs.File.
func (f *watchedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	if f.n += int64(n); f.n > f.Size()/2 {
		f.once.Do(f.read)
	}
	return n, err
}

// ReadAt implements dfs.File.
func (f *watchedFile) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.Size()/4 {
		f.once.Do(f.read)
	}
	return f.File.ReadAt(b, at)
}

// TestAPlanReadsLogsWithoutTheLock plans ranges of a large file and digests of files of one
// size, and tries to lock the table when each has been read.
func TestAPlanReadsLogsWithoutTheLock(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 00:00:01,one,1\n")
	y.Load(nil, "2014-09-01", "2014-09-01") // so that no regions have to be chosen
	for day, rows := range map[string]int{"2014-09-02": 60_000, "2014-09-03": 30_000, "2014-09-04": 30_000} {
		y.Write(day+"/play.csv", "user,time,title,seconds\n"+strings.Repeat("a,"+day+" 00:00:01,one,1\n", rows))
	}
	cfg := y.Planning(1<<20, "2014-09-01", "2014-09-04")
	cfg.Memory = 8 << 20
	opened := map[string]int{}
	cfg.FS = watched{local.New(), filepath.Join(y.Dir, "logs"), func(name string) {
		opened[filepath.Base(filepath.Dir(name))]++
		lock, err := y.Store.Lock(t.Context())
		if err != nil {
			t.Errorf("%s is read: %v", name, err)
			return
		}
		if err := lock.Unlock(); err != nil {
			t.Error(err)
		}
	}}
	parts, planned, err := pieces.Plan(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if planned.Cut != 1 || opened["2014-09-02"] != 1 || opened["2014-09-03"] != 1 || opened["2014-09-04"] != 1 {
		t.Errorf("cut are %d files, read %v; want one, and each new file once", planned.Cut, opened)
	}
	y.DoAll(parts)
	y.Commit(nil, parts)
}

// TestAPlanOfLogsThatGrow has a delivered file change whenever it has been read: the plan
// ends, and has not kept the lock.
func TestAPlanOfLogsThatGrow(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", "user,time,title,seconds\na,2014-09-01 00:00:01,one,1\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	text := "user,time,title,seconds\n" + strings.Repeat("a,2014-09-02 00:00:01,one,1\n", 60_000)
	y.Write("2014-09-02/play.csv", text)
	cfg := y.Planning(1<<20, "2014-09-02", "2014-09-02")
	cfg.FS = watched{local.New(), filepath.Join(y.Dir, "logs"), func(string) {
		text += "a,2014-09-02 00:00:01,one,1\n"
		y.Write("2014-09-02/play.csv", text)
	}}
	if _, _, err := pieces.Plan(t.Context(), cfg); !errors.Is(err, bulkload.ErrGrowing) || !strings.Contains(err.Error(), "2014-09-02/play.csv") {
		t.Errorf("%v, want ErrGrowing with the file", err)
	}
	y.Plan(nil, 1<<20, "2014-09-02", "2014-09-02")
}

// TestALineHasTextsOnce plans files that an earlier load read with fewer texts, and a copy of each file.
// The line of a piece has each list of texts once.
func TestALineHasTextsOnce(t *testing.T) {
	job := func(texts string) string {
		return "logs: {path: \"logs/{date}*.csv\", behaviour: {column: kind, others: skip, texts: {" + texts + "}}, max_bad: 50%}\nuser: user\nbehaviours:\n  play: {id: 1}\n"
	}
	y := bulkloadtest.New(t, job("start: play"))
	const day = "2014-09-01"
	for i := range 3 {
		y.Write(fmt.Sprintf("%s-%d.csv", day, i), fmt.Sprintf("user,time,kind\nu%d,%s 10:00:00,start\nu2,%s 10:00:00,resume\n", i, day, day))
	}
	y.Load(nil, day, day)
	y.SetJob(job("start: play, resume: play"))
	for i := range 3 {
		y.Write(fmt.Sprintf("%s-%d-again.csv", day, i), fmt.Sprintf("user,time,kind\nu%d,%s 10:00:00,start\nu2,%s 10:00:00,resume\n", i, day, day))
	}
	parts := y.Plan(nil, 1<<20, day, day)
	if len(parts) != 1 {
		t.Fatalf("%d pieces, want 1", len(parts))
	}
	line := string(parts[0].Line())
	if first, both := strings.Count(line, `{"start":"play"}`), strings.Count(line, `{"resume":"play","start":"play"}`); first != 1 || both != 1 {
		t.Errorf("the line has the texts of the first job %d times, and of the second job %d times, want once:\n%s", first, both, line)
	}
	old, now := map[string]string{"start": "play"}, map[string]string{"start": "play", "resume": "play"}
	for _, version := range []int{1, 2} {
		p := &found(y, linesOf(y, version, parts))[0]
		if again := string(p.Line()); again != line {
			t.Errorf("version %d: the piece is read as\n%s\nand was\n%s", version, again, line)
		}
		for _, in := range p.Inputs {
			if !maps.Equal(in.Part.Texts, now) || len(in.Covered) == 1 && !maps.Equal(in.Covered[0].Texts, old) || len(in.Copies) == 0 || in.Copies[0].Part.Texts == nil {
				t.Errorf("version %d: %s has other texts: %+v", version, in.Rel, in)
			}
		}
	}
	broken := strings.Replace(line, `"texts_at":1`, `"texts_at":2`, 1)
	if _, err := pieces.ReadLines(strings.NewReader(broken), "lines"); broken == line || !errors.Is(err, piece.ErrPiece) {
		t.Errorf("a part that refers to no texts: got %v, want %v", err, piece.ErrPiece)
	}
	y.DoAll(parts)
	y.WantCounts(y.Commit(nil, parts), 12, 3, 0, 6, 3)
}
