package load_test

import (
	"bytes"
	"compress/gzip"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/bulkload/bulkloadtest"
	"usertrail/internal/bulkload/load"
	"usertrail/internal/table"
)

// TestALogInAnotherCompressionIsWarnedOf delivers a log plain and compressed, in one night or one after the other. A load warns of the
// later file. It does not warn of other logs.
func TestALogInAnotherCompressionIsWarnedOf(t *testing.T) {
	const plain = "user,time\na,2014-09-01 10:00:00\n"
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for what, c := range map[string]struct {
		before, after string // names of logs
		want          string
	}{
		"compressed after its load": {"2014-09-01/play.csv", "2014-09-01/play.csv.gz", "files=1 example=2014-09-01/play.csv.gz other=2014-09-01/play.csv"},
		"unpacked after its load":   {"2014-09-01/play.csv.gz", "2014-09-01/play.csv", "files=1 example=2014-09-01/play.csv other=2014-09-01/play.csv.gz"},
		"both at once":              {"", "2014-09-01/play.csv 2014-09-01/play.csv.gz", "files=2 example=2014-09-01/play.csv other=2014-09-01/play.csv.gz"},
		"another folder":            {"2014-09-02/play.csv", "2014-09-01/play.csv.gz", ""},
		"another name":              {"2014-09-01/play.csv", "2014-09-01/play-b.csv.gz", ""},
		"one":                       {"", "2014-09-01/play.csv.gz", ""},
		"loaded again":              {"2014-09-01/play.csv 2014-09-01/play.csv.gz", "2014-09-01/play-b.csv", ""},
	} {
		t.Run(what, func(t *testing.T) {
			y := bulkloadtest.New(t, "logs: \"logs/{date}/{behaviour}*\"\nuser: user\nbehaviours: {play: {id: 1}}\n")
			deliver := func(names string) {
				for n, name := range strings.Fields(names) {
					text := strings.ReplaceAll(plain+strings.Repeat("b,2014-09-01 11:00:00\n", n+len(name)), "2014-09-01", name[:10])
					if strings.HasSuffix(name, ".gz") {
						text = packed(text)
					}
					y.Write(name, text)
				}
			}
			if deliver(c.before); c.before != "" {
				y.Load(nil, "2014-09-01", "2014-09-02")
			}
			deliver(c.after)
			var log bytes.Buffer
			cfg := y.Config("2014-09-01", "2014-09-02")
			cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
			if _, err := load.Run(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			if c.want == "" && strings.Contains(log.String(), "another compression") || !strings.Contains(log.String(), c.want) {
				t.Errorf("logged %s; want %q", &log, c.want)
			}
		})
	}
}

// TestAPlanOfADamagedTableWarnsOfNoLog plans a load into a table without its ledger.
func TestAPlanOfADamagedTableWarnsOfNoLog(t *testing.T) {
	y := bulkloadtest.New(t, "logs: \"logs/{date}/{behaviour}*\"\nuser: user\nbehaviours: {play: {id: 1}}\n")
	y.Write("2014-09-01/play.csv", "user,time\na,2014-09-01 10:00:00\n")
	y.Load(nil, "2014-09-01", "2014-09-01")
	if err := os.Remove(filepath.Join(y.Store.Dir, "loads", "000001.json")); err != nil {
		t.Fatal(err)
	}
	y.Plan(table.ErrDamaged, 1<<20, "2014-09-01", "2014-09-01")
}
