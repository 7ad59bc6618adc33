package metamorphic_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
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

// rowsOf reads rows of jsonl.
func rowsOf(text []byte) ([]row, error) {
	objects, err := readLines[map[string]any](text)
	if err != nil {
		return nil, err
	}
	var out []row
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
		r, err := rowOf(texts)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// rowOf makes a row from the texts of its columns. Null columns are missing from texts.
func rowOf(texts map[string]string) (row, error) {
	at, err := time.Parse("2006-01-02T15:04:05.999999Z", texts["time"])
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
	parts, err := filepath.Glob(filepath.Join(dir, "part-*."+format))
	if err != nil {
		return nil, err
	}
	slices.Sort(parts)
	var out []row
	for _, name := range parts {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		read := map[string]func([]byte) ([]row, error){"jsonl": rowsOf, "csv": rowsOfCSV, "parquet": rowsOfParquet}[format]
		rows, err := read(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

func rowsOfCSV(text []byte) ([]row, error) {
	in := csv.NewReader(bytes.NewReader(text))
	all, err := in.ReadAll()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	var out []row
	for _, fields := range all[1:] {
		texts := map[string]string{}
		for i, name := range all[0] {
			if fields[i] != "" {
				texts[name] = fields[i]
			}
		}
		r, err := rowOf(texts)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func rowsOfParquet(b []byte) ([]row, error) {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range f.Schema().Columns() {
		names = append(names, strings.Join(c, "."))
	}
	var out []row
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, values := range buf[:n] {
				r, err := rowOf(textsOf(names, values))
				if err != nil {
					return nil, err
				}
				out = append(out, r)
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
		switch name := names[v.Column()]; name {
		case "date":
			out[name] = time.Unix(int64(v.Int32())*24*3600, 0).UTC().Format(time.DateOnly)
		case "time":
			out[name] = time.UnixMicro(v.Int64()).UTC().Format("2006-01-02T15:04:05.999999Z")
		default:
			out[name] = v.String()
		}
	}
	return out
}
