package jobdraft

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A Question is a part of the draft that the logs do not settle.
type Question struct {
	Key     string   // user, behaviour, zone or year
	Text    string   // the question, with its reason
	Choices []Choice // the likely answers, the most likely first
	Default string   // the answer that the draft uses otherwise; "" if there is none
	Wrong   string   // why the last answer was refused, "" at first
}

// A Choice is a possible answer to a Question.
type Choice struct{ Value, Text string }

// ask asks a question until check accepts the answer. If nobody can be asked, it returns the
// default.
func (g *guessed) ask(q Question, check func(string) string) (string, error) {
	if g.cfg.Ask == nil {
		return q.Default, nil
	}
	for {
		answer, err := g.cfg.Ask(q)
		if err != nil {
			return "", fmt.Errorf("draft: ask for the %s: %w", q.Key, err)
		}
		answer = cmp.Or(answer, q.Default)
		if q.Wrong = check(answer); q.Wrong == "" {
			return answer, nil
		}
	}
}

// nothing is the answer for "no column".
const nothing = "-"

// byPaths is the answer that the paths name the behaviours.
const byPaths = "path"

// askKinds asks what names the behaviours. c is the guess, and unsure is the reason why it is a
// guess.
func (g *guessed) askKinds(c choice, columns []candidate, unsure string) (choice, error) {
	if g.cfg.Ask == nil {
		if c.named != nil {
			g.pathsUnsure = append(g.pathsUnsure, unsure)
			c.column = -1
		} else {
			g.kindUnsure = unsure
		}
		return c, nil
	}
	q := Question{Key: "behaviour", Text: "Which column names the behaviour of a record?", Default: nothing}
	if c.named != nil {
		q.Default = byPaths
		q.Choices = append(q.Choices, Choice{byPaths, unsure})
	}
	for i := range columns {
		q.Choices = append(q.Choices, Choice{columns[i].column, columns[i].figures()})
		if columns[i].at == c.column && c.named == nil {
			q.Default = columns[i].column
		}
	}
	q.Choices = append(q.Choices, Choice{nothing, "all records are one behaviour"})
	at := func(answer string) int {
		return slices.IndexFunc(columns, func(c candidate) bool { return c.column == answer })
	}
	answer, err := g.ask(q, func(answer string) string {
		if answer == nothing || answer == byPaths && c.named != nil || at(answer) >= 0 {
			return ""
		}
		return fmt.Sprintf("%q is none of these", answer)
	})
	switch {
	case err != nil:
		return choice{}, err
	case answer == byPaths && c.named != nil:
		return choice{named: c.named, column: -1}, nil
	case answer == nothing:
		return choice{column: -1}, nil
	}
	return choice{column: columns[at(answer)].at}, nil
}

// askZone asks for the zone of the table.
func (g *guessed) askZone() error {
	if g.cfg.Ask == nil || g.zoneUnsure == "" {
		return nil
	}
	zone, err := g.ask(Question{Key: "zone", Text: "Which time zone do the dates of the table have? (" + g.zoneUnsure + ")", Default: g.zone}, func(answer string) string {
		if _, err := time.LoadLocation(answer); err != nil || answer == "Local" {
			return fmt.Sprintf("%q is no time zone: write a name such as UTC, Asia/Shanghai or America/New_York", answer)
		}
		return ""
	})
	g.zone, g.zoneUnsure = zone, ""
	return err
}

// askUser asks for the column of the user of a sheet. w is the guess, and all are the columns
// that may be the user. An answer for other behaviours holds for these, too.
func (g *guessed) askUser(s *sheet, of string, w userSource, all []candidate) (userSource, error) {
	if g.cfg.Ask == nil || w.column != "" && w.unsure == "" {
		return w, nil
	}
	listed := func(answer string) int {
		return slices.IndexFunc(all, func(c candidate) bool { return c.title() == answer })
	}
	if i := listed(g.user); i >= 0 {
		return s.userSourceOf(&all[i]), nil
	}
	q := Question{Key: "user", Text: fmt.Sprintf("Which column has the user of %s?", of)}
	for i := range all {
		q.Choices = append(q.Choices, Choice{all[i].title(), all[i].figures()})
	}
	if len(all) > 0 && !all[0].free() {
		q.Default = all[0].title()
	}
	answer, err := g.ask(q, func(answer string) string {
		if listed(answer) >= 0 || slices.Contains(s.columns, answer) {
			return ""
		}
		return fmt.Sprintf("there is no column %q", answer)
	})
	if err != nil {
		return w, err
	}
	g.user = answer
	if i := listed(answer); i >= 0 {
		return s.userSourceOf(&all[i]), nil
	}
	c := s.candidateOf(slices.Index(s.columns, answer))
	return s.userSourceOf(&c), nil
}

// askRest asks for the year of times that have none.
func (g *guessed) askRest() error {
	if g.cfg.Ask == nil {
		return nil
	}
	year := 0
	for i := range g.kinds {
		w := &g.kinds[i].timeSource
		if !w.noYear {
			continue
		}
		if year == 0 {
			answer, err := g.ask(Question{Key: "year", Text: fmt.Sprintf("Of which year are times such as those in %s?", w.column)}, func(answer string) string {
				if n, err := strconv.Atoi(answer); err != nil || n < 1 || n > 9999 {
					return fmt.Sprintf("%q is no year", answer)
				}
				return ""
			})
			if err != nil {
				return err
			}
			year, _ = strconv.Atoi(answer)
		}
		w.noYear, w.year = false, year
	}
	return nil
}
