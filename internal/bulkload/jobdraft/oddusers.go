package jobdraft

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"usertrail/internal/behaviour"
)

// The texts of a user may have characters that idText does not accept: a masked card, a phone number, a name. Texts of
// these forms are IDs. Other short texts that repeat may be names of users or of something else: they are offered, and never
// chosen. Only a draft needs the expressions: they are not compiled at each start of the command.
var oddForms = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`^[\p{L}\p{N}_@.:+=*#-]*[*#][\p{L}\p{N}_@.:+=*#-]*$`),            // 100111******0003, #00003
		regexp.MustCompile(`^[0-9*#Xx]{2,}([ -][0-9*#Xx]{2,})+$`),                           // 1001 **** **** 0003
		regexp.MustCompile(`^(\+|\(\+?|)[0-9]([ ()./-]{0,2}[0-9]){6,14}$`),                  // +49 171 1000021
		regexp.MustCompile(`^(\{[\p{L}\p{N}_-]+\}|<[\p{L}\p{N}_-]+>|\[[\p{L}\p{N}_-]+\])$`), // {00005ccd-0003}
		regexp.MustCompile(`^(?i:` + strings.Join(numberedUsers, "|") + `)[ ._:#/-]+[0-9]+$`),
		regexp.MustCompile(`^\p{L}[\p{L}\p{N}_@:-]*([/\\][\p{L}\p{N}_@:-]+)+$`), // a/b/3
	}
})

// notFree matches texts that are no names of users: a path, a URL, a sentence.
var notFree = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/|://|^[A-Z]+ /|/[^ ]*[.?]|(^| )\p{L}.* \p{L}.* \p{L}.* \p{L}`)
})

const (
	longestOdd = 64 // bytes of a text that may be a user
	oddUser    = 5  // the score of a column whose texts have one of oddForms
	freeText   = -1 // the score of a column that is offered, and never chosen
)

// free reports whether the column is offered, and never chosen.
func (c *candidate) free() bool { return c.score == freeText }

// oddScore returns how likely a column whose texts are no plain IDs is the user, and sets u.odd if they have the form of
// other IDs.
func (s *sheet) oddScore(i int, c *column, u *candidate) int {
	name := s.names[i]
	free := notFree()
	short := s.most(i, func(text string) bool { return len(text) <= longestOdd && !free.MatchString(text) })
	if c.typ != behaviour.String || len(c.times) > 0 || c.commas || u.rows < 30 || u.distinct*10 > u.rows*9 || !short || holds(name, notUsers) || holds(name, freeParts) {
		return 0
	}
	if !s.most(i, func(text string) bool { return strings.ContainsAny(text, "0123456789*") }) || u.distinct*4 > u.rows*3 || !s.oddFormed(i) {
		if s.most(i, letter.MatchString) {
			return freeText
		}
		return 0
	}
	u.odd = true
	return max(1, oddUser+s.idScore(i, c, name))
}

// oddFormed reports whether nearly all texts of a column have one of oddForms, and one shape.
func (s *sheet) oddFormed(i int) bool {
	if !slices.ContainsFunc(oddForms(), func(form *regexp.Regexp) bool { return s.most(i, form.MatchString) }) {
		return false
	}
	count, most := map[string]int{}, 0
	texts := s.texts(i)
	for _, t := range texts {
		shape := wordRuns.ReplaceAllString(t.text, "x")
		shape = maskRuns.ReplaceAllString(shape, "*")
		count[shape]++
		most = max(most, count[shape])
	}
	return float64(most) >= nearlyAll*float64(len(texts))
}

var (
	wordRuns = regexp.MustCompile(`[\p{L}\p{N}_]+`)
	maskRuns = regexp.MustCompile(`[*#]+`)
)

// preferMany moves the first column whose texts have the form of other IDs to the front if the first column, with plain
// IDs, has few texts next to it. Users are many, and each has few records.
func preferMany(all []candidate) {
	const records, times = 10, 2
	if len(all) == 0 || all[0].score >= userByText || all[0].odd || all[0].rows < records*all[0].distinct {
		return
	}
	i := slices.IndexFunc(all, func(c candidate) bool { return c.odd && c.distinct >= times*all[0].distinct })
	if i > 0 {
		found := all[i]
		copy(all[1:i+1], all[:i])
		all[0] = found
	}
}
