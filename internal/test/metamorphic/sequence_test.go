package metamorphic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // for zones that the machine may not have

	"github.com/klauspost/compress/gzip"
)

// A Sequence is a world and a list of steps in it. It is stored as JSON.
type Sequence struct {
	Note   string `json:"note,omitempty"` // what the sequence tests
	Seed   uint64 `json:"seed"`           // the seed that it was generated from
	Logs   string `json:"logs"`           // the form of the paths of delivered files: see the constants
	Format string `json:"format"`         // format of delivered files: csv or jsonl
	Store  string `json:"store"`          // the place of tables: see the constants
	Fat    bool   `json:"fat,omitempty"`  // peak memory is checked
	Real   bool   `json:"real,omitempty"` // HBase and HDFS are a real cluster
	Steps  []Step `json:"steps"`
}

// Forms of the paths of delivered files.
const (
	daily  = "daily"  // they have date and behaviour
	dated  = "dated"  // they have the date; a column has the behaviour
	export = "export" // a column has the behaviour, and the time has the date
)

// Places of tables.
const (
	inFiles = "files" // in local directories
	inHDFS  = "hdfs"  // in directories of a file system whose locks are leases
	inHBase = "hbase" // in HBase, loaded by puts, or by HFiles if the flags of a step choose them
)

// A Step is one step of a sequence. Do determines which fields are used.
type Step struct {
	Do string `json:"do"`

	File    string   `json:"file,omitempty"` // path below logs
	To      string   `json:"to,omitempty"`   // another path below logs; the second table
	Columns []string `json:"columns,omitempty"`
	Records []Record `json:"records,omitempty"`
	Cut     int      `json:"cut,omitempty"`   // bytes
	Lines   []int    `json:"lines,omitempty"` // of a quarantine file, from 0
	Saved   bool     `json:"saved,omitempty"` // use the copy of a quarantine file

	Job *Job `json:"job,omitempty"`

	Table  string   `json:"table,omitempty"`
	From   string   `json:"from,omitempty"`
	Until  string   `json:"until,omitempty"`
	Types  []string `json:"types,omitempty"`
	Layout string   `json:"layout,omitempty"`
	Flags  []string `json:"flags,omitempty"`
	Order  []int    `json:"order,omitempty"` // order of pieces, each by its number modulo the number of pieces
	Early  int      `json:"early,omitempty"` // the number of pieces of an extract that run before the steps of During
	Late   bool     `json:"late,omitempty"`  // the steps of During run after the pieces

	Users     []string `json:"users,omitempty"`  // empty is all
	Sample    *Sample  `json:"sample,omitempty"` // in place of Users
	sampledBy *Step    // whose dates choose Sample; nil means the step's own
	Active    string   `json:"active,omitempty"`
	Format    string   `json:"format,omitempty"`
	Out       string   `json:"out,omitempty"`
	Overwrite bool     `json:"overwrite,omitempty"`

	Conditions *Conditions `json:"conditions,omitempty"`
	Shown      *Shown      `json:"shown,omitempty"`

	Row    string `json:"row,omitempty"`    // a row of a table in HBase
	Server int    `json:"server,omitempty"` // the destination of a region

	Damage string `json:"damage,omitempty"` // damage to a file of a table, or of a piece: see the constants
	Pick   int    `json:"pick,omitempty"`   // the file and the place in it, modulo their numbers
	Back   bool   `json:"back,omitempty"`   // the file is restored, and not repaired

	// The command stops at a step of package breakpoint. If During is set, its steps run and
	// the command continues. Otherwise the command is killed.
	Stop   string `json:"stop,omitempty"`
	During []Step `json:"during,omitempty"`
	Stolen bool   `json:"stolen,omitempty"` // the command loses its lock while it is stopped, like a lease
}

// A Record is one line of a delivered file before it is formatted. Every file has all columns
// of universe. A job uses some of them.
type Record struct {
	User   string            `json:"user"`
	Micros int64             `json:"micros"`
	Kind   string            `json:"kind"`             // or another text in the column of the behaviour
	Values map[string]string `json:"values,omitempty"` // columns that are not null
	Bad    string            `json:"bad,omitempty"`    // see the constants
	Large  int               `json:"large,omitempty"`  // size of its largeColumn in bytes, if it is not 0
}

// Reasons for a bad record.
const (
	badUser = "user" // it has no user
	badTime = "time" // its time is not a time
	badType = "type" // its n1 is not a number, which matters only to a job that uses n1
)

// A Job is the content of the job file without the paths.
type Job struct {
	Kinds  []Kind `json:"kinds"`
	MaxBad string `json:"max_bad"`
	Zone   string `json:"zone"`
	Layout string `json:"layout"`          // layout of the first table
	User   string `json:"user"`            // column of the user
	Ready  string `json:"ready,omitempty"` // the markers of complete logs: see the constants; empty is none
	// Texts are further texts in the column of the behaviour, and the behaviours that they name.
	Texts map[string]string `json:"texts,omitempty"`
}

// A Kind is a behaviour of a job.
type Kind struct {
	Name   string   `json:"name"`
	Fields []string `json:"fields"` // columns of universe
}

// universe maps the columns that a field may use to their types. A field has the name of its
// column.
var universe = map[string]string{"s1": "string", "s2": "string", "n1": "int64", "n2": "int64", "d1": "double", "b1": "bool"}

// kindIDs lists all behaviours. Some names are prefixes of other names, and one has characters that YAML,
// flags, conditions and qualifiers escape.
var kindIDs = map[string]int{"play": 1, "playlist": 7, `play, 100% "live" \_`: 8, "order": 300, "login": 65535}

var (
	allKinds  = slices.Sorted(maps.Keys(kindIDs))
	allTexts  = append([]string{"resume", "pay"}, allKinds...) // in the column of the behaviour
	allFields = slices.Sorted(maps.Keys(universe))
)

// Columns of every file in addition to universe. second is a column of users too, which a job
// may have used by mistake.
const (
	userColumn   = "who"
	secondColumn = "device"
	timeColumn   = "at"
	kindColumn   = "event"
)

// takes reports whether the behaviour has a field.
func (k *Kind) takes(field string) bool { return slices.Contains(k.Fields, field) }

// kind returns the behaviour with a name, nil if the job does not have it.
func (j *Job) kind(name string) *Kind {
	for i := range j.Kinds {
		if j.Kinds[i].Name == name {
			return &j.Kinds[i]
		}
	}
	return nil
}

// named returns the behaviour that a text names, "" if it names none.
func (j *Job) named(text string) string {
	if kind, ok := j.Texts[text]; ok {
		return kind
	}
	if j.kind(text) == nil {
		return ""
	}
	return text
}

// names returns the names of the job's behaviours.
func (j *Job) names() []string {
	var out []string
	for _, k := range j.Kinds {
		out = append(out, k.Name)
	}
	return out
}

// yaml returns the job file.
func (j *Job) yaml(q *Sequence, table, layout string) string {
	var b strings.Builder
	paths := map[string]string{daily: "{date}/{behaviour}.*", dated: "{date}/events.*", export: "export.*"}
	fmt.Fprintf(&b, "logs:\n  path: logs/%s\n  format: %s\n  zone: %s\n  max_bad: %s\n", paths[q.Logs], q.Format, j.Zone, j.MaxBad)
	if j.Ready != "" {
		fmt.Fprintf(&b, "  ready: %q\n", readyPaths[j.Ready])
	}
	if q.Logs != daily {
		fmt.Fprintf(&b, "  behaviour: {column: %s, others: skip, texts: {%s}}\n", kindColumn, texts(j.Texts))
	}
	fmt.Fprintf(&b, "table: %s\nlayout: %s\nuser: %s\ntime: %s\nbehaviours:\n", table, layout, j.User, timeColumn)
	for _, k := range j.Kinds {
		fmt.Fprintf(&b, "  %q:\n    id: %d\n", k.Name, kindIDs[k.Name])
		if len(k.Fields) > 0 {
			b.WriteString("    fields:\n")
		}
		for _, f := range k.Fields {
			fmt.Fprintf(&b, "      %s: %s\n", f, universe[f])
		}
	}
	return b.String()
}

// texts returns the value of the key texts.
func texts(of map[string]string) string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("%q: %q", text, of[text]))
	}
	return strings.Join(out, ", ")
}

// text returns the text of a delivered file before compression.
func (q *Sequence) text(columns []string, records []Record) string {
	var b strings.Builder
	if q.Format == "csv" {
		b.WriteString(strings.Join(columns, ",") + "\n")
	}
	for i := range records {
		b.WriteString(q.line(columns, &records[i]) + "\n")
	}
	return b.String()
}

// line returns a record as a line, without its line end.
func (q *Sequence) line(columns []string, r *Record) string {
	if q.Format == "csv" {
		var out []string
		for _, c := range columns {
			out = append(out, quoted(r.column(c)))
		}
		return strings.Join(out, ",")
	}
	var out []string
	for _, c := range columns {
		if text := r.column(c); text != "" {
			out = append(out, string(marshal(c))+":"+jsonValue(c, text))
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

func jsonValue(column, text string) string {
	if t := universe[column]; t != "" && t != "string" && text != notNumber {
		return text
	}
	return string(marshal(text))
}

func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and plain structs always have a JSON form
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func quoted(text string) string {
	if strings.ContainsAny(text, ",\"\r\n") || strings.HasPrefix(text, " ") || strings.HasSuffix(text, " ") {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

// written is the zone of the times in the files.
const written = "Asia/Kathmandu"

// Values of bad records.
const (
	notTime   = "never"
	notNumber = "many"
)

// column returns the value of a record in a column; empty is null.
func (r *Record) column(name string) string {
	switch {
	case name == userColumn && r.Bad == badUser || name == secondColumn && r.Bad == badUser:
		return ""
	case name == userColumn:
		return r.User
	case name == secondColumn:
		return second(r.User)
	case name == timeColumn && r.Bad == badTime:
		return notTime
	case name == timeColumn:
		return r.when(written).Format("2006-01-02 15:04:05.999999Z07:00") // the same in every job's zone
	case name == kindColumn:
		return r.Kind
	case name == "n1" && r.Bad == badType:
		return notNumber
	}
	return r.value(name)
}

// second returns the value of the second column of users.
func second(user string) string {
	if user[0] >= '0' && user[0] <= '9' && len(user) < 6 {
		return "7" + user
	}
	return "d" + user
}

// user returns the user of a record for a job.
func (r *Record) user(j *Job) string {
	if j.User == secondColumn {
		return second(r.User)
	}
	return r.User
}

func (r *Record) when(zone string) time.Time {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		panic(err) // the zones are linked in
	}
	return time.UnixMicro(r.Micros).In(loc)
}

// date returns the day of a record.
func (r *Record) date(zone string) string { return r.when(zone).Format(time.DateOnly) }

// compressed returns the bytes of a delivered file on disk.
func compressed(name, text string) []byte {
	if !strings.HasSuffix(name, ".gz") {
		return []byte(text)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		panic(err) // a buffer accepts every write
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// dateOf returns the date in a path, empty for none.
func dateOf(path string) string {
	date, _, found := strings.Cut(path, "/")
	if !found {
		return ""
	}
	return date
}

// kindOf returns the behaviour in a path, empty for none.
func kindOf(path string) string {
	_, name, _ := strings.Cut(path, "/")
	name, _, _ = strings.Cut(name, ".")
	if _, ok := kindIDs[name]; !ok {
		return ""
	}
	return name
}

// apart returns the number of days between two dates.
func apart(a, b string) int {
	d := day(a).Sub(day(b)) / (24 * time.Hour)
	return max(int(d), -int(d))
}

func day(date string) time.Time {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err) // generated here
	}
	return t
}
