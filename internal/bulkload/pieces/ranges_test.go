package pieces_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/pieces"
	"usertrail/internal/run/piece"
	"usertrail/internal/store/dfs/local"
)

const oneKind = `
logs: {path: "logs/{date}/{behaviour}.log", format: FORMAT, max_bad: 100%}
user: user
behaviours: {play: {id: 1, fields: {title: string, seconds: int64}}}
`

// cutLogs are files in which the place of a cut could matter, by a description and the
// format.
var cutLogs = map[string]string{
	"plain as csv":       bulkloadtest.Plays + bulkloadtest.Plays[24:] + "c,2014-09-01 10:00:00,three,3\n",
	"quotes as csv":      "user,time,title,seconds\na,2014-09-01 10:00:00,\"one\ntwo, \"\"three\"\"\n\",1\n\"b\",2014-09-01 11:00:00,\"\",2\nc,2014-09-01 11:00:00,\"left open,2\nd,2014-09-01 11:00:00,x,2\n",
	"CRLF as csv":        strings.ReplaceAll(bulkloadtest.Plays+"bad\n\nc,2014-09-01 10:00:00,\"a\nb\",3\n", "\n", "\r\n"),
	"a mark as csv":      "\uFEFF" + bulkloadtest.Plays + "\uFEFFc,2014-09-01 10:00:00,three,3\n",
	"no last end as csv": bulkloadtest.Plays + "bad\n" + "c,2014-09-01 10:00:00,three,3",
	"empty lines as csv": "\n\n\r\n" + bulkloadtest.Plays + "\n\n\nbad\n\n" + bulkloadtest.Plays[24:] + "\n\n",
	"bad ones as csv":    bulkloadtest.Plays + "<bad>\n,,,\n" + bulkloadtest.Plays[24:] + "b,never,\xff,1\nb,never,\u2028 &,1\n" + bulkloadtest.Plays[24:] + "e,2014-09-03 10:00:00,x,1\n",
	"a header as csv":    bulkloadtest.Plays[:24],
	"twice as csv":       bulkloadtest.Plays + bulkloadtest.Plays[24:] + bulkloadtest.Plays[24:],
	"tabs as tsv":        strings.ReplaceAll(bulkloadtest.Plays+"bad,\"\nb,2014-09-01 10:00:00,\"one,\n", ",", "\t"),
	"objects as jsonl": `{"user":"a","time":"2014-09-01 10:00:00","title":"one","seconds":1}` + "\n{bad}\n\n" +
		`{"user":"b","time":"2014-09-01 10:00:00","title":"\n"}` + "\r\n" + `{"user":7}`,
}

// TestRangesMakeTheTableOfOneLoad cuts a file into ever smaller ranges.
func TestRangesMakeTheTableOfOneLoad(t *testing.T) {
	for name, text := range cutLogs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, format, _ := strings.Cut(name, " as ")
			y := bulkloadtest.New(t, strings.Replace(oneKind, "FORMAT", format, 1))
			y.Write("2014-09-01/play.log", text)
			one := y.Twin()
			want := one.Load(nil, "2014-09-01", "2014-09-01")
			dice, most := rand.New(rand.NewPCG(1, 1)), 0
			for _, size := range []int64{1, 30, 70, int64(len(text)) - 1, int64(len(text))} {
				y.Store.Dir = filepath.Join(y.Dir, fmt.Sprint("trails", size))
				parts := y.Plan(nil, size, "2014-09-01", "2014-09-01")
				most = max(most, len(parts))
				if whole := size == int64(len(text)); whole != (len(parts) == 1) && len(text) > 30 {
					t.Errorf("%d pieces of %d bytes", len(parts), size)
				}
				inAnyWay(y, dice, parts)
				dice.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				if got := y.Commit(nil, parts); got.Counts != want.Counts || got.Files != 1 || got.Bytes != int64(len(text)) {
					t.Errorf("in pieces of %d bytes: %+v, want %+v", size, got, want)
				}
				if y.Same(one); t.Failed() {
					t.Fatalf("in pieces of %d bytes", size)
				}
				y.Swept()
			}
			if lines := strings.Count(text, "\n"); lines > 3 && most < lines/2 {
				t.Errorf("%d lines in %d pieces at most", lines, most)
			}
		})
	}
}

// TestRangesAreJudgedTogether checks that max_bad holds for the whole file. If a file has too
// many bad records, no range is loaded, even a range without bad records. Otherwise all ranges
// are loaded, even a range with only bad records.
func TestRangesAreJudgedTogether(t *testing.T) {
	text := strings.Replace(bulkloadtest.TwoKinds, "50%", "2", 1)
	y := bulkloadtest.New(t, text)
	order := "a,2014-09-01 12:00:00,1.5\n"
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays+"bad\n"+bulkloadtest.Plays[24:]+bulkloadtest.Plays[24:]+"bad\n"+bulkloadtest.Plays[24:]+"bad\n")
	y.Write("2014-09-01/order.csv", "user,time,price\n"+strings.Repeat(order, 4)+"bad\nbad\n"+strings.Repeat(order, 4))
	y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "09-01", "09-02"))
	one := y.Twin()
	want, err := load.Run(t.Context(), one.Config("2014-09-01", "2014-09-02"))
	if !errors.Is(err, bulkload.ErrTooBad) {
		t.Fatal(err)
	}
	for _, size := range []int64{10, 60} {
		y.Store.Dir = filepath.Join(y.Dir, fmt.Sprint("trails", size))
		parts := y.Plan(nil, size, "2014-09-01", "2014-09-02")
		y.DoAll(parts)
		got, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
		if !errors.Is(err, bulkload.ErrTooBad) || !strings.Contains(err.Error(), "2014-09-01/play.csv: more bad records than the job allows: 3 of 11") {
			t.Errorf("%v, want the plays left out for the sum of their bad records", err)
		}
		for _, err := range []string{got.Failed[0].Error, want.Failed[0].Error} {
			if reasons := "3 wrong width (line 4: 1 column, want 4)"; !strings.Contains(err, reasons) {
				t.Errorf("the error is %s, want %s in it", err, reasons)
			}
		}
		if got.Counts != want.Counts || len(got.Failed) != 1 || got.Files != 2 || got.Cells != want.Cells {
			t.Errorf("committed were %+v, want %+v", got, want)
		}
		y.Same(one)
		y.Swept()
		if got := y.Quarantined("2014-09-01/play.csv"); !strings.Contains(got, `"line":4,`) || !strings.Contains(got, `"line":9,`) {
			t.Errorf("the quarantine is %s, want lines of the whole file", got)
		}
	}
}

// TestAFileThatChangesBetweenItsRanges changes a file while its ranges are read. The whole file
// is left out, also if neither its size nor its time shows the change.
func TestAFileThatChangesBetweenItsRanges(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		t.Run(fmt.Sprintf("hidden %v", hidden), func(t *testing.T) {
			y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "09-01", "09-02"))
			name := filepath.Join(y.Dir, "logs/2014-09-01/play.csv")
			before, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			parts := y.Plan(nil, 45, "2014-09-01", "2014-09-02")
			if len(parts) != 6 {
				t.Fatalf("%d pieces, want digests and two ranges of each file", len(parts))
			}
			y.Do(&parts[1])
			y.Write("2014-09-01/play.csv", strings.Replace(bulkloadtest.Plays, "two", "six", 1))
			modified := before.ModTime()
			if !hidden {
				modified = modified.Add(1e9)
			}
			if err := os.Chtimes(name, modified, modified); err != nil {
				t.Fatal(err)
			}
			y.Do(&parts[0])
			y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
			if err := os.Chtimes(name, modified, modified); err != nil {
				t.Fatal(err)
			}
			y.DoAll(parts)
			r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
			if err == nil || !strings.Contains(err.Error(), "09-01/play.csv: it was written to while it was read") || errors.Is(err, bulkload.ErrTooBad) || len(r.Failed) != 1 {
				t.Errorf("committed were %+v, %v; want the changed file left out, once", r, err)
			}
			y.WantTrails("a 2014-09-02 2014-09-02T10:00:00Z play title=one seconds=1", "b 2014-09-02 2014-09-02T11:00:00Z play title=two seconds=2")
			y.Swept()
			again := y.Plan(nil, 45, "2014-09-01", "2014-09-02")
			y.DoAll(again)
			y.WantCounts(y.Commit(nil, again), 2, 2, 0, 0, 0)
		})
	}
}

// TestAFileThatIsGoneIsLeftOut of its pieces, and their commit names it once.
func TestAFileThatIsGoneIsLeftOut(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	y.Write("2014-09-02/play.csv", strings.ReplaceAll(bulkloadtest.Plays, "2014-09-01", "2014-09-02"))
	parts := y.Plan(nil, 45, "2014-09-01", "2014-09-02")
	if err := os.Remove(filepath.Join(y.Dir, "logs/2014-09-01/play.csv")); err != nil {
		t.Fatal(err)
	}
	y.DoAll(parts)
	r, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts)
	if err == nil || strings.Count(err.Error(), "2014-09-01/play.csv: it cannot be read: no such file or directory") != 1 || len(r.Failed) != 1 || r.Files != 1 {
		t.Errorf("%+v, %v; want the existing file loaded, and the missing file named once", r, err)
	}
}

// TestRangesOfAFileWithoutItsColumns checks that ranges cause the same error as one process,
// and only one error.
func TestRangesOfAFileWithoutItsColumns(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", strings.Replace(bulkloadtest.Plays, "seconds", "minutes", 1))
	_, want := load.Run(t.Context(), y.Twin().Config("2014-09-01", "2014-09-01"))
	if want == nil {
		t.Fatal("one process loads it")
	}
	parts := y.Plan(nil, 30, "2014-09-01", "2014-09-01")
	y.DoAll(parts)
	if _, err := pieces.Commit(t.Context(), y.Worker(local.New()), parts); err == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
}

// TestPartsOfAFileComeInRanges loads some behaviours of a file in ranges, and then the other
// behaviours.
func TestPartsOfAFileComeInRanges(t *testing.T) {
	text := strings.Replace(mixedKinds, "unique: [title], ", "", 1)
	y := bulkloadtest.New(t, text)
	y.Write("2014-09-01/a.csv", "user,time,kind,title\na,2014-09-01 10:00:00,play,x\na,2014-09-01 12:00:00,order,\nb,2014-09-01 10:00:00,play,y\n")
	one := y.Twin()
	for _, types := range [][]string{{"play"}, nil} {
		one.Load(nil, "2014-09-01", "2014-09-01", types...)
		parts := y.Plan(nil, 40, "2014-09-01", "2014-09-01", types...)
		if len(parts) < 3 {
			t.Errorf("%d pieces, want ranges", len(parts))
		}
		y.DoAll(parts)
		y.Commit(nil, parts)
		y.Same(one)
	}
}

// TestFilesThatAreNotCut checks that the plan names each file that is not cut, with the reason.
// One of them has the same bytes as a file that is cut, and is its duplicate.
func TestFilesThatAreNotCut(t *testing.T) {
	text := `
logs: {path: "logs/{date}/{behaviour}.*"}
user: user
behaviours:
  play: {id: 1, fields: {title: string, seconds: int64}}
  order: {id: 2, unique: [price], fields: {price: double}}
`
	y := bulkloadtest.New(t, text)
	y.Write("2014-09-01/play.1", bulkloadtest.Plays)
	y.Write("2014-09-01/play.2", bulkloadtest.Plays)
	y.Write("2014-09-01/play.gz", bulkloadtest.Zipped(t, bulkloadtest.Plays+bulkloadtest.Plays[24:]))
	y.Write("2014-09-01/play.3", "user,time,title,seconds\n"+strings.Repeat("x,\"\n", 30))
	y.Write("2014-09-01/order.csv", "user,time,price\n"+strings.Repeat("a,2014-09-01 12:00:00,1.5\n", 4))
	one := y.Twin()
	one.Load(bulkload.ErrTooBad, "2014-09-01", "2014-09-01")
	parts, planned, err := pieces.Plan(t.Context(), y.Planning(40, "2014-09-01", "2014-09-01"))
	if err != nil {
		t.Fatal(err)
	}
	var whole []string
	for _, w := range planned.Whole {
		whole = append(whole, filepath.Base(w.Path)+": "+w.Why)
	}
	slices.Sort(whole)
	want := []string{"order.csv: keys of its records must not repeat", "play.2: it has the bytes of another", "play.gz: it is compressed"}
	if planned.Cut != 2 || planned.Files != 5 || !slices.Equal(whole, want) {
		t.Errorf("%d of %d files are cut; whole are %q, want %q", planned.Cut, planned.Files, whole, want)
	}
	y.DoAll(parts)
	y.Commit(bulkload.ErrTooBad, parts)
	y.Same(one)
}

func TestRangesThatNoPlanPrintsAreRefused(t *testing.T) {
	y := bulkloadtest.New(t, bulkloadtest.TwoKinds)
	y.Write("2014-09-01/play.csv", bulkloadtest.Plays)
	parts := y.Plan(nil, 45, "2014-09-01", "2014-09-01")
	good := parts[1].Line()
	for _, r := range []string{`{"from":-1,"to":52}`, `{"from":52,"to":52}`, `{"from":0,"to":81}`} {
		line := bytes.Replace(good, []byte(`{"from":0,"to":52}`), []byte(r), 1)
		if _, err := pieces.ReadLines(bytes.NewReader(line), "FILE"); !errors.Is(err, piece.ErrPiece) || !strings.Contains(err.Error(), "play.csv") {
			t.Errorf("%s: %v, want ErrPiece that names play.csv", r, err)
		}
	}
}

// TestRangesGoIntoHBase loads ranges by HFiles. A load by puts does not cut files.
func TestRangesGoIntoHBase(t *testing.T) {
	want := bulkloadtest.Undisturbed(t)
	for mode, count := range map[bulkload.Mode]int{bulkload.HFile: 7, bulkload.Put: 2} {
		p := bulkloadtest.NewHBase(t)
		parts, err := p.Cut(local.New(), mode, 30)
		if err != nil || len(parts) != count {
			t.Fatalf("%d pieces by %s, %v; want %d", len(parts), mode, err, count)
		}
		for i := range parts {
			if _, err := p.DoPiece(t.Context(), local.New(), &parts[i]); err != nil {
				t.Fatalf("piece %d: %v", i, err)
			}
		}
		if r, err := p.Publish(t.Context(), local.New(), parts); err != nil || r.Loaded != 5 || r.Files != 2 {
			t.Fatalf("committed %+v, %v", r, err)
		}
		p.Ends(want)
		p.NamesAll("after the commit")
		p.LeavesNoPlan()
	}
}
