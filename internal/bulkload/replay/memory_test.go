package replay_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/replay"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/dfstest"
	"usertrail/internal/test/testkit"
)

// heaps measures the heap each time a file is created, up to a number of times.
type heaps struct {
	dfs.FS
	left int
	most uint64
}

func (h *heaps) look() {
	if h.left--; h.left < 0 {
		return
	}
	h.most = max(h.most, testkit.Heap())
}

func (h *heaps) Scratch(ctx context.Context, name string) (dfs.Pending, error) {
	h.look()
	return h.FS.Scratch(ctx, name)
}

func (h *heaps) Create(ctx context.Context, name string) (dfs.Pending, error) {
	h.look()
	return h.FS.Create(ctx, name)
}

// manyBad is a day of plays whose seconds are no numbers.
func manyBad(plays int) string {
	var b strings.Builder
	b.WriteString("user,time,title,seconds\ngood,2014-09-01 10:00:00,one,1\n")
	for i := range plays {
		fmt.Fprintf(&b, "u%d,2014-09-01 11:%02d:%02d,%s,many\n", i%97, i/60%60, i%60, strings.Repeat(fmt.Sprint("t", i), 100))
	}
	return b.String()
}

// replayIn replays a quarantine file in the given bytes of memory. It returns the files of the
// table and the largest heap.
func replayIn(y *bulkloadtest.Fixture, memory int64, name string) (map[string]string, uint64, error) {
	y.T.Helper()
	c := y.Config("2014-09-01", "2014-09-30")
	h := &heaps{FS: c.FS, left: 20}
	c.FS, c.Memory, c.Workers = h, memory, 1
	h.look()
	before := h.most
	_, err := replay.Run(y.T.Context(), bulkloadtest.ReplayOf(c), y.Store.Quarantine(name))
	got := dfstest.Snapshot(y.T, y.Store.FS, y.Store.Dir)
	maps.DeleteFunc(got, func(name, _ string) bool {
		return !strings.HasSuffix(name, ".hfile") && !strings.HasSuffix(name, ".roll")
	})
	return got, h.most - before, err
}

// TestAReplayLargerThanTheMemory replays a quarantine file, in any order of its lines, in
// little memory and in much: the tables are the same, and little memory is held.
func TestAReplayLargerThanTheMemory(t *testing.T) {
	const name, plays = "2014-09-01/play.csv", 7000
	text := manyBad(plays)
	var want map[string]string
	for _, memory := range []int64{256 << 20, 2 << 20} {
		for _, digests := range []bool{true, false} {
			y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "50%", "100%", 1))
			y.Write(name, text)
			y.Load(nil, "2014-09-01", "2014-09-01")
			if !digests {
				forgetDigests(y, name)
			}
			lines := strings.SplitAfter(strings.ReplaceAll(y.Quarantined(name), ",many", ",8"), "\n")
			if memory < 100<<20 {
				rand.Shuffle(len(lines)-1, func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			}
			y.KeepBad(name, strings.Join(lines, ""))
			lines = nil
			got, held, err := replayIn(y, memory, name)
			if err != nil {
				t.Fatalf("in %d bytes, digests %t: %v", memory, digests, err)
			}
			if want == nil {
				want = got
			} else if len(got) < 4 || !maps.Equal(got, want) {
				t.Errorf("in %d bytes, digests %t: %d files differ from the files of a replay in much memory", memory, digests, len(got))
			}
			if memory < 100<<20 && held > 2*uint64(memory) {
				t.Errorf("in %d bytes, digests %t: %d bytes were held", memory, digests, held)
			}
		}
	}
}

// TestWhatAReplayCannotHold replays a line, the texts of one record, and the records of one
// file that do not fit in memory. Each error names what does not fit, and nothing is loaded.
func TestWhatAReplayCannotHold(t *testing.T) {
	const name = "2014-09-01/play.csv"
	y := bulkloadtest.New(t, strings.Replace(bulkloadtest.TwoKinds, "50%", "100%", 1))
	y.Write(name, manyBad(8000))
	y.Load(nil, "2014-09-01", "2014-09-01")
	before := y.Trails(true)
	line, _, _ := strings.Cut(y.Quarantined(name), "\n")
	all := strings.ReplaceAll(y.Quarantined(name), ",many", ",8")
	fixed := strings.ReplaceAll(line, ",many", ",8")
	long := strings.Replace(fixed, `"raw":"`, `"raw":"`+strings.Repeat("x", 200<<10), 1)
	middle := strings.Replace(fixed, `"raw":"`, `"raw":"`+strings.Repeat("x", 20<<10), 1)
	for what, c := range map[string]struct{ text, want string }{
		"a long line":    {fixed + "\n" + long + "\n", "line 2:"},
		"one many times": {strings.Repeat(middle+"\n", 20), "line 4: the texts of its record"},
		"many records":   {all, "8000 records"},
	} {
		y.KeepBad(name, c.text)
		_, _, err := replayIn(y, 1<<20, name)
		if !errors.Is(err, bulkload.ErrRequest) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("%s: %v, want an error that names %q and --memory", what, err, c.want)
		}
		if got := y.Trails(true); !slices.Equal(got, before) {
			t.Fatalf("%s: the table holds %d records, want the %d that it held", what, len(got), len(before))
		}
	}
	y.KeepBad(name, strings.Replace(fixed, `"raw":"`, `"raw_base64":"!`+base64.StdEncoding.EncodeToString([]byte("x")), 1)+"\n")
	y.Replay(bulkload.ErrRequest, name)
	y.KeepBad(name, all)
	if _, _, err := replayIn(y, 64<<20, name); err != nil {
		t.Errorf("with more memory: %v", err)
	}
	if got := y.Trails(true); len(got) != 8001 {
		t.Errorf("the table holds %d records, want 8001", len(got))
	}
}
