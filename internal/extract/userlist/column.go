package userlist

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/format/layout"
	"usertrail/internal/format/record"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/run/visible"
	"usertrail/internal/store/dfs"
)

// Open reads the users in a file. The list may take limit bytes of memory. The forms of name
// are:
//
//	NAME                  one user ID on each line; also compressed: .gz, .zst, .bz2
//	NAME.parquet:COLUMN   a column of strings or integers
//	NAME.csv:COLUMN       a column of a file with a header; also .tsv, and both
//	                      compressed: .gz, .zst, .bz2; quotes in a .tsv are part of a value
//
// COLUMN may have colons. Nulls and blanks are skipped. A NAME with a column may be a pattern (see dfs.Glob). Errors
// wrap ErrList, or fs.ErrNotExist.
func Open(ctx context.Context, fs dfs.FS, name string, l layout.Layout, limit int64) (*List, error) {
	file, column := cutColumn(name)
	if column == "" && file != name && columnsOf(file) != parquetColumns {
		return nil, fmt.Errorf("%w %s: the name of the column is missing after the colon: write --users %s:COLUMN, or leave the colon out if each line is one user ID", ErrList, file, file)
	}
	if column == "" && columnsOf(file) != parquetColumns {
		f, err := fs.Open(ctx, file)
		if err != nil {
			if info, failed := fs.Stat(ctx, file); failed == nil && info.Dir {
				return nil, fmt.Errorf("%w %s: it is a directory; for the result of an extract, write '%s/*.parquet:user_id'", ErrList, file, strings.TrimRight(file, "/"))
			}
			return nil, columnless(ctx, fs, file, err)
		}
		defer f.Close()
		in, free, err := decompress(f, file, limit)
		if err != nil {
			return nil, err
		}
		defer free()
		return Read(in, file, l, limit)
	}
	names, err := match(ctx, fs, file)
	if err != nil {
		return nil, err
	}
	list := &reader{layout: l, limit: limit}
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := list.addColumn(ctx, fs, n, column); err != nil {
			return nil, err
		}
	}
	return list.users.sorted(limit), nil
}

// Hint returns a sentence about a file of columns that Open reads as one ID a line, because name has no
// column. It returns "" for other names.
func Hint(name string) string {
	file, column := cutColumn(name)
	if kind := columnsOf(file); column != "" || kind != commaColumns && kind != tabColumns {
		return ""
	}
	return fmt.Sprintf("%s was read as one user ID on each line: to read a column of it, write --users %s:COLUMN", name, name)
}

// Files returns the files that Open reads for name. If name is a pattern, at least one file
// must match it.
func Files(ctx context.Context, fs dfs.FS, name string) ([]string, error) {
	file, column := cutColumn(name)
	if column == "" && columnsOf(file) != parquetColumns {
		return []string{file}, nil
	}
	return match(ctx, fs, file)
}

// Kinds of files with columns.
const (
	noColumns = iota
	parquetColumns
	commaColumns
	tabColumns
)

// columnsOf returns the kind of columns that a file has, by the ending of its name.
func columnsOf(name string) int {
	ending := strings.ToLower(path.Ext(name))
	switch ending {
	case ".parquet":
		return parquetColumns
	case ".gz", ".zst", ".bz2":
		ending = strings.ToLower(path.Ext(name[:len(name)-len(ending)]))
	}
	switch ending {
	case ".csv":
		return commaColumns
	case ".tsv":
		return tabColumns
	}
	return noColumns
}

// cutColumn splits a name into file and column, at the last colon after the ending of a file with columns. If there is no
// such colon, all colons are part of the file's name.
func cutColumn(name string) (file, column string) {
	for file, _, ok := cutLast(name); ok; file, _, ok = cutLast(file) {
		if columnsOf(file) != noColumns {
			return file, name[len(file)+1:]
		}
	}
	return name, ""
}

// cutLast divides name at its last colon.
func cutLast(name string) (file, column string, ok bool) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// columnless returns the error of a file that cannot be opened. If the name is the name of a file and a column, the
// error reports that the file has no columns.
func columnless(ctx context.Context, fs dfs.FS, name string, err error) error {
	file, column, ok := cutLast(name)
	if !ok {
		return err
	}
	if _, failed := fs.Stat(ctx, file); failed != nil {
		return err
	}
	return fmt.Errorf("%w %s: column %q: FILE:COLUMN needs a file called .csv, .tsv or .parquet: leave :%[3]s out, or name such a file", ErrList, file, column)
}

// match returns the files of a name or pattern, at least one.
func match(ctx context.Context, fs dfs.FS, name string) ([]string, error) {
	if !dfs.HasMeta(name) {
		return []string{name}, nil
	}
	found, err := dfs.Glob(ctx, fs, name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no file of that name: %w", name, iofs.ErrNotExist)
	}
	return names, nil
}

// decompress returns the text of a file, and a function that frees the decompressor. limit is the memory for the list.
func decompress(f io.Reader, name string, limit int64) (io.Reader, func(), error) {
	in, free, err := record.Decompress(f, name, max(limit, record.MinWindow))
	if errors.Is(err, record.ErrWindow) {
		err = fmt.Errorf("%w: raise --memory, or compress the list with a smaller window, such as by zstd -19", err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w %s: %w", ErrList, name, err)
	}
	return in, free, nil
}

// addColumn adds the users in a column of a file.
func (u *reader) addColumn(ctx context.Context, fs dfs.FS, name, column string) error {
	f, err := fs.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	u.name = name
	kind := columnsOf(name)
	if kind == parquetColumns {
		return u.addParquet(f, column)
	}
	in, free, err := decompress(f, name, u.limit)
	if err != nil {
		return err
	}
	defer free()
	return u.addText(in, kind, column)
}

// A page of a Parquet file, or a line of a .tsv, may take a partShare-th of the memory for the list, and leastPart bytes at least.
const (
	partShare = 4
	leastPart = 8 << 20
)

// part returns the memory in bytes for a page or a line.
func (u *reader) part() int64 { return max(u.limit/partShare, leastPart) }

func (u *reader) addParquet(f dfs.File, column string) error {
	t, err := trailfile.Open(f, f.Size())
	if err != nil {
		return fmt.Errorf("%w %s: %w", ErrList, u.name, err)
	}
	if column == "" {
		return fmt.Errorf("%w %s: name the column of the user IDs, %s:COLUMN; there is %s", ErrList, u.name, u.name, visible.List(t.ColumnNames()))
	}
	row := 0
	var bad error
	err = t.IDs(column, u.part(), func(id []byte) error {
		row++
		bad = u.add(id, func() string { return fmt.Sprintf("value %d of %s", row, column) })
		return bad
	})
	if bad != nil || err == nil {
		return bad
	}
	if errors.Is(err, trailfile.ErrLargePage) {
		return fmt.Errorf("%w %s: %w: correct the name of the column, write the IDs as lines of text, or raise --memory", ErrList, u.name, err)
	}
	return fmt.Errorf("%w %s: %w", ErrList, u.name, err)
}

// A rowReader reads the rows of a text with columns.
type rowReader interface {
	Read() ([]string, error)
	FieldPos(field int) (line, column int) // of the last row
}

// addText adds the users in a column of a text. kind is commaColumns or tabColumns.
func (u *reader) addText(in io.Reader, kind int, column string) error {
	r := bufio.NewReaderSize(in, 1<<20)
	if err := u.checkBegin(r); err != nil {
		return err
	}
	if mark, err := r.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
		r.Discard(len(byteOrderMark))
	}
	begin, _ := r.Peek(r.Buffered())
	first, _, _ := strings.Cut(string(begin), "\n")
	rows := u.rowReader(r, kind)
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w %s: no header", ErrList, u.name)
	}
	if err != nil {
		return fmt.Errorf("%w %s: header: %w%s", ErrList, u.name, err, cmp.Or(quotedStep(first, err), quoteStep(err)))
	}
	at, err := u.find(header, kind, column)
	if err != nil {
		return err
	}
	n := len(header)
	var id []byte
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w %s: %w%s", ErrList, u.name, err, quoteStep(err))
		}
		line := func() string {
			line, _ := rows.FieldPos(0)
			return fmt.Sprintf("line %d", line)
		}
		if at >= len(fields) {
			return fmt.Errorf("%w %s: %s has %s, and %s is column %d", ErrList, u.name, line(), english.Plural(len(fields), "column", ""), column, at+1)
		}
		if len(fields) > n && slices.ContainsFunc(fields[n:], func(f string) bool { return f != "" }) {
			return fmt.Errorf("%w %s: %s has %d columns, and the header has %d: %s", ErrList, u.name, line(), len(fields), n, shiftStep(kind))
		}
		id = append(id[:0], fields[at]...)
		if err := u.add(id, line); err != nil {
			return err
		}
	}
}

// rowReader returns a reader of the rows of a text. kind is commaColumns or tabColumns.
func (u *reader) rowReader(in io.Reader, kind int) rowReader {
	if kind == tabColumns {
		return newTabReader(in, int(u.part()))
	}
	return newCommaReader(in, int(u.part()))
}

// find returns the index of a column in a header.
func (u *reader) find(header []string, kind int, column string) (int, error) {
	at := slices.Index(header, column)
	if at < 0 {
		return 0, fmt.Errorf("%w %s: %w: %q; there is %s%s", ErrList, u.name, trailfile.ErrColumn, column, visible.List(header), headerStep(header, kind, column))
	}
	if slices.Contains(header[at+1:], column) {
		return 0, fmt.Errorf("%w %s: the header has the column %q more than once; rename the others", ErrList, u.name, column)
	}
	return at, nil
}

// headerStep returns the next step if a header does not have a column, or "".
func headerStep(header []string, kind int, column string) string {
	if len(header) == 1 {
		if i := strings.IndexAny(header[0], separators); i >= 0 {
			return separatedStep(header[0][i])
		}
	}
	switch {
	case kind == commaColumns && len(header) == 1 && strings.Contains(header[0], "\t"):
		return `: a .csv is separated by ",", not by tabs: rename the list to .tsv, or write it with ","`
	case kind == tabColumns && slices.Contains(header, `"`+column+`"`):
		return ": quotes in a .tsv are part of a value: remove them, or write the list as a .csv"
	}
	return ""
}

// separators are characters that separate columns in other files.
const separators = ";|"

// quotedStep returns the next step after an error about quotes of a header in which another character separates quoted columns, or "".
func quotedStep(header string, err error) string {
	if !errors.Is(err, csv.ErrQuote) {
		return ""
	}
	for _, c := range separators {
		if strings.Contains(header, `"`+string(c)) {
			return separatedStep(byte(c))
		}
	}
	return ""
}

// separatedStep returns the next step if c separates the columns of a header. Values may have quotes around them, although the header has none.
func separatedStep(c byte) string {
	return fmt.Sprintf(`: a .csv is separated by ",", and a .tsv by tabs, not by "%c": convert the list, for example by `+
		`python3 -c 'import csv, sys; csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter="%c"))' < OLD.csv > NEW.csv`, c, c)
}

// quoteStep returns the next step after an error about quotes, or "".
func quoteStep(err error) string {
	if !errors.Is(err, csv.ErrBareQuote) {
		return ""
	}
	return `: write quotes around a value with quotes, and each of its quotes twice; write an ID as 0012, not as ="0012"`
}

// shiftStep returns the next step if a row has more columns than the header.
func shiftStep(kind int) string {
	if kind == tabColumns {
		return "a value may have a tab in it: remove the tab, or write the list as a .csv"
	}
	return "a value may have ',' in it: write quotes around the value"
}
