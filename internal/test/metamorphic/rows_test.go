package metamorphic_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// A row is one row of an extract.
type row struct {
	event
	id int64
}

// before reports whether a sorts before b in the trail of one user.
func (a *row) before(b *row) bool {
	return cmp.Or(cmp.Compare(a.micros, b.micros), cmp.Compare(kindIDs[a.kind], kindIDs[b.kind]), cmp.Compare(a.id, b.id)) < 0
}

// Forms of times.
const (
	utcForm   = "2006-01-02T15:04:05.999999Z"
	localForm = "2006-01-02T15:04:05.999999"
	excelForm = "2006-01-02 15:04:05"
)

// rowsOf reads rows of jsonl.
func rowsOf(text []byte) ([]row, error) {
	all, err := textsOfLines(text)
	if err != nil {
		return nil, err
	}
	return rowsOfTexts(all)
}

// rowsOfTexts makes rows from the texts of their columns.
func rowsOfTexts(all []map[string]string) ([]row, error) {
	var out []row
	for _, texts := range all {
		r, err := rowOf(texts)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// textsOfLines reads the texts of rows of jsonl. Null columns are missing.
func textsOfLines(text []byte) (out []map[string]string, err error) {
	objects, err := readLines[map[string]any](text)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		texts := map[string]string{}
		for name, v := range o {
			switch v := v.(type) {
			case nil:
			case string:
				texts[name] = v
			case json.Number:
				texts[name] = v.String()
			default:
				texts[name] = fmt.Sprint(v)
			}
		}
		out = append(out, texts)
	}
	return out, nil
}

// rowOf makes a row from the texts of its columns. Null columns are missing from texts.
func rowOf(texts map[string]string) (row, error) {
	at, err := time.Parse(utcForm, texts["time"])
	if err != nil {
		return row{}, err
	}
	id, err := strconv.ParseInt(texts["id"], 10, 64)
	if err != nil {
		return row{}, err
	}
	r := row{event{user: texts["user_id"], date: texts["date"], micros: at.UnixMicro(), kind: texts["behaviour"], values: map[string]string{}}, id}
	for name, text := range texts {
		if universe[name] == "double" {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return row{}, err
			}
			text = strconv.FormatFloat(f, 'g', -1, 64)
		}
		if universe[name] != "" {
			r.values[name] = text
		}
	}
	return r, nil
}

// rowsIn reads the parts of a result.
func rowsIn(dir, format string) ([]row, error) {
	all, err := textsIn(dir, format)
	if err != nil {
		return nil, err
	}
	return rowsOfTexts(all)
}

// byUserID checks that the rows of a part are sorted by user.
func byUserID(rows []map[string]string) error {
	for i := 1; i < len(rows); i++ {
		if user, last := rows[i]["user_id"], rows[i-1]["user_id"]; user < last {
			return fmt.Errorf("the row of %q follows the row of %q", user, last)
		}
	}
	return nil
}

// readers read a part of a result. "excel" is csv for Excel.
var readers = map[string]func([]byte) ([]map[string]string, error){"jsonl": textsOfLines, "csv": textsOfCSV, "excel": textsOfExcel, "parquet": textsOfParquet}

// textsIn reads the texts of the rows of a result, see readers.
func textsIn(dir, format string) (out []map[string]string, err error) {
	ending := format
	if format == "excel" {
		ending = "csv"
	}
	parts, err := filepath.Glob(filepath.Join(dir, "part-*."+ending))
	if err != nil {
		return nil, err
	}
	slices.Sort(parts)
	for _, name := range parts {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rows, err := readers[format](b)
		if err == nil {
			err = errors.Join(withPlainTimes(rows), byUserID(rows))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// textsOfCSV reads the texts of rows of csv. Null columns are missing.
func textsOfCSV(text []byte) (out []map[string]string, err error) {
	in := csv.NewReader(bytes.NewReader(text))
	all, err := in.ReadAll()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	for _, fields := range all[1:] {
		texts := map[string]string{}
		for i, name := range all[0] {
			if fields[i] != "" {
				texts[name] = fields[i]
			}
		}
		out = append(out, texts)
	}
	return out, nil
}

// textsOfExcel reads csv for Excel as Excel shows it, with times in their other form and without apostrophes, which no
// value of the logs has.
func textsOfExcel(text []byte) ([]map[string]string, error) {
	text, ok := bytes.CutPrefix(text, []byte("\ufeff"))
	if !ok {
		return nil, fmt.Errorf("no byte order mark before %.20q", text)
	}
	all, err := textsOfCSV(text)
	for _, texts := range all {
		for name, v := range texts {
			if formula, ok := strings.CutPrefix(v, `="`); ok {
				v = strings.ReplaceAll(strings.TrimSuffix(formula, `"`), `""`, `"`)
			}
			texts[name] = strings.ReplaceAll(v, "'", "")
			form := timeForm(name)
			if form == "" {
				continue
			}
			at, err := time.Parse(excelForm, v)
			if err != nil {
				return nil, err
			}
			texts[name] = at.Format(form)
		}
	}
	return all, err
}

// withPlainTimes removes the zeros at the end of times.
func withPlainTimes(rows []map[string]string) error {
	for _, texts := range rows {
		for name, text := range texts {
			form := timeForm(name)
			if form == "" {
				continue
			}
			at, err := time.Parse(form, text)
			if err != nil {
				return err
			}
			texts[name] = at.Format(form)
		}
	}
	return nil
}

// timeForm returns the form of the times in a column of a result, or "".
func timeForm(name string) string {
	switch {
	case name == "time", strings.HasSuffix(name, "_first"), strings.HasSuffix(name, "_last"):
		return utcForm
	case name == "local_time", strings.HasSuffix(name, "_local"):
		return localForm
	}
	return ""
}

// textsOfParquet reads the texts of rows of Parquet.
func textsOfParquet(b []byte) (out []map[string]string, err error) {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range f.Schema().Columns() {
		names = append(names, strings.Join(c, "."))
	}
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, values := range buf[:n] {
				out = append(out, textsOf(names, values))
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// textsOf returns the values of a Parquet row in the form of jsonl.
func textsOf(names []string, values parquet.Row) map[string]string {
	out := map[string]string{}
	for _, v := range values {
		if v.IsNull() {
			continue
		}
		name := names[v.Column()]
		switch form := timeForm(name); {
		case name == "date":
			out[name] = time.Unix(int64(v.Int32())*24*3600, 0).UTC().Format(time.DateOnly)
		case form != "":
			out[name] = time.UnixMicro(v.Int64()).UTC().Format(form)
		default:
			out[name] = v.String()
		}
	}
	return out
}
