package inspect

import (
	"fmt"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/format/roll"
	"usertrail/internal/store/dfs"
)

// A Roll lists the users of an HFile, with their days and behaviours.
type Roll struct {
	Table string `json:"table,omitempty"` // the table that contains it
	Note  string `json:"note,omitempty"`  // why less is known than possible

	Users      int64          `json:"users"`
	UserDays   int64          `json:"user_days"`
	Records    int64          `json:"records"`
	Blocks     int            `json:"blocks"`
	Span       behaviour.Span `json:"span"`
	Behaviours []RollKind     `json:"behaviours"`
	First      string         `json:"first"` // user
	Last       string         `json:"last"`  // user
	Head       []RollUser     `json:"head"`  // the first users
}

// A RollKind is a behaviour of a roll.
type RollKind struct {
	ID   uint16 `json:"id"`
	Name string `json:"name,omitempty"` // if a table names it
}

func (k RollKind) String() string {
	if k.Name == "" {
		return fmt.Sprint(k.ID)
	}
	return k.Name
}

// A RollUser is one user of a roll.
type RollUser struct {
	User    string    `json:"user"`
	Records int64     `json:"records"`
	Days    []RollDay `json:"days"`
}

// A RollDay is a date and the user's behaviours on it, as names. If no table names them, they
// are IDs.
type RollDay struct {
	Date       behaviour.Date `json:"date"`
	Behaviours []string       `json:"behaviours"`
}

// roll reports the roll f.
func (l *look) roll(r *Report, f dfs.File) error {
	rd, err := roll.Open(f, f.Size())
	if err != nil {
		return err
	}
	owner, note, err := l.owner()
	if err != nil {
		return err
	}
	m := rd.Meta()
	out := &Roll{
		Table: owner.dir, Note: note,
		Users: m.Users, UserDays: m.UserDays, Records: m.Records, Blocks: m.Blocks, Span: m.Span,
		Behaviours: []RollKind{}, Head: []RollUser{},
	}
	for _, id := range m.IDs {
		out.Behaviours = append(out.Behaviours, RollKind{id, owner.kindName(id)})
	}
	if m.Users > 0 {
		out.First, out.Last = owner.user(m.First), owner.user(m.Last)
	}
	it := rd.Iterator()
	for len(out.Head) < l.rows && it.Next() {
		out.addUser(it.Entry(), &owner)
	}
	r.Roll = out
	return it.Err()
}

func (r *Roll) addUser(e *roll.Entry, h *owner) {
	u := RollUser{User: h.user(e.User), Records: e.Records, Days: []RollDay{}}
	for j, d := range e.Days {
		day := RollDay{Date: d.Date, Behaviours: []string{}}
		for i, k := range r.Behaviours {
			if e.Kinds(j).Has(i) {
				day.Behaviours = append(day.Behaviours, k.String())
			}
		}
		u.Days = append(u.Days, day)
	}
	r.Head = append(r.Head, u)
}

func (r *Roll) text(p *page) {
	var names []string
	for _, k := range r.Behaviours {
		names = append(names, k.String())
	}
	p.facts(
		fact{"table", r.Table},
		fact{"note", r.Note},
		fact{"users", count(r.Users)},
		fact{"user-days", count(r.UserDays)},
		fact{"records", count(r.Records)},
		fact{"dates", r.Span.String()},
		fact{"behaviours", strings.Join(names, ", ")},
		fact{"first user", short(r.First)},
		fact{"last user", short(r.Last)},
		fact{"blocks", count(r.Blocks)},
	)
	g := newGrid("user", ">records", "days")
	for _, u := range r.Head {
		g.add(short(u.User), count(u.Records), dayText(u.Days))
	}
	p.list("users", g, int(r.Users))
}

// maxDays is the number of days of a user that are printed on a line.
const maxDays = 4

func dayText(days []RollDay) string {
	var s []string
	for _, d := range days[:min(len(days), maxDays)] {
		s = append(s, d.Date.String()+" "+strings.Join(d.Behaviours, "+"))
	}
	if more := len(days) - maxDays; more > 0 {
		s = append(s, fmt.Sprintf("… %d more", more))
	}
	return strings.Join(s, ", ")
}
