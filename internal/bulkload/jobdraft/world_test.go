package jobdraft_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs/local"
	"usertrail/internal/test/testkit"
)

// A world is a way to deliver logs.
type world struct {
	syntax    record.Syntax
	delimiter string
	header    bool
	ending    string
	encoding  string
	times     timeWay
	paths     pathWay
}

func (w world) String() string {
	return fmt.Sprintf("%s %q header=%t %s %s %s %s", w.syntax, w.delimiter, w.header, w.ending, w.encoding, w.times.format, w.paths.pattern)
}

// A timeWay writes times as a job's format reads them.
type timeWay struct {
	format string
	write  func(time.Time) string
}

func layout(l string) timeWay { return timeWay{l, func(t time.Time) string { return t.Format(l) }} }

func epoch(format string, perSecond int64) timeWay {
	return timeWay{format, func(t time.Time) string { return strconv.FormatInt(t.UnixMicro()/(1_000_000/perSecond), 10) }}
}

var timeWays = []timeWay{
	layout("2006-01-02 15:04:05"), layout("2006-01-02T15:04:05Z07:00"), layout("2006-01-02T15:04:05.000"),
	epoch("epoch_s", 1), epoch("epoch_ms", 1000), epoch("epoch_us", 1_000_000),
	layout("2006/01/02 15:04:05"), layout("20060102150405"), layout("02/01/2006 15:04:05"), layout("01/02/2006 15:04"),
	layout("02.01.2006 15:04:05"), layout("02/Jan/2006:15:04:05 -0700"), layout("Jan _2 15:04:05"), layout("01-02 15:04:05"),
	layout("Mon, 02 Jan 2006 15:04:05 MST"), layout("2006年01月02日 15:04:05"), layout("2006-01-02"), layout("20060102"), layout("02-01-2006"),
}

// A pathWay is the form of the files' paths. Without {behaviour}, a column names the
// behaviour.
type pathWay struct{ pattern string }

var pathWays = []pathWay{
	{"{date}/{behaviour}"}, {"{behaviour}/{date:yyyyMMdd}"}, {"year={date:yyyy}/month={date:MM}/day={date:dd}/{behaviour}"},
	{"{date:yyyy}/{date:MM}/{date:dd}/{behaviour}-#"}, {"{behaviour}_{date:yyyy_MM_dd}_#"}, {"event={behaviour}/dt={date}/part-#-abcdef012345"},
	{"eu/{behaviour}/{behaviour}.{date:dd-MM-yyyy}"}, {"eu/{behaviour}/{behaviour}_{date:ddMMyyyy}"}, {"{date}/events"},
	{"{behaviour}.{date:ddMMyy}"}, {"{behaviour}.{date:MM-dd-yyyy}"},
}

// file returns the path of a day's file of a behaviour.
func (p pathWay) file(day time.Time, kind string) string {
	r := strings.NewReplacer("{date}", day.Format("2006-01-02"), "{date:yyyyMMdd}", day.Format("20060102"), "{date:yyyy}", day.Format("2006"),
		"{date:MM}", day.Format("01"), "{date:dd}", day.Format("02"), "{date:yyyy_MM_dd}", day.Format("2006_01_02"),
		"{date:dd-MM-yyyy}", day.Format("02-01-2006"), "{date:ddMMyyyy}", day.Format("02012006"), "{date:ddMMyy}", day.Format("020106"), "{date:MM-dd-yyyy}", day.Format("01-02-2006"), "{behaviour}", kind, "#", fmt.Sprintf("%05d", day.Day()%3))
	return r.Replace(p.pattern)
}

// job returns the pattern for the true job.
func (p pathWay) job() string { return strings.ReplaceAll(p.pattern, "#", "*") }

func (p pathWay) byColumn() bool { return !strings.Contains(p.pattern, "{behaviour}") }

// A line is a record as the names and texts of its columns. quoted marks JSON strings.
type line struct {
	names, texts []string
	quoted       []bool
}

func (l *line) add(name, text string, quoted bool) {
	l.names, l.texts, l.quoted = append(l.names, name), append(l.texts, text), append(l.quoted, quoted)
}

var titles = []string{"天下足球", "新闻联播", "动物世界", "电影频道"}

// word returns a text that the world's encoding and syntax can represent.
func (w world) word(r *rand.Rand) string {
	s := titles[r.IntN(len(titles))]
	switch {
	case w.encoding == "windows-1252":
		s = []string{"café crème", "Fußball heute", "Élysée déjà vu", "mañana señor"}[r.IntN(4)]
	case w.encoding == "shift_jis":
		s = []string{"テレビ番組表", "ニュースです", "映画のチャンネル", "これは日本語"}[r.IntN(4)]
	}
	if w.syntax == record.Blanks {
		return strings.ReplaceAll(s, " ", "")
	}
	return s
}

// lines returns the lines of a day and behaviour.
func (w world) lines(r *rand.Rand, day time.Time, kind string) []line {
	var out []line
	at := day.Add(time.Minute)
	for i := range 40 {
		at = at.Add(time.Duration(1+r.IntN(30)) * time.Minute)
		if at.Day() != day.Day() {
			break
		}
		var l line
		l.add("user_id", fmt.Sprintf("u%07d", r.IntN(20)), true)
		l.add("time", w.times.write(at), !strings.HasPrefix(w.times.format, "epoch"))
		if w.paths.byColumn() {
			l.add("event", kind, true)
		}
		if kind == "play" {
			l.add("title", w.word(r), true)
			seconds := strconv.Itoa(r.IntN(7200))
			if i%9 == 5 && w.syntax != record.Blanks && w.syntax != record.JSONL {
				seconds = ""
			}
			l.add("seconds", seconds, false)
			l.add("live", strconv.FormatBool(r.IntN(2) == 0), false)
		} else {
			l.add("product", w.word(r)+strconv.Itoa(r.IntN(9)), true)
			l.add("price", fmt.Sprintf("%d.%02d", r.IntN(99), 1+r.IntN(98)), false)
			l.add("born", day.AddDate(-20, 0, -i).Format("2006-01-02"), true)
		}
		out = append(out, l)
	}
	return out
}

// text returns a file of lines in the form of the world. If a column names the behaviours,
// the lines of both have the same columns.
func (w world) text(lines []line) string {
	var b strings.Builder
	if w.header && len(lines) > 0 {
		b.WriteString(w.join(lines[0].names) + "\n")
	}
	for _, l := range lines {
		if w.syntax != record.JSONL {
			b.WriteString(w.join(l.texts) + "\n")
			continue
		}
		var members []string
		for i, name := range l.names {
			text := l.texts[i]
			if l.quoted[i] {
				quoted, _ := json.Marshal(text)
				text = string(quoted)
			}
			members = append(members, fmt.Sprintf("%q:%s", name, text))
		}
		b.WriteString("{" + strings.Join(members, ",") + "}\n")
	}
	return b.String()
}

func (w world) join(texts []string) string {
	texts = slices.Clone(texts)
	for i, t := range texts {
		if w.syntax == record.CSV && strings.Contains(t, w.delimiter) {
			texts[i] = `"` + t + `"`
		}
	}
	if w.syntax == record.Blanks {
		return strings.Join(texts, "  \t")
	}
	return strings.Join(texts, w.delimiter)
}

// write delivers three days below dir, and returns the job that reads them.
func (w world) write(t *testing.T, dir string) *job.Job {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for d := range 3 {
		day := time.Date(2014, 9, 24+d, 0, 0, 0, 0, time.UTC)
		byFile := map[string][]line{}
		for _, kind := range []string{"order", "play"} {
			name := w.paths.file(day, kind)
			if w.paths.byColumn() {
				kind = "play" // with one set of columns
				for _, l := range w.lines(r, day, kind) {
					l.texts[2] = []string{"order", "play"}[r.IntN(2)]
					byFile[name] = append(byFile[name], l)
				}
				continue
			}
			byFile[name] = w.lines(r, day, kind)
		}
		for name, lines := range byFile {
			w.store(t, filepath.Join(dir, "logs", filepath.FromSlash(name)+"."+string(w.syntax)+w.ending), w.text(lines))
		}
	}
	j, err := job.Parse(filepath.Join(dir, "true.yaml"), []byte(w.job()))
	if err != nil {
		t.Fatalf("%v\n%s", err, w.job())
	}
	return j
}

func (w world) store(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	data := []byte(text)
	var err error
	switch w.encoding {
	case "":
	case "utf-16":
		data, err = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(data)
	default:
		e, fail := htmlindex.Get(w.encoding)
		if fail != nil {
			t.Fatal(fail)
		}
		data, err = e.NewEncoder().Bytes(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	switch w.ending {
	case "":
		b.Write(data)
	case ".gz":
		z := gzip.NewWriter(&b)
		z.Write(data)
		z.Close()
	case ".zst":
		z, _ := zstd.NewWriter(&b)
		z.Write(data)
		z.Close()
	}
	testkit.WriteFile(t, name, b.String())
}

// job returns the complete job for the world.
func (w world) job() string {
	var b strings.Builder
	fmt.Fprintf(&b, "logs:\n  path: logs/%s.%s%s\n  format: %s\n", w.paths.job(), w.syntax, w.ending, w.syntax)
	if w.delimiter != "" && w.syntax != record.JSONL && w.syntax != record.Blanks {
		fmt.Fprintf(&b, "  delimiter: %q\n", w.delimiter)
	}
	if w.syntax != record.JSONL {
		fmt.Fprintf(&b, "  header: %t\n", w.header)
	}
	fmt.Fprintf(&b, "  encoding: %s\n", cmp.Or(w.encoding, "utf-8"))
	at := func(name string) string { return name }
	if !w.header && w.syntax != record.JSONL {
		numbers := map[string]string{"user_id": "$1", "time": "$2", "event": "$3", "title": "$3", "seconds": "$4", "live": "$5", "product": "$3", "price": "$4", "born": "$5"}
		if w.paths.byColumn() {
			numbers["title"], numbers["seconds"], numbers["live"] = "$4", "$5", "$6"
		}
		at = func(name string) string { return numbers[name] }
	}
	if w.paths.byColumn() {
		fmt.Fprintf(&b, "  behaviour: %s\n", at("event"))
	}
	fmt.Fprintf(&b, "user: %s\ntime: {column: %s, format: %q}\nbehaviours:\n", at("user_id"), at("time"), w.times.format)
	play := fmt.Sprintf("{title: {type: string, column: %s}, seconds: {type: int64, column: %s}, live: {type: bool, column: %s}}", at("title"), at("seconds"), at("live"))
	order := fmt.Sprintf("{product: {type: string, column: %s}, price: {type: double, column: %s}, born: {type: date, column: %s}}", at("product"), at("price"), at("born"))
	if w.paths.byColumn() {
		order = play
	}
	fmt.Fprintf(&b, "  order: {id: 1, fields: %s}\n  play: {id: 2, fields: %s}\n", order, play)
	return b.String()
}

// records returns all records that a job reads, one per line.
func records(t *testing.T, j *job.Job) []string {
	t.Helper()
	found, err := j.Find(t.Context(), local.New(), behaviour.Span{From: behaviour.DateOf(2014, 9, 1), To: behaviour.DateOf(2014, 9, 30)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &lister{schema: j.Schema}
	for _, in := range found.Inputs {
		f, err := local.New().Open(t.Context(), in.Path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := record.Open(f, in.File(), &j.Format)
		if err != nil {
			t.Fatal(err)
		}
		p, err := record.NewParser(&j.Format, in.File(), r.Header())
		if err != nil {
			t.Fatal(err)
		}
		for buf := make([]byte, 64<<10); ; {
			c, err := r.Next(buf)
			if err == io.EOF {
				break
			}
			if err == nil {
				err = p.Parse(c, s)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		f.Close()
	}
	slices.Sort(s.out)
	return s.out
}

// A lister stores records as text.
type lister struct {
	schema *behaviour.Schema
	out    []string
}

func (l *lister) Keep(r *behaviour.Record) error {
	k := l.schema.Kinds[r.Kind]
	s := fmt.Sprintf("%s %s %d %s", r.User, k.Name, r.Time, r.Date)
	for i, v := range r.Values {
		s += fmt.Sprintf(" %s=%x", k.Fields[i].Type, v)
	}
	l.out = append(l.out, s)
	return nil
}

func (l *lister) Skip(*record.Skipped) error { l.out = append(l.out, "skipped"); return nil }

func (l *lister) Reject(r *record.Reject) error { l.out = append(l.out, "bad: "+r.Error()); return nil }

// makeDraft drafts a job of dir/logs for a job file in dir.
func makeDraft(t *testing.T, dir string) *jobdraft.Draft {
	t.Helper()
	d, err := jobdraft.Make(t.Context(), jobdraft.Config{FS: local.New(), Logs: filepath.Join(dir, "logs"), Name: filepath.Join(dir, "usertrail.yaml"), Zone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// jobOf returns the job of a draft in dir.
func jobOf(t *testing.T, dir string, d *jobdraft.Draft) *job.Job {
	t.Helper()
	j, err := job.Parse(filepath.Join(dir, "usertrail.yaml"), []byte(d.Text))
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Text)
	}
	return j
}

// pathOf returns the path of a draft in dir with one path.
func pathOf(dir string, d *jobdraft.Draft) string {
	_, rest, _ := strings.Cut(d.Text, "\n  path: ")
	line, _, _ := strings.Cut(rest, "\n")
	path, _, _ := strings.Cut(line, " #")
	return strings.TrimPrefix(strings.Trim(path, `"`), dir+"/")
}
