package job_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs/local"
)

// TestParse shows the errors of wrong jobs, and the result of correct ones.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/jobs", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "parse" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			name := "jobs/job.yaml"
			d.MaybeScanArgs(t, "name", &name)
			j, err := job.Parse(name, []byte(d.Input))
			if err != nil {
				if !errors.Is(err, job.ErrJob) {
					d.Fatalf(t, "%v does not wrap ErrJob", err)
				}
				return err.Error() + "\n"
			}
			return draw(j)
		})
	})
}

// draw prints the whole job.
func draw(j *job.Job) string {
	var b strings.Builder
	f := j.Format
	fmt.Fprintf(&b, "root %s\n", j.Pattern.Root)
	for line := range strings.Lines(j.Pattern.String() + "\n") {
		fmt.Fprintf(&b, "  %s", line)
	}
	fmt.Fprintf(&b, "%s, delimiter %q, header %v, names %q, encoding %q, zone %s\n", f.Syntax, f.Delimiter, f.Header, f.Names, f.Encoding, f.Zone)
	fmt.Fprintf(&b, "max_line %d, nulls %q, slack %d, max_bad %s\n", f.MaxLine, f.Nulls, f.Slack, j.MaxBad)
	if f.Skip != nil {
		fmt.Fprintf(&b, "skip %s, columns %q\n", f.Skip, f.Skip.Columns())
	}
	if f.KindColumn != nil {
		texts, _ := json.Marshal(f.KindOf)
		others := "up to " + j.MaxSkipped.String()
		if j.SkipOthers {
			others = "any number"
		}
		if f.Other != nil {
			fmt.Fprintf(&b, "other texts: %s\n", f.Schema.Kinds[*f.Other].Name)
		}
		fmt.Fprintf(&b, "behaviour by %s: %s, others %s\n", column(*f.KindColumn), texts, others)
	}
	fmt.Fprintf(&b, "table %q, regions %d, %s", j.Table.Address, j.Table.Regions, j.Table.Compression)
	if j.Layout != layout.Default {
		fmt.Fprintf(&b, ", layout %s", j.Layout)
	}
	b.WriteByte('\n')
	for i, k := range j.Schema.Kinds {
		s := j.Behaviours[i]
		fmt.Fprintf(&b, "%d %s: path %s, required %v", k.ID, k.Name, s.Path, s.Required)
		if s.Unique.Asked() {
			fmt.Fprintf(&b, ", unique %+v", s.Unique)
		}
		t := f.Kinds[i].Time
		if f.Kinds[i].SkipEmpty {
			b.WriteString(", skip records without user")
		}
		fmt.Fprintf(&b, "\n  user %s\n  time %s", column(f.Kinds[i].User), column(t.Column))
		if t.Format != "" || t.Zone != nil || t.Year != 0 {
			fmt.Fprintf(&b, ", format %q, zone %v, year %d", t.Format, t.Zone, t.Year)
		}
		if !t.Earliest.IsZero() || !t.Latest.IsZero() {
			fmt.Fprintf(&b, ", from %s to %s", t.Earliest.UTC().Format(time.RFC3339Nano), t.Latest.UTC().Format(time.RFC3339Nano))
		}
		b.WriteByte('\n')
		for n, field := range k.Fields {
			fmt.Fprintf(&b, "  %s %s: %s\n", field.Name, field.Type, column(f.Kinds[i].Fields[n]))
		}
	}
	return b.String()
}

func column(c record.Column) string {
	s := c.Name
	if c.Pattern != nil {
		s += " /" + c.Pattern.String() + "/"
	}
	if c.Format != "" {
		s += " as " + c.Format
	}
	return s
}

func TestLoadOfNothingIsAWrongJob(t *testing.T) {
	_, err := job.Load(t.Context(), local.New(), t.TempDir()+"/nothing.yaml")
	if !errors.Is(err, job.ErrJob) || !strings.Contains(err.Error(), "nothing.yaml") {
		t.Errorf("got %v, want ErrJob and the name", err)
	}
}

// TestParseReadsTheLargestJob has as many behaviours as a schema can hold.
func TestParseReadsTheLargestJob(t *testing.T) {
	var b strings.Builder
	b.WriteString("\ufefflogs: logs/{date}/{behaviour}.csv\r\nbehaviours:\r\n")
	for k := range behaviour.MaxKinds {
		fmt.Fprintf(&b, "  kind%d:\r\n    id: %d\r\n    fields:\r\n", k, 65535-k)
		for f := range 16 {
			fmt.Fprintf(&b, "      field%d_%d: double\r\n", k, f)
		}
	}
	j, err := job.Parse("job.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	first := j.Schema.Kinds[0]
	if len(j.Schema.Kinds) != behaviour.MaxKinds || first.Name != "kind1023" || len(first.Fields) != 16 || first.Fields[15].Name != "field1023_15" {
		t.Errorf("%d behaviours, the first %s of %d fields", len(j.Schema.Kinds), first.Name, len(first.Fields))
	}
	b.WriteString("  more: {id: 1}\n")
	if _, err := job.Parse("job.yaml", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "1025 behaviours") {
		t.Errorf("one behaviour more: got %v", err)
	}
}

func TestParseRefusesWhatNoJobIs(t *testing.T) {
	for want, text := range map[string]string{
		"1:33: not a job: brackets":            strings.Repeat("[", 200_000),
		"1:129: not a job: brackets":           strings.Repeat("{a: ", 50_000),
		"2:65: not a job: brackets or lists":   "\n" + strings.Repeat("- ", 100_000),
		"1:1: a job file has at most 524288 b": strings.Repeat("#", 600_000),
	} {
		if _, err := job.Parse("job.yaml", []byte(text)); !errors.Is(err, job.ErrJob) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %.100v, want %s", err, want)
		}
	}
}

// TestEveryLayoutIsOneOfAJob checks that a job can name every layout, and that the message
// for an unknown word lists them all.
func TestEveryLayoutIsOneOfAJob(t *testing.T) {
	parse := func(name string) (*job.Job, error) {
		return job.Parse("job.yaml", []byte("logs: \"{date}\"\nlayout: "+name+"\nbehaviours: {play: {id: 1}}"))
	}
	for _, name := range layout.Names() {
		if j, err := parse(name); err != nil || j.Layout != name {
			t.Errorf("%s: %+v, %v", name, j, err)
		}
	}
	_, err := parse("something")
	if want := `layout: "something" is no layout, there are ` + strings.Join(layout.Names(), ", "); !errors.Is(err, job.ErrJob) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

const digestJob = `
logs: {path: "a/{date}/{behaviour}.csv", zone: Asia/Shanghai}
table: t
user: uid
behaviours:
  play: {id: 1, fields: {programme: string, seconds: int64}}
  order: {id: 2, fields: {price: double}}
`

func TestDigestIsOfTheMeaning(t *testing.T) {
	digest := func(name, text string) string {
		t.Helper()
		j, err := job.Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return j.Digest()
	}
	want := digest("job.yaml", digestJob)
	for why, text := range map[string]string{
		"comment":         "# hello\n" + digestJob,
		"default written": strings.Replace(digestJob, "zone:", "format: csv, header: true, slack: 1, encoding: UTF-8, delimiter: ',', max_line: 1MiB, zone:", 1),
		"date written":    strings.Replace(digestJob, "{date}", "{date:yyyy-MM-dd}", 1),
		"table":           strings.Replace(digestJob, "table: t", "table: {path: u, compression: zstd, regions: 7}", 1),
		"credentials":     "kerberos: {keytab: k, principal: p, protection: privacy}" + digestJob,
		"layout written":  "layout: reversed" + digestJob,
		"patience":        strings.Replace(digestJob, "zone:", "max_bad: 5%, zone:", 1),
		"required":        strings.Replace(digestJob, "id: 1,", "required: true, id: 1,", 1),
		"other root":      strings.Replace(digestJob, "a/{date}", "../elsewhere/{date}", 1),
		"user each": strings.NewReplacer("user: uid\n", "", "id: 1,", "user: {column: uid}, id: 1,", "id: 2,", "user: uid, id: 2,").
			Replace(digestJob),
	} {
		if got := digest("job.yaml", text); got != want {
			t.Errorf("%s changes the digest", why)
		}
	}
	if digest("/far/away/job.yaml", digestJob) != want {
		t.Error("the place of the job file changes the digest")
	}
	each := "logs: x\nbehaviours: {a: {id: 1, path: x, fields: {n: int64}}}\n"
	if digest("job.yaml", each) != digest("job.yaml", "fields: {n: int64}\n"+strings.Replace(each, ", fields: {n: int64}", "", 1)) {
		t.Error("fields of all behaviours change the digest")
	}
	mixed := "logs: {path: x, behaviour: {column: event}}\nbehaviours: {a: {id: 1}}\n"
	for _, change := range [][2]string{{"}}\nb", "}, max_skipped: 3}\nb"}, {"event", "event, others: skip"}} {
		if digest("job.yaml", mixed) != digest("job.yaml", strings.Replace(mixed, change[0], change[1], 1)) {
			t.Errorf("%q changes the digest", change[1])
		}
	}
	seen := map[string]string{want: "nothing"}
	for _, change := range [][2]string{
		{"uid", "id"}, {"zone: Asia/Shanghai", "zone: UTC"}, {"int64", "double"}, {"id: 2", "id: 3"}, {"zone:", "slack: 2, zone:"},
		{"{behaviour}.csv", "{behaviour}.tsv"}, {"seconds:", "minutes:"}, {"id: 1,", "unique: [seconds], id: 1,"},
		{"id: 1,", "path: vod, id: 1,"}, {"zone:", "nulls: [-], zone:"}, {"zone:", "skip: 'a == b', zone:"}, {"user: uid", "user: {column: uid, empty: skip}"}, {"zone:", "max_line: 9, zone:"}, {"zone:", "encoding: gbk, zone:"},
		{"table:", "time: {format: epoch_s}\ntable:"}, {"table:", "time: {pattern: '(.*)'}\ntable:"}, {"table:", "time: {year: 2014}\ntable:"}, {"table:", "time: {earliest: 2014-01-01}\ntable:"}, {"table:", "time: {latest: 2014-01-01}\ntable:"},
		{"seconds: int64", "seconds: timestamp"}, {"seconds: int64", "seconds: {type: timestamp, zone: UTC}"}, {"seconds: int64", "seconds: {type: timestamp, zone: Europe/Berlin}"},
		{"table:", "layout: tall\ntable:"}, {"table:", "layout: fixed\ntable:"}, {"table:", "layout: fixed/8\ntable:"},
		{"a/{date}/{behaviour}.csv", "a/{date}/*"}, {"a/{date}/{behaviour}.csv", `a/{date}/\*`},
	} {
		text := strings.Replace(digestJob, change[0], change[1], 1)
		if strings.HasSuffix(change[1], "*") {
			text = strings.Replace(text, "zone:", "behaviour: {column: event}, zone:", 1)
		}
		got := digest("job.yaml", strings.Replace(text, `\*`, `\\*`, 1))
		if other, taken := seen[got]; taken {
			t.Errorf("%q has the digest of %q", change[1], other)
		}
		seen[got] = change[1]
	}
}

// TestDigestOfAnEarlierJob checks that a job that only reads more has the digest of the
// earlier job.
func TestDigestOfAnEarlierJob(t *testing.T) {
	read := func(text string) *job.Job {
		t.Helper()
		j, err := job.Parse("job.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	column := func(text string) string {
		return strings.NewReplacer("{behaviour}.csv", "*.csv", "zone:", "behaviour: {column: event, texts: {p: play, o: order}}, zone:").Replace(text)
	}
	unique := func(text string) string { return strings.Replace(text, "{id: 1,", "{id: 1, unique: [seconds],", 1) }
	known := map[string][]string{"play": {"programme", "seconds"}, "order": {"price"}}
	type change struct{ from, to string }
	for _, form := range []struct {
		text  string
		texts []string
	}{{digestJob, nil}, {column(digestJob), []string{"o", "order", "p", "play"}}, {unique(digestJob), nil}} {
		want := read(form.text).Digest()
		for c, same := range map[change]bool{
			{"", ""}:                 true,
			{"table: t", "table: u"}: true,
			{"  order", "  login: {id: 9, fields: {a: string}}\n  order"}:              true,
			{"programme", "x: int64, programme"}:                                       true,
			{"programme: string, seconds: int64", "seconds: int64, programme: string"}: true,
			{"int64", "double"}:         false,
			{"uid", "user"}:             false,
			{"programme: string, ", ""}: false,
			{"  order: {id: 2, fields: {price: double}}\n", ""}: false,
			{"id: 2", "id: 3"}:           false,
			{"zone:", "slack: 3, zone:"}: false,
		} {
			text := strings.Replace(form.text, c.from, c.to, 1)
			if len(form.texts) > 0 && strings.Contains(c.to, "login") {
				text = strings.Replace(text, "o: order", "o: order, l: login", 1)
			}
			if len(form.texts) > 0 && !strings.Contains(text, "  order:") {
				text = strings.Replace(text, ", o: order", "", 1)
			}
			got, ok := read(text).DigestOf(known, form.texts)
			if (ok && got == want) != same {
				t.Errorf("with %q for %q the earlier job is found: %t, %.12s; want %t, %.12s", c.to, c.from, ok, got, same, want)
			}
		}
	}
}

func TestMaxBad(t *testing.T) {
	for _, c := range []struct {
		text      string
		read, bad int64
		exceeded  bool
	}{
		{"1%", 100, 1, false},
		{"1%", 99, 1, true},
		{"1%", 0, 0, false},
		{"0", 1 << 40, 0, false},
		{"0", 1, 1, true},
		{"0%", 1 << 40, 1, true},
		{"100%", 5, 5, false},
		{"0.0001%", 1_000_000, 1, false},
		{"0.0001%", 999_999, 1, true},
		{"2.5%", 1000, 25, false},
		{"2.5%", 1000, 26, true},
		{"1%", 1 << 62, 1 << 60, true},
		{"99.99%", 1 << 62, 1 << 61, false},
		{"7", 7, 7, false},
		{"7", 8, 8, true},
	} {
		m, err := job.ParseLimit(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := m.Exceeded(c.read, c.bad); got != c.exceeded {
			t.Errorf("%s: %d bad of %d exceeds: %v, want %v", c.text, c.bad, c.read, got, c.exceeded)
		}
		if m.String() != c.text {
			t.Errorf("%s shows itself as %s", c.text, m)
		}
	}
	for _, s := range []string{"", "%", "-1", "1.5", "101%", "1.00001%", "1.%", ".5%", "x%", "+1%", "1e3", "99999999999999999999"} {
		if m, err := job.ParseLimit(s); err == nil {
			t.Errorf("%q is taken for %s", s, m)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("jobs/job.yaml", digestJob)
	f.Add("hdfs://nn/job.yaml", "logs: /x/[!a]?*{date:%Y/%m}-{date:dd}.gz\nbehaviours:\n  放送: {id: 9, unique: [user], time: {format: '%d/%b', year: 2014}}\n")
	f.Add("job.yaml", "logs:\n  path: ['a/*', b/c]\n  format: blanks\n  behaviour: {column: $1, texts: {x: play}}\nbehaviors:\n  play: {user: $2, time: $3, id: 1, fields: {a: {pattern: (.), column: $line}}}\n")
	f.Add("", "a: &x [*x]\n<<: {b: !!c d}\n? e\n: |\n  f\n---\ng")
	files, err := filepath.Glob("../../../jobs/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no jobs to begin with: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, string(text))
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		j, err := job.Parse(name, []byte(text))
		if err != nil {
			if !errors.Is(err, job.ErrJob) {
				t.Errorf("%v does not wrap ErrJob", err)
			}
			return
		}
		if err := j.Schema.Validate(); err != nil {
			t.Errorf("a schema that is none: %v", err)
		}
		if n := len(j.Schema.Kinds); len(j.Format.Kinds) != n || len(j.Behaviours) != n {
			t.Errorf("%d kinds, %d formats, %d settings", n, len(j.Format.Kinds), len(j.Behaviours))
		}
		if first, second := j.Digest(), j.Digest(); first != second || j.Pattern == nil || j.Pattern.Root == "" {
			t.Error("a job without a digest or a place")
		}
	})
}
