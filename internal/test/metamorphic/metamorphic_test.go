// Package metamorphic_test generates sequences of events in the life of a table. Files are
// delivered, corrected, renamed and truncated; jobs grow; commands load, replay, compact,
// drop, convert and extract, and are killed or stopped. After each step, a simple model
// determines what must be true. The package holds tests alone.
//
// A sequence that fails is shrunk, printed as a shell script, and written as JSON. If the
// JSON is put into testdata, TestKeptSequences runs it.
package metamorphic_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"usertrail/internal/test/testkit"
)

var (
	oneSeed  = flag.Uint64("metamorphic.seed", 0, "the only sequence to run; 0 are those of TestSequences")
	oneCount = flag.Int("metamorphic.count", 1, "sequences to run from -metamorphic.seed on")
	oneSteps = flag.Int("metamorphic.steps", 0, "steps of each sequence; 0 is the default")
	commands = flag.String("metamorphic.bin", "", "directory of the two commands, built with -tags breakpoints (default: the test builds them)")
	oneFat   = flag.Bool("metamorphic.fat", false, "the sequences have records of large values, and peak memory is checked")
	keep     = flag.String("metamorphic.keep", "", "directory for sequences that fail")
)

// stepsEach is the length of a sequence.
const stepsEach = 120

// seeds are the known seeds. The first five have tables in every place, logs of every kind and both
// formats; a run that does not cover everything has only these.
var seeds = []uint64{1, 2, 3, 4, 7, 5, 6, 8, 14, 77}

const few = 5

// freshFor is the time for which a run that covers everything generates new sequences.
const freshFor = 10 * time.Minute

func TestSequences(t *testing.T) {
	p := newPrograms(t)
	steps := stepsEach
	if *oneSteps > 0 {
		steps = *oneSteps
	}
	if *oneSeed > 0 {
		for n := range *oneCount {
			if *oneFat {
				fatSequence(t, p, *oneSeed+uint64(n), *oneSteps)
				continue
			}
			sequence(t, p, *oneSeed+uint64(n), steps)
		}
		return
	}
	for _, seed := range fatSeeds {
		fatSequence(t, p, seed, 0)
	}
	for _, seed := range testkit.Pick(seeds[:few], seeds) {
		sequence(t, p, seed, steps)
	}
	if !testkit.All() {
		return
	}
	for began, n := time.Now(), 0; time.Since(began) < freshFor && !t.Failed(); n++ {
		seed := 1 + rand.Uint64N(1<<32)
		sequence(t, p, seed, steps)
	}
}

// sequence runs the sequence of a seed as a subtest.
func sequence(t *testing.T, p *programs, seed uint64, steps int) {
	t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
		q, r := draw(seed)
		x := newRun(t, p, q)
		d := newDrawer(r, x.model)
		x.steps(t, steps, func(int) Step { return d.step() })
	})
}

// fatSequence runs the fat sequence of a seed as a subtest.
func fatSequence(t *testing.T, p *programs, seed uint64, steps int) {
	t.Run(fmt.Sprintf("fat=%d", seed), func(t *testing.T) {
		q, r := drawFat(seed)
		x := newRun(t, p, q)
		d := newDrawer(r, x.model)
		x.steps(t, cmp.Or(steps, fatSteps), d.fatStep)
		t.Logf("a command took %.0f%% of its memory at most: %s", 100*x.peak, x.peakOf)
	})
}

// steps runs the steps as they are generated.
func (x *run) steps(t *testing.T, steps int, next func(n int) Step) {
	defer x.end(t)
	q, began := x.Sequence, time.Now()
	for n := range steps {
		q.Steps = append(q.Steps, next(n))
		if err := x.step(&q.Steps[n]); err != nil {
			failed(t, x.p, q, err)
			return
		}
	}
	took := time.Since(began)
	t.Logf("%d steps and %d commands in %s, %.0f steps a minute; they ended so: %v", steps, x.calls, took.Round(time.Millisecond), float64(steps)/took.Minutes(), x.endings)
}

// failed shrinks a failing sequence, prints it and writes it.
func failed(t *testing.T, p *programs, q *Sequence, why error) {
	t.Helper()
	t.Logf("seed %d fails at step %d: %v", q.Seed, len(q.Steps), why)
	small, text, why := shrink(t, p, q, why)
	b, err := json.MarshalIndent(small, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *keep != "" {
		name := filepath.Join(*keep, fmt.Sprintf("seed-%d", q.Seed))
		testkit.WriteFile(t, name+".json", string(append(b, '\n')))
		testkit.WriteFile(t, name+".sh", text)
	}
	t.Errorf("seed %d, shrunk from %d steps to %d: %v\n\n%s\n%s", q.Seed, len(q.Steps), len(small.Steps), why, text, b)
}

// TestKeptSequences runs the sequences in testdata. Each of them has failed once.
func TestKeptSequences(t *testing.T) {
	names, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	p := newPrograms(t)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			q := new(Sequence)
			if err := json.Unmarshal(b, q); err != nil {
				t.Fatal(err)
			}
			if n, text, err := play(t, p, q); err != nil {
				t.Errorf("step %d: %v\n\n%s", n, err, text)
			}
		})
	}
}
