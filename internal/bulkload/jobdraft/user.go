package jobdraft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"usertrail/internal/behaviour"
)

// A userSource is the column of the user.
type userSource struct {
	column  string // "" where none was found
	pattern string
	taken   int      // index in the sheet, -1 if the column is also a field
	skip    bool     // many rows have no user: a load skips them
	nulls   []string // texts that the pattern selects, and that mean null
	unsure  string
}

// key returns a text that is equal for users with equal settings in a job.
func (w *userSource) key() string { return fmt.Sprintf("%s\x00%s\x00%t", w.column, w.pattern, w.skip) }

// Scores of candidates for the user.
const (
	surelyUser = 100 // a name that means users only
	maybeUser  = 60
	userByPart = 50
	userByText = 40 // texts such as user_17, or a user ID inside of a text
	mayBeID    = 10
	sparseUser = 2 // a name that means users only, but few records have one
)

// idText matches texts that may be a user's ID if they are not too long. A limit in the
// expression would make it take 15 ms to compile, at each start of the command.
var idText = regexp.MustCompile(`^[\p{L}\p{N}_@.:+=-]+$`)

func idLike(text string) bool {
	const longest = 255 // bytes
	return len(text) <= longest && idText.MatchString(text)
}

// userText matches IDs that have a word for a user in them.
var userText = regexp.MustCompile(`^(?i:user|usr|uid|u|member|visitor|cust|customer|player|student|client)[-_:]?[0-9]+$`)

// userInText are patterns of a user's ID inside of a text.
var userInText = []string{
	`(?i)\buser with id '?([0-9]+)`,
	`(?i)\buser_?id['"]?[=:] ?['"]?([\w.@-]+)`,
	`(?i)\buid=([^ &;,"]+)`,
	`(?i)\buser=([^ &;,"]+)`,
}

// chooseUser finds the user of some behaviours among the columns that are not used yet. A
// question calls the behaviours of.
func (g *guessed) chooseUser(s *sheet, columns []column, taken []int, of string) (userSource, error) {
	all := s.users(columns, taken)
	w := userSource{taken: -1}
	switch {
	case len(all) > 0 && all[0].free():
		w.unsure = "it may be " + listed(all)
	case len(all) > 0:
		w = s.userSourceOf(&all[0])
		others := all[1:]
		slices.SortStableFunc(others, func(a, b candidate) int { return compareBool(!a.sparse, !b.sparse) })
		if all[0].score < surelyUser || len(others) > 0 && others[0].sparse {
			w.unsure = "a guess: " + all[0].figures()
			if len(others) > 0 {
				w.unsure += "; it may also be " + listed(others)
			}
		}
		if w.skip {
			all = s.doubtSkipped(&w, all, columns, taken)
		}
	}
	w, err := g.askUser(s, of, w, all)
	if w.taken >= 0 {
		columns[w.taken].nulls = nullUsers(columns[w.taken].nulls, s.countTexts(w.taken))
	}
	return w, err
}

// doubtSkipped adds a comment on the records that a load skips if they are more than a third, which is more than the usual
// guests, or if another column has a user in most of them. It returns all with this column. all[0] is the user.
func (s *sheet) doubtSkipped(w *userSource, all []candidate, columns []column, taken []int) []candidate {
	user, records := &all[0], len(s.rows)
	other, found := s.userInstead(user, columns, taken)
	if !found && (records-user.rows)*3 <= records {
		return all
	}
	if w.unsure == "" {
		w.unsure = "a guess: " + user.figures()
	}
	w.unsure += fmt.Sprintf("; %d of %d records have none, and a load skips them", records-user.rows, records)
	if !found {
		return all
	}
	w.unsure += "; most of these have " + listed([]candidate{other})
	if !slices.ContainsFunc(all, func(c candidate) bool { return c.at == other.at }) {
		all = append(slices.Clone(all), other)
	}
	return all
}

// userInstead returns the column that is called a user and has a text in most of the records without the user.
func (s *sheet) userInstead(user *candidate, columns []column, taken []int) (candidate, bool) {
	if user.pattern != "" {
		return candidate{}, false
	}
	nulls := nullUsers(columns[user.at].nulls, s.countTexts(user.at))
	for i, c := range columns {
		name := s.names[i]
		called := hint(name, userWords) >= 0 || hint(name, maybeUsers) >= 0 || holds(name, userParts) && !holds(name, notUsers)
		if i == user.at || slices.Contains(taken, i) || c.distinct < 2 || !called {
			continue
		}
		with, without := 0, 0
		for _, r := range s.rows {
			if !r[user.at].empty(nulls) {
				continue
			}
			without++
			if !r[i].empty(c.nulls) {
				with++
			}
		}
		if with*2 > without {
			return s.candidateOf(i, c.nulls...), true
		}
	}
	return candidate{}, false
}

// empty reports whether a cell has no text, or one of nulls.
func (c *cell) empty(nulls []string) bool {
	return c.null || c.text == "" || slices.Contains(nulls, c.text)
}

// noUser are texts that programs write in place of a user. They are no users even if they are rare.
var noUser = append(slices.Clone(nullStrings), "None")

// nullUsers returns the texts that mean null if texts with their counts are users. nulls mean null in any case. A dash is a common one only:
// nulls holds for every column, and other columns may have a dash as a text.
func nullUsers(nulls []string, count map[string]int) []string {
	out := slices.Clone(nulls)
	all := 0
	for _, n := range count {
		all += n
	}
	add := func(n string, fits bool) {
		if fits && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, n := range noUser {
		add(n, count[n] > 0)
	}
	add("-", isCommon(count["-"], all))
	return out
}

// userSourceOf makes a candidate the user.
func (s *sheet) userSourceOf(c *candidate) userSource {
	w := userSource{column: c.column, pattern: c.pattern, taken: c.at, skip: !fewWrong(len(s.rows)-c.rows, len(s.rows)) && len(s.rows) >= 30}
	if c.pattern != "" {
		w.taken, w.nulls = -1, c.nulls
	}
	return w
}

// users returns the columns that may be the user, the most likely first.
func (s *sheet) users(columns []column, taken []int) []candidate {
	var out []candidate
	for i, c := range columns {
		if slices.Contains(taken, i) || c.filled == 0 || s.isTimeOfDay(i) {
			continue
		}
		if found, ok := s.userIn(i); ok {
			out = append(out, found)
		}
		if c.typ != behaviour.String && c.typ != behaviour.Int64 {
			continue
		}
		u := s.candidateOf(i, nullUsers(c.nulls, s.countTexts(i))...)
		u.score, u.sparse = s.userScore(i, &c, &u), s.sparse(i, &c)
		if u.score != 0 {
			out = append(out, u)
		}
	}
	out = ranked(out)
	preferMany(out)
	return out
}

// userScore returns how likely a column is the user, 0 if it is not. u describes the column.
func (s *sheet) userScore(i int, c *column, u *candidate) int {
	name := s.names[i]
	sure := hint(name, userWords)
	switch {
	case c.ofOne:
		return 1 // a user only if nothing else is
	case sure >= 0 && c.filled*2 >= len(s.rows) && (c.distinct > 1 || len(s.rows) < 50 || s.numbers):
		return surelyUser + len(userWords) - sure
	case s.sparse(i, c):
		return sparseUser
	case c.filled*2 < len(s.rows) || c.distinct < 2 && len(s.rows) > 2 || c.few() && (c.distinct < 3 || !s.clustered(i, c)):
		return 0
	}
	maybe := hint(name, maybeUsers)
	score := 0
	switch {
	case maybe >= 0:
		score = maybeUser + len(maybeUsers) - maybe
	case holds(name, userParts) && !holds(name, notUsers):
		score = userByPart
	case !s.idLike(i):
		return s.oddScore(i, c, u)
	case s.most(i, userText.MatchString):
		score = userByText
	default:
		score = mayBeID
	}
	if score > mayBeID {
		return score
	}
	return max(1, score+s.idScore(i, c, name))
}

// sparse reports whether a column is called a user, but is empty in more than half of the records.
func (s *sheet) sparse(i int, c *column) bool {
	return hint(s.names[i], userWords) >= 0 && c.filled*2 < len(s.rows) && c.distinct > 1 && !c.few()
}

// idScore corrects the score of a column that may be any ID.
func (s *sheet) idScore(i int, c *column, name string) int {
	score := 0
	switch {
	case s.most(i, address.MatchString):
		score -= 5 // users may share an address; but a session is no user at all
	case holds(name, notUsers):
		score -= 8
	}
	if c.distinct == c.filled && c.filled >= 20 {
		score -= 5 // a record's own ID: no user has two records
	}
	if i == 0 {
		score += 2
	}
	if s.clustered(i, c) {
		score += 2
	}
	return score
}

// address matches an IPv4 address.
var address = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,3}){3}$`)

// few reports whether a column has so few texts that they cannot be users.
func (c *column) few() bool {
	return c.filled >= 30 && (c.distinct < 6 || c.distinct < 20 && c.filled >= 50*c.distinct)
}

// clustered reports whether equal texts of a column follow each other, as in a file that is
// sorted by user.
func (s *sheet) clustered(at int, c *column) bool {
	texts := s.texts(at)
	runs := 0
	for i := range texts {
		if i == 0 || texts[i].text != texts[i-1].text {
			runs++
		}
	}
	return c.distinct*2 <= c.filled && runs <= c.distinct+c.distinct/10+len(s.rows)/100
}

// idLike reports whether the texts of a column may be IDs.
func (s *sheet) idLike(column int) bool { return s.most(column, idLike) }

// most reports whether nearly all texts of a column fit.
func (s *sheet) most(column int, fits func(text string) bool) bool {
	n := 0
	texts := s.texts(column)
	for _, t := range texts {
		if fits(t.text) {
			n++
		}
	}
	return n > 0 && float64(n) >= nearlyAll*float64(len(texts))
}

// nearlyAll is a share of rows that leaves room for bad records.
const nearlyAll = 0.97

// userIn finds a user's ID inside of the texts of a column.
func (s *sheet) userIn(column int) (candidate, bool) {
	texts := s.texts(column)
	for _, pattern := range userInText {
		expr := regexp.MustCompile(pattern)
		var selected []stamped
		count := map[string]int{}
		for _, t := range texts {
			if m := expr.FindStringSubmatch(t.text); m != nil {
				selected = append(selected, stamped{m[1], t.day})
				count[m[1]]++
			}
		}
		if len(texts) == 0 || len(selected)*10 < len(texts)*8 || !strings.ContainsAny(texts[0].text, " =:") {
			continue
		}
		u := candidate{at: column, column: s.columns[column], pattern: pattern, score: userByText + 30, nulls: nullsOf(selected, count)}
		u.look(selected, u.nulls)
		if u.distinct > 1 {
			return u, true
		}
	}
	return candidate{}, false
}

// nullsOf returns the texts that mean null among texts that a pattern selects and that are users.
func nullsOf(selected []stamped, count map[string]int) []string {
	nulls := nullsIn(count, len(selected), false)
	kept := slices.DeleteFunc(slices.Clone(selected), func(t stamped) bool { return slices.Contains(nulls, t.text) })
	if typ, _ := typeOf(kept, false); typ == behaviour.String {
		nulls = onlyStrings(nulls)
	}
	return nullUsers(nulls, count)
}
