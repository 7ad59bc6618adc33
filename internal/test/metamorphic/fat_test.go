package metamorphic_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A fat sequence has records of large values, in tables that exceed the memory limit of a
// command. Each command runs in its own process, so that its peak memory can be read at its
// end.

// fatSteps is the length of a fat sequence. Each step reads the whole table.
const fatSteps = 12

// fatSeeds are the seeds of every run.
var fatSeeds = []uint64{1, 4}

// drawFat begins a fat sequence.
func drawFat(seed uint64) (*Sequence, *rand.Rand) {
	q, r := draw(seed)
	q.Fat = true
	return q, r
}

// noise is the text from which large values are cut. It does not compress well.
var noise = sync.OnceValue(func() string {
	const digits = "0123456789abcdefghijklmnopqrstuv"
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 512<<10)
	for i := range b {
		b[i] = digits[r.IntN(len(digits))]
	}
	return string(b)
})

// value returns the value of a record in a column of universe; empty is null.
func (r *Record) value(column string) string {
	if column == largeColumn && r.Large > 0 {
		at := int(r.Micros % int64(len(noise())-r.Large))
		return noise()[at : at+r.Large]
	}
	return r.Values[column]
}

// largeColumn is the column of large values.
const largeColumn = "s1"

// short returns a short form of a value for lines that compare events.
func short(value string) string {
	if len(value) < 1000 {
		return strconv.Quote(value)
	}
	return fmt.Sprintf("%d bytes of %s", len(value), digest([]byte(value)))
}

// fatStep draws the next step of a fat sequence.
func (d *drawer) fatStep(n int) Step {
	switch n {
	case 0:
		s := d.job()
		s.Job.MaxBad = "50%"
		for i := range s.Job.Kinds {
			s.Job.Kinds[i].Fields = append([]string{largeColumn}, slices.DeleteFunc(s.Job.Kinds[i].Fields, func(f string) bool { return f == largeColumn })...)
		}
		return s
	case 1, 2:
		return d.deliverFat()
	case 3:
		return Step{Do: "load", Table: firstTable, From: days[0], Until: days[len(days)-1]}
	}
	var s Step
	switch d.r.IntN(9) {
	case 0:
		return d.deliverFat()
	case 1, 2:
		s = d.load()
	case 3:
		s = d.pieces()
		s.Flags = []string{"--piece-size", one(d.r, "10MB", "1GiB")} // smaller pieces would be too many
	case 4:
		s = d.compact()
	case 5:
		s = d.convert()
	case 6:
		s = d.replay()
	default:
		s = d.extract()
		s.Do = "extract" // an extract in pieces is as large
	}
	if d.m.Store == inHBase && slices.Contains([]string{"compact", "convert", "pieces", "replay"}, s.Do) {
		s = d.imported()
	}
	s.Stop, s.During = "", nil
	return s
}

// deliverFat generates a delivered file of some tens of megabytes, sometimes of one user.
func (d *drawer) deliverFat() Step {
	s := d.deliver()
	size := one(d.r, 20, 100, 300) << 10
	heavy := ""
	if d.r.IntN(4) == 0 {
		heavy = one(d.r, d.users...)
	}
	s.Records = nil
	for range (30 + d.r.IntN(20)) << 20 / size {
		r := d.record(dateOf(s.File), kindOf(s.File))
		r.Large = size/2 + d.r.IntN(size)
		if heavy != "" {
			r.User = heavy
		}
		s.Records = append(s.Records, r)
	}
	return s
}

// heaviest returns the largest number of value bytes of one user.
func (t *table) heaviest() int {
	sums, most := map[string]int{}, 0
	for _, e := range t.events {
		for _, v := range e.values {
			sums[e.user] += len(v)
		}
		most = max(most, sums[e.user])
	}
	return most
}

// heldWhole is the largest number of bytes of the trail of one user in an extract with the
// least memory, without the fixed part of a trail.
const heldWhole = 15 << 20

// everythingFat returns the command line of an extract of everything into a directory.
func (x *run) everythingFat(name string, t *table) []string {
	args := x.everything(name, t)
	args[slices.Index(args, "--out")+1] = everythingOut
	if most := t.heaviest(); most > heldWhole {
		args[slices.Index(args, "--memory")+1] = fmt.Sprintf("%dMiB", 64+most>>18+most>>20)
	}
	return append(args, "--overwrite")
}

// everythingOut is the directory of the extract of everything in a fat sequence.
const everythingOut = "../everything"

// memoryOf returns the memory limit of a command line, and false if it has none.
func memoryOf(args []string) (int64, bool) {
	at := slices.Index(args, "--memory")
	if at < 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(args[at+1], "MiB"), 10, 64)
	if err != nil {
		panic(err) // made up here
	}
	return n << 20, true
}

// weighed checks the peak memory of a command. It allows an eighth more, because the
// runtime's limit is a soft one and a busy machine collects garbage later.
func (x *run) weighed(r *running, program string, args []string) error {
	if !x.Fat {
		return nil
	}
	most, ok := memoryOf(args)
	if !ok {
		return nil
	}
	if part := float64(r.peak) / float64(most); part > x.peak {
		x.peak, x.peakOf = part, words(program, args)
	}
	if r.peak > most/8*9 {
		return fmt.Errorf("%s: the resident set is %d MiB of %d MiB", words(program, args), r.peak>>20, most>>20)
	}
	return nil
}

// writeLarge writes a large file, compressed.
func (s *script) writeLarge(name string, b []byte) {
	e, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err) // it has no options
	}
	s.line("mkdir -p %s", word(filepath.Dir(name)))
	s.line("base64 -d <<'END' | zstd -d > %s\n%s\nEND", word(name), base64.StdEncoding.EncodeToString(e.EncodeAll(b, nil)))
}
