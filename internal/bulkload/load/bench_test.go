package load_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/format/job"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
)

// BenchmarkLoad loads two days of sample logs, 400,000 records, into a new table of
// files.
func BenchmarkLoad(b *testing.B) {
	dir, fs := b.TempDir(), local.New()
	made, err := samplelog.Write(b.Context(), fs, filepath.Join(dir, "demo", "logs"), samplelog.Config{Records: 400_000, Days: 2})
	if err != nil {
		b.Fatal(err)
	}
	cfg := load.Config{
		Resources: bulkload.Resources{FS: fs, Workers: 2},
		Job:       sampleJob(b, dir), Span: behaviour.Span{From: samplelog.DefaultFrom, To: samplelog.DefaultFrom + 1},
	}
	b.SetBytes(made.Bytes)
	before := cpuSeconds(b)
	for b.Loop() {
		store := files.Store{FS: fs, Dir: filepath.Join(dir, "trails")}
		cfg.Store, cfg.Temp = store, dfs.Join(store.Dir, catalog.TempName)
		r, err := load.Run(b.Context(), cfg)
		if err != nil || r.Read != made.Records {
			b.Fatalf("read %d records of %d: %v", r.Read, made.Records, err)
		}
		if err := os.RemoveAll(store.Dir); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuSeconds(b)-before)*1e6/float64(made.Records)/float64(b.N), "cpu-µs/record")
}

// sampleJob returns the job of the sample logs in demo/logs below dir.
func sampleJob(b *testing.B, dir string) *job.Job {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "jobs", "settopbox.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	j, err := job.Parse(filepath.Join(dir, "jobs", "settopbox.yaml"), text)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

// cpuSeconds returns the CPU time of the process, user and system.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
