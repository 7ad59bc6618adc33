package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

const (
	night   = "bulkload --quiet --from 2014-09-01 --to 2014-09-02"
	asking  = "extract --quiet --users users.txt --from 2014-09-01 --to 2014-09-02 --types play"
	planned = "bulkload plan --from 2014-09-01 --to 2014-09-02 > pieces.jsonl; "
	adding  = "; extract --quiet --append --users all --active any --partition-by date --out grown --types "
	kinds   = `mkdir events; printf 'user_id,time,event,kind\nu1,2014-09-01 10:00:00,play,seek\nu1,2014-09-01 10:00:05,seek,play\n' > events/2014-09-01.csv; sed s/09-01/09-02/ events/2014-09-01.csv > events/2014-09-02.csv; ` +
		`printf 'logs: {path: "events/{date}.csv", behaviour: {column: event, others: skip}}\ntable: trails\nbehaviours: {play: {id: 1}}\n' > usertrail.yaml; ` +
		`bulkload --quiet --from 2014-09-01 --to 2014-09-01; sed -i 's/column: event/column: kind/' usertrail.yaml; `
	tooLong = "(printf 'u9,2014-09-01 09:00:00,'; head -c 2000000 /dev/zero | tr '\\0' x; echo ,1) >> logs/2014-09-01/play.csv"
	spoilt  = `printf 'u9,yesterday,x,1\n' >> logs/2014-09-01/play.csv`
)

// provocations produce the messages that the runbook shows, in a folder with three logs. For
// an entry without a message they create the files that its commands need. Without a
// provocation, the night is loaded.
var provocations = map[string]string{
	"skipped records of loaded files are not loaded": kinds + "bulkload --from 2014-09-01 --to 2014-09-02",
	"loaded files have no values for a field of the job": "sed -i 's/, seconds: int64//' usertrail.yaml; bulkload --quiet --from 2014-09-01 --to 2014-09-01; " +
		"sed -i 's/programme: string/programme: string, seconds: int64/' usertrail.yaml; bulkload --from 2014-09-01 --to 2014-09-02",
	"the table has records of it, by a job with other settings": kinds + "sed -i 's/{play: {id: 1}}/{play: {id: 1}, seek: {id: 2}}/' usertrail.yaml; bulkload --quiet --from 2014-09-01 --to 2014-09-01",
	"not a line of a quarantine file":                           night + "; bulkload replay usertrail.yaml",
	"cannot be converted":                                       night + "; bulkload convert --table trails --to reversed --out made",
	"input is not there":                                        "mkdir empty; bulkload init empty --out -",
	"nothing to do":                                             night + "; bulkload undrop",
	"wrong command line":                                        "bulkload --form 2014-09-01",
	"no job file":                                               "cp usertrail.yaml kept; rm usertrail.yaml; " + night,
	"the job file is wrong":                                     "sed -i s/behaviours/behaviors/ usertrail.yaml; " + night,
	"but int64 in the table":                                    night + "; sed -i 's/seconds: int64/seconds: string/' usertrail.yaml; " + night,
	"id 3, but 2 in the table":                                  night + "; sed -i 's/id: 2/id: 3/' usertrail.yaml; " + night + "; s=$?; sed -i 's/id: 3/id: 2/' usertrail.yaml; exit $s",
	"is too small; the minimum is":                              night + " --memory 1MiB",
	"the drop would remove every day":                           night + "; bulkload drop --before 2030-01-01",
	"nothing was loaded: all good records":                      "bulkload --quiet --from 2014-09-02 --to 2014-09-02; bulkload drop --quiet --before 2014-09-02; bulkload --quiet --from 2014-09-01 --to 2014-09-01",
	"too long":                                                  tooLong + "; sed -i 's|^logs: .*|logs: {path: \"logs/{date}/{behaviour}.csv\", max_bad: 50%}|' usertrail.yaml; " + night,
	"is missing, the ledger of load":                            night + "; rm trails/loads/000001.json; " + asking,
	"does not follow the ledger before it": "bulkload --quiet --from 2014-09-01 --to 2014-09-01; bulkload --quiet --table other --from 2014-09-02 --to 2014-09-02; bulkload --quiet --table other --from 2014-09-01 --to 2014-09-01; " +
		"cp other/loads/000002.json trails/loads/; rm -r other; bulkload --from 2014-09-02 --to 2014-09-02",
	"its size is not the size in":          night + "; " + asking + " --out active; truncate -s 5 active/part-00000.parquet; extract inspect active",
	"damaged list of retired files":        night + "; bulkload drop --quiet --before 2014-09-02; printf '{' > trails/retired.json; bulkload compact --quiet",
	"A log was empty":                      ": > logs/2014-09-01/play.csv; " + night,
	"dates in the table would not agree":   night + "; sed -i 's|^logs: .*|logs: {path: \"logs/{date}/{behaviour}.csv\", zone: Asia/Shanghai}|' usertrail.yaml; " + night,
	"which cannot change: write layout":    "sed -i '1i layout: tall' usertrail.yaml; " + night + "; sed -i 1d usertrail.yaml; " + night,
	"is not a number of at most":           "sed -i '1i layout: fixed' usertrail.yaml; " + night,
	"no record of the sample":              `printf 'logs: {path: "logs/{date}/play.csv", behaviour: programme}\ntable: other\nbehaviours: {play: {id: 1}}\n' > usertrail.yaml; bulkload pre-check --from 2014-09-01 --to 2014-09-01`,
	"the job has no behaviour":             night + "; " + night + " --types buy",
	"wrong query":                          night + "; " + strings.Replace(asking, "play", "buy", 1),
	"list of users":                        night + `; printf '\377\n' > users.txt; ` + asking,
	"wrong piece":                          "echo hello | bulkload run-piece",
	"the plan is out of date":              planned + "rm -r trails; bulkload run-piece < pieces.jsonl",
	"needs an HBase table":                 night + " --mode put",
	"not a directory":                      "echo > trails; " + night,
	"more bad records than the job allows": spoilt + "; " + night,
	"the job's min_records is":             "sed -i 's/id: 1,/id: 1, min_records: 1,/' usertrail.yaml; head -n 1 logs/2014-09-01/play.csv > kept; mv kept logs/2014-09-01/play.csv; " + night,
	"name no behaviour of the job": `mkdir events; printf 'user_id,time,event\nu1,2014-09-01 10:00:00,play\nu1,2014-09-01 10:00:05,vod_start\n' > events/2014-09-01.csv; ` +
		`printf 'logs: {path: "events/{date}.csv", behaviour: event}\ntable: trails\nbehaviours: {play: {id: 1}}\n' > usertrail.yaml; bulkload --quiet --from 2014-09-01 --to 2014-09-01`,
	"are still bad": spoilt + "; sed -i 's|^logs: .*|logs: {path: \"logs/{date}/{behaviour}.csv\", max_bad: 50%}|' usertrail.yaml; " + night + "; bulkload replay trails/quarantine/2014-09-01__play.csv.jsonl",
	"load it before its bad records are replayed": spoilt + "; " + night + "; bulkload replay trails/quarantine/2014-09-01__play.csv.jsonl",
	"must be UTF-8": `mv logs/2014-09-02/play.csv "$(printf 'logs/2014-09-01/play.\265\347.csv')"; sed -i 's|}.csv|}*.csv|' usertrail.yaml; ` + night,
	"the quarantine file belongs to another delivery": spoilt + "; " + night + "; cp trails/quarantine/* kept.jsonl; sed -i /yesterday/d logs/2014-09-01/play.csv; " + night + "; bulkload replay kept.jsonl",
	"manifest.json is missing":                        night + "; rm trails/manifest.json; " + night,
	"no table for this engine":                        night + "; " + asking + " --format csv --out text; extract ddl text --for spark",
	"holds no metrics of usertrail":                   "echo hello > m.prom; " + night + " --metrics-file m.prom",
	"holds something else than events of OpenLineage": "echo hello > notes.txt; " + night + " --openlineage notes.txt",
	"has the result of plan":                          night + "; extract plan --users all --from 2014-09-01 --to 2014-09-02 --types play --out active > pieces.jsonl; extract run-piece < pieces.jsonl; extract commit < pieces.jsonl; extract commit < pieces.jsonl",
	"the folder of the logs":                          "mv logs gone; " + night,
	"the job requires":                                "sed -i 's/id: 2,/id: 2, required: true,/' usertrail.yaml; " + night,
	"no such table":                                   asking,
	"--users names a file":                            night + "; rm users.txt; " + asking,
	"or add --overwrite":                              night + "; " + asking + " --out active; " + asking + " --out active",
	"--overwrite does not replace it":                 night + "; " + asking + " --out logs --overwrite",
	"--append adds":                                   night + adding + "play,order --from 2014-09-01 --to 2014-09-02" + adding + "play --from 2014-09-01 --to 2014-09-02" + adding + "play,order --from 2014-09-02 --to 2014-09-02",
	"the dates are appended already":                  night + adding + "play --from 2014-09-02 --to 2014-09-02" + adding + "play --from 2014-09-02 --to 2014-09-02",
	"days are not loaded":                             "bulkload --quiet --from 2014-09-01 --to 2014-09-01; " + asking + " --require-days",
	"name another file with --out":                    "bulkload init logs",
	"locked by another run":                           night + "; exec 9>>trails/lock; flock 9; " + night + " --types play",
	"too little space":                                "true",
	"does not respond":                                "bulkload pre-check --from 2014-09-01 --to 2014-09-02 --table hbase://127.0.0.1:1/a:b --retry-for 1s",
	"cannot be reached":                               asking + " --table hdfs://127.0.0.1:1/trails --retry-for 1s",
	"not all pieces are done":                         planned + "bulkload commit --pieces pieces.jsonl",
	"were loaded before":                              night + "; " + night,
	"no file for":                                     "bulkload --quiet --from 2014-10-01 --to 2014-10-02",
	"changed after it was loaded":                     night + "; printf 'u9,2014-09-01 11:00:00,x,1\\n' >> logs/2014-09-01/play.csv; " + night,
	"it cannot be read":                               "ln -sf gone.csv logs/2014-09-02/play.csv; " + night,
	"it was written to while it was read":             "sed s/09-01/09-02/ logs/2014-09-01/order.csv > logs/2014-09-02/order.csv", // no log is missing: --wait ends early
	"unexpected EOF":                                  "gzip logs/2014-09-01/play.csv; truncate -s -9 logs/2014-09-01/play.csv.gz; sed -i 's|}.csv|}.csv*|' usertrail.yaml; " + night,
	"the encoding does not fit the job":               "sed -i 's|^logs: .*|logs: {path: \"logs/{date}/{behaviour}.csv\", encoding: windows-1252}|' usertrail.yaml; sed -i 's/^u1,/Müller,/; s/^u2,/Schröder,/' logs/2014-09-01/play.csv; " + night,
	"the ending of its name does not fit the file":    "gzip logs/2014-09-01/play.csv; mv logs/2014-09-01/play.csv.gz logs/2014-09-01/play.csv; " + night,
	"no column":                                       "sed -i 's/seconds: int64/minutes: int64/' usertrail.yaml; " + night,
	"the table does not hold what was loaded":         night + "; find trails -name '*.hfile' -delete; bulkload verify --quiet",
	"corrupt file":                                    night + "; printf XXXX | dd of=$(find trails -name '*.hfile') bs=1 seek=100 conv=notrunc; " + asking,
	"the table is damaged":                            night + "; find trails -name '*.hfile' -delete; " + night,
	"is a directory":                                  night + "; mv trails/manifest.json kept; mkdir trails/manifest.json; " + asking,
	"damaged manifest":                                night + "; printf '{' > trails/manifest.json; " + asking,
	"stopped by SIGTERM":                              "bulkload --wait 1h --settle 0s --from 2014-09-05 --to 2014-09-05 2> said & p=$!; until grep waiting said; do sleep 0.1; done; kill -TERM $p; wait $p; s=$?; cat said; exit $s",
	"stopped by SIGHUP":                               "env --default-signal=HUP bulkload --wait 1h --settle 0s --from 2014-09-05 --to 2014-09-05 2> said & p=$!; until grep waiting said; do sleep 0.1; done; kill -HUP $p; wait $p; s=$?; cat said; exit $s",
	"The process was killed":                          "true",
}

// doneBefore lists the exit statuses of a command that is run again: its output exists, or
// nothing is left to do.
var doneBefore = []int{73, 99}

const (
	// tolerant precedes commands that are run again. Any other status ends them.
	tolerant = `trap 's=$?; [ $s = 73 ] || [ $s = 99 ] || exit $s' ERR` + "\n"
	// tableNow prints the content of the tables of a night.
	tableNow = `shopt -s nullglob; for m in */manifest.json; do bulkload verify --quiet --table ${m%/*} 2>&1 | grep -v '^{'; done`
)

// newNight returns a folder with a job, its logs and a list of users.
func newNight(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"usertrail.yaml": `logs: logs/{date}/{behaviour}.csv
table: trails
behaviours:
  play: {id: 1, fields: {programme: string, seconds: int64}}
  order: {id: 2, fields: {product: string, price: double}}
`,
		"logs/2014-09-01/play.csv":  "user_id,time,programme,seconds\nu1,2014-09-01 10:00:00,news,60\nu2,2014-09-01 11:00:00,film,70\n",
		"logs/2014-09-01/order.csv": "user_id,time,product,price\nu1,2014-09-01 12:00:00,film,4.5\n",
		"logs/2014-09-02/play.csv":  "user_id,time,programme,seconds\nu1,2014-09-02 10:00:00,news,60\n",
		"users.txt":                 "u1\nu2\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		testkit.WriteFile(t, path, text)
	}
	return dir
}

// shellIn returns a function that runs a script in dir with the programs in a folder. The function returns the
// output and the exit status.
func shellIn(t *testing.T, programs, dir string) func(flags, script string) (string, int) {
	path := "PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH")
	return func(flags, script string) (string, int) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "bash", flags, "pipefail", "-c", script)
		c.Dir, c.Env = dir, append(os.Environ(), path, "HADOOP_CONF_DIR=", "USERTRAIL_JOB=", "LC_ALL=C")
		out, err := c.CombinedOutput()
		if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
}

// TestOperationsSaysWhatIsSaid produces each message of the runbook, compares the message and
// the exit status, and then runs the commands of the entry.
func TestOperationsSaysWhatIsSaid(t *testing.T) {
	clone, _ := readmeRun(t)
	used := map[string]bool{}
	for _, a := range document.Advices(t) {
		script, provoked := provocations[a.Heading]
		used[a.Heading] = true
		if len(a.Says) > 0 && !provoked {
			t.Errorf("%s shows a message that nothing here provokes", a.Heading)
		}
		if !provoked {
			script = night
		}
		t.Run(a.Heading, func(t *testing.T) {
			t.Parallel()
			dir := newNight(t)
			bash := shellIn(t, filepath.Join(clone, "bin"), dir)
			said, status := bash("-uo", script)
			if len(a.Says) > 0 && status != a.Status {
				t.Errorf("ends with status %d, and stands under %d\n%s", status, a.Status, said)
			}
			for _, line := range a.Says {
				expr := "(?m)^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$"
				if !regexp.MustCompile(expr).MatchString(said) {
					t.Errorf("the page shows\n%s\nand the command printed\n%s", line, said)
				}
			}
			if a.Heading == "the job file is wrong" || a.Heading == "dates in the table would not agree" {
				return
			}
			follow(t, a, bash, filepath.Join(dir, "usertrail.yaml"))
			knows(t, a, bash)
		})
	}
	for heading := range provocations {
		if !used[heading] {
			t.Errorf("the book has no entry %s", heading)
		}
	}
}

// follow runs the commands of an entry, each twice. The second run changes nothing. No command changes the job.
func follow(t *testing.T, a document.Advice, bash func(flags, script string) (string, int), jobFile string) {
	t.Helper()
	job, err := os.ReadFile(jobFile)
	for _, block := range a.SH {
		if out, status := bash("-euo", block); status != 0 {
			t.Errorf("%s\nends with %d:\n%s", block, status, out)
		}
		before, _ := bash("-uo", tableNow)
		if out, status := bash("-uo", tolerant+block); status != 0 && !slices.Contains(doneBefore, status) {
			t.Errorf("%s\ntyped twice ends with %d:\n%s", block, status, out)
		}
		if after, _ := bash("-uo", tableNow); after != before {
			t.Errorf("%s\ntyped twice makes another table:\n%s\nwas\n%s", block, after, before)
		}
	}
	if now, fail := os.ReadFile(jobFile); (err == nil) != (fail == nil) || !bytes.Equal(now, job) {
		t.Error("what the book says has changed the job")
	}
}

// knows checks that the commands of an entry that need a cluster exist.
func knows(t *testing.T, a document.Advice, bash func(flags, script string) (string, int)) {
	t.Helper()
	for _, line := range a.Cluster {
		if !strings.HasPrefix(line, "bulkload ") && !strings.HasPrefix(line, "extract ") {
			continue
		}
		if out, status := bash("-euo", line+" -h"); status != 0 {
			t.Errorf("%s: no such command or flag:\n%s", line, out)
		}
	}
}
