package e2e_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"usertrail/internal/test/testkit"
)

// An advice is an entry of docs/howto/operations.md.
type advice struct {
	heading string
	status  int      // exit status of its section; -1 if the section has none
	says    []string // lines of the message that it shows
	sh      []string // blocks that run here
	cluster []string // lines that need a cluster
}

var operationsBlock = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```")

// advices reads the entries of the runbook. The first one is its introduction.
func advices(t *testing.T) []advice {
	t.Helper()
	var out []advice
	status := -1
	for _, part := range regexp.MustCompile(`(?m)^##`).Split(document(t, "docs/howto/operations.md"), -1) {
		heading, body, _ := strings.Cut(part, "\n")
		if !strings.HasPrefix(heading, "#") {
			status = -1
			if m := regexp.MustCompile(`^ Status ([0-9]+)`).FindStringSubmatch(heading); m != nil {
				status, _ = strconv.Atoi(m[1])
			}
		}
		a := advice{heading: strings.Trim(strings.TrimLeft(heading, "# "), "`"), status: status}
		for _, m := range operationsBlock.FindAllStringSubmatch(body, -1) {
			switch lines := strings.Split(strings.TrimSpace(m[2]), "\n"); m[1] {
			case "text":
				a.says = append(a.says, lines...)
			case "sh":
				a.sh = append(a.sh, m[2])
			case "shell":
				a.cluster = append(a.cluster, lines...)
			default:
				t.Errorf("%s has a block of %s", heading, m[1])
			}
		}
		out = append(out, a)
	}
	return out
}

const (
	night   = "bulkload --quiet --from 2014-09-01 --to 2014-09-02"
	asking  = "extract --quiet --users users.txt --from 2014-09-01 --to 2014-09-02 --types play"
	planned = "bulkload plan --from 2014-09-01 --to 2014-09-02 > pieces.jsonl; "
	adding  = "; extract --quiet --append --users all --active any --partition-by date --out grown --types "
	spoilt  = `printf 'u9,yesterday,x,1\n' >> logs/2014-09-01/play.csv`
)

// provocations produce the messages that the runbook shows, in a folder with three logs. For
// an entry without a message they create the files that its commands need. Without a
// provocation, the night is loaded.
var provocations = map[string]string{
	"wrong command line":                   "bulkload --form 2014-09-01",
	"no job file":                          "cp usertrail.yaml kept; rm usertrail.yaml; " + night,
	"the job file is wrong":                "sed -i s/behaviours/behaviors/ usertrail.yaml; " + night,
	"but int64 in the table":               night + "; sed -i 's/seconds: int64/seconds: string/' usertrail.yaml; " + night,
	"id 3, but 2 in the table":             night + "; sed -i 's/id: 2/id: 3/' usertrail.yaml; " + night + "; s=$?; sed -i 's/id: 3/id: 2/' usertrail.yaml; exit $s",
	"is too small; the minimum is":         night + " --memory 1MiB",
	"so every day would go":                night + "; bulkload drop --before 2030-01-01",
	"nothing was loaded: all good records": "bulkload --quiet --from 2014-09-02 --to 2014-09-02; bulkload drop --quiet --before 2014-09-02; bulkload --quiet --from 2014-09-01 --to 2014-09-01",
	"too long":                             "(printf 'u9,2014-09-01 09:00:00,'; head -c 2000000 /dev/zero | tr '\\0' x; echo ,1) >> logs/2014-09-01/play.csv; sed -i 's|^logs: .*|logs: {path: \"logs/{date}/{behaviour}.csv\", max_bad: 50%}|' usertrail.yaml; " + night,
	"is missing, the ledger of load":       night + "; rm trails/loads/000001.json; " + asking,
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
	"must be UTF-8":                                   `mv logs/2014-09-02/play.csv "$(printf 'logs/2014-09-01/play.\265\347.csv')"; sed -i 's|}.csv|}*.csv|' usertrail.yaml; ` + night,
	"the quarantine file is of other bytes":           spoilt + "; " + night + "; cp trails/quarantine/* kept.jsonl; sed -i /yesterday/d logs/2014-09-01/play.csv; " + night + "; bulkload replay kept.jsonl",
	"manifest.json is missing":                        night + "; rm trails/manifest.json; " + night,
	"no table for this engine":                        night + "; " + asking + " --format csv --out text; extract ddl text --for spark",
	"holds no metrics of usertrail":                   "echo hello > m.prom; " + night + " --metrics-file m.prom",
	"holds something else than events of OpenLineage": "echo hello > notes.txt; " + night + " --openlineage notes.txt",
	"has the result of plan":                          night + "; extract plan --users all --from 2014-09-01 --to 2014-09-02 --types play --out active > pieces.jsonl; extract run-piece < pieces.jsonl; extract commit < pieces.jsonl; extract commit < pieces.jsonl",
	"the folder of the logs":                          "mv logs gone; " + night,
	"the job requires":                                "sed -i 's/id: 2,/id: 2, required: true,/' usertrail.yaml; " + night,
	"no such table":                                   asking,
	"--users":                                         night + "; rm users.txt; " + asking,
	"choose another, or say --overwrite":              night + "; " + asking + " --out active; " + asking + " --out active",
	"--overwrite does not replace it":                 night + "; " + asking + " --out logs --overwrite",
	"--append adds":                                   night + adding + "play,order --from 2014-09-01 --to 2014-09-02" + adding + "play --from 2014-09-01 --to 2014-09-02" + adding + "play,order --from 2014-09-02 --to 2014-09-02",
	"the dates are appended already":                  night + adding + "play --from 2014-09-02 --to 2014-09-02" + adding + "play --from 2014-09-02 --to 2014-09-02",
	"days are not loaded":                             "bulkload --quiet --from 2014-09-01 --to 2014-09-01; " + asking + " --require-days",
	"name another file with --out":                    "bulkload init logs",
	"locked by another run":                           night + "; exec 9>>trails/lock; flock 9; " + night + " --types play",
	"too little room":                                 "true",
	"does not answer":                                 "bulkload pre-check --from 2014-09-01 --to 2014-09-02 --table hbase://127.0.0.1:1/a:b --retry-for 1s",
	"out of reach":                                    asking + " --table hdfs://127.0.0.1:1/trails --retry-for 1s",
	"not all pieces are done":                         planned + "bulkload commit --pieces pieces.jsonl",
	"were loaded before":                              night + "; " + night,
	"no file for":                                     "bulkload --quiet --from 2014-10-01 --to 2014-10-02",
	"changed after it was loaded":                     night + "; printf 'u9,2014-09-01 11:00:00,x,1\\n' >> logs/2014-09-01/play.csv; " + night,
	"it cannot be read":                               "ln -sf gone.csv logs/2014-09-02/play.csv; " + night,
	"it was written to while it was read":             "sed s/09-01/09-02/ logs/2014-09-01/order.csv > logs/2014-09-02/order.csv", // no log is missing: --wait ends early
	"unexpected EOF":                                  "gzip logs/2014-09-01/play.csv; truncate -s -9 logs/2014-09-01/play.csv.gz; sed -i 's|}.csv|}.csv*|' usertrail.yaml; " + night,
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

// TestOperationsSaysWhatIsSaid produces each message of the runbook, compares the message and
// the exit status, and then runs the commands of the entry.
func TestOperationsSaysWhatIsSaid(t *testing.T) {
	clone, _ := readmeRun(t)
	path := "PATH=" + filepath.Join(clone, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	used := map[string]bool{}
	for _, a := range advices(t) {
		script, provoked := provocations[a.heading]
		used[a.heading] = true
		if len(a.says) > 0 && !provoked {
			t.Errorf("%s shows a message that nothing here provokes", a.heading)
		}
		if !provoked {
			script = night
		}
		t.Run(a.heading, func(t *testing.T) {
			t.Parallel()
			dir := newNight(t)
			bash := func(flags, script string) (string, int) {
				c := exec.CommandContext(t.Context(), "bash", flags, "pipefail", "-c", script)
				c.Dir, c.Env = dir, append(os.Environ(), path, "HADOOP_CONF_DIR=", "USERTRAIL_JOB=", "LC_ALL=C")
				out, err := c.CombinedOutput()
				if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
					t.Fatal(err)
				}
				return string(out), c.ProcessState.ExitCode()
			}
			said, status := bash("-uo", script)
			if len(a.says) > 0 && status != a.status {
				t.Errorf("ends with status %d, and stands under %d\n%s", status, a.status, said)
			}
			for _, line := range a.says {
				expr := "(?m)^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$"
				if !regexp.MustCompile(expr).MatchString(said) {
					t.Errorf("the page shows\n%s\nand the command printed\n%s", line, said)
				}
			}
			if a.heading == "the job file is wrong" || a.heading == "dates in the table would not agree" {
				return
			}
			job, err := os.ReadFile(filepath.Join(dir, "usertrail.yaml"))
			for _, block := range a.sh {
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
			if now, fail := os.ReadFile(filepath.Join(dir, "usertrail.yaml")); (err == nil) != (fail == nil) || !bytes.Equal(now, job) {
				t.Error("what the book says has changed the job")
			}
			for _, line := range a.cluster {
				if !strings.HasPrefix(line, "bulkload ") && !strings.HasPrefix(line, "extract ") {
					continue
				}
				if out, status := bash("-euo", line+" -h"); status != 0 {
					t.Errorf("%s: no such command or flag:\n%s", line, out)
				}
			}
		})
	}
	for heading := range provocations {
		if !used[heading] {
			t.Errorf("the book has no entry %s", heading)
		}
	}
}

// within lists errors that another error explains before a user sees them, or that the
// program uses internally.
var within = []string{"trailfile: the writer is closed", "client is closed", "not a row of the reversed layout", "snapshot exists"}

// TestOperationsNamesEveryError compares the runbook with the source. The source must contain
// its headings, and the runbook must contain the text of every named error.
func TestOperationsNamesEveryError(t *testing.T) {
	book := document(t, "docs/howto/operations.md")
	var source strings.Builder
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(testkit.Repository(t), dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
				return err
			}
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := regexp.MustCompile(`\bErr[A-Z]\w*\s*=\s*(?:errors\.New|fmt\.Errorf)\("(?:%w: )?([^"]+)"`)
	found := 0
	for _, m := range named.FindAllStringSubmatch(source.String(), -1) {
		found++
		text := strings.TrimSuffix(strings.SplitN(m[1], ";", 2)[0], ": the server does not offer the service, or wants another authentication")
		text, _, _ = strings.Cut(text, ",")
		if !strings.Contains(book, text) && !slices.Contains(within, m[1]) {
			t.Errorf("docs/howto/operations.md does not say what %q means", m[1])
		}
	}
	if found < 30 {
		t.Errorf("found only %d errors that have names", found)
	}
	adviceIsInTheBook(t, book, source.String())
	for _, a := range advices(t) {
		if !strings.Contains(book, "### `"+a.heading+"`") {
			continue
		}
		// The source has only parts of messages that are composed at run time. The system
		// reports a full disk.
		pieces := map[string]string{"but int64 in the table": "in the table", "stopped by SIGTERM": "stopped by ", "stopped by SIGHUP": "stopped by ", "id 3, but 2 in the table": "id %d, but %d in the table", "damaged list of retired files": "list of retired files", "no space left on device": "quota exceeded", "unexpected EOF": "io.ErrUnexpectedEOF", "is a directory": "syscall.EISDIR"}
		want := a.heading
		if p, ok := pieces[want]; ok {
			want = p
		}
		if !strings.Contains(source.String(), want) {
			t.Errorf("no program says %q", a.heading)
		}
	}
}

// explained maps messages with their own advice, which the runbook need not repeat, to the
// place where users see them.
var explained = map[string]string{
	"** is not understood":      "lines of the job file is wrong, with file and line",
	"{date:%s}":                 "as above",
	"layout %s has no size":     "as above",
	"field %s: every trail has": "as above",
	"%q is not a time":          "a wrong command line or query, with the flag",
	"%q: write FROM-TO":         "as above",
	"%q: the hours of":          "as above",
	"plan get: which rows":      "as above",
	"xi:include":                "hadoop configuration, with the file",
	"hbase: put":                "the program gave itself a wrong cell",
	"answer of %d bytes":        "the program asks for less by itself",
}

var (
	saidText   = regexp.MustCompile(`\b(?:fmt\.Errorf|errors\.New)\(\s*"((?:[^"\\]|\\.)*)"`)
	saysToDo   = regexp.MustCompile(`[:;,] (?:or )?(?:name|put|remove|run|say|deliver|move|correct|load|plan|take|raise|mount|type|make|write|choose|ask|upgrade|give|wait|let|keep|begin|lower|drop|rename|bring|use|set) `)
	formatVerb = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)
)

// adviceIsInTheBook finds the messages in the source that give advice. A message that wraps
// an error belongs to the entry of the error. The runbook must have some words of each other
// message.
func adviceIsInTheBook(t *testing.T, book, source string) {
	t.Helper()
	found, used := 0, map[string]bool{}
	for _, m := range saidText.FindAllStringSubmatch(source, -1) {
		text := m[1]
		if !saysToDo.MatchString(text+" ") || strings.Contains(text, "%w") {
			continue
		}
		found++
		known := slices.ContainsFunc(formatVerb.Split(text, -1), func(part string) bool { return inTheBook(book, part) })
		for begins := range explained {
			if strings.HasPrefix(text, begins) || strings.Contains(text, ": "+begins) {
				known, used[begins] = true, true
			}
		}
		if !known {
			t.Errorf("docs/howto/operations.md has no words of %q", text)
		}
	}
	if found < 20 {
		t.Errorf("found only %d messages that say what to do", found)
	}
	for begins := range explained {
		if !used[begins] {
			t.Errorf("no program says %q any more", begins)
		}
	}
}

// inTheBook reports whether some adjacent words of a message are in the runbook.
func inTheBook(book, text string) bool {
	const together = 4
	words := strings.Fields(text)
	for i := range max(0, len(words)-together+1) {
		if strings.Contains(book, strings.Trim(strings.Join(words[i:i+together], " "), ":;,.")) {
			return true
		}
	}
	return false
}

// TestOperationsListsTheStatuses compares the runbook's table with README's.
func TestOperationsListsTheStatuses(t *testing.T) {
	want := statusRows(document(t, "docs/reference/exit-status.md"))
	got := slices.DeleteFunc(statusRows(document(t, "docs/howto/operations.md")), func(s string) bool { return s == "137" }) // the shell's
	if !slices.Equal(got, want) {
		t.Errorf("docs/howto/operations.md lists the statuses %q, want %q", got, want)
	}
}
