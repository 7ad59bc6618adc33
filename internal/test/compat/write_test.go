package compat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/store/hbase/hbasetest"
	"usertrail/internal/test/testkit"
)

const job = `logs:
  path: hdfs://kept/logs/{date}/{behaviour}.csv
  max_bad: 50%
table: hdfs://kept/trails
user: user
time: time
behaviours:
  play:
    id: 1
    fields: {title: string, seconds: int64, rating: double, live: bool, started: timestamp, released: date}
  order:
    id: 2
    fields: {product: string, price: double}
`

// The delivered files have a value of each type, nulls, an empty string, two equal lines, a
// record of another day and a bad record.
var logs = map[string]string{
	"2014-09-01/play.csv": `user,time,title,seconds,rating,live,started,released
u1,2014-09-01 08:00:00,news,300,4.5,true,2014-09-01 07:59:59.5,2014-08-31
u2,2014-09-01 09:00:00,"",,,,,
u1,2014-09-01 08:00:00,news,300,4.5,true,2014-09-01 07:59:59.5,2014-08-31
`,
	"2014-09-01/order.csv": "user,time,product,price\nu1,2014-09-01 20:00:00,体育赛事季票,5\nu3,2014-09-02 00:00:01.000007,film,-0.5\n",
	"2014-09-02/play.csv":  "user,time,title,seconds,rating,live,started,released\nu2,2014-09-02 10:00:00,film,5400,nan,false,,\nu4,yesterday,film,1,,,,\n",
	"2014-09-02/order.csv": "user,time,product,price\nu2,2014-09-02 11:00:00,film,3\nu5,2014-09-02 12:00:00,,\n",
	"2014-09-03/play.csv":  "user,time,title,seconds,rating,live,started,released\nu1,2014-09-03 08:00:00,news,60,,,,\n",
	"2014-09-03/order.csv": "user,time,product,price\nu5,2014-09-03 12:00:00,ticket,9.99\n",
}

// results are the flags of a result in each format and shape.
var results = map[string]string{
	"parquet": "", "csv": " --format csv", "jsonl": " --format jsonl", "arrow": " --format arrow",
	"wide": " --shape wide", "days": " --partition-by date", "behaviours": " --partition-by behaviour --format csv",
	"listed": " --where play.seconds>1",
}

// TestWriteAVersion writes the files of a release into testdata, by -compat.write.
func TestWriteAVersion(t *testing.T) {
	if *write == "" {
		t.Skip("-compat.write names no version: make keep-version VERSION=v1.2.0 does")
	}
	home := filepath.Join("testdata", *write)
	if _, err := os.Stat(home); err == nil {
		t.Fatalf("%s exists: the files of a release never change", home)
	}
	p := &place{dir: t.TempDir(), t: t}
	p.keep("job.yaml", job)
	p.keep("users.txt", "u1\nu2\nunknown\n")
	for name, text := range logs {
		p.keep("logs/"+name, text)
	}
	p.setTimes()
	p.ends(0, "bulkload --job job.yaml --from 2014-09-01 --to 2014-09-01 --quiet")
	p.ends(0, "bulkload --job job.yaml --from 2014-09-02 --to 2014-09-02 --quiet")
	p.keep("events.csv", p.ends(0, "extract --table "+trails+all+" --format csv --out -").stdout)
	for name, flags := range results {
		line := "extract --table " + trails + all + flags + " --out result-" + name
		if name == "listed" {
			line = strings.Replace(line, "--users all", "--users users.txt", 1)
		}
		p.ends(0, line)
	}
	pieces := p.ends(0, "extract plan --table "+trails+all+" --out query --piece-size 1").stdout
	p.keep("query.pieces", strings.ReplaceAll(pieces, p.dir, here))
	planned := "bulkload plan --job hdfs://kept/job.yaml --table hdfs://kept/planned --from 2014-09-01 --to 2014-09-03 --piece-size 200 --quiet"
	p.keep("planned.pieces", p.ends(0, planned).stdout)
	p.keep("planned.csv", p.loaded())
	p.writeCatalog()
	if err := os.Remove(filepath.Join(p.dir, "live.yaml")); err != nil {
		t.Fatal(err)
	}
	p.scrub()
	if err := os.CopyFS(home, os.DirFS(p.dir)); err != nil {
		t.Fatal(err)
	}
}

func (p *place) keep(name, text string) {
	p.t.Helper()
	to := filepath.Join(p.dir, name)
	testkit.WriteFile(p.t, to, text)
}

// loaded returns the events that the planned table will have. One process loads all nights.
func (p *place) loaded() string {
	p.t.Helper()
	p.ends(0, "bulkload --job job.yaml --table hdfs://kept/whole --from 2014-09-01 --to 2014-09-03 --quiet")
	events := p.ends(0, "extract --table hdfs://kept/whole"+all+" --format csv --out -").stdout
	if err := os.RemoveAll(filepath.Join(p.dir, "whole")); err != nil {
		p.t.Fatal(err)
	}
	return events
}

// writeCatalog loads the nights of trails into a table in HBase, which has the catalog catalog/
// and the job live.yaml. It returns the address of the table.
func (p *place) writeCatalog() string {
	p.t.Helper()
	address := p.liveJob(hbasetest.NewQuorum(p.t, p.t.TempDir()))
	p.ends(0, "bulkload --job live.yaml --from 2014-09-01 --to 2014-09-01 --mode hfile --quiet")
	p.ends(0, "bulkload --job live.yaml --from 2014-09-02 --to 2014-09-02 --mode put --quiet")
	return address
}

// liveJob writes the job of a new table in HBase, whose catalog is catalog/. It returns the
// address of the table.
func (p *place) liveJob(hbase *hbasetest.Quorum) string {
	p.t.Helper()
	address := hbase.Table()
	table, err := json.Marshal(map[string]string{"path": address, "catalog": "hdfs://kept/catalog", "root": hbase.Root()})
	if err != nil {
		p.t.Fatal(err)
	}
	p.keep("live.yaml", strings.Replace(p.read("job.yaml"), "table: hdfs://kept/trails", "table: "+string(table), 1))
	return address
}

var (
	host    = regexp.MustCompile(`"host": ?"[^"]*"`)
	process = regexp.MustCompile(`"(pid|process)": ?\d+`)
)

// scrub replaces the name of this machine in the logs of runs, and removes locks.
func (p *place) scrub() {
	p.t.Helper()
	for _, dir := range []string{"trails", "planned", "catalog"} {
		runs, err := filepath.Glob(filepath.Join(p.dir, dir, "runs", "*"))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, name := range runs {
			rel, err := filepath.Rel(p.dir, name)
			if err != nil {
				p.t.Fatal(err)
			}
			text := host.ReplaceAllString(p.read(rel), `"host":"loader.example"`)
			p.keep(rel, process.ReplaceAllString(text, `"$1":1`))
		}
	}
}
