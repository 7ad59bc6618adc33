package scripttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/reread"
	"usertrail/internal/bulkload/upkeep"
	"usertrail/internal/extract"
	"usertrail/internal/extract/place"
	"usertrail/internal/extract/query"
	"usertrail/internal/extract/userlist"
	"usertrail/internal/format/job"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/progress"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
)

// loadTable implements the command of that name.
func loadTable(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2 || len(args) == 3, "load FROM TO [TYPES]")
	j, store := tableOf(ts)
	cfg := load.Config{Resources: resourcesOf(store), Job: j, Span: behaviour.Span{From: date(ts, args[0]), To: date(ts, args[1])}}
	if len(args) == 3 {
		cfg.Types = strings.Split(args[2], ",")
	}
	_, err := load.Run(context.Background(), cfg)
	ts.Check(err)
}

// rereadTable implements the command reread.
func rereadTable(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "reread FROM TO")
	j, store := tableOf(ts)
	_, err := reread.Run(context.Background(), reread.Config{Resources: resourcesOf(store), Job: j, Span: behaviour.Span{From: date(ts, args[0]), To: date(ts, args[1])}})
	ts.Check(err)
}

// resourcesOf returns the resources of a load into a table of files.
func resourcesOf(store files.Store) bulkload.Resources {
	return bulkload.Resources{FS: store.FS, Store: store, Temp: dfs.Join(store.Dir, catalog.TempName), Progress: progress.Config{Quiet: true}}
}

// dropDays implements the command drop.
func dropDays(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "drop BEFORE")
	_, store := tableOf(ts)
	_, err := upkeep.Drop(context.Background(), upkeep.Config{FS: store.FS, Store: store, KeepFor: time.Hour}, date(ts, args[0]))
	ts.Check(err)
}

// undropDays implements the command undrop.
func undropDays(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 0, "undrop")
	_, store := tableOf(ts)
	_, err := upkeep.Undrop(context.Background(), upkeep.Config{FS: store.FS, Store: store})
	ts.Check(err)
}

// tableOf returns ./usertrail.yaml and its table.
func tableOf(ts *testscript.TestScript) (*job.Job, files.Store) {
	disk := local.New()
	j, err := job.Load(context.Background(), disk, ts.MkAbs("usertrail.yaml"))
	ts.Check(err)
	return j, files.Store{FS: disk, Dir: j.Table.Address}
}

func date(ts *testscript.TestScript, text string) behaviour.Date {
	d, err := behaviour.ParseDate(text)
	ts.Check(err)
	return d
}

// rows implements the command of that name. For a table it prints the result of an extract
// of everything.
func rows(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "rows DIR")
	dir := ts.MkAbs(args[0])
	if _, err := os.Stat(filepath.Join(dir, catalog.ManifestName)); err == nil {
		temp, err := os.MkdirTemp("", "rows")
		ts.Check(err)
		defer os.RemoveAll(temp)
		out := filepath.Join(temp, "all")
		ts.Check(extractAll(dir, out))
		dir = out
	}
	parts, err := filepath.Glob(filepath.Join(dir, "part-*.parquet"))
	ts.Check(err)
	if len(parts) == 0 {
		ts.Fatalf("%s holds no parts", args[0])
	}
	for i, part := range parts {
		text, err := partText(part, i == 0)
		ts.Check(err)
		fmt.Fprint(ts.Stdout(), text)
	}
}

// extractAll extracts everything in a table to out.
func extractAll(dir, out string) error {
	ctx, disk := context.Background(), local.New()
	t, err := files.Open(ctx, disk, dir)
	if err != nil {
		return err
	}
	defer t.Close()
	_, err = extract.Run(ctx, extract.Config{
		Spec:   query.Spec{Users: userlist.All(), Types: t.Info().Schema.Names(), Active: "any", Span: behaviour.AllDays},
		Target: place.Target{FS: disk, Out: out},
		Table:  t, Progress: progress.Config{Quiet: true},
	})
	return err
}

// partText returns the names of the columns and the rows of a part, separated by |, without
// the id.
func partText(name string, header bool) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	part, err := trailfile.Open(f, info.Size())
	if err != nil {
		return "", err
	}
	about, err := part.Info()
	if err != nil {
		return "", err
	}
	all, err := part.Head(int(about.Rows))
	if err != nil {
		return "", err
	}
	var names []string
	for _, c := range about.Columns {
		names = append(names, c.Name)
	}
	if header {
		all = append([][]string{names}, all...)
	}
	var b strings.Builder
	for _, row := range all {
		b.WriteString(strings.Join(append(row[:4:4], row[5:]...), "|") + "\n")
	}
	return b.String(), nil
}
