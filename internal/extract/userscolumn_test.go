package extract_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"usertrail/internal/behaviour"
	"usertrail/internal/dfs/local"
	"usertrail/internal/extract"
	"usertrail/internal/layout"
	"usertrail/internal/testworld"
)

// A person is a row of a Parquet file that is not ours.
type person struct {
	Name   string  `parquet:"name,dict"`
	Nick   *string `parquet:"nick,optional"`
	Number int64   `parquet:"number,delta"`
	Small  uint32  `parquet:"small"`
	Score  float64 `parquet:"score"`
	Tags   []string
}

// writePeople writes n people into a file of several row groups and pages.
func writePeople(t *testing.T, name string, n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[person](f, parquet.MaxRowsPerRowGroup(700), parquet.PageBufferSize(1000))
	for i := range n {
		p := person{Name: fmt.Sprint("p", i%100), Number: int64(i) - 3, Small: 1<<32 - 1 - uint32(i)}
		if i%3 == 0 {
			nick := fmt.Sprint("n", i)
			if i%6 == 0 {
				nick = " "
			}
			p.Nick = &nick
		}
		if _, err := w.Write([]person{p}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestColumnsOfOthersAreRead counts the users that a column names, by asking for
// them, and checks that they are those of a list.
func TestColumnsOfOthersAreRead(t *testing.T) {
	w, h := tiny(t)
	u := turn{name: "trails", workers: 1, memory: 1 << 20}
	h.load(t, u, w.Span)
	opened, err := h.store(u.name).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	count := func(users *extract.Users) int64 {
		r, err := extract.Run(t.Context(), extract.Config{
			FS: h.fs, Table: opened, Users: users, Span: w.Span, Types: w.Names(), Out: filepath.Join(h.dir, "out"), Overwrite: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.Users
	}
	dir := t.TempDir()
	writePeople(t, filepath.Join(dir, "people.parquet"), 2500)
	for column, want := range map[string]int64{"name": 100, "nick": 417, "number": 2500, "small": 2500} {
		users, err := extract.OpenUsers(t.Context(), local.New(), filepath.Join(dir, "people.parquet:"+column), layout.Reversed{}, 1<<20)
		if err != nil {
			t.Errorf("%s: %v", column, err)
			continue
		}
		if got := count(users); got != want {
			t.Errorf("%s names %d users, want %d", column, got, want)
		}
	}
}

// TestIntegersAreWrittenInFull asks for users by a column of numbers.
func TestIntegersAreWrittenInFull(t *testing.T) {
	dir := t.TempDir()
	writePeople(t, filepath.Join(dir, "people.parquet"), 5)
	first := behaviour.DateOf(2014, 9, 1)
	h := newHouse(t, "logs: {path: \"logs/{behaviour}.csv\"}\ntable: trails\nbehaviours: {play: {id: 1}}\n")
	h.deliver(t, testworld.File{Name: "play.csv", Text: []byte("user_id,time\n-3,2014-09-01 00:00:00\n1,2014-09-01 00:00:00\n4294967295,2014-09-01 00:00:00\n4294967296,2014-09-01 00:00:00\n")})
	u := turn{name: "trails", workers: 1, memory: 1 << 20}
	h.load(t, u, behaviour.Span{From: first, To: first})
	opened, err := h.store(u.name).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for column, want := range map[string]int64{"number": 2, "small": 1} {
		users, err := extract.OpenUsers(t.Context(), local.New(), filepath.Join(dir, "people.parquet:"+column), layout.Reversed{}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		r, err := extract.Run(t.Context(), extract.Config{
			FS: h.fs, Table: opened, Users: users, Span: behaviour.Span{From: first, To: first}, Types: []string{"play"}, Out: filepath.Join(h.dir, "out"), Overwrite: true,
		})
		if err != nil || r.Found != want {
			t.Errorf("%s finds %d users, %v; want %d", column, r.Found, err, want)
		}
	}
}

// TestWrongColumnsAreRefused checks what is said of columns that name no users.
func TestWrongColumnsAreRefused(t *testing.T) {
	dir := t.TempDir()
	writePeople(t, filepath.Join(dir, "people.parquet"), 5)
	whole, err := os.ReadFile(filepath.Join(dir, "people.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"half.parquet": string(whole[:len(whole)/2]), "empty.csv": "", "long.csv": "who\n" + strings.Repeat("x", 256) + "\n",
		"latin.csv": "who\n\xe9\n", "quote.csv": "who\na\n\"b\n", "half.csv.gz": "\x1f\x8b\x08", "many.csv": "who\n" + numbered(1e5),
		"same.csv": "who\n" + strings.Repeat("a\nb\n", 1e5),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, says := range map[string]string{
		"people.parquet:Tags":  "no such column of strings or integers: Tags",
		"people.parquet:score": "no such column of strings or integers: score is DOUBLE",
		"people.parquet:nil":   `no such column: "nil"; there is name, nick, number, small, score, Tags`,
		"half.parquet:name":    "half.parquet",
		"empty.csv:who":        "no header",
		"long.csv:who":         "line 2 is longer than 255 bytes",
		"latin.csv:who":        "line 2 is not UTF-8",
		"quote.csv:who":        "line 3",
		"half.csv.gz:who":      "half.csv.gz",
		"many.csv:who":         "do not fit in memory",
		"same.csv:who":         "",
	} {
		_, err := extract.OpenUsers(t.Context(), local.New(), filepath.Join(dir, name), layout.Reversed{}, 1<<20)
		if says == "" && err != nil || says != "" && (!errors.Is(err, extract.ErrUsers) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want ErrUsers and %q", name, err, says)
		}
	}
	if _, err := extract.OpenUsers(t.Context(), local.New(), filepath.Join(dir, "none.csv:who"), layout.Reversed{}, 1<<20); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("a file that is not there: %v, want ErrNotExist", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := extract.OpenUsers(ended, local.New(), filepath.Join(dir, "same.csv:who"), layout.Reversed{}, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v, want Canceled", err)
	}
}
