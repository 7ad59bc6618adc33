package tryout_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/peek"
	"usertrail/internal/bulkload/tryout"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// A world is a folder of logs with a job.
type world struct {
	t   *testing.T
	dir string
	cfg tryout.Config
}

func newWorld(t *testing.T, text string) *world {
	t.Helper()
	dir := t.TempDir()
	j, err := job.Parse(filepath.Join(dir, "job.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, dir: dir, cfg: tryout.Config{FS: local.New(), Job: j}}
}

// file writes a file without a behaviour in its path.
func (w *world) file(name, text string) tryout.File {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	testkit.WriteFile(w.t, path, text)
	return tryout.File{File: record.File{Path: path, Kind: -1}, Limit: peek.Limit{Bytes: 1 << 20}}
}

func (w *world) run(files ...tryout.File) *tryout.Report {
	w.t.Helper()
	r, err := tryout.Run(w.t.Context(), w.cfg, files)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

const (
	kinds  = "logs: {path: \"*.csv\", behaviour: kind, max_bad: 20%}\nuser: {column: user, empty: skip}\nbehaviours: {play: {id: 1, fields: {n: int64}}, buy: {id: 2}}\n"
	header = "user,time,kind,n\n"
	good   = "u1,2014-09-01 10:00:00,play,1\n"
)

// TestAReportHasEachReasonWithItsFirstRecord counts records of every outcome.
func TestAReportHasEachReasonWithItsFirstRecord(t *testing.T) {
	w := newWorld(t, kinds)
	part := &manifest.Part{Span: &behaviour.Span{From: behaviour.DateOf(2014, 9, 1), To: behaviour.DateOf(2014, 9, 1)}, Behaviours: []string{"play"}}
	a, b := w.file("a.csv", header+good+"u1,2014-09-01 10:00:00,play,x\n"+",2014-09-01 10:00:00,play,1\n"+"u1,2014-09-01,sell,1\n"+"u1\n"+
		"u1,2014-09-02 10:00:00,play,1\n"), w.file("b.csv", header+"u2,2014-09-01 10:00:00,buy,2\n"+strings.Repeat("u1,never,play,1\n", 2)+good)
	a.Part, b.Part = part, part
	r := w.run(a, b)
	w.cfg.Memory = 1
	if one := w.run(a, b); !reflect.DeepEqual(one, r) {
		t.Errorf("one file at a time: %+v, want %+v", one, r)
	}
	if r.Files != 2 || r.Whole != 2 || r.Records != 10 || r.Good != 2 || r.Bad != 4 || r.Skipped != 4 {
		t.Errorf("the report is %+v", r)
	}
	if want := []tryout.Text{{Text: "sell", Count: 1}}; !slices.Equal(r.Unknown, want) {
		t.Errorf("unknown are %v, want %v", r.Unknown, want)
	}
	var got []string
	for _, of := range r.Behaviours {
		got = append(got, fmt.Sprintf("%s: %d = %d + %d + %d, %s, %s", of.Name, of.Records, of.Good, of.Bad, of.Skipped, of.MaxBad, of.Verdict))
		for _, x := range of.Reasons {
			got = append(got, fmt.Sprintf("%d %s %v %s %s %s", x.Records, x.Reason, x.Bad, strings.TrimPrefix(x.Place(), w.dir+"/"), x.Detail, x.Text))
		}
	}
	want := []string{
		"play: 6 = 2 + 3 + 1, 20%, refused",
		`2 bad time true b.csv:3 "never" is not a time such as 2006-01-02 15:04:05 u1,never,play,1`,
		`1 wrong type true a.csv:3 field n: "x" is no int64 u1,2014-09-01 10:00:00,play,x`,
		`1 outside the dates false a.csv at byte 129  `,
		"buy: 1 = 0 + 0 + 1, 20%, refused",
		`1 other types false b.csv at byte 17  `,
		": 3 = 0 + 1 + 2, 20%, refused",
		`1 without user false a.csv:4  ,2014-09-01 10:00:00,play,1`,
		`1 unknown behaviour false a.csv:5 "sell" is no behaviour of the job u1,2014-09-01,sell,1`,
		`1 wrong width true a.csv:6 1 column, want 4 u1`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the report is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, f := range r.Results {
		if !errors.Is(f.Refused, bulkload.ErrTooBad) {
			t.Errorf("%s: %v, want ErrTooBad", f.Path, f.Refused)
		}
	}
}

// TestTheShareOfAWholeFileDecides judges files with a share of bad records just below and just above
// max_bad.
func TestTheShareOfAWholeFileDecides(t *testing.T) {
	w := newWorld(t, kinds)
	for _, c := range []struct {
		bad  int
		want tryout.Verdict
	}{{0, tryout.Loads}, {20, tryout.Loads}, {21, tryout.Refused}, {100, tryout.Refused}} {
		f := w.file("a.csv", header+strings.Repeat(good, 100-c.bad)+strings.Repeat("u1,never,play,1\n", c.bad))
		if r := w.run(f); r.Behaviours[0].Verdict != c.want || r.Results[0].Verdict != c.want {
			t.Errorf("%d bad records of 100: %s, want %s", c.bad, r.Behaviours[0].Verdict, c.want)
		}
	}
}

// TestASmallSampleIsNoProof checks that the bad records of a sample refuse a file only if their
// number is very unlikely for an acceptable file.
func TestASmallSampleIsNoProof(t *testing.T) {
	w := newWorld(t, kinds)
	for _, c := range []struct {
		bad  int // of 10
		want tryout.Verdict
	}{{1, tryout.Loads}, {3, tryout.Uncertain}, {9, tryout.Refused}} {
		f := w.file("a.csv", header+strings.Repeat(strings.Repeat("u1,0000-00-00 00:00:00,play,1\n", c.bad)+strings.Repeat(good, 10-c.bad), 5000))
		f.Limit.Bytes = 1500
		if r := w.run(f); r.Whole != 0 || r.Results[0].Verdict != c.want {
			t.Errorf("%d bad records of 10 in a sample of %d: %s, want %s", c.bad, r.Records, r.Results[0].Verdict, c.want)
		}
	}
}

// TestReportsAreEqual whatever the order in which the goroutines end.
func TestReportsAreEqual(t *testing.T) {
	w := newWorld(t, kinds)
	var files []tryout.File
	for i := range 40 {
		files = append(files, w.file(fmt.Sprint(i, ".csv"), header+strings.Repeat(good, i*50)+strings.Repeat("u1,never,play,1\nu1,2014-09-01,x"+fmt.Sprint(i%7)+",1\n", i%5)))
	}
	first := w.run(files...)
	for range 5 {
		if r := w.run(files...); !reflect.DeepEqual(r, first) {
			t.Fatalf("the report is\n%+v\nwant\n%+v", r, first)
		}
	}
	if len(first.Unknown) != 5 || first.Unknown[0].Count < first.Unknown[4].Count {
		t.Errorf("the unknown texts are %v", first.Unknown)
	}
}

func TestRecordsThatTheLayoutCannotHold(t *testing.T) {
	w := newWorld(t, kinds)
	w.cfg.Fits = func(r *behaviour.Record) error { return errors.New("too long") }
	r := w.run(w.file("a.csv", header+good+good))
	if err := r.Results[0].Unfit; !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), "record at byte 17: too long") {
		t.Errorf("%v, want ErrRequest of the first record", err)
	}
}

func TestAFileThatIsGone(t *testing.T) {
	w := newWorld(t, kinds)
	f := w.file("a.csv", header+good)
	gone := f
	gone.Path += ".gone"
	r := w.run(gone, f)
	if !errors.Is(r.Results[0].Unread, os.ErrNotExist) || r.Results[1].Unread != nil || r.Good != 1 {
		t.Errorf("the results are %+v", r.Results)
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		sizes        []int64
		bytes, least int64
		want         []int64
	}{
		{nil, 10, 1, []int64{}},
		{[]int64{5, 5}, 10, 1, []int64{5, 5}},
		{[]int64{100}, 10, 1, []int64{10}},
		{[]int64{100, 2, 100}, 10, 1, []int64{4, 2, 4}},
		{[]int64{100, 100, 100}, 9, 5, []int64{5, 5, 5}},
		{[]int64{100, 3, 0}, 3, 5, []int64{5, 3, 0}},
		{[]int64{1, 2, 30, 40}, 1000, 5, []int64{1, 2, 30, 40}},
	} {
		if got := tryout.Shares(c.sizes, c.bytes, c.least); !slices.Equal(got, c.want) {
			t.Errorf("%d bytes for %v: %v, want %v", c.bytes, c.sizes, got, c.want)
		}
	}
}

// TestUnknownBehavioursAreJudged compares records of unknown behaviours with max_skipped, in a whole file
// and in a sample.
func TestUnknownBehavioursAreJudged(t *testing.T) {
	w := newWorld(t, kinds)
	unknown := strings.Replace(good, "play", "sell", 1)
	lines := func(known, others int) string {
		return strings.Repeat(strings.Repeat(good, known)+strings.Repeat(unknown, others), 100)
	}
	for _, c := range []struct {
		text    string
		part    bool
		verdict tryout.Verdict
	}{
		{lines(9, 1), false, tryout.Loads}, {lines(8, 1), false, tryout.Refused}, {lines(19, 1), true, tryout.Loads}, {lines(7, 1), true, tryout.Uncertain}, {lines(1, 1), true, tryout.Refused},
	} {
		f := w.file("a.csv", header+c.text)
		if c.part {
			f.Limit.Bytes = 2000
		}
		of := w.run(f).Results[0]
		if of.Verdict != c.verdict || of.Whole == c.part || (of.Refused != nil) != (c.verdict == tryout.Refused) {
			t.Errorf("%d of %d unknown: %s, whole %v, %v; want %s", of.Unknown, of.Read(), of.Verdict, of.Whole, of.Refused, c.verdict)
		}
		if of.Refused != nil && (!errors.Is(of.Refused, bulkload.ErrTooBad) || !strings.Contains(of.Refused.Error(), "\"sell\": nothing of the file is loaded") || strings.HasPrefix(of.Refused.Error(), "in a sample of the file: ") != c.part) {
			t.Errorf("the file is refused: %v", of.Refused)
		}
	}
}
