package inspect_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"usertrail/internal/behaviour"
	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/format/hfile"
	"usertrail/internal/format/layout"
	"usertrail/internal/format/manifest"
	"usertrail/internal/format/roll"
	"usertrail/internal/format/trailfile"
	"usertrail/internal/format/trailfile/arrowfile"
	"usertrail/internal/format/trailfile/textfile"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
	"usertrail/internal/table/files"
	"usertrail/internal/tally"
)

// The world of the drawings: three users, one of them with an awkward ID, and two days. Each
// day is a separate load.
var schema = &behaviour.Schema{
	Zone: "Asia/Shanghai",
	Kinds: []behaviour.Kind{
		{ID: 1, Name: "login", Fields: []behaviour.Field{{Name: "device", Type: behaviour.String}}},
		{ID: 3, Name: "play", Fields: []behaviour.Field{
			{Name: "programme", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64},
		}},
		{ID: 40, Name: "visit"},
	},
}

const (
	login = iota
	play
	visit
)

var first = behaviour.DateOf(2014, 9, 1)

// did returns a record of the given day, seconds after midnight. Its place in the day's file
// is its column ID.
func did(user string, kind, day, seconds int, offset int64, values ...[]byte) behaviour.Record {
	date := first + behaviour.Date(day)
	zone := time.FixedZone("", 8*3600)
	return behaviour.Record{
		User: []byte(user), Kind: kind, Date: date,
		Time:   date.Start(zone).UnixMicro() + int64(seconds)*1e6 + offset%1000,
		ID:     column.ID(uint32(100+10*day+kind), offset),
		Values: values,
	}
}

func text(s string) []byte  { return []byte(s) }
func number(n int64) []byte { return behaviour.AppendInt64(nil, n) }

// deeds holds the records of each user in order of time.
var deeds = [][]behaviour.Record{
	{
		did("u1", login, 0, 100, 0, text("stb-7")),
		did("u1", play, 0, 160, 0, text("新闻联播"), number(1800)),
		did("u1", play, 0, 2400, 4000, text("A film whose title is much longer than any line of a table should be"), nil),
		did("u10", play, 0, 300, 9000, nil, number(5)),
		did("王,五", visit, 0, 50000, 123),
	},
	{
		did("u1", play, 1, 40, 0, text("Drama\nnight"), number(60)),
		did("王,五", login, 1, 7, 0, text("")),
		did("王,五", play, 1, 77, 5000, text("动物世界"), number(3000)),
	},
}

// makeTable writes a table of two regions, load by load.
func makeTable(t testing.TB, fs dfs.FS, dir string) {
	t.Helper()
	ctx := t.Context()
	tab, err := files.New(ctx, fs, dir, table.Plan{
		Layout: layout.Default, Compression: "none", Schema: schema,
		Splits: func(context.Context) (split.Points, error) { return split.Points{[]byte("1")}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for day, records := range deeds {
		var made []manifest.File
		for region, r := range tab.Manifest().Points().Regions() {
			name := tab.FileName(tab.NextLoad(), region)
			if f, ok := makeFile(t, ctx, tab, name, inRegion(records, r)); ok {
				made = append(made, f)
			}
		}
		if err := tab.TakeIn(ctx, makeLedger(tab.NextLoad(), day, records), made); err != nil {
			t.Fatal(err)
		}
	}
}

// makeCatalog writes the catalog of a live table.
func makeCatalog(t testing.TB, fs dfs.FS, dir string) {
	t.Helper()
	c, err := catalog.New(fs, dir, &manifest.Table{Address: "hbase://zk1:2181/trails", Layout: layout.Default, Family: "d", Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	for day, records := range deeds {
		if err := c.Commit(t.Context(), makeLedger(c.NextLoad(), day, records), nil); err != nil {
			t.Fatal(err)
		}
	}
}

var keys = layout.Reversed{}

func rowOf(r *behaviour.Record) []byte { return keys.AppendRow(nil, schema, r) }

func inRegion(records []behaviour.Record, region split.Region) []behaviour.Record {
	var out []behaviour.Record
	for _, r := range records {
		if region.Has(rowOf(&r)) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b behaviour.Record) int {
		return cmp.Or(bytes.Compare(rowOf(&a), rowOf(&b)), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// makeFile writes an HFile and its roll, as a load does.
func makeFile(t testing.TB, ctx context.Context, tab *files.Table, name string, records []behaviour.Record) (manifest.File, bool) {
	t.Helper()
	if len(records) == 0 {
		return manifest.File{}, false
	}
	day := records[0].Date
	out := manifest.File{
		Name: name + ".hfile", Roll: name + ".roll", Load: tab.NextLoad(),
		Span: behaviour.Span{From: day, To: day}, Records: int64(len(records)),
	}
	stage := func(name string, fill func(dfs.Pending) error) {
		f, err := tab.Stage(ctx, name)
		if err == nil {
			err = fill(f)
		}
		if err == nil {
			err = f.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stage(out.Name, func(f dfs.Pending) error {
		options, err := tab.FileOptions(t.Context())
		if err != nil {
			return err
		}
		meta, sum, err := writeCells(f, options, records)
		out.First, out.Last, out.Size, out.Tally = meta.FirstRow, meta.LastRow, meta.Size, sum
		return err
	})
	stage(out.Roll, func(f dfs.Pending) error {
		meta, err := writeRoll(f, records, out.Span)
		out.Users = meta.Users
		return err
	})
	return out, true
}

func writeCells(f dfs.Pending, opt hfile.Options, records []behaviour.Record) (hfile.Meta, tally.Tally, error) {
	w, err := hfile.NewWriter(f, opt)
	if err != nil {
		return hfile.Meta{}, tally.Tally{}, err
	}
	var sum tally.Counter
	enc := keys.Encoder(schema, "d")
	for i := range records {
		enc.Add(&records[i])
		row := rowOf(&records[i])
		if i+1 < len(records) && bytes.Equal(row, rowOf(&records[i+1])) {
			continue
		}
		err := enc.Cells(row, func(c *cell.Cell) error {
			sum.Add(c)
			return w.Add(c)
		})
		if err != nil {
			return hfile.Meta{}, sum.Tally, err
		}
	}
	meta, err := w.Close()
	return meta, sum.Tally, err
}

func writeRoll(f dfs.Pending, records []behaviour.Record, span behaviour.Span) (roll.Meta, error) {
	var ids []uint16
	for _, k := range schema.Kinds {
		ids = append(ids, k.ID)
	}
	w := roll.NewWriter(f, ids, span)
	for i := range records {
		r := &records[i]
		if err := w.Add(keys.AppendUserKey(nil, r.User), r.Date, r.Kind, 1); err != nil {
			return roll.Meta{}, err
		}
	}
	return w.Close()
}

// makeForeign writes an HFile with other rows than usertrail's, and with features that
// usertrail's files do not have: two levels of index, a Bloom filter, deletes.
func makeForeign(t testing.TB, fs dfs.FS, name string) {
	t.Helper()
	f, err := fs.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := hfile.NewWriter(f, hfile.Options{
		Codec: hfile.Plain, Encoding: hfile.NoEncoding, BlockSize: 60, IndexChunk: 90,
		Bloom: hfile.RowBloom, Info: map[string][]byte{"SOURCE": {0, 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		c := cell.Cell{
			Row: fmt.Appendf(nil, "row%02d", i), Family: []byte("f"), Qualifier: []byte("q\x00"),
			Time: 1<<63 - 1, Type: cell.Put, Value: fmt.Appendf(nil, "value %d", i),
		}
		if i%3 == 1 {
			c.Time, c.Type, c.Value = 1400000000001, cell.DeleteColumn, nil
		}
		if err := w.Add(&c); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = w.Close(); err == nil {
		err = f.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// makeLedger returns a ledger in which each record's file was loaded, and one file had a bad
// line.
func makeLedger(number, day int, records []behaviour.Record) *manifest.Load {
	date := first + behaviour.Date(day)
	l := &manifest.Load{Version: manifest.Version, Number: number, Job: "5e1f"}
	for kind, k := range schema.Kinds {
		var n int64
		for _, r := range records {
			if r.Kind == kind {
				n++
			}
		}
		if n == 0 {
			continue
		}
		in := manifest.Input{
			Path: date.String() + "/" + k.Name + ".csv", Number: uint32(100 + 10*day + kind), Size: 1000 * n,
			Modified: time.Date(2014, 9, 2+day, 1, 0, 0, 0, time.UTC), SHA256: "00ff",
			Counts: manifest.Counts{Read: n, Loaded: n},
		}
		if kind == play {
			in.Read, in.Quarantined = n+1, 1
		}
		l.Inputs = append(l.Inputs, in)
		l.Days = append(l.Days, manifest.Day{Date: date, Behaviour: k.Name, Records: n, Tally: tally.Tally{Cells: 2 * n}})
	}
	return l
}

// makeExtract writes the result of a query as one part.
func makeExtract(t testing.TB, fs dfs.FS, dir string) {
	t.Helper()
	ctx := t.Context()
	fields := schema.Columns([]int{login, play, visit})
	f, err := fs.Create(ctx, dfs.Join(dir, "part-00000.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := trailfile.NewWriter(f, trailfile.Long(schema.Names(), 0, fields), trailfile.Options{Codec: trailfile.None, GroupRows: 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch(fields)); err != nil {
		t.Fatal(err)
	}
	meta, err := w.Close()
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, sum, err := dfs.SumFile(ctx, fs, dfs.Join(dir, "part-00000.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest.Extract{
		Version: manifest.Version, Table: "trails",
		Query: manifest.Query{
			Span: behaviour.Span{From: first, To: first + 1}, Types: schema.Names(), Active: "any", Users: "all", Format: "parquet", Where: "seconds > 1 && time < nil",
		},
		Fields: fields, Users: 4, Found: 3, Active: 3, Kept: 3, Events: meta.Rows,
		Sequence: []manifest.Step{{Behaviour: "login", Users: 3}, {Behaviour: "play", Within: "1h0m0s", Users: 2}},
		Parts: []manifest.TrailPart{
			{Name: "part-00000.parquet", Users: 3, Events: meta.Rows, Size: meta.Bytes, Sum: sum},
			{Name: "part-00001.parquet", Users: 1, Events: 7, Size: 70, Sum: "fedcba9876543210"},
		},
	}
	if err := manifest.Write(ctx, fs, dfs.Join(dir, "_manifest.json"), m); err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, manifest.SuccessName, nil)
}

// makeParts writes the same events in other formats, and one row per user.
func makeParts(t testing.TB, dir string) {
	t.Helper()
	fields := schema.Columns([]int{login, play, visit})
	long, wide := trailfile.Long(schema.Names(), 0, fields), trailfile.Wide(schema.Names()[:1], trailfile.WideColumns, 1)
	text := func(f textfile.Format) func(w io.Writer, s trailfile.Schema) (trails, error) {
		return func(w io.Writer, s trailfile.Schema) (trails, error) { return textfile.NewWriter(w, s, f) }
	}
	arrow := func(w io.Writer, s trailfile.Schema) (trails, error) { return arrowfile.NewWriter(w, s) }
	for _, f := range []struct {
		name   string
		schema trailfile.Schema
		rows   *trailfile.Batch
		writer func(w io.Writer, s trailfile.Schema) (trails, error)
	}{
		{"long.csv", long, batch(fields), text(textfile.CSV)},
		{"long.jsonl", long, batch(fields), text(textfile.JSON)},
		{"long.arrow", long, batch(fields), arrow},
		{"wide.csv", wide, wideBatch(wide), text(textfile.CSV)},
		{"wide.arrow", wide, wideBatch(wide), arrow},
	} {
		var b bytes.Buffer
		w, err := f.writer(&b, f.schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(f.rows); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		writeFile(t, dir, f.name, b.Bytes())
	}
}

// trails is the writer of a trail file.
type trails interface {
	Write(b *trailfile.Batch) error
	Close() (trailfile.Meta, error)
}

// wideBatch returns two users. The second has no events of the behaviour.
func wideBatch(s trailfile.Schema) *trailfile.Batch {
	b := trailfile.NewBatch(s)
	c := b.Columns
	for i, user := range []string{"u1", "u2"} {
		c[0].Str.Append(text(user))
		n := int64(1 - i)
		for _, at := range []int{1, 2, 3, 4, 5} {
			c[at].Int = append(c[at].Int, n)
		}
		c[2].Valid, c[3].Valid = append(c[2].Valid, n > 0), append(c[3].Valid, n > 0)
		b.Rows++
	}
	return &b
}

// batch returns all deeds as rows, by user and time.
func batch(fields []behaviour.Field) *trailfile.Batch {
	records := slices.Concat(deeds...)
	slices.SortStableFunc(records, func(a, b behaviour.Record) int {
		return cmp.Or(bytes.Compare(a.User, b.User), cmp.Compare(a.Time, b.Time))
	})
	b := trailfile.NewBatch(trailfile.Long(schema.Names(), 0, fields))
	b.Rows = len(records)
	c := b.Columns
	for _, r := range records {
		c[0].Str.Append(r.User)
		c[1].Small = append(c[1].Small, int32(r.Date))
		c[2].Int = append(c[2].Int, r.Time)
		c[3].Code = append(c[3].Code, uint16(r.Kind))
		c[4].Int = append(c[4].Int, r.ID)
		for i, f := range fields {
			addValue(&c[5+i], valueOf(&r, f.Name))
		}
	}
	return &b
}

// valueOf returns a record's value of the field with a name, nil if it has none.
func valueOf(r *behaviour.Record, name string) []byte {
	for i, f := range schema.Kinds[r.Kind].Fields {
		if f.Name == name {
			return r.Values[i]
		}
	}
	return nil
}

func addValue(v *trailfile.Values, x []byte) {
	v.Valid = append(v.Valid, x != nil)
	if v.Type == behaviour.String {
		v.Str.Append(x)
		return
	}
	var n int64
	if x != nil {
		n = behaviour.ToInt64(x)
	}
	v.Int = append(v.Int, n)
}

// bad is a quarantine file as bulkload writes it.
const bad = `{"path":"2014-09-01/play.csv","line":2,"offset":31,"reason":"wrong type","detail":"seconds: \"n/a\" is not int64","raw":"u1,2014-09-01 00:00:01,新闻联播,n/a"}
{"path":"2014-09-01/play.csv","line":7,"offset":310,"reason":"not UTF-8","detail":"byte 3","raw":"","raw_base64":"dTH//w=="}
{"path":"2014-09-01/play.csv","line":9,"offset":420,"reason":"wrong type","detail":"seconds: \"-\" is not int64","raw":"u1,2014-09-01 00:00:02,a\tb,-"}
`
