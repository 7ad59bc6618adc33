package estimate

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"usertrail/internal/run/quantity"
)

// Choose returns the index of the plan that an extract uses, and the reasons, in sentences.
func (f Facts) Choose(plans []Plan) (chosen int, why []string) {
	name, decidedBy := f.name(), ByRolls
	if f.Rolls != Known || name == Snapshot {
		decidedBy = f.byRows()
	}
	for i := range plans {
		if plans[i].Name == name && plans[i].DecidedBy == decidedBy {
			chosen = i
		}
	}
	p := &plans[chosen]
	why = append(why, f.whyPlan(p), f.whySettle(p))
	if f.Name != "" {
		a := f.averages()
		why = append(why, f.whyRows(p, &a), "These limits apply where the table is stored: "+strings.Join(f.Pushed(p), ", ")+".")
	}
	if p.Screen {
		why = append(why, "The conditions need fewer columns than the result: users are filtered by these columns first, unless that is slower.")
	}
	if sentence := f.sooner(plans, chosen); sentence != "" {
		why = append(why, sentence)
	}
	return chosen, why
}

// name returns the plan of --plan, or the plan that auto selects.
func (f *Facts) name() string {
	switch {
	case !f.Live:
		return Files
	case f.Asked == "auto":
		return f.Auto
	}
	return f.Asked
}

func (f *Facts) whyPlan(p *Plan) string {
	rows := f.each()
	switch {
	case p.Name == Files:
		return "A table of files ignores --plan: it reads each user's days as one range, and only the blocks that hold them."
	case f.Asked != "auto":
		return fmt.Sprintf("--plan %s was given.", f.Asked)
	case f.Unnamed:
		return fmt.Sprintf("In the layout %s the keys of a user's rows are not known beforehand: --plan auto scans.", f.Name)
	case p.Name == Get && f.Apart:
		return "A user's rows are not adjacent, and their keys are known: --plan auto gets them."
	case p.Name == Get:
		return "One row of each user is needed, and a get of one row costs no more than a scan: --plan auto gets."
	}
	return fmt.Sprintf("Each user may have %s (%s on %s). A scan looks up their place once, gets look it up %s: --plan auto scans.",
		quantity.Of(rows, "row"), quantity.Of(f.read(), "behaviour"), quantity.Of(int64(f.Days), "day"), quantity.Of(rows, "time"))
}

func (f *Facts) whySettle(p *Plan) string {
	because := ""
	switch {
	case p.DecidedBy == ByRolls:
		return fmt.Sprintf("The rolls show that %s may be active. No other user is read.", quantity.Of(f.Stay.Users, "user"))
	case p.Name == Snapshot:
		because = "A snapshot has no rolls"
	case f.Rolls == Off:
		because = "--rolls off was given"
	default:
		because = "The table may have rows that no roll lists"
	}
	switch p.DecidedBy {
	case ByWalk:
		return because + ": all rows of the table are first scanned for their users" + f.whoseAre(p) + "."
	case ByExist:
		return because + ": first it is tested which rows exist, beginning with the rarest behaviour. Only users who can still be active are tested further and read."
	}
	return because + ", and one behaviour is enough to be active: every user asked for is read."
}

// whoseAre returns the number of rows that are scanned for their users, as part of a
// sentence. It returns "" if the table's layout is not known.
func (f *Facts) whoseAre(p *Plan) string {
	if f.Name == "" {
		return ""
	}
	return fmt.Sprintf("; %s are returned, without values", quantity.Of(p.Walked, "row"))
}

// Another plan is mentioned if it takes half the time, and saves some seconds.
const (
	muchSooner  = 2
	fewSeconds  = 2
	roundedTime = 100 * time.Millisecond
)

// sooner returns a sentence about the fastest plan, if its estimated time is much less
// than the time of the chosen plan, and else "".
func (f *Facts) sooner(plans []Plan, chosen int) string {
	best := chosen
	for i := range plans {
		if plans[i].Seconds < plans[best].Seconds && (plans[i].DecidedBy != ByRolls || f.Rolls == Known || f.Rolls == Off) {
			best = i
		}
	}
	b, c := &plans[best], &plans[chosen]
	if b.Seconds*muchSooner > c.Seconds || c.Seconds-b.Seconds < fewSeconds {
		return ""
	}
	how := "--plan " + b.Name
	if b.Name == Files {
		how = "it"
	}
	if b.DecidedBy == ByRolls && f.Rolls == Off {
		how += " without --rolls off"
	}
	sentence := fmt.Sprintf("With %s it might take %s instead of %s", how, About(b.Seconds), About(c.Seconds))
	if how == "it without --rolls off" {
		sentence = fmt.Sprintf("Without --rolls off it might take %s instead of %s", About(b.Seconds), About(c.Seconds))
	}
	if b.Name == Snapshot {
		sentence += "; this plan takes a snapshot and reads HBase's files"
	}
	return sentence + "."
}

// About formats an estimated time, rounded to its precision.
func About(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		d = max(d.Round(roundedTime/10), roundedTime/10)
	case d < 10*time.Second:
		d = d.Round(roundedTime)
	case d < time.Hour:
		d = d.Round(time.Second)
	default:
		return fmt.Sprintf("%s h", humanize.CommafWithDigits(d.Hours(), 1))
	}
	return d.String()
}
