package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/dfs/local"
	"usertrail/internal/extract"
	"usertrail/internal/testkit"
	"usertrail/internal/testworld"
)

// peakEnv holds an extract whose memory is measured.
const peakEnv = "USERTRAIL_TEST_PEAK"

// A weighing is an extract of everybody by a process of its own, in the sizes that are
// built in.
type weighing struct {
	Dir, Out string
	Memory   int64
	Workers  int
	Question testworld.Question
	Output   extract.Output
}

// A weight is what became of it.
type weight struct {
	Peak   int64 // of the resident set, in bytes
	Kept   int64
	Failed string
}

// weigh extracts in this process, and tells on standard output what became of it.
func weigh(text string) error {
	extract.CutAt(128<<10, 16<<20)
	extract.ReadAt(8 << 20)
	extract.SortIn(16 << 20)
	var w weighing
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return err
	}
	debug.SetMemoryLimit(min(w.Memory/10*9, w.Memory-32<<20)) // as the command does
	debug.SetGCPercent(200)
	h := &house{dir: w.Dir, fs: local.New()}
	c, err := h.asks(context.Background(), w.Question, turn{name: "trails", workers: w.Workers, output: w.Output}, w.Out)
	if err != nil {
		return err
	}
	c.Memory = w.Memory
	r, err := extract.Run(context.Background(), c)
	got := weight{Kept: r.Kept}
	if err != nil {
		got.Failed = err.Error()
	}
	if got.Peak, err = residentPeak(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}

// residentPeak is the largest resident set of this process so far.
func residentPeak() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}

// run has another process do an extract.
func (w weighing) run(t *testing.T) (got weight) {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), peakEnv+"="+string(text))
	c.Stderr = os.Stderr
	said, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(said, &got); err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	return got
}

// heavy is a table of users with some plays each, of titles of so many bytes that do not
// compress, and of one who has many more.
func heavy(t *testing.T, users, each, size, busy int) (*house, testworld.Question) {
	t.Helper()
	h := newHouse(t, `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  play: {id: 1, fields: {title: string}}
`)
	day := behaviour.DateOf(2014, 9, 1)
	name := filepath.Join(h.dir, "logs", day.String(), "play.csv")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const digits = "0123456789abcdef"
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 2*size)
	for i := range noise {
		noise[i] = digits[r.IntN(len(digits))]
	}
	fmt.Fprintln(f, "user_id,time,title")
	play := func(user string, n int) {
		for i := range n {
			at := r.IntN(size)
			fmt.Fprintf(f, "%s,2014-09-01 %02d:%02d:%02d,%s\n", user, i/3600%24, i/60%60, i%60, noise[at:at+size])
		}
	}
	for u := range users {
		play(fmt.Sprintf("%04d", u), each)
	}
	play("5555", busy)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	q := testworld.Question{Span: behaviour.Span{From: day, To: day}, Kinds: []string{"play"}}
	h.load(t, turn{name: "trails", workers: 1, memory: 256 << 20, regions: 1}, q.Span)
	return h, q
}

// ofTests is how many bytes a program of tests takes more than the command.
const ofTests = 6 << 20

// TestMemoryIsKept measures extracts of users with large values in little memory: none
// takes more than it may.
func TestMemoryIsKept(t *testing.T) {
	type form struct {
		extract.Output
		memory  int64
		workers int
	}
	outputs := []extract.Output{{}, {Format: extract.CSV}, {Format: extract.Arrow}, {Partition: "date"}}
	for _, c := range []struct {
		name                    string
		users, each, size, busy int
		refused                 int64 // memory below which the busy user is refused
	}{
		{"large values", 60, 3, 700 << 10, 0, 0},
		{"a busy user", 2000, 1, 3000, 15_000, 256 << 20},
	} {
		h, q := heavy(t, c.users, c.each, c.size, c.busy)
		for _, o := range outputs {
			for _, f := range []form{{o, 128 << 20, 1}, {o, 256 << 20, 4}} {
				w := weighing{Dir: h.dir, Out: filepath.Join(testkit.Scratch(t), "out"), Memory: f.memory, Workers: f.workers, Question: q, Output: o}
				got := w.run(t)
				if refused := f.memory < c.refused; refused != (got.Failed != "") {
					t.Errorf("%s, %+v in %d MiB: %+v", c.name, o, f.memory>>20, got)
				}
				if got.Peak > f.memory+ofTests {
					t.Errorf("%s, %+v in %d MiB: the resident set is %d MiB", c.name, o, f.memory>>20, got.Peak>>20)
				}
			}
		}
	}
}
