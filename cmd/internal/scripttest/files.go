package scripttest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/text/encoding/htmlindex"

	"usertrail/internal/store/dfs/local"
)

// remembered is the key of a script's value with the digests of files, by directory.
const remembered = "remembered"

// lockName is the name of a table's lock.
const lockName = "lock"

// runsName is the name of the folder of a table's log of runs.
const runsName = "runs"

func memory(ts *testscript.TestScript) map[string]map[string]string {
	return ts.Value(remembered).(map[string]map[string]string)
}

// remember implements the command of that name.
func remember(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "remember DIR")
	memory(ts)[args[0]] = digests(ts, args[0])
}

// unchanged implements the command of that name: no file was added, removed or changed.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "unchanged DIR")
	was, ok := memory(ts)[args[0]]
	if !ok {
		ts.Fatalf("%s was not remembered", args[0])
	}
	is := digests(ts, args[0])
	for name, sum := range is {
		if old, ok := was[name]; !ok {
			ts.Fatalf("%s is new", name)
		} else if old != sum {
			ts.Fatalf("%s changed", name)
		}
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			ts.Fatalf("%s is gone", name)
		}
	}
}

// digests returns the digests of the files in dir. Directories have no digest.
func digests(ts *testscript.TestScript, dir string) map[string]string {
	sums := map[string]string{}
	ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.Name() == lockName: // it names the last holder
			return err
		case d.Name() == runsName: // it also records runs that changed nothing
			return fs.SkipDir
		case d.IsDir():
			sums[name] = ""
			return nil
		}
		b, err := os.ReadFile(name)
		sum := sha256.Sum256(b)
		sums[name] = hex.EncodeToString(sum[:])
		return err
	}))
	return sums
}

// lock implements the command of that name.
func lock(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "lock FILE")
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	l, err := local.New().Lock(context.Background(), name)
	ts.Check(err)
	ts.Defer(func() { l.Unlock() })
}

// compress implements gzip.
func compress(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "gzip FILE")
	name := ts.MkAbs(args[0])
	b, err := os.ReadFile(name)
	ts.Check(err)
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err = w.Write(b)
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(name+".gz", out.Bytes(), 0o666))
	ts.Check(os.Remove(name))
}

// shorten implements the command of that name.
func shorten(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "shorten FILE N")
	name := ts.MkAbs(args[0])
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(name)
	ts.Check(err)
	ts.Check(os.Truncate(name, info.Size()-n))
}

// encode implements the command of that name.
func encode(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "encode ENCODING FILE")
	enc, err := htmlindex.Get(args[0])
	ts.Check(err)
	name := ts.MkAbs(args[1])
	b, err := os.ReadFile(name)
	ts.Check(err)
	b, err = enc.NewEncoder().Bytes(b)
	ts.Check(err)
	ts.Check(os.WriteFile(name, b, 0o666))
}
