package job

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/record"
)

// Defaults of the keys under logs.
const (
	defaultMaxLine = 1 << 20
	defaultSlack   = 1

	maxMaxLine = 1 << 30
	maxSlack   = 366
)

var syntaxes = []string{string(record.CSV), string(record.TSV), string(record.JSONL), string(record.Blanks)}

// logsObject returns the value of logs, which may be the path alone.
func (b *builder) logsObject(root object) object {
	v := root.get("logs")
	switch {
	case !v.given():
		v.wrong("missing: the path of the logs")
	case v.isObject():
		o, _ := v.object(logsLevel)
		if path := o.get("path"); !path.given() {
			path.wrong("missing: the path of the logs, such as logs/{date}/{behaviour}.csv")
		}
		return o
	}
	return object{self: v, values: map[string]value{"path": v}}
}

// readFormat reads the format of the files.
func (b *builder) readFormat() {
	f := &b.job.Format
	f.Schema = &behaviour.Schema{}
	f.Syntax = record.CSV
	if s, ok := b.logs.get("format").oneOf("format", syntaxes); ok {
		f.Syntax = record.Syntax(s)
	}
	b.readDelimiter()
	b.readHeader()
	b.readEncoding()
	f.Zone, f.Schema.Zone = time.UTC, "UTC"
	if zone, ok := b.logs.get("zone").zone(); ok {
		f.Zone, f.Schema.Zone = zone, zone.String()
	}
	f.MaxLine = b.logs.get("max_line").bytes(defaultMaxLine, maxMaxLine)
	f.Nulls, _ = b.logs.get("nulls").texts()
	f.Slack = defaultSlack
	if n, ok := b.logs.get("slack").whole(0, maxSlack); ok {
		f.Slack = n
	}
	b.logs.get("max_bad").limit(&b.job.MaxBad)
	b.readSkip()
	n, _ := b.logs.get("min_records").whole(0, math.MaxInt32)
	b.job.MinRecords = int64(n)
}

func (b *builder) readDelimiter() {
	f := &b.job.Format
	v := b.logs.get("delimiter")
	switch f.Syntax {
	case record.CSV:
		f.Delimiter = ","
	case record.TSV:
		f.Delimiter = "\t"
	default:
		if v.given() {
			v.wrong("format %s has no delimiter", f.Syntax)
		}
		return
	}
	s, ok := v.word()
	if !ok {
		return
	}
	if strings.HasPrefix(s, `\`) && len(s) > 1 {
		// In plain YAML \t is two characters.
		unquoted, err := strconv.Unquote(`"` + s + `"`)
		if err != nil {
			v.wrong(`%q is no escape such as \t or \x01`, s)
			return
		}
		s = unquoted
	}
	if err := record.CheckSyntax(f.Syntax, s); err != nil {
		v.wrong("%v", err)
		return
	}
	f.Delimiter = s
}

// readHeader reads the names of the columns. They are given in the job or come from a header.
// Otherwise columns have only numbers.
func (b *builder) readHeader() {
	f := &b.job.Format
	header, names := b.logs.get("header"), b.logs.get("names")
	if f.Syntax == record.JSONL {
		for _, v := range []value{header, names} {
			if v.given() {
				v.wrong("in jsonl each line names its own members")
			}
		}
		return
	}
	f.Names, _ = names.texts()
	b.checkNames(names)
	f.Header = (f.Syntax == record.CSV || f.Syntax == record.TSV) && !names.given()
	if is, ok := header.truth(); ok {
		f.Header = is
	}
	b.names = f.Names
	b.numbered = !f.Header && !names.given()
}

func (b *builder) checkNames(v value) {
	seen := map[string]bool{}
	for _, item := range v.items() {
		s, ok := item.word()
		if ok && seen[s] {
			item.wrong("%s occurs twice", s)
		}
		seen[s] = true
	}
}

func (b *builder) readEncoding() {
	v := b.logs.get("encoding")
	s, ok := v.word()
	if !ok {
		return
	}
	if record.CheckEncoding(s) != nil {
		near, _ := behaviour.Nearest(s, commonEncodings)
		v.wrong("%q is no encoding that is known, the nearest common one is %s", s, near)
		return
	}
	if s = strings.ToLower(s); s != "utf-8" && s != "utf8" {
		b.job.Format.Encoding = s
	}
}

// commonEncodings are the encodings that a misspelt name is compared with.
var commonEncodings = []string{"utf-8", "gb18030", "gbk", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-8859-1", "iso-8859-2", "iso-8859-15", "latin1",
	"windows-1250", "windows-1251", "windows-1252", "cp1250", "cp1251", "cp1252", "utf-16", "utf-16le", "utf-16be"}

// readKindColumn reads which column names the behaviour, and which behaviour each of its
// texts means. A behaviour's own name means the behaviour, unless texts has it.
func (b *builder) readKindColumn() {
	v, most := b.logs.get("behaviour"), b.logs.get("max_skipped")
	most.limit(&b.job.MaxSkipped)
	if !v.given() {
		return
	}
	f := &b.job.Format
	f.KindOf = map[string]int{}
	for i, k := range f.Schema.Kinds {
		f.KindOf[k.Name] = i
	}
	if !v.isObject() {
		if s, ok := v.word(); ok {
			c := record.Column{Name: s}
			b.checkColumn(v, s)
			f.KindColumn = &c
		}
		return
	}
	o, _ := v.object(kindLevel)
	c := b.column(o, "behaviour")
	f.KindColumn = &c
	if texts := o.get("texts"); texts.given() {
		for _, e := range texts.entries() {
			if slices.Contains(f.Nulls, e.name) {
				e.wrong("nulls of logs has this text, so it is null and names no behaviour: remove it from one of the two")
			}
			if name, ok := e.oneOf("behaviour of this job", f.Schema.Names()); ok {
				f.KindOf[e.name], _ = f.Schema.Kind(name)
			}
		}
	}
	if s, ok := o.get("others").oneOf("value of others", []string{"limit", "skip"}); ok {
		b.job.SkipOthers = s == "skip"
		if b.job.SkipOthers && most.given() {
			most.wrong("others: skip under logs.behaviour skips any number of records: remove one of the two")
		}
	}
}
