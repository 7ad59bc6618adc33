package load_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/column"
	"usertrail/internal/test/testkit"
)

// A hugeLog is a log of more than 4 GiB. Most of it is a column of zero bytes that the job does
// not name, so the file is sparse.
type hugeLog struct {
	t       *testing.T
	file    *os.File
	at      int64
	offsets map[string]int64 // of the records, by their users
}

// record writes a record of size bytes, or of its text alone.
func (h *hugeLog) record(user, rest string, size int64) {
	h.t.Helper()
	h.offsets[user] = h.at
	text := user + "," + rest + ","
	end := h.at + max(size, int64(len(text))+1)
	_, err := h.file.WriteAt([]byte(text), h.at)
	if err == nil {
		_, err = h.file.WriteAt([]byte("\n"), end-1)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.at = end
}

// newHugeLog writes a log with a bad record and a record that is too long, both behind the first
// 4 GiB.
func newHugeLog(t *testing.T, name string) *hugeLog {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const header = "user,time,title,seconds,zeros\n"
	if _, err := f.WriteString(header); err != nil {
		t.Fatal(err)
	}
	h := &hugeLog{t: t, file: f, at: int64(len(header)), offsets: map[string]int64{}}
	for i := range 4200 {
		h.record(fmt.Sprintf("u%d", i), "2014-09-01 10:00:00,one,1", 1<<20-int64(i))
	}
	h.record("bad", "yesterday,one,1", 0)
	h.record("long", "2014-09-01 11:00:00,two,2", 3<<20)
	for i := range 3 {
		h.record(fmt.Sprintf("last%d", i), "2014-09-01 12:00:00,three,3", 0)
	}
	if h.offsets["bad"] <= 1<<32 {
		t.Fatalf("the bad record is at %d, want more than 4 GiB", h.offsets["bad"])
	}
	return h
}

// zip writes the log as a gzip file.
func zip(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err == nil {
		_, err = io.Copy(z, in)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFilesOfMoreThan4GiB loads them plain, compressed and in pieces. Column IDs and the
// quarantine have offsets that do not fit into 32 bits, and a replay reads a record there.
func TestFilesOfMoreThan4GiB(t *testing.T) {
	testkit.OnlyAll(t, "the same with small files")
	const plain, zipped = "2014-09-01/play.csv", "2014-09-01/play.csv.gz"
	y := bulkloadtest.New(t, bulkloadtest.LongLines("1MiB"))
	logs := filepath.Join(y.Dir, "logs")
	h := newHugeLog(t, filepath.Join(logs, plain))
	y.Load(nil, "2014-09-01", "2014-09-01")
	h.check(y, plain)

	pieces := y.Twin()
	planned := pieces.Plan(nil, 1<<30, "2014-09-01", "2014-09-01")
	if len(planned) < 4 {
		t.Fatalf("%d pieces, want a piece for each GiB", len(planned))
	}
	pieces.DoAll(planned)
	pieces.Commit(nil, planned)
	pieces.Same(y)

	h.replay(y, plain)

	packed := bulkloadtest.New(t, bulkloadtest.LongLines("1MiB"))
	if err := os.MkdirAll(filepath.Join(packed.Dir, "logs", "2014-09-01"), 0o755); err != nil {
		t.Fatal(err)
	}
	zip(t, filepath.Join(logs, plain), filepath.Join(packed.Dir, "logs", zipped))
	packed.Load(nil, "2014-09-01", "2014-09-01")
	h.check(packed, zipped)
	h.replay(packed, zipped)
}

// check compares a table with the log, and the quarantine of the file called name.
func (h *hugeLog) check(y *bulkloadtest.Fixture, name string) {
	h.t.Helper()
	if n := len(y.Trails(false)); n != len(h.offsets)-2 {
		h.t.Errorf("%s: %d records are loaded, want %d", name, n, len(h.offsets)-2)
	}
	for _, user := range []string{"u0", "u4096", "u4199", "last2"} {
		h.checkID(y, user)
	}
	bad := map[string]int64{}
	for line := range strings.Lines(y.Quarantined(name)) {
		var r quarantine.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			h.t.Fatal(err)
		}
		user, _, _ := strings.Cut(r.Raw, ",")
		bad[user] = r.Offset
	}
	if len(bad) != 2 || bad["bad"] != h.offsets["bad"] || bad["long"] != h.offsets["long"] {
		h.t.Errorf("%s: bad records are at %v, want bad at %d and long at %d", name, bad, h.offsets["bad"], h.offsets["long"])
	}
}

// replay replays the bad records with a job that allows longer ones. The replay reads the long
// record from the delivered file.
func (h *hugeLog) replay(y *bulkloadtest.Fixture, name string) {
	h.t.Helper()
	y.SetJob(bulkloadtest.LongLines("4MiB"))
	c := bulkloadtest.ReplayOf(y.Config("2014-09-01", "2014-09-01"))
	c.Memory = 128 << 20
	r, err := replay.Run(h.t.Context(), c, y.Store.Quarantine(name))
	if !errors.Is(err, bulkload.ErrLeft) {
		h.t.Fatalf("%v, want ErrLeft", err)
	}
	y.WantCounts(r, 2, 1, 1, 0, 0)
	h.checkID(y, "long")
}

// checkID compares the offset in the column ID of a user's record.
func (h *hugeLog) checkID(y *bulkloadtest.Fixture, user string) {
	h.t.Helper()
	number := y.Ledgers()[0].Inputs[0].Number
	line := fmt.Sprintf(" play %d ", column.ID(number, h.offsets[user]))
	if !slices.ContainsFunc(y.Trails(true), func(s string) bool { return strings.HasPrefix(s, user+" ") && strings.Contains(s, line) }) {
		h.t.Errorf("%s has no record at %d", user, h.offsets[user])
	}
}
