package record

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A SecondHeader is the error of a header within a file that has the names of the first header, or Format.Names, in another order. The
// records after it would have their columns in that order. The case of the names and blanks around them may differ. If the header is a
// whole record, the columns that the job does not read may have any names. A SecondHeader wraps ErrHeader.
type SecondHeader struct {
	Path   string
	Line   int64 // 0 if it is not known
	Offset int64 // in the file's text
	Named  bool  // the file should have no header, and the job names its columns
}

func (h *SecondHeader) Error() string {
	at := fmt.Sprintf("byte %d", h.Offset)
	if h.Line > 0 {
		at = fmt.Sprintf("line %d, %s", h.Line, at)
	}
	what := fmt.Sprintf("the second header at %s has the columns in another order: split the log there", at)
	if h.Named {
		what = fmt.Sprintf("the header at %s has the names of the job in another order: split the log there, or correct names", at)
	}
	return fmt.Sprintf("record: parse %s: %v: %s", h.Path, ErrHeader, what)
}

// Unwrap returns ErrHeader.
func (h *SecondHeader) Unwrap() error { return ErrHeader }

// headers finds headers after the first one.
type headers struct {
	order []string       // the names, as in the file
	plain []string       // the names, as fold returns them
	count map[string]int // how often each of plain occurs
	most  int            // bytes of a name that may be one of plain
	cut   cutter
	split *splitter
	lines bool // lines are counted from the beginning of the file
	text  []byte
	names [][]byte

	read   []bool         // by column: whether the job reads it
	reads  map[string]int // how often the names of these columns occur
	known  int            // the sum of reads
	others int            // columns that the job does not read
	times  []timeSource
}

// A timeSource is the origin of the time of a kind.
type timeSource struct {
	source
	time timeReader
}

// fewestJoined is the number of columns from which a header is found at the end of another record. A text may end with fewer names.
const fewestJoined = 3

// FindHeaders makes Parse end with a SecondHeader at a header that has the names of the columns in another order. header is the header
// that the file's Reader returned. If the format has none, the names are Format.Names. lines is set if the chunks count the lines from
// the beginning of the file, and not of a range. Only records that are bad or skipped are examined: the name of a column is no time.
func (p *Parser) FindHeaders(header []string, lines bool) {
	if !p.format.Header {
		header = p.format.Names
	}
	if p.json != nil || len(header) < 2 {
		return
	}
	h := &headers{
		order: header, plain: make([]string, len(header)), names: make([][]byte, len(header)), count: map[string]int{}, most: math.MaxInt,
		cut: p.cut, split: newSplitter(p.split.syntax, p.split.delimiter), lines: lines,
	}
	longest := 0
	for i, name := range header {
		if plain := h.fold([]byte(name)); string(plain) != name {
			name = string(plain)
		}
		h.plain[i] = name
		h.count[name]++
		longest = max(longest, len(name))
	}
	h.most = longest * utf8.UTFMax
	h.split.wanted = 0
	p.headers = h
	p.findRead()
}

// findRead notes which columns the job reads.
func (p *Parser) findRead() {
	h := p.headers
	h.read, h.reads, h.others = make([]bool, len(h.plain)), map[string]int{}, len(h.plain)
	for _, i := range p.reads {
		if i < len(h.plain) && !h.read[i] {
			h.read[i] = true
			h.reads[h.plain[i]] = h.count[h.plain[i]]
			h.others--
		}
	}
	for _, n := range h.reads {
		h.known += n
	}
	for _, k := range p.plans() {
		if s := (timeSource{k.at, k.time}); !slices.Contains(h.times, s) {
			h.times = append(h.times, s)
		}
	}
}

// plans returns the plans of the kinds that the file may hold.
func (p *Parser) plans() (out []*plan) {
	if p.only != nil {
		out = append(out, p.only)
	}
	for _, n := range p.named {
		out = append(out, n.plan)
	}
	if p.other != nil {
		out = append(out, p.other)
	}
	return out
}

// fold returns a name in lower case and without the blanks around it. The result is valid until the next call.
func (h *headers) fold(name []byte) []byte {
	name = bytes.TrimSpace(name)
	if len(name) > h.most {
		return name
	}
	h.text = h.text[:0]
	for len(name) > 0 {
		r, n := utf8.DecodeRune(name)
		switch {
		case 'A' <= r && r <= 'Z':
			h.text = append(h.text, byte(r)+'a'-'A')
		case r < utf8.RuneSelf, r == utf8.RuneError && n == 1:
			h.text = append(h.text, name[0])
		default:
			h.text = utf8.AppendRune(h.text, unicode.ToLower(unicode.ToUpper(r)))
		}
		name = name[n:]
	}
	return h.text
}

// header reports whether the bad or skipped record is, or ends with, a header in another order, and where this header begins.
func (p *Parser) header(rec []byte, bad Reason) (at int, found bool) {
	if p.headers == nil {
		return 0, false
	}
	if at, found = p.headers.in(rec); found {
		return at, true
	}
	return 0, p.renamed(bad != BadQuote && bad != NotUTF8)
}

// in reports whether a record ends with a header in another order, and where this header begins. It is the whole record, or comes after
// the last record of a log without a last line end. Its columns are read from the end, because the quotes before it may be wrong.
func (h *headers) in(rec []byte) (at int, found bool) {
	var names [][]byte // from the last one
	for len(names) < len(h.order)-1 {
		before, name, ok := h.last(rec)
		if !ok || h.count[string(h.fold(name))] == 0 {
			return 0, false
		}
		names, rec = append(names, name), before
	}
	missing, ok := h.missing(names)
	if !ok {
		return 0, false
	}
	before, first, ok := h.trim(rec, missing)
	if !ok {
		return 0, false
	}
	names = append(names, first)
	slices.Reverse(names)
	if !h.moved(names) {
		return 0, false
	}
	if h.empty(before) {
		return 0, true
	}
	at = len(bytes.TrimRight(before, mark))
	return at, missing != "" && len(names) >= fewestJoined && h.ends(before[:at], before)
}

// moved reports whether names, which are the names of the header, have another order.
func (h *headers) moved(names [][]byte) bool {
	for i, name := range names {
		if string(h.fold(name)) != h.plain[i] {
			return true
		}
	}
	return h.exchanged(names)
}

// exchanged reports whether columns whose names differ only in case are in another order. If names have not the same of these names as the
// header, their order is not known.
func (h *headers) exchanged(names [][]byte) bool {
	var now, first []string
	for i, name := range names {
		if h.count[string(h.fold(name))] > 1 {
			now = append(now, string(bytes.TrimSpace(name)))
		}
		if h.count[h.plain[i]] > 1 {
			first = append(first, strings.TrimSpace(h.order[i]))
		}
	}
	return !slices.Equal(now, first) && slices.Equal(slices.Sorted(slices.Values(now)), slices.Sorted(slices.Values(first)))
}

// renamed reports whether the whole record is a header that has the names of all columns that the job reads, and some of them in other
// places. Two names are enough only with a name of another column: texts may be the same. A record with a time or an empty column is no header.
// cut is set if the record is cut into columns.
func (p *Parser) renamed(cut bool) bool {
	h := p.headers
	if h.others == 0 || h.known < 2 {
		return false
	}
	if cut && (p.split.count != len(h.order) || p.timed(p.take)) {
		return false // as nearly all skipped records, which may be many
	}
	names := h.columns(p.whole)
	if names == nil || !cut && p.timed(func(s *source) []byte { return p.takeFrom(names, s) }) {
		return false
	}
	left := maps.Clone(h.reads)
	moved, named, others := false, h.known > 2, h.others
	for i, name := range names {
		plain := h.fold(name)
		if len(plain) == 0 {
			return false
		}
		if _, read := left[string(plain)]; read {
			left[string(plain)]--
		} else {
			others--
			named = named || h.count[string(plain)] > 0
		}
		moved = moved || h.read[i] && string(plain) != h.plain[i]
	}
	for _, n := range left {
		if n != 0 {
			return false
		}
	}
	return others >= 0 && named && (moved || h.exchanged(names))
}

// columns returns the columns of a record, without their quotes, or nil if they are not as many as the columns of the header. The result is
// valid until the next call.
func (h *headers) columns(rec []byte) [][]byte {
	names := h.names
	for i := len(names) - 1; i > 0; i-- {
		var ok bool
		if rec, names[i], ok = h.last(rec); !ok {
			return nil
		}
	}
	first := bytes.TrimFunc(rec, h.padding)
	if _, _, more := h.last(first); more {
		return nil
	}
	names[0] = h.unquoted(first)
	return names
}

// takeFrom returns the text of a source in the columns of a record that has wrong quotes, nil if it is null.
func (p *Parser) takeFrom(columns [][]byte, s *source) []byte {
	text := p.whole
	if s.column >= 0 {
		text = columns[s.column]
	}
	return p.part(text, s.pattern)
}

// timed reports whether the record has a time where a kind has it. take returns the text of a source.
func (p *Parser) timed(take func(*source) []byte) bool {
	for i := range p.headers.times {
		s := &p.headers.times[i]
		if text := take(&s.source); text != nil {
			if _, ok := s.time.micros(text); ok {
				return true
			}
		}
	}
	return false
}

// unquoted returns a column without its quotes.
func (h *headers) unquoted(column []byte) []byte {
	if !h.cut.quotes || len(column) < 2 || column[0] != '"' || column[len(column)-1] != '"' {
		return column
	}
	if column = column[1 : len(column)-1]; !bytes.Contains(column, []byte(`""`)) {
		return column
	}
	return bytes.ReplaceAll(column, []byte(`""`), []byte(`"`))
}

// padding reports whether a character is a blank that separates no columns.
func (h *headers) padding(r rune) bool {
	return unicode.IsSpace(r) && !bytes.ContainsRune(h.cut.delimiter, r)
}

// last cuts the last of several columns from a record.
func (h *headers) last(rec []byte) (before, name []byte, ok bool) {
	if h.split.syntax == Blanks {
		rec = bytes.TrimRight(rec, " \t")
		n := bytes.LastIndexAny(rec, " \t") + 1
		return rec[:n], rec[n:], n > 0
	}
	padded := rec
	if h.cut.quotes {
		rec = bytes.TrimRightFunc(rec, h.padding)
	}
	if !h.cut.quotes || !bytes.HasSuffix(rec, []byte(`"`)) {
		rec = padded
		n := bytes.LastIndex(rec, h.cut.delimiter)
		if n < 0 {
			return nil, nil, false
		}
		return rec[:n], rec[n+len(h.cut.delimiter):], true
	}
	open := len(rec) - 1
	for {
		if open = bytes.LastIndexByte(rec[:open], '"'); open < 0 {
			return nil, nil, false
		}
		if open == 0 || rec[open-1] != '"' {
			break
		}
		open-- // two quotes are one of the name
	}
	name = h.unquoted(rec[open:])
	before, ok = bytes.CutSuffix(bytes.TrimRightFunc(rec[:open], h.padding), h.cut.delimiter)
	return before, name, ok
}

// missing returns the name that names lack, as fold returns it.
func (h *headers) missing(names [][]byte) (name string, ok bool) {
	left := maps.Clone(h.count)
	for _, n := range names {
		plain := string(h.fold(n))
		if left[plain]--; left[plain] < 0 {
			return "", false
		}
	}
	for n, count := range left {
		if count > 0 {
			name = n
		}
	}
	return name, true
}

// trim cuts a name, which is in the form that fold returns, from the end of a record. The name may be in quotes.
func (h *headers) trim(rec []byte, plain string) (before, name []byte, ok bool) {
	if h.split.syntax == Blanks {
		rec = bytes.TrimRight(rec, " \t")
	}
	rec = bytes.TrimRightFunc(rec, h.padding)
	if inner, isQuoted := bytes.CutSuffix(rec, []byte(`"`)); h.cut.quotes && isQuoted {
		inner = bytes.TrimRightFunc(inner, unicode.IsSpace)
		if before, name, ok = h.suffix(inner, strings.ReplaceAll(plain, `"`, `""`)); ok {
			if before, ok = bytes.CutSuffix(bytes.TrimRightFunc(before, unicode.IsSpace), []byte(`"`)); ok {
				return before, bytes.ReplaceAll(name, []byte(`""`), []byte(`"`)), true
			}
		}
	}
	return h.suffix(rec, plain)
}

// suffix cuts a text, in any case, from the end of a record.
func (h *headers) suffix(rec []byte, plain string) (before, text []byte, ok bool) {
	at := len(rec)
	for range utf8.RuneCountInString(plain) {
		_, n := utf8.DecodeLastRune(rec[:at])
		at -= n
	}
	return rec[:at], rec[at:], string(h.fold(rec[at:])) == plain
}

// empty reports whether a text before a header is no record.
func (h *headers) empty(text []byte) bool {
	text = unmarked(text)
	if h.split.syntax != Blanks && bytes.Contains(text, h.cut.delimiter) {
		return false
	}
	return len(bytes.TrimSpace(text)) == 0
}

// ends reports whether rec may be the last record of a log. Its last column may be cut. before is the text before the header. A name
// after a blank that separates no columns is part of a text.
func (h *headers) ends(rec, before []byte) bool {
	if blank(before[len(before)-1]) && (h.split.syntax == Blanks || !bytes.HasSuffix(before, h.cut.delimiter)) {
		return false
	}
	columns := bytes.Count(rec, h.cut.delimiter) + 1
	if _, _, bad := h.cut.record(rec, true); bad == "" {
		h.split.split(unmarked(rec), h.cut.quotes && bytes.IndexByte(rec, '"') >= 0)
		columns = h.split.count
	}
	return columns == len(h.order) || columns < len(h.order) && !bytes.HasSuffix(rec, h.cut.delimiter)
}

// secondHeader returns the error of the record at a place of the chunk.
func (p *Parser) secondHeader(at int) error {
	h := &SecondHeader{Path: p.file.Path, Offset: p.chunk.Offset + int64(at), Named: !p.format.Header}
	if p.headers.lines {
		h.Line = p.lineOf(at)
	}
	return h
}
