package condition

import (
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"usertrail/internal/behaviour"
)

// The least and greatest number of steps in a sequence.
const (
	MinSteps = 2
	MaxSteps = 32
)

// A Step is one behaviour of a sequence.
type Step struct {
	Kind   int           // index in the schema's kinds
	Within time.Duration // at most so long after the step before it; 0: however long
}

// A Sequence is a list of steps that a trail may contain:
//
//	sequence = step 1*31( "->" step [ "within" duration ] )
//	step     = the name of a behaviour, in quotes if it is not a letter, and then letters, digits and _
//	duration = 1*( number unit )
//	unit     = "w" / "d" / "h" / "m" / "s"
//
// Units are in order from the largest to the smallest, each at most once: 90s, 2h30m, 1d.
// A day is 24 hours and a week seven days.
type Sequence struct {
	schema *behaviour.Schema
	steps  []Step
}

// ParseSequence reads a sequence. An error wraps ErrCondition and shows the place.
func ParseSequence(text string, s *behaviour.Schema) (*Sequence, error) {
	p := &sequenceParser{text: text, runes: []rune(text), schema: s}
	if len(p.runes) > maxText {
		return nil, wrong("", 0, "the sequence has %d characters, at most %d are read", len(p.runes), maxText)
	}
	steps, err := p.steps()
	if err != nil {
		return nil, err
	}
	return &Sequence{s, steps}, nil
}

// Steps returns the steps in order.
func (q *Sequence) Steps() []Step { return q.steps }

// Refs returns what q reads: behaviours, and no fields.
func (q *Sequence) Refs() Refs {
	r := noRefs(q.schema)
	for _, step := range q.steps {
		r.Kinds.Add(step.Kind)
	}
	return r
}

// A sequenceParser holds the text and the current place in it.
type sequenceParser struct {
	text   string
	runes  []rune
	at     int
	schema *behaviour.Schema
}

func (p *sequenceParser) steps() ([]Step, error) {
	first, err := p.step()
	steps := []Step{first}
	for err == nil && !p.done() {
		if err = p.arrow(); err != nil {
			break
		}
		if len(steps) == MaxSteps {
			return nil, p.wrong(p.at, "a sequence has at most %d steps", MaxSteps)
		}
		var next Step
		if next, err = p.step(); err != nil {
			break
		}
		if next.Within, err = p.within(); err == nil {
			steps = append(steps, next)
		}
	}
	if err == nil && len(steps) < MinSteps {
		err = p.wrong(p.at, "one step is no sequence: write -> and another behaviour after it")
	}
	return steps, err
}

// done reports whether only blanks are left.
func (p *sequenceParser) done() bool {
	for p.at < len(p.runes) && unicode.IsSpace(p.runes[p.at]) {
		p.at++
	}
	return p.at == len(p.runes)
}

func (p *sequenceParser) arrow() error {
	if p.at+1 < len(p.runes) && string(p.runes[p.at:p.at+2]) == "->" {
		p.at += 2
		return nil
	}
	return p.wrong(p.at, "write -> before the next step, or within and a duration after a step that is not the first")
}

func (p *sequenceParser) step() (Step, error) {
	if p.done() {
		return Step{}, p.wrong(p.at, "a behaviour is missing; there are %s", p.schema.Listed())
	}
	begin := p.at
	name, err := p.name()
	if err != nil {
		return Step{}, err
	}
	if name == "" {
		return Step{}, p.wrong(begin, "a step is a behaviour; there are %s", p.schema.Listed())
	}
	kind, ok := p.schema.Find(name)
	if !ok {
		return Step{}, p.wrong(begin, "%s", noKind(p.schema, name))
	}
	return Step{Kind: kind}, nil
}

// name reads a word, or a text in quotes.
func (p *sequenceParser) name() (string, error) {
	if p.runes[p.at] != '"' {
		return p.word(), nil
	}
	quoted, err := strconv.QuotedPrefix(string(p.runes[p.at:]))
	if err != nil {
		return "", p.wrong(p.at, `a quote ends with ", and \" in it is a quote, and \\ a backslash`)
	}
	p.at += utf8.RuneCountInString(quoted)
	return strconv.Unquote(quoted)
}

// word reads letters, digits and _.
func (p *sequenceParser) word() string {
	begin := p.at
	for p.at < len(p.runes) && (p.runes[p.at] == '_' || unicode.IsLetter(p.runes[p.at]) || unicode.IsNumber(p.runes[p.at])) {
		p.at++
	}
	return string(p.runes[begin:p.at])
}

// within reads "within 1h", if the text continues with it.
func (p *sequenceParser) within() (time.Duration, error) {
	if p.done() {
		return 0, nil
	}
	begin := p.at
	if p.word() != "within" {
		p.at = begin
		return 0, nil
	}
	if p.done() {
		return 0, p.wrong(p.at, "after within, a duration is expected, such as 90s, 15m, 2h30m, 1d or 1w")
	}
	return p.duration()
}

var units = []struct {
	letter rune
	length time.Duration
}{
	{'w', 7 * 24 * time.Hour}, {'d', 24 * time.Hour}, {'h', time.Hour}, {'m', time.Minute}, {'s', time.Second},
}

func (p *sequenceParser) duration() (time.Duration, error) {
	begin := p.at
	text := []rune(p.word())
	var total time.Duration
	smaller := 0 // units from here on may follow
	for i := 0; i < len(text); {
		digits := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		unit := smaller
		for unit < len(units) && (i == len(text) || units[unit].letter != text[i]) {
			unit++
		}
		if digits == i || unit == len(units) {
			return 0, p.notDuration(begin+i, text)
		}
		part, err := times(string(text[digits:i]), units[unit].length, total)
		if err != nil {
			return 0, p.wrong(begin+digits, "%s", err)
		}
		total += part
		smaller, i = unit+1, i+1
	}
	if len(text) == 0 {
		return 0, p.notDuration(begin, text)
	}
	if total == 0 {
		return 0, p.wrong(begin, "within no time at all; write at least 1s")
	}
	return total, nil
}

// times returns the value of digits multiplied by unit, if it can be added to total.
func times(digits string, unit, total time.Duration) (time.Duration, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > int64(math.MaxInt64-total)/int64(unit) {
		return 0, fmt.Errorf("longer than %d years", math.MaxInt64/int64(365*24*time.Hour))
	}
	return time.Duration(n) * unit, nil
}

func (p *sequenceParser) notDuration(at int, text []rune) error {
	return p.wrong(at, "%q is not a duration: write 90s, 15m, 2h30m, 1d or 1w", string(text))
}

func (p *sequenceParser) wrong(at int, format string, args ...any) error {
	return wrong(p.text, at, format, args...)
}
