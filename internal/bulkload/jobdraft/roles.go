package jobdraft

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"usertrail/internal/behaviour"
)

// Usual names of columns, without case and punctuation, the most likely first.
var (
	userWords = []string{"userid", "user", "uid", "useruuid", "useridentifier", "accountid", "account", "subscriberid", "subscriber", "customerid",
		"customer", "memberid", "member", "playerid", "player", "householdid", "household", "visitorid", "visitor", "clientid", "deviceid", "device",
		"stbid", "msisdn", "imsi", "openid", "unionid", "cookieid", "cookie", "distinctid", "anonymousid", "whoid", "who", "login", "loginid", "username", "email",
		"用户id", "用户", "用户编号", "账号", "会员id"}
	timeWords = []string{"time", "timestamp", "ts", "datetime", "eventtime", "eventtimestamp", "logtime", "when", "at", "occurredat", "happenedat",
		"starttime", "startedat", "started", "start", "begintime", "createdat", "createtime", "createdtime", "created", "date", "day", "eventdate", "dt",
		"时间", "日期", "开始时间"}
	kindWords = []string{"behaviour", "behavior", "event", "eventname", "eventtype", "action", "actiontype", "activity", "type", "kind", "op", "operation", "行为", "事件"}
)

// plain returns a name without case and punctuation.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// hint returns the rank of a column's name among words; a smaller rank is more likely, and -1
// is no match.
func hint(name string, words []string) int {
	return slices.Index(words, plain(name))
}

// nearlyAll is the share of rows that must have a user and a time.
const nearlyAll = 0.97

func (s *sheet) nearlyAll(n int) bool { return float64(n) >= nearlyAll*float64(len(s.rows)) }

// A when is the source of the time, and its format.
type when struct {
	column  string // "" if none was found
	pattern string
	timing
	noYear bool
	taken  []int // the columns of the sheet that it uses
	unsure []string
}

// clockAlone matches a time of day without a day.
var clockAlone = regexp.MustCompile(`^[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?$`)

// whenOf finds the time among the columns.
func (s *sheet) whenOf(columns []column, f *format) when {
	var found []int
	for i, c := range columns {
		if len(c.times) > 0 && s.nearlyAll(c.filled) {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(columns[a].timeRank(), columns[b].timeRank()) })
	best := -1
	if len(found) > 0 {
		best = found[0]
	}
	if best < 0 || !columns[best].times[0].clock {
		if w, ok := s.pairOf(columns, f); ok {
			return w
		}
	}
	if best < 0 {
		return when{}
	}
	c := columns[best]
	w := when{column: c.name, timing: c.times[0], taken: []int{best}}
	if other := swapped(c.times); other != "" {
		w.unsure = append(w.unsure, fmt.Sprintf("day and month may stand the other way round, as in %q", other))
	}
	if c.times[0].epoch() && hint(c.name, timeWords) < 0 && !c.times[0].near() {
		w.unsure = append(w.unsure, "these may be numbers that are no times")
	}
	if len(found) > 1 && hint(c.name, timeWords) < 0 {
		var others []string
		for _, i := range found[1:] {
			others = append(others, columns[i].name)
		}
		w.unsure = append(w.unsure, "other columns hold times, too: "+wordsOf(others))
	}
	return w
}

// near reports whether the times are on the days of their paths.
func (t *timing) near() bool { return len(t.hours) > 0 && t.outside*100 <= t.read }

// timeRank orders columns that hold times. Columns with a usual name and with a time of day
// come first.
func (c *column) timeRank() int {
	rank := hint(c.name, timeWords)
	if rank < 0 {
		rank = len(timeWords)
	}
	t := &c.times[0]
	if !t.clock {
		rank += 1000
	}
	if rank >= len(timeWords) && t.epoch() && !t.near() {
		rank += 2000
	}
	return rank
}

// pairOf finds a day and, in the column after it, a time of day: both are taken out
// of the line together.
func (s *sheet) pairOf(columns []column, f *format) (when, bool) {
	if f.syntax == "jsonl" {
		return when{}, false
	}
	for i := range len(columns) - 1 {
		between := f.delimiter
		if f.syntax == "blanks" {
			between = " "
		}
		day, clock := s.texts(i), s.texts(i+1)
		if len(day) != len(clock) || !s.nearlyAll(len(day)) || len(day) == 0 {
			continue
		}
		bracket := f.syntax == "blanks" && strings.HasPrefix(day[0].text, "[") && strings.HasSuffix(clock[0].text, "]")
		joined := slices.Clone(day)
		for j := range joined {
			joined[j].text += " " + clock[j].text
			if bracket {
				joined[j].text = strings.Trim(joined[j].text, "[]")
			}
		}
		times := bestTimes(joined)
		if len(times) == 0 || !bracket && !clockAlone.MatchString(clock[0].text) {
			continue
		}
		w := when{column: "$line", timing: times[0], taken: []int{i, i + 1}}
		if bracket {
			w.pattern = `\[([^]]+)\]`
			return w, true
		}
		if w.pattern = pairPattern(f, i); between != " " {
			if w.format == "" {
				w.format = "2006-01-02 15:04:05"
			}
			w.format = strings.Replace(w.format, " ", between, 1)
		}
		return w, true
	}
	return when{}, false
}

// pairPattern takes columns i and i+1 out of a line.
func pairPattern(f *format, i int) string {
	column, between := `\S+`, `[ \t]+`
	if f.syntax != "blanks" {
		between = regexp.QuoteMeta(f.delimiter)
		column = `.*?`
		if r := []rune(f.delimiter); len(r) == 1 {
			column = "[^" + regexp.QuoteMeta(f.delimiter) + "]*"
		}
	}
	lead := ""
	if f.syntax == "blanks" {
		lead = `[ \t]*`
	}
	return fmt.Sprintf("^%s(?:%s%s){%d}(%s%s%s)", lead, column, between, i, column, between, column)
}

// A who is the column of the user.
type who struct {
	column string // "" where none was found
	taken  int
	unsure string
}

// idLike matches texts that may be a user's ID.
var idLike = regexp.MustCompile(`^[\p{L}\p{N}_@.:+=-]{1,255}$`)

// whoOf finds the user among the columns that are not taken.
func (s *sheet) whoOf(columns []column, taken []int) who {
	best, rank := -1, 0
	var may []int
	for i, c := range columns {
		if slices.Contains(taken, i) || !s.nearlyAll(c.filled) {
			continue
		}
		if n := hint(c.name, userWords); n >= 0 && (best < 0 || n < rank) {
			best, rank = i, n
		}
		if (c.typ == behaviour.String || c.typ == behaviour.Int64) && s.idLike(i) && (c.distinct > 1 || len(s.rows) < 3) {
			may = append(may, i)
		}
	}
	if best >= 0 {
		return who{column: columns[best].name, taken: best}
	}
	// An ID by its name, else the first that looks like one.
	for _, i := range may {
		if n := plain(columns[i].name); strings.HasSuffix(n, "userid") || strings.HasSuffix(n, "uid") || strings.HasSuffix(n, "user") {
			best = i
			break
		}
	}
	if best < 0 && len(may) > 0 {
		best = may[0]
	}
	if best < 0 {
		return who{taken: -1}
	}
	w := who{column: columns[best].name, taken: best, unsure: "nothing says that these are the users"}
	var others []string
	for _, i := range may {
		if i != best {
			others = append(others, columns[i].name)
		}
	}
	if len(others) > 0 {
		w.unsure = fmt.Sprintf("it is a guess; the users could also be %s", wordsOf(others))
	}
	return w
}

func (s *sheet) idLike(column int) bool {
	n := 0
	texts := s.texts(column)
	for _, t := range texts {
		if idLike.MatchString(t.text) {
			n++
		}
	}
	return n > 0 && float64(n) >= nearlyAll*float64(len(texts))
}

// kindColumn finds a column that names behaviours: one that is called so, with a few
// texts that repeat. It returns -1 if there is none.
func (s *sheet) kindColumn() int {
	best, rank := -1, len(kindWords)
	for i, name := range s.names {
		n := hint(name, kindWords)
		if n < 0 {
			n = hint(name[strings.LastIndexByte(name, '.')+1:], kindWords)
		}
		if n < 0 || n >= rank {
			continue
		}
		texts := s.texts(i)
		var all []string
		for _, t := range texts {
			all = append(all, t.text)
		}
		kinds := distinct(all)
		short := !slices.ContainsFunc(kinds, func(k string) bool { return len(k) > 64 })
		if s.nearlyAll(len(texts)) && short && len(kinds) > 1 && len(kinds) <= behaviour.MaxKinds && len(kinds)*3 <= len(texts) {
			best, rank = i, n
		}
	}
	return best
}
