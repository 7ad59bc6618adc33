package record

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"usertrail/internal/behaviour"
	"usertrail/internal/run/quantity"
)

// A Parser parses the chunks of one file into records. The chunks may be in any order. Only
// one goroutine may use a Parser.
type Parser struct {
	format *Format
	file   File
	cut    cutter
	split  *splitter
	json   *jsonReader // nil except for jsonl

	most    int  // bytes of the fields of a record
	width   int  // columns of a record
	exact   bool // no more columns than width
	decoded bool // decoded from another encoding, so U+FFFD marks a bad byte
	zone    *behaviour.Clock

	only  *plan            // used if the path names the kind
	kind  source           // used if a column names the kind
	named map[string]named // by the text that names the kind
	other *plan            // used for a text that is not in named; nil skips the record
	skip  *skipper         // nil if the format has no condition
	tried int64            // records for which skip was evaluated, since SkipColumns.Add
	marks []*skipper       // of Format.Marks; nil if the file lacks a column

	headers *headers // nil if they are not looked for
	reads   []int    // the columns that the format reads

	chunk   Chunk
	clean   bool  // the whole chunk is valid UTF-8
	quote   int   // the first quote of the chunk at or after the current place
	counted int   // the place up to which lines are counted
	line    int64 // number of the line there
	scratch
}

// A named is a text that names a kind.
type named struct {
	text int // its number in Format.Texts
	plan *plan
}

// scratch is memory that a Parser reuses for each record.
type scratch struct {
	text  []byte // of the record's columns
	spans []span
	whole []byte // the record without byte order marks
	arena []byte
	vals  [][]byte // fields of rec; separate from rec's own slice, which a Sink may have replaced
	rec   behaviour.Record
	by    int     // number of the text that names rec's kind, or -1
	left  Skipped // the record, if its reason is skipped
}

// skipped is the reason of a record that is passed to Skip. large is the reason of a record at which Parse ends.
const (
	skipped Reason = "skipped"
	large   Reason = "too large"
)

// leave notes why the record is skipped. kind is the text that names its behaviour.
func (p *Parser) leave(why SkipReason, kind []byte) (Reason, error) {
	p.left = Skipped{Why: why, Kind: kind}
	return skipped, nil
}

// NewParser returns a parser for the chunks of a file. header is the header that the file's
// Reader returned. If the file lacks a column of the format, the error wraps ErrHeader and
// lists the columns of the file. If the file should have a header and is empty, NewParser
// returns no error, because the file has no records.
func NewParser(f *Format, file File, header []string) (*Parser, error) {
	delimiter, err := f.delimiter()
	if err != nil {
		return nil, fmt.Errorf("record: parse %s: %w", file.Path, err)
	}
	encoding, err := lookup(f.Encoding)
	if err != nil {
		return nil, fmt.Errorf("record: parse %s: %w", file.Path, err)
	}
	p := &Parser{
		format:  f,
		file:    file,
		cut:     f.cutter(delimiter),
		split:   newSplitter(f.Syntax, delimiter),
		most:    f.mostOfFields(),
		decoded: encoding != nil,
	}
	if err := p.plan(header); err != nil {
		if encoding == nil && slices.ContainsFunc(header, func(name string) bool { return !utf8.ValidString(name) }) {
			err = fmt.Errorf("%w: the header is not UTF-8: write the encoding of the log under logs, such as encoding: gb18030", err)
		}
		return nil, fmt.Errorf("record: parse %s: %w: %w", file.Path, ErrHeader, err)
	}
	return p, nil
}

// plan finds the columns of every kind that the file may hold.
func (p *Parser) plan(header []string) error {
	f := p.format
	m := newPlanner(f, p.file, header)
	if len(f.Names) > 0 {
		m.header = f.Names
	}
	if f.Syntax == JSONL {
		p.json = newJSONReader(p.most)
		m.json, m.header = p.json, nil
	}
	p.zone = m.clock(f.zone())
	if f.Header && m.header == nil && p.json == nil {
		p.exact = true // an empty file: no record has no columns
		return nil
	}
	if err := p.planKinds(m); err != nil {
		return err
	}
	if err := m.skippers(p); err != nil {
		return err
	}
	p.split.wanted, p.reads = m.needed, m.read
	p.split.spans = make([]span, 0, min(m.needed, len(m.header)))
	p.width, p.exact = m.widest, false
	if m.header != nil {
		p.width, p.exact = len(m.header), true
	}
	return nil
}

func (p *Parser) planKinds(m *planner) error {
	var err error
	if p.file.Kind >= 0 {
		p.only, err = m.plan(p.file.Kind)
		return err
	}
	if p.format.KindColumn == nil {
		return errors.New("neither its path nor a column names the behaviour")
	}
	if p.kind, err = m.source(*p.format.KindColumn); err != nil {
		return fmt.Errorf("behaviour: %w", err)
	}
	plans := make([]*plan, len(p.format.Kinds)) // by kind
	p.named = make(map[string]named, len(p.format.KindOf))
	for i, text := range p.format.Texts() {
		k := p.format.KindOf[text]
		if k < 0 || k >= len(plans) {
			return fmt.Errorf("no behaviour of number %d", k)
		}
		if plans[k] == nil {
			if plans[k], err = m.plan(k); err != nil {
				return fmt.Errorf("behaviour %s: %w", p.format.Schema.Kinds[k].Name, err)
			}
		}
		p.named[text] = named{i, plans[k]}
	}
	if k := p.format.Other; k != nil {
		p.other = plans[*k]
	}
	return nil
}

// Text returns the number, in Format.Texts, of the text that names the behaviour of the record
// that Keep has. It returns -1 if the path names the behaviour, or
// if the behaviour accepts all texts of no other behaviour.
func (p *Parser) Text() int { return p.by }

// Parse passes every record of c to s once, in order. It stops at the first error that s
// returns. It also stops at a record whose fields have more than twice Format.Held bytes together, as if several fields have the same
// column. The error then wraps ErrLarge.
func (p *Parser) Parse(c Chunk, s Sink) error {
	p.begin(c)
	for at := 0; at < len(c.Data); {
		size, content, quoted, bad := p.measure(at)
		if content > 0 {
			if err := p.record(at, content, quoted, bad, s); err != nil {
				return err
			}
		}
		at += size
	}
	if c.Long != nil {
		c.Long.Kind = p.file.Kind
		return s.Reject(c.Long)
	}
	return nil
}

func (p *Parser) begin(c Chunk) {
	p.chunk = c
	p.clean = utf8.Valid(c.Data) && !(p.decoded && replaced(c.Data))
	p.quote = len(c.Data)
	if p.cut.quotes {
		p.quote = -1
	}
	p.counted, p.line = 0, c.Line
}

// measure finds the end of the record at a place, as the cutter does.
func (p *Parser) measure(at int) (size, content int, quoted bool, bad Reason) {
	data := p.chunk.Data
	if p.quote < at {
		p.quote = len(data)
		if q := bytes.IndexByte(data[at:], '"'); q >= 0 {
			p.quote = at + q
		}
	}
	size, content = line(data[at:], true)
	if at+size > p.quote {
		size, content, bad = p.cut.quoted(data[at:], true)
		return size, content, true, bad
	}
	size, content, bad = p.cut.short(size, content)
	return size, content, false, bad
}

// record passes one record to s.
func (p *Parser) record(at, content int, quoted bool, bad Reason, s Sink) error {
	raw := p.chunk.Data[at : at+content : at+content]
	p.whole = unmarked(raw)
	p.rec.Kind = p.file.Kind
	var why error
	switch bad {
	case TooLong:
		return s.Reject(p.place(at, tooLong(p.cut.maxLine, raw)))
	case BadQuote:
		why = errors.New("a quote within a column, or not closed")
	default:
		if len(p.whole) == 0 || p.split.syntax == Blanks && len(bytes.Trim(p.whole, " \t")) == 0 {
			return nil
		}
		bad, why = p.read(quoted)
	}
	switch bad {
	case "":
		p.rec.ID = p.chunk.Offset + int64(at)
		return s.Keep(&p.rec)
	case large:
		return fmt.Errorf("record: parse %s: record at byte %d: %w: its fields have more than %d bytes", p.file.Path, p.chunk.Offset+int64(at), ErrLarge, p.most)
	}
	if n, found := p.header(raw, bad); found {
		return p.secondHeader(at + n)
	}
	if bad == skipped {
		p.left.Line, p.left.Offset, p.left.Raw = p.lineOf(at), p.chunk.Offset+int64(at), raw
		return s.Skip(&p.left)
	}
	return s.Reject(p.place(at, &Reject{Reason: bad, Err: why, Raw: raw}))
}

// place sets the position of r in the file, and its behaviour.
func (p *Parser) place(at int, r *Reject) *Reject {
	r.Path, r.Kind, r.Line, r.Offset = p.file.Path, p.rec.Kind, p.lineOf(at), p.chunk.Offset+int64(at)
	return r
}

// lineOf returns the number of the line that begins at a place. Calls come in the order of the
// places.
func (p *Parser) lineOf(at int) int64 {
	p.line += int64(bytes.Count(p.chunk.Data[p.counted:at], newline))
	p.counted = at
	return p.line
}

// read makes p.rec from p.whole, or returns the reason why it cannot.
func (p *Parser) read(quoted bool) (Reason, error) {
	if !p.clean {
		if err := p.checkText(); err != nil {
			return NotUTF8, err
		}
	}
	if bad, err := p.columns(quoted); bad != "" {
		return bad, err
	}
	if p.skip != nil {
		p.tried++
		switch is, err := p.holds(p.skip); {
		case err != nil:
			return BadSkip, err
		case is:
			return p.leave(ByRule, nil)
		}
	}
	k := p.only
	p.by = -1
	if k == nil {
		text := p.take(&p.kind)
		if text == nil {
			return NoKind, p.none("no text names the behaviour", &p.kind)
		}
		n, ok := p.named[string(text)]
		switch {
		case ok:
			k, p.by = n.plan, n.text
		case p.other != nil:
			k = p.other
		default:
			return p.leave(UnknownKind, text)
		}
	}
	p.rec.Kind = k.kind
	p.arena = p.arena[:0]
	if bad, err := p.who(k); bad != "" {
		return bad, err
	}
	if bad, err := p.when(k); bad != "" {
		return bad, err
	}
	return p.fields(k)
}

// checkText returns an error if a part of the record is not valid text.
func (p *Parser) checkText() error {
	if p.decoded && replaced(p.whole) {
		return fmt.Errorf("bytes that are nothing in %s", p.format.Encoding)
	}
	if utf8.Valid(p.whole) {
		return nil
	}
	for i := 0; i < len(p.whole); {
		r, n := utf8.DecodeRune(p.whole[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("byte %#02x at %d", p.whole[i], i)
		}
		i += n
	}
	return nil
}

// columns cuts the record into columns.
func (p *Parser) columns(quoted bool) (Reason, error) {
	if p.json != nil {
		err := p.json.split(p.whole)
		p.text, p.spans = p.json.text, p.json.spans
		switch {
		case err != nil:
			return BadJSON, err
		case p.json.full:
			return large, nil
		}
		return "", nil
	}
	p.split.split(p.whole, quoted)
	p.text, p.spans = p.split.text, p.split.spans
	if n := p.split.count; n < p.width || n > p.width && p.exact {
		return WrongWidth, fmt.Errorf("%s, want %d", quantity.Of(n, "column"), p.width)
	}
	return "", nil
}

// take returns the text of a source, nil if it is null.
func (p *Parser) take(s *source) []byte {
	t := p.whole
	switch {
	case s.column >= 0:
		sp := p.spans[s.column]
		if sp.from < 0 {
			return nil
		}
		t = p.text[sp.from:sp.to:sp.to]
	case s.column == noColumn:
		return nil
	}
	return p.part(t, s.pattern)
}

// part returns the part of a column that a pattern finds. Without a pattern it is the whole column. It is nil if the column or the part is null.
func (p *Parser) part(t []byte, pattern *regexp.Regexp) []byte {
	if len(t) == 0 && (pattern != nil || p.json == nil) || p.null(t) {
		return nil
	}
	if pattern == nil {
		return t
	}
	t = find(pattern, t)
	if len(t) == 0 && p.json == nil || p.null(t) {
		return nil
	}
	return t
}

// null reports whether a text means null by Format.Nulls.
func (p *Parser) null(t []byte) bool {
	for _, n := range p.format.Nulls {
		if n == string(t) {
			return true
		}
	}
	return false
}

// find returns the first group of a pattern's match. If the pattern has no group, it returns
// the whole match, and if there is no match, nil.
func find(pattern *regexp.Regexp, t []byte) []byte {
	m := pattern.FindSubmatchIndex(t)
	if m == nil {
		return nil
	}
	if len(m) > 2 {
		m = m[2:]
	}
	if m[0] < 0 {
		return nil
	}
	return t[m[0]:m[1]:m[1]]
}

func (p *Parser) who(k *plan) (Reason, error) {
	user := p.take(&k.user)
	switch {
	case len(user) == 0 && k.empty:
		return p.leave(WithoutUser, nil)
	case len(user) == 0:
		return NoUser, p.none("no text for the user", &k.user)
	case len(user) > behaviour.MaxUserLen:
		return UserTooLong, fmt.Errorf("%d bytes, at most %d", len(user), behaviour.MaxUserLen)
	case p.json != nil && replaced(user) && halved(p.whole):
		// Users that differ only in such halves would be one user.
		return NotUTF8, errors.New(`the user has half of a surrogate pair, such as \ud83d without \ude00`)
	}
	p.rec.User = user
	return "", nil
}

// none returns the error for a source without a text. It names the pattern that does not match, or selects no text.
func (p *Parser) none(what string, s *source) error {
	if s.pattern != nil {
		if text := p.take(&source{column: s.column}); len(text) > 0 {
			if part := find(s.pattern, text); len(part) > 0 {
				return fmt.Errorf("%s: the pattern %s selects %q, which means null", what, s.pattern, short(part))
			}
			return fmt.Errorf("%s: the pattern %s does not match %q", what, s.pattern, short(text))
		}
	}
	return errors.New(what)
}

func (p *Parser) when(k *plan) (Reason, error) {
	text := p.take(&k.at)
	if len(text) == 0 {
		return NoTime, p.none("no text for the time", &k.at)
	}
	seconds, micros, ok := k.time.instant(text)
	if !ok {
		return BadTime, fmt.Errorf("%q is not a time %s", short(text), k.time.describe())
	}
	p.rec.Time = seconds*1_000_000 + micros
	if p.rec.Time < k.bounds.first || p.rec.Time > k.bounds.last {
		return Implausible, k.bounds.beyond(text, p.rec.Time)
	}
	p.rec.Date = dayOf(p.zone.Wall(seconds))
	if p.rec.Date < behaviour.MinDate || p.rec.Date > behaviour.MaxDate {
		return BadTime, fmt.Errorf("%q is not in the years 1 to 9999", short(text))
	}
	if d := p.file.Date; d != nil && distance(int64(p.rec.Date), int64(*d)) > int64(p.format.Slack) {
		return OutsideDay, fmt.Errorf("%s in a file of %s", p.rec.Date, *d)
	}
	return "", nil
}

func (p *Parser) fields(k *plan) (Reason, error) {
	p.vals = p.vals[:0]
	total := 0
	for i := range k.fields {
		f := &k.fields[i]
		text := p.take(&f.source)
		if text == nil {
			p.vals = append(p.vals, nil)
			continue
		}
		v, ok := p.value(f, text)
		if !ok {
			t := p.format.Schema.Kinds[k.kind].Fields[i].Type
			return WrongType, fmt.Errorf("field %s: %q is no %s", f.name, short(text), t)
		}
		if total += len(v); total > p.most {
			return large, nil
		}
		p.vals = append(p.vals, v)
	}
	p.rec.Values = p.vals
	return "", nil
}

// short returns the beginning of a text, for messages.
func short(t []byte) []byte { return t[:min(len(t), 80)] }
