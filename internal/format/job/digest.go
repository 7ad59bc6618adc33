package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/record"
)

// A meaning holds the settings that determine the cells of a delivered line. Equal meanings
// have an equal form. It leaves out settings that do not change the cells: the table's address,
// the logs' root, how a new table is made, the limit of bad records, the minimum number of
// records, the required behaviours, and the markers to wait for.
type meaning struct {
	Schema    *behaviour.Schema
	Layout    string `json:",omitempty"` // empty for the default
	Syntax    record.Syntax
	Delimiter string
	Header    bool
	Names     []string
	Encoding  string
	MaxLine   int
	Nulls     []string
	Slack     int
	Paths     string
	PathNames []string
	Column    *columnMeaning
	Texts     map[string]int // JSON sorts its keys
	Kinds     []kindMeaning
	Skip      string `json:",omitempty"`
	// Other is the index of the kind that accepts the records of other texts.
	Other *int `json:",omitempty"`
}

type kindMeaning struct {
	User   columnMeaning
	Time   columnMeaning
	Fields []columnMeaning
	Unique Unique
	// SkipEmpty is set if records without a user are skipped.
	SkipEmpty bool `json:",omitempty"`
}

type columnMeaning struct {
	Name, Pattern, Format, Zone string
	Year                        int
	// The bounds of plausible times. Jobs without them keep the digests that they had before
	// there were bounds.
	Earliest, Latest string `json:",omitempty"`
}

// Digest returns the SHA-256, in hex, of the job's meaning. Two job files with the same digest
// make the same table from the same logs.
func (j *Job) Digest() string {
	m := j.meaning()
	return m.digest()
}

// TextsBy returns a digest of the settings that determine which text names the behaviour of a
// record. It returns "" if no column names behaviours.
func (j *Job) TextsBy() string {
	if j.Format.KindColumn == nil {
		return ""
	}
	m := j.reading()
	return m.digest()[:16]
}

// NamesBy is TextsBy without the settings that only make records bad.
func (j *Job) NamesBy() string {
	if j.Format.KindColumn == nil {
		return ""
	}
	m := j.reading()
	m.Nulls, m.MaxLine = nil, 0
	return m.digest()[:16]
}

// CutBy returns a digest of the settings by which a record is cut out of a file and into columns.
func (j *Job) CutBy() string {
	m := j.cutting()
	m.MaxLine = 0 // it makes records bad, and does not change their columns
	return m.digest()[:16]
}

// UserBy returns a digest of the settings that determine the user of a record of some behaviours, as far as the job has
// them. If it has none of them, the digest is of all behaviours of the job. If all of them have equal settings, the digest is of one of them.
func (j *Job) UserBy(behaviours []string) string {
	return j.readBy(behaviours, j.Format.Nulls, func(k *record.Kind) kindMeaning { return kindMeaning{User: meaningOf(k.User)} })
}

// TimeBy returns a digest of the settings that determine the time of a record. It is as UserBy.
func (j *Job) TimeBy(behaviours []string) string {
	return j.readBy(behaviours, nil, func(k *record.Kind) kindMeaning {
		at := k.Time
		at.Earliest, at.Latest = time.Time{}, time.Time{} // they make records bad, and do not change times
		if at.Zone == nil {
			at.Zone = j.Format.Zone
		}
		return kindMeaning{Time: timeMeaning(at)}
	})
}

// FieldBy returns a digest of the settings that determine from which text a record of a behaviour has a field, and a short digest of each
// null text. It returns "" if the job does not have the field. If the job names the columns, only the position of the column is
// among the settings.
func (j *Job) FieldBy(name, field string) string {
	kind, ok := j.Schema.Kind(name)
	if !ok {
		return ""
	}
	i := slices.IndexFunc(j.Schema.Kinds[kind].Fields, func(f behaviour.Field) bool { return f.Name == field })
	if i < 0 {
		return ""
	}
	m, c := j.cutting(), meaningOf(j.Format.Kinds[kind].Fields[i])
	m.MaxLine, m.Nulls, c.Zone = 0, nil, "" // a zone is of the value, and not of its text
	if at := slices.Index(m.Names, c.Name); at >= 0 {
		c.Name = fmt.Sprintf("$%d", at+1)
	}
	m.Names = nil
	m.Kinds = []kindMeaning{{Fields: []columnMeaning{c}}}
	by := m.digest()[:16]
	for _, text := range nullTexts(m.Syntax, j.Format.Nulls) {
		sum := sha256.Sum256([]byte(text))
		by += nullMark + hex.EncodeToString(sum[:3])
	}
	return by
}

// nullMark precedes the digest of each null text.
const nullMark = "-"

// OtherBy reports whether a job that reads a field by now may have a value of it where a job that reads it by then has none. Both
// are results of FieldBy. A text that is null only for the later job gives no value.
func OtherBy(then, now string) bool {
	had, has := strings.Split(then, nullMark), strings.Split(now, nullMark)
	return had[0] != has[0] || slices.ContainsFunc(had[1:], func(null string) bool { return !slices.Contains(has[1:], null) })
}

// nullTexts returns the texts that are null only because nulls has them, in order. It returns nil if there are none.
func nullTexts(s record.Syntax, nulls []string) (out []string) {
	for _, text := range slices.Compact(slices.Sorted(slices.Values(nulls))) {
		if text != "" || s == record.JSONL { // elsewhere it is null anyway
			out = append(out, text)
		}
	}
	return out
}

// FieldsBy returns FieldBy as a function that computes the digest of a field once. One goroutine may use it.
func (j *Job) FieldsBy() func(name, field string) string {
	known := map[[2]string]string{}
	return func(name, field string) string {
		key := [2]string{name, field}
		by, ok := known[key]
		if !ok {
			by = j.FieldBy(name, field)
			known[key] = by
		}
		return by
	}
}

// readBy returns a digest of what of returns for some behaviours, and of the settings by which a record is cut out of a
// file and into columns. nulls are the null texts that make a difference.
func (j *Job) readBy(behaviours, nulls []string, of func(*record.Kind) kindMeaning) string {
	m := j.cutting()
	m.MaxLine = 0 // it makes records bad
	m.Nulls = nullTexts(m.Syntax, nulls)
	var kinds []int
	for _, name := range slices.Sorted(slices.Values(behaviours)) {
		if k, ok := j.Schema.Kind(name); ok {
			kinds = append(kinds, k)
		}
	}
	if kinds == nil {
		for k := range j.Format.Kinds {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		m.Kinds = append(m.Kinds, of(&j.Format.Kinds[k]))
	}
	if len(m.Kinds) > 1 && !slices.ContainsFunc(m.Kinds, func(o kindMeaning) bool { return !reflect.DeepEqual(o, m.Kinds[0]) }) {
		m.Kinds = m.Kinds[:1]
	}
	return m.digest()[:16]
}

// Skip returns the condition of records that the job skips, or "".
func (j *Job) Skip() string {
	if j.Format.Skip == nil {
		return ""
	}
	return j.Format.Skip.String()
}

// cutting returns the settings of a meaning by which a record is cut out of a file and into columns.
func (j *Job) cutting() meaning {
	f := &j.Format
	return meaning{
		Syntax: f.Syntax, Delimiter: f.Delimiter, Header: f.Header, Names: f.Names, Encoding: f.Encoding, MaxLine: f.MaxLine, Nulls: f.Nulls,
	}
}

// reading returns the settings of a meaning by which a record is cut out of a file, and the text that
// names its behaviour out of the record.
func (j *Job) reading() meaning {
	m := j.cutting()
	if f := &j.Format; f.KindColumn != nil {
		c := meaningOf(*f.KindColumn)
		m.Column = &c
	}
	return m
}

// DigestOf returns the digest that j would have with only these fields of these behaviours, and
// with only these texts that name behaviours. It reports false if j lacks some of them. An
// earlier job has this digest if j has everything of the earlier job and reads it in the same
// way.
func (j *Job) DigestOf(fields map[string][]string, texts []string) (string, bool) {
	m := j.meaning()
	all := m
	m.Schema, m.Kinds, m.PathNames, m.Texts, m.Other = &behaviour.Schema{Zone: all.Schema.Zone}, nil, nil, nil, nil
	for k := range all.Schema.Kinds {
		names, ok := fields[all.Schema.Kinds[k].Name]
		if !ok {
			continue
		}
		kind, means, ok := narrowed(&all.Schema.Kinds[k], &all.Kinds[k], names)
		if !ok {
			return "", false
		}
		if all.Other != nil && *all.Other == k {
			if len(texts) < len(all.Texts) {
				return "", false // records of the new texts were records of this behaviour
			}
			at := len(m.Kinds)
			m.Other = &at
		}
		for _, text := range texts {
			if to, ok := all.Texts[text]; ok && to == k {
				if m.Texts == nil {
					m.Texts = map[string]int{}
				}
				m.Texts[text] = len(m.Kinds)
			}
		}
		m.Schema.Kinds, m.Kinds = append(m.Schema.Kinds, kind), append(m.Kinds, means)
		if k < len(all.PathNames) {
			m.PathNames = append(m.PathNames, all.PathNames[k])
		}
	}
	return m.digest(), len(m.Kinds) == len(fields) && len(m.Texts) == len(texts)
}

// narrowed returns a behaviour with only the fields in names. It returns false if a field does
// not exist or if a field of Unique is not in names.
func narrowed(kind *behaviour.Kind, means *kindMeaning, names []string) (behaviour.Kind, kindMeaning, bool) {
	k, m := behaviour.Kind{ID: kind.ID, Name: kind.Name}, kindMeaning{User: means.User, Time: means.Time, Unique: means.Unique, SkipEmpty: means.SkipEmpty}
	m.Unique.Fields = nil
	for i, name := range names {
		at := slices.IndexFunc(kind.Fields, func(f behaviour.Field) bool { return f.Name == name })
		if at < 0 {
			return k, m, false
		}
		k.Fields, m.Fields = append(k.Fields, kind.Fields[at]), append(m.Fields, means.Fields[at])
		if slices.Contains(means.Unique.Fields, at) {
			m.Unique.Fields = append(m.Unique.Fields, i)
		}
	}
	return k, m, len(m.Unique.Fields) == len(means.Unique.Fields)
}

// withoutShort returns s without short names, which change no cell.
func withoutShort(s *behaviour.Schema) *behaviour.Schema {
	out := &behaviour.Schema{Zone: s.Zone, Kinds: slices.Clone(s.Kinds)}
	for i := range out.Kinds {
		out.Kinds[i].As = ""
	}
	return out
}

func (j *Job) meaning() meaning {
	f, m := &j.Format, j.reading()
	m.Schema, m.Slack, m.Skip = withoutShort(j.Schema), f.Slack, j.Skip()
	m.Paths, m.PathNames, m.Texts, m.Other = j.Pattern.String(), j.Pattern.paths, f.KindOf, f.Other
	if j.Layout != layout.Default {
		m.Layout = j.Layout
	}
	for i, k := range f.Kinds {
		m.Kinds = append(m.Kinds, kindMeaning{
			User: meaningOf(k.User), Time: timeMeaning(k.Time), Fields: fieldMeanings(k.Fields), Unique: j.Behaviours[i].Unique,
			SkipEmpty: k.SkipEmpty,
		})
	}
	return m
}

func (m *meaning) digest() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("job: a job that is not JSON: %v", err)) // no part of it can fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func meaningOf(c record.Column) columnMeaning {
	m := columnMeaning{Name: c.Name, Format: c.Format}
	if c.Pattern != nil {
		m.Pattern = c.Pattern.String()
	}
	if c.Zone != nil {
		m.Zone = c.Zone.String()
	}
	return m
}

func timeMeaning(t record.Time) columnMeaning {
	m := meaningOf(t.Column)
	m.Format, m.Year = t.Format, t.Year
	if t.Zone != nil {
		m.Zone = t.Zone.String()
	}
	if !t.Earliest.IsZero() {
		m.Earliest = t.Earliest.UTC().Format(time.RFC3339Nano)
	}
	if !t.Latest.IsZero() {
		m.Latest = t.Latest.UTC().Format(time.RFC3339Nano)
	}
	return m
}

func fieldMeanings(cs []record.Column) []columnMeaning {
	var out []columnMeaning
	for _, c := range cs {
		out = append(out, meaningOf(c))
	}
	return out
}
