package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/test/testkit"
)

// plays writes a log of users with the same number of plays each, and of one user with busy
// plays. Their titles have size bytes that do not compress.
func plays(w io.Writer, users, each, size, busy int) error {
	const digits = "0123456789abcdef"
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 2*size)
	for i := range noise {
		noise[i] = digits[r.IntN(len(digits))]
	}
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "user_id,time,title")
	play := func(user, n int) {
		for i := range n {
			at := r.IntN(size)
			fmt.Fprintf(b, "%04d,2014-09-01 %02d:%02d:%02d,%s\n", user, i/3600%24, i/60%60, i%60, noise[at:at+size])
		}
	}
	for u := range users {
		play(u, each)
	}
	play(5555, busy)
	return b.Flush()
}

// weigh runs a command up to a breakpoint, and returns its largest resident set there, in
// bytes. If the command ends first, it returns 0 and the exit status.
func weigh(t *testing.T, dir, step, program string, args ...string) (int64, int) {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c := exec.Command(program, args...)
	c.Dir, c.Stdout, c.Stderr = dir, said, said
	c.Env = append(testkit.CleanEnv(), breakpoint.Variable+"="+step, "GOMAXPROCS=64") // as on a machine with 64 CPUs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	if !status.Stopped() {
		return 0, status.ExitStatus()
	}
	defer c.Wait()
	defer c.Process.Signal(syscall.SIGCONT)
	n, err := testkit.PeakMemory(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return n, 0
}

// TestMemoryIsKept measures extracts of users with large values and a small --memory. An
// eighth more than --memory is allowed, because the runtime's limit is soft and a busy
// machine collects garbage later. A run that does not cover everything uses only some pairs of
// output and limit.
func TestMemoryIsKept(t *testing.T) {
	t.Parallel()
	bin := testkit.Commands(t) // without the race detector, which takes memory of its own
	for i, c := range []struct {
		name                    string
		users, each, size, busy int
		least                   int64 // memory with which the busy user fits, in MiB
	}{
		{"large values", 60, 3, 700 << 10, 0, 0},
		{"a busy user", 2000, 1, 3000, 15_000, 256},
	} {
		dir := testkit.Scratch(t)
		job := "logs: logs/{date}/{behaviour}.csv\nbehaviours: {play: {id: 1, fields: {title: string}}}\n"
		testkit.WriteFile(t, filepath.Join(dir, "usertrail.yaml"), job)
		if err := os.MkdirAll(filepath.Join(dir, "logs", "2014-09-01"), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir, "logs", "2014-09-01", "play.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(plays(f, c.users, c.each, c.size, c.busy), f.Close()); err != nil {
			t.Fatal(err)
		}
		if n, status := weigh(t, dir, breakpoint.Loaded, filepath.Join(bin, "bulkload"), "--from", "2014-09-01", "--to", "2014-09-01", "--table", "trails", "--memory", "256MiB"); n == 0 {
			t.Fatalf("%s: the load ended with status %d", c.name, status)
		}
		for j, output := range [][]string{{"--format", "parquet"}, {"--format", "csv"}, {"--format", "arrow"}, {"--partition-by", "date"}} {
			limits := []struct{ memory, workers int64 }{{128, 1}, {256, 4}}
			next := (i + j) % len(limits)
			for _, most := range testkit.Pick(limits[next:next+1], limits) {
				how := append(output, "--memory", fmt.Sprintf("%dMiB", most.memory), "--workers", strconv.FormatInt(most.workers, 10))
				args := append(how, "--table", "trails", "--users", "all", "--from", "2014-09-01", "--to", "2014-09-01", "--types", "play", "--overwrite", "--out", "result")
				switch n, status := weigh(t, dir, breakpoint.Published, filepath.Join(bin, "extract"), args...); {
				case most.memory < c.least:
					if n != 0 || status != 64 {
						t.Errorf("%s, %q: status %d, and it cannot fit", c.name, how, status)
					}
				case n == 0:
					t.Errorf("%s, %q: status %d", c.name, how, status)
				case n > most.memory<<20/8*9:
					t.Errorf("%s, %q: the resident set is %d MiB", c.name, how, n>>20)
				default:
					t.Logf("%s, %q: %d MiB", c.name, how, n>>20)
				}
			}
		}
	}
}

// manyUsers writes the log and the list of users with one play each, whose IDs have the given length.
func manyUsers(t *testing.T, dir string, users, length int) {
	t.Helper()
	testkit.WriteFile(t, filepath.Join(dir, "usertrail.yaml"), "logs: logs/{date}/{behaviour}.csv\nbehaviours: {play: {id: 1}}\n")
	var plays, list strings.Builder
	plays.WriteString("user_id,time\n")
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, (length+1)/2)
	for range users {
		for i := range noise {
			noise[i] = byte(r.Uint32())
		}
		id := hex.EncodeToString(noise)[:length]
		fmt.Fprintf(&plays, "%s,2014-09-01 08:00:00\n", id)
		list.WriteString(id + "\n")
	}
	testkit.WriteFile(t, filepath.Join(dir, "logs", "2014-09-01", "play.csv"), plays.String())
	testkit.WriteFile(t, filepath.Join(dir, "users.txt"), list.String())
}

// TestManyUsersFitIntoMemory measures a load with many workers, and extracts, of users with long
// IDs and one play each. A list of users with very long IDs does not fit next to their trails.
func TestManyUsersFitIntoMemory(t *testing.T) {
	t.Parallel()
	bin := testkit.Commands(t) // without the race detector, which takes memory of its own
	type extract struct{ users, format, partition string }
	everyone := []extract{{"all", "parquet", ""}, {"all", "parquet", "date"}, {"all", "csv", ""}, {"all", "arrow", ""}}
	for length, extracts := range map[int][]extract{
		59:  testkit.Pick([]extract{{"users.txt", "parquet", ""}}, append(everyone, extract{"users.txt", "parquet", ""})),
		120: testkit.Pick(nil, everyone),
		250: testkit.Pick(everyone[1:2], everyone),
	} {
		if extracts == nil {
			continue
		}
		dir := testkit.Scratch(t)
		manyUsers(t, dir, 300_000, length)
		const most = 128 << 20
		check := func(what string, n int64, status int) {
			t.Helper()
			if n == 0 || n > most/8*9 {
				t.Errorf("IDs of %d bytes: %s: the resident set is %d MiB, status %d", length, what, n>>20, status)
			}
			t.Logf("IDs of %d bytes: %s: %d MiB", length, what, n>>20)
		}
		how := []string{"--memory", "128MiB", "--workers", "64", "--from", "2014-09-01", "--to", "2014-09-01", "--table", "trails"}
		n, status := weigh(t, dir, breakpoint.Loaded, filepath.Join(bin, "bulkload"), how...)
		check("load", n, status)
		for _, x := range extracts {
			args := append(slices.Clone(how), "--users", x.users, "--types", "play", "--overwrite", "--out", "result", "--format", x.format)
			if x.partition != "" {
				args = append(args, "--partition-by", x.partition)
			}
			n, status := weigh(t, dir, breakpoint.Published, filepath.Join(bin, "extract"), args...)
			check(fmt.Sprint("extract of ", x), n, status)
		}
	}
}
