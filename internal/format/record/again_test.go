package record

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/rule"
)

type countSink struct{ kept, skipped, bad int }

func (c *countSink) Keep(*behaviour.Record) error { c.kept++; return nil }
func (c *countSink) Skip(*Skipped) error          { c.skipped++; return nil }
func (c *countSink) Reject(*Reject) error         { c.bad++; return nil }

// TestASecondHeaderInAnotherOrderEndsParse has two headers in a file. The same header again is a bad record.
func TestASecondHeaderInAnotherOrderEndsParse(t *testing.T) {
	const header = "user,time,title,seconds"
	for _, c := range []struct{ second, want string }{
		{"title,time,user,seconds", "the second header at line 3, byte 31 has the columns in another order: split the log there"},
		{`"title",time,"user","seconds"`, "line 3, byte 31"},
		{"seconds,title,time,user", "line 3, byte 31"},
		{"title,time,user,seconds ", "line 3, byte 31"},
		{" title, time, user, seconds", "line 3, byte 31"},
		{"Title,TIME,User,SECONDS", "line 3, byte 31"},
		{`"title","time","user","seconds" `, "line 3, byte 31"},
		{`"TITLE" , " time", "User","seconds"`, "line 3, byte 31"},
		{header + " ", ""}, {strings.ToUpper(header), ""}, {" " + strings.ReplaceAll(header, ",", " , "), ""},
		{header, ""}, {"title,time,user,minutes", ""}, {"title,time,user,user", ""}, {"user,time,title", ""}, {"title,time,user,seconds,x", ""},
	} {
		f := plays()
		p, err := NewParser(f, playFile("day/a.csv"), strings.Split(header, ","))
		if err != nil {
			t.Fatal(err)
		}
		s := &countSink{}
		text := "u1,2014-09-01 10:00:00,news,60\n"
		data := text + c.second + "\n" + text
		chunk := Chunk{Data: []byte(data), Line: 2}
		if err := p.Parse(chunk, s); err != nil {
			t.Errorf("%s: %v, though the parser does not look for headers", c.second, err)
		}
		p.FindHeaders(strings.Split(header, ","), true)
		*s = countSink{}
		err = p.Parse(chunk, s)
		if c.want == "" && (err != nil || s.kept != 2 || s.bad != 1) {
			t.Errorf("%s: %v, %+v; want a bad record", c.second, err, *s)
		}
		if c.want != "" && (!errors.As(err, new(*SecondHeader)) || !errors.Is(err, ErrHeader) || !strings.Contains(fmt.Sprint(err), c.want)) {
			t.Errorf("%s: %v, want %s", c.second, err, c.want)
		}
	}
}

// TestJoinedLogs joins two logs. If the second one has a header in another order, Parse ends at the place of this header.
func TestJoinedLogs(t *testing.T) {
	const (
		first  = "user,time,title,seconds\nu1,2014-09-01 10:00:00,news,60\n"
		quoted = "\"user\",\"time\",\"title\",\"seconds\"\n\"u1\",\"2014-09-01 10:00:00\",\"ne,ws\",\"60\"\n"
		second = "title,time,user,seconds\nnews,2014-09-01 10:00:00,u2,60\n"
		inTurn = "user,time,title,seconds\nu2,2014-09-01 10:00:00,news,60\n"
	)
	cut := func(log string, n int) string { return log[:len(log)-n] }
	inQuotes := func(log string) string {
		header, rest, _ := strings.Cut(log, "\n")
		return `"` + strings.ReplaceAll(header, ",", `","`) + "\"\n" + rest
	}
	tsv := func(f *Format) { f.Syntax = TSV }
	tabs := strings.NewReplacer(",", "\t").Replace
	listed := func(f *Format) { f.Header, f.Names = false, []string{"user", "time", "title", "seconds"} }
	three := func(f *Format) {
		f.Schema = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play", Fields: []behaviour.Field{{Name: "title", Type: behaviour.String}}}}}
		f.Kinds[0].Fields = []Column{{Name: "title"}}
	}
	two := func(f *Format) {
		f.Schema = &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{{ID: 1, Name: "play"}}}
		f.Kinds[0].Fields = nil
	}
	both := func(f *Format) { three(f); listed(f) }
	case3 := func(f *Format) { three(f); f.Kinds[0].Fields[0].Name = "User" }
	numbers := func(f *Format) {
		three(f)
		f.Kinds[0].User.Name, f.Kinds[0].Fields[0].Name = "$1", "$3"
	}
	skip := func(condition string) func(*Format) {
		return func(f *Format) {
			two(f)
			var err error
			if f.Skip, err = rule.Parse(condition); err != nil {
				t.Fatal(err)
			}
		}
	}
	names := func(title string) func(*Format) { return func(f *Format) { f.Kinds[0].Fields[0].Name = title } }
	disk := func(f *Format) { f.Kinds[0].Fields[0].Name = `5" disk` }
	blanks := func(f *Format) {
		f.Syntax = Blanks
		f.Kinds[0].Time.Format = "2006-01-02T15:04:05"
	}
	spaces := strings.NewReplacer("01 10", "01T10", ",", " ").Replace

	for _, c := range []struct {
		name        string
		set         func(*Format)
		first, next string
		at          int // in next; -1 if it is no header in another order
		kept, bad   int
	}{
		{"plain", nil, first, second, 0, 1, 0},
		{"plain, same order", nil, first, inTurn, -1, 2, 1},
		{"mark", nil, first, mark + second, 0, 1, 0},
		{"mark, same order", nil, first, mark + inTurn, -1, 2, 1},
		{"marks of an empty log", nil, first, mark + mark + second, 0, 1, 0},
		{"mark and quotes", nil, first, mark + inQuotes(second), 0, 1, 0},
		{"mark and quotes, same order", nil, first, mark + inQuotes(inTurn), -1, 2, 1},
		{"marks in both", nil, mark + first, mark + second, 0, 1, 0},
		{"a mark of tsv", tsv, tabs(first), mark + tabs(second), 0, 1, 0},
		{"a mark of blanks", blanks, spaces(first), mark + " " + spaces(second), 0, 1, 0},

		{"no line end", nil, cut(first, 1), second, 0, 0, 0},
		{"no line end, same order", nil, cut(first, 1), inTurn, -1, 1, 1},
		{"no line end, null", nil, cut(first, 3), second, 0, 0, 0},
		{"no line end, cut", nil, cut(first, 12), second, 0, 0, 0},
		{"no line end, cut in a character", nil, cut(first, 4) + "\xe6\x96", second, 0, 0, 0},
		{"no line end, mark", nil, cut(first, 1), mark + second, 0, 0, 0},
		{"no line end, mark and quotes", nil, cut(first, 1), mark + inQuotes(second), 0, 0, 0},
		{"no line end, quotes", nil, cut(first, 1), inQuotes(second), 0, 0, 0},
		{"no line end, quotes in both", nil, cut(quoted, 1), inQuotes(second), 0, 0, 0},
		{"no line end, quotes in the first", nil, cut(quoted, 1), second, 0, 0, 0},
		{"no line end, quotes in both, mark", nil, cut(quoted, 1), mark + inQuotes(second), 0, 0, 0},
		{"no line end of tsv", tsv, cut(tabs(first), 1), tabs(second), 0, 0, 0},
		{"no line end of tsv, null", tsv, tabs(cut(first, 3)), tabs(second), 0, 0, 0},
		{"no line end of blanks", blanks, cut(spaces(first), 1), spaces(second), 0, 0, 0},
		{"no line end, after two lines", nil, cut(first, 3) + "\"a\nb\"", second, 0, 0, 1},

		{"a quote in a name", disk, `"user","time","5"" disk","seconds"` + "\n", `"user","5"" disk","time","seconds"` + "\n", 0, 0, 0},
		{"a quote in the last name", disk, `"user","time","seconds","5"" disk"` + "\n", `"user","seconds","time","5"" disk"` + "\n", 0, 0, 0},
		{"a quote in the first name", disk, `"user","time","seconds","5"" disk"` + "\nu,t,s,\"d\"", `"5"" disk","seconds","time","user"` + "\n", 0, 0, 0},
		{"a quote in a name, same order", disk, `"user","time","5"" disk","seconds"` + "\n", `"user","time","5"" disk","seconds"` + "\n", -1, 0, 1},

		{"names", listed, first[24:], second, 0, 1, 0},
		{"names, same order", listed, first[24:], inTurn, -1, 2, 1},
		{"names, mark", listed, first[24:], mark + inQuotes(second), 0, 1, 0},
		{"names, no line end", listed, cut(first[24:], 1), second, 0, 0, 0},
		{"names, at the beginning", listed, "", second, 0, 0, 0},

		{"blanks", nil, first, " title, time ,user, seconds" + second[23:], 0, 1, 0},
		{"blanks, same order", nil, first, " user, time ,title, seconds\n", -1, 1, 1},
		{"another case", nil, first, "Title,TIME,USER,seconds" + second[23:], 0, 1, 0},
		{"another case, same order", nil, first, "User,TIME,Title,seconds\n", -1, 1, 1},
		{"another case in quotes, mark", nil, first, mark + inQuotes(strings.ToUpper(second[:24])), 0, 1, 0},
		{"another case of other letters", names(`Größe`), "user,time,Größe,seconds\n", "GRÖßE,time,user,seconds\n", 0, 0, 0},
		{"a blank of another language", nil, first, "title\u3000,time,user,\u00a0seconds\n", 0, 1, 0},
		{"names that differ in case", names("User"), "user,time,User,seconds\n", "User,time,user,seconds\n", 0, 0, 0},
		{"names that differ in case, same order", names("User"), "user,time,User,seconds\n", "user,time,User,seconds\n", -1, 0, 1},
		{"names that differ in case, in one case", names("User"), "user,time,User,seconds\n", "USER,time,USER,seconds\n", -1, 0, 1},
		{"names that differ in case, a blank after the last name", names("User"), "user,time,User,seconds\n", "User,time,user,seconds \n", 0, 0, 0},
		{"names that differ in case, another name in another case", names("User"), "user,time,User,seconds\n", "User,TIME,user,seconds\n", 0, 0, 0},
		{"blanks of tsv", tsv, tabs(first), "title \ttime\t user\tseconds \n", 0, 1, 0},
		{"an empty column of tsv", tsv, tabs(first), "\ttitle\ttime\tuser\tseconds\n", -1, 1, 1},
		{"an empty last column of tsv", tsv, tabs(first), "title\t\ttime\tuser\tseconds\n", -1, 1, 1},
		{"another case of blanks", blanks, spaces(first), " Title  Time User\tSeconds \n", 0, 1, 0},
		{"names in another case", listed, first[24:], "Title, Time, User, Seconds\n", 0, 1, 0},
		{"no line end, another case", nil, cut(first, 1), strings.ToUpper(second[:24]), 0, 0, 0},
		{"no line end, another case, same order", nil, cut(first, 1), strings.ToUpper(inTurn[:24]), -1, 0, 1},
		{"no line end, another case in quotes", nil, cut(quoted, 1), inQuotes(strings.ToUpper(second[:24])), 0, 0, 0},
		{"no line end, blanks", nil, cut(first, 1), "title ,time, user,seconds ", 0, 0, 0},
		{"no line end, blanks in quotes", nil, cut(quoted, 1), `" title","time "," user","seconds"` + "\n", 0, 0, 0},

		{"an unread column has another name", three, first, "title,time,user,minutes\n", 0, 1, 0},
		{"an unread column has another name, same order", three, first, "user,time,title,minutes\n", -1, 1, 1},
		{"an unread column has another name and place", three, first, "minutes,USER,time,title\n", 0, 1, 0},
		{"an unread column has another name, quotes and blanks", three, first, mark + `"minutes,","User ",TIME,"title"` + "\n", 0, 1, 0},
		{"an unread column has another name, blanks before quotes", three, first, `title, "time", "user",minutes` + "\n", 0, 1, 0},
		{"an unread column has another name, blanks before quotes of the first", three, first, ` "title" ,time,"minutes" ,user` + "\n", 0, 1, 0},
		{"an unread column has another name, blanks before quotes, same order", three, first, `user, "time", "title",minutes` + "\n", -1, 1, 1},
		{"an unread column has another name, blanks before quotes, a time", three, first, `title, "2014-09-01 10:00:00", "user",time` + "\n", -1, 1, 1},
		{"too many columns, blanks before quotes", three, first, `x,title, "time", "user",minutes` + "\n", -1, 1, 1},
		{"an unread column has another name, and two names differ in case", case3, "user,time,User,seconds\n", "User,time,user,minutes\n", 0, 0, 0},
		{"an unread column has another name, and two names differ in case, same order", case3, "user,time,User,seconds\n", "user,time,User,minutes\n", -1, 0, 1},
		{"an unread column has another name in another encoding", three, first, "l\xe4nge,user,time,title\n", 0, 1, 0},
		{"unread columns have the places of the others", two, "user,x,y,time\n", "a,user,time,y\n", 0, 0, 0},
		{"two names and no other one", two, "user,x,y,time\n", "a,user,time,b\n", -1, 0, 1},
		{"a record without a time whose texts are names", two, "user,time,field,old,new\n", "admin,,user,Time,x\n", -1, 0, 1},
		{"an empty column", two, "user,time,field,old,new\n", ",field,user,Time,x\n", -1, 0, 1},
		{"a read column has another name", three, first, "titles,time,user,seconds\n", -1, 1, 1},
		{"a read column is twice", three, first, "title,time,user,user\n", -1, 1, 1},
		{"a record whose texts are names", two, first, ",2014-09-01 10:00:00,user,time\n", -1, 1, 1},
		{"a bad record whose text is a name", two, first, "u1,yesterday,time,60\n", -1, 1, 1},
		{"a skipped record whose texts are names", skip(`user == "u9"`), first, "u9,2014-09-01 10:00:00,user,time\n", -1, 1, 0},
		{"a skipped header with another name", skip(`user == "title"`), first, "title,user,time,minutes\n", 0, 1, 0},
		{"a column of the skip condition has another name", skip(`title == "x"`), first, "seconds,user,time,name\n", -1, 1, 1},
		{"too many columns, an unread one has another name", three, first, "title,time,user,minutes,x\n", -1, 1, 1},
		{"columns by number", numbers, first, "title,time,user,minutes\n", 0, 1, 0},
		{"columns by number, same order", numbers, first, "user,time,title,minutes\n", -1, 1, 1},
		{"names of the job, an unread column has another name", both, first[24:], "title,time,user,minutes\n", 0, 1, 0},

		{"one name more", nil, first, "x," + second, -1, 2, 1},
		{"one name more, in quotes", nil, first, `"x",` + second, -1, 2, 1},
		{"another name", nil, cut(first, 1), "titles" + second[5:], -1, 1, 1},
		{"another first name", nil, cut(first, 1), "station" + second[5:], -1, 1, 1},
		{"a name twice", nil, cut(first, 1), "title,time,title,seconds\n", -1, 0, 1},
		{"something after the names", nil, cut(first, 1), "title,time,user,seconds,x\n", -1, 0, 1},
		{"something after the names, in quotes", nil, cut(first, 1), "title,time,user,seconds,\"seconds\"x\n", -1, 0, 1},
		{"too many columns before the names", nil, first, "u1,2014-09-01 10:00:00,news,60,title,time,user,seconds\n", -1, 1, 1},
		{"a text ends with all names", nil, first, "u1,2014-09-01 10:00:00,columns,of title,time,user,seconds\n", -1, 1, 1},
		{"a text of blanks ends with all names", blanks, spaces(first), "u1 2014-09-01T10:00:00 by title time user seconds\n", -1, 1, 1},
		{"a text has all names", nil, first, "u1,2014-09-01 10:00:00,\"title,time,user,seconds\",60\n", -1, 2, 0},
		{"a text ends with names", three, "user,time,title\n", "u1,2014-09-01 10:00:00,user,title\n", -1, 0, 1},
		{"a text is two names", two, "time,user\n", "2014-09-01 10:00:00,user,time\n", -1, 0, 1},
		{"two names", two, "time,user\n", "user,time\n", 0, 0, 0},
	} {
		f := plays()
		if c.set != nil {
			c.set(f)
		}
		kept, bad, err := joined(f, c.first+c.next)
		header := &SecondHeader{}
		switch {
		case c.at < 0 && (err != nil || kept != c.kept || bad != c.bad):
			t.Errorf("%s: %d kept, %d bad, %v; want %d and %d", c.name, kept, bad, err, c.kept, c.bad)
		case c.at >= 0 && (!errors.As(err, &header) || header.Offset != int64(len(c.first)+c.at) || kept != c.kept || bad != c.bad):
			t.Errorf("%s: %d kept, %d bad, %v; want %d, %d and a header at %d", c.name, kept, bad, err, c.kept, c.bad, len(c.first)+c.at)
		case c.at >= 0 && header.Line != int64(strings.Count(c.first, "\n")+1):
			t.Errorf("%s: line %d", c.name, header.Line)
		}
	}

	f := plays()
	f.Encoding = "utf-16"
	wide := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()
	one, _ := wide.String(first)
	wide.Reset()
	two16, _ := wide.String(second)
	if _, _, err := joined(f, one+two16); !errors.As(err, new(*SecondHeader)) || !strings.Contains(err.Error(), fmt.Sprintf("line 3, byte %d", len(first))) {
		t.Errorf("utf-16: %v", err)
	}
	f = plays()
	listed(f)
	if _, _, err := joined(f, first[24:]+second); err == nil || !strings.Contains(err.Error(), "the header at line 2, byte 31 has the names of the job in another order: split the log there, or correct names") {
		t.Errorf("names: %v", err)
	}
}

// joined reads a log and looks for headers. It returns the numbers of good and bad records.
func joined(f *Format, log string) (kept, bad int, err error) {
	r, err := Open(strings.NewReader(log), playFile("day/a.csv"), f)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	p, err := NewParser(f, playFile("day/a.csv"), r.Header())
	if err != nil {
		return 0, 0, err
	}
	p.FindHeaders(r.Header(), true)
	s := &countSink{}
	for err == nil {
		var c Chunk
		if c, err = r.Next(make([]byte, 0, 100)); err == nil {
			err = p.Parse(c, s)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return s.kept, s.bad, err
}
