package condition

import (
	"fmt"
	"slices"
	"time"

	"github.com/expr-lang/expr/vm"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
)

// A Having is a condition that selects users. See the package comment.
type Having struct {
	schema *behaviour.Schema
	x      *expression
	refs   Refs
	terms  []*term // aggregates of fields, each argument once
}

// ParseHaving reads a condition on the events of a user that are left. If the text is wrong,
// the error wraps ErrCondition and shows the place.
func ParseHaving(text string, s *behaviour.Schema) (*Having, error) {
	x, err := read(text, s, together{s})
	if err != nil {
		return nil, err
	}
	h := &Having{schema: s, x: x, refs: noRefs(s)}
	_, _, err = x.reads(func(t *term) binding { return new(HavingEvaluator).bind(t) }, h.refer)
	return h, err
}

func (h *Having) refer(t *term) {
	if t.kind >= 0 {
		h.refs.Kinds.Add(t.kind)
	}
	switch {
	case t.formula != nil:
		t.formula.fields(func(field uint32) { h.refs.Fields[t.kind][field] = true })
	case t.field >= 0:
		h.refs.Fields[t.kind][t.field] = true
	default:
		return
	}
	if !slices.ContainsFunc(h.terms, t.sharesAccumulator) {
		h.terms = append(h.terms, t)
	}
}

// sharesAccumulator reports whether one accumulator serves t and o.
func (t *term) sharesAccumulator(o *term) bool {
	formula := func(t *term) string {
		if t.formula == nil {
			return ""
		}
		return t.formula.text
	}
	return t.kind == o.kind && t.field == o.field && formula(t) == formula(o) && (t.quality == distinctOf) == (o.quality == distinctOf)
}

// Distinct returns the number of fields whose distinct values h counts.
func (h *Having) Distinct() (n int) {
	for _, t := range h.terms {
		if t.quality == distinctOf {
			n++
		}
	}
	return n
}

// Refs returns what h reads. A count() adds no kinds: it counts events that are read for
// other reasons.
func (h *Having) Refs() Refs { return h.refs }

// together is the vocabulary of aggregates over a user's events.
type together struct{ schema *behaviour.Schema }

// aggregates are the names of the aggregates.
var aggregates = []string{"count", "days", "sum", "avg", "min", "max", "first", "last"}

func (v together) alone(name string) (*term, string) {
	for _, t := range qualities {
		if t.name == name {
			return nil, name + " is a property of one event: use it in --where"
		}
	}
	if kind, ok := v.schema.Find(name); ok {
		term := kindTerm(&v.schema.Kinds[kind])
		return nil, fmt.Sprintf("%s is a behaviour: write count(%s), days(%s), first(%s) or last(%s)", name, term, term, term, term)
	}
	return nil, unknownName(v.schema, name)
}

func (v together) of(kind, field int) (*term, string) {
	k := &v.schema.Kinds[kind]
	f := k.Fields[field]
	name := fieldTerm(k, f)
	if summed(f.Type) {
		return nil, fmt.Sprintf("%s has a value for each %s: write sum(%s), avg, min, max or count", name, k.Name, name)
	}
	return nil, fmt.Sprintf("%s has a value for each %s: write count(%s) or count(distinct %s)", name, k.Name, name, name)
}

func (v together) call(name string, args []argument) (*term, string) {
	t := &term{name: name + "()", argument: argument{kind: -1, field: -1}}
	if len(args) > 0 {
		t.argument = args[0]
		t.name = fmt.Sprintf("%s(%s)", name, v.shown(args[0]))
	}
	if name == distinctName {
		t.name = fmt.Sprintf("count(distinct %s)", v.shown(t.argument))
	}
	problem := v.wants(name, args)
	if problem == "" {
		problem = v.result(name, t)
	}
	return t, problem
}

func (v together) calls() []string { return slices.Concat(aggregates, functionNames) }

func (v together) shown(a argument) string {
	if a.formula != nil {
		return a.formula.text
	}
	k := &v.schema.Kinds[a.kind]
	if a.field < 0 {
		return kindTerm(k)
	}
	return fieldTerm(k, k.Fields[a.field])
}

// wants describes a wrong number or kind of an aggregate's arguments. It returns "" if they are right.
func (v together) wants(name string, args []argument) string {
	one := len(args) == 1
	field := one && args[0].field >= 0
	formula := one && args[0].formula != nil
	switch {
	case name == "count":
		if len(args) > 1 || formula {
			return "count has one behaviour or field, or nothing"
		}
	case name == distinctName:
		if !field {
			return "count(distinct …) has one field" + v.exampleOf("count(distinct %s)", func(behaviour.Type) bool { return true })
		}
	case slices.Contains([]string{"days", "first", "last"}, name):
		if !one || field || formula {
			return fmt.Sprintf("%s has one behaviour, such as %s(%s)", name, name, kindTerm(&v.schema.Kinds[0]))
		}
	case !field && !formula:
		return fmt.Sprintf("%s has one field%s", name, v.exampleOf(name+"(%s)", summed))
	}
	return ""
}

// exampleOf returns a hint with the first field whose type is allowed, if there is one.
func (v together) exampleOf(aggregate string, allowed func(behaviour.Type) bool) string {
	for kind, k := range v.schema.Kinds {
		for field, f := range k.Fields {
			if allowed(f.Type) {
				return ", such as " + fmt.Sprintf(aggregate, v.shown(argument{kind: kind, field: field}))
			}
		}
	}
	return ""
}

func summed(t behaviour.Type) bool { return t == behaviour.Int64 || t == behaviour.Double }

func timed(t behaviour.Type) bool { return t == behaviour.Timestamp || t == behaviour.Day }

// result sets the type of the aggregate t, or returns the reason why it has none.
func (v together) result(name string, t *term) string {
	var of behaviour.Type
	switch {
	case t.formula != nil:
		of = t.formula.typ
	case t.field >= 0:
		of = v.schema.Kinds[t.kind].Fields[t.field].Type
	}
	t.typ, t.nullable = typeOf[time.Time](), true
	switch name {
	case "count":
		t.quality, t.typ, t.nullable = countOf, typeOf[int](), false
	case distinctName:
		t.quality, t.typ, t.nullable = distinctOf, typeOf[int](), false
	case "days":
		t.quality, t.typ, t.nullable = daysOf, typeOf[int](), false
	case "first":
		t.quality = firstOf
	case "last":
		t.quality = lastOf
	case "sum":
		t.quality, t.typ, t.nullable = sumOf, typeOf[float64](), false
	case "avg":
		t.quality, t.typ = averageOf, typeOf[float64]()
	case "min":
		t.quality, t.typ = leastOf, goTypes[of]
	case "max":
		t.quality, t.typ = mostOf, goTypes[of]
	}
	t.shown = typeName(t.typ)
	ordered := t.quality == leastOf || t.quality == mostOf
	if t.quality >= sumOf && t.quality <= mostOf && !summed(of) && !(ordered && timed(of)) {
		needs := "a number"
		if ordered {
			needs += " or a time"
		}
		return fmt.Sprintf("%s needs %s, and %s is a %s", name, needs, v.shown(t.argument), of)
	}
	return ""
}

// A HavingEvaluator receives a user's events one by one and then reports whether the user is kept. It
// holds a few numbers for each aggregate and no events. Only a count of distinct values holds more: 8
// bytes for each value, and twice as many while it makes room for more.
type HavingEvaluator struct {
	program *program
	machine vm.VM
	zone    *time.Location
	counted activity.Set
	count   int        // of all behaviours counted
	kinds   []*did     // by kind; nil where no aggregate is of it
	columns [][]column // by kind, what aggregates are of
	badly   error      // the error of a value of the user
}

// A column is an accumulator of the aggregates of one argument. add adds an event, and begin begins a user.
type column struct {
	of *term // the first of these aggregates
	accumulator
}

type accumulator interface {
	begin()
	add(b *trail.Batch, ev *trail.Event) error
}

// accumulatorOf returns an accumulator of the aggregate t.
func accumulatorOf(t *term, s *behaviour.Schema) accumulator {
	if t.formula != nil {
		return &computed{seen: seen{typ: t.formula.typ}, formula: t.formula}
	}
	typ := s.Kinds[t.kind].Fields[t.field].Type
	if t.quality == distinctOf {
		return &distinct{field: uint32(t.field), typ: typ}
	}
	return &seen{field: uint32(t.field), typ: typ}
}

// Evaluator returns an evaluator for one goroutine.
func (h *Having) Evaluator() *HavingEvaluator {
	n := len(h.schema.Kinds)
	e := &HavingEvaluator{zone: h.x.zone, counted: activity.First(n), kinds: make([]*did, n), columns: make([][]column, n)}
	for kind := range n {
		if h.refs.Kinds.Has(kind) {
			e.kinds[kind] = new(did)
		}
	}
	for _, t := range h.terms {
		e.columns[t.kind] = append(e.columns[t.kind], column{t, accumulatorOf(t, h.schema)})
	}
	p, err := h.x.program(e.bind)
	if err != nil {
		panic("condition: " + err.Error()) // ParseHaving has built the same program
	}
	e.program = p
	return e
}

// Counting sets the kinds that count() counts. Without it, count() counts all events that
// are added, even those that only other aggregates need.
func (e *HavingEvaluator) Counting(kinds activity.Set) { e.counted = kinds }

// Begin begins a user.
func (e *HavingEvaluator) Begin() {
	e.count, e.badly = 0, nil
	for _, d := range e.kinds {
		if d != nil {
			*d = did{}
		}
	}
	for _, columns := range e.columns {
		for _, c := range columns {
			c.begin()
		}
	}
}

// Add adds the user's next event, in the order of the trail. All events of a user are of one batch, which
// must not change before Keeps.
func (e *HavingEvaluator) Add(b *trail.Batch, ev *trail.Event) {
	if e.counted.Has(int(ev.Kind)) {
		e.count++
	}
	if d := e.kinds[ev.Kind]; d != nil {
		d.add(ev)
	}
	for _, c := range e.columns[ev.Kind] {
		if err := c.add(b, ev); err != nil {
			e.badly = err
		}
	}
}

// Keeps reports whether the user is kept. It fails if arithmetic overflows 64
// bits, or if a value does not have its field's type.
func (e *HavingEvaluator) Keeps() (bool, error) {
	if e.badly != nil {
		return false, e.badly
	}
	if e.program.known {
		return e.program.says, nil
	}
	return e.program.run(&e.machine)
}

// bind returns the binding of an aggregate. If e has no accumulators yet, the binding has
// only the right type.
func (e *HavingEvaluator) bind(t *term) binding {
	switch {
	case t.kind < 0:
		return binding{get: func(...any) (any, error) { return e.count, nil }}
	case t.quality == distinctOf:
		return e.bindDistinct(t)
	case t.field < 0 && t.formula == nil:
		return e.bindKind(t)
	}
	return e.bindField(t)
}

func (e *HavingEvaluator) bindDistinct(t *term) binding {
	d, ok := e.column(t).(*distinct)
	if !ok {
		d = new(distinct)
	}
	return binding{get: func(...any) (any, error) { return d.count(), nil }}
}

func (e *HavingEvaluator) bindKind(t *term) binding {
	d := new(did)
	if e.kinds != nil {
		d = e.kinds[t.kind]
	}
	some := func(...any) (any, error) { return d.count > 0, nil }
	switch t.quality {
	case daysOf:
		return binding{get: func(...any) (any, error) { return d.days, nil }}
	case firstOf:
		return binding{get: func(...any) (any, error) { return time.UnixMicro(d.first), nil }, has: some}
	case lastOf:
		return binding{get: func(...any) (any, error) { return time.UnixMicro(d.last), nil }, has: some}
	}
	return binding{get: func(...any) (any, error) { return d.count, nil }}
}

func (e *HavingEvaluator) bindField(t *term) binding {
	c := new(seen)
	switch a := e.column(t).(type) {
	case *seen:
		c = a
	case *computed:
		c = &a.seen
	}
	some := func(...any) (any, error) { return c.count > 0, nil }
	ordered := func(...any) (any, error) { return c.ordered > 0, nil }
	switch t.quality {
	case sumOf:
		return binding{get: func(...any) (any, error) { return c.sum(), nil }}
	case averageOf:
		return binding{get: func(...any) (any, error) { return c.sum() / float64(c.count), nil }, has: some}
	case leastOf:
		return binding{get: func(...any) (any, error) { return c.value(c.least, e.zone), nil }, has: ordered}
	case mostOf:
		return binding{get: func(...any) (any, error) { return c.value(c.most, e.zone), nil }, has: ordered}
	}
	return binding{get: func(...any) (any, error) { return c.count, nil }}
}

// column returns the accumulator of t, or nil if a claim is evaluated without it.
func (e *HavingEvaluator) column(t *term) accumulator {
	if e.columns == nil {
		return nil
	}
	for _, c := range e.columns[t.kind] {
		if c.of.sharesAccumulator(t) {
			return c.accumulator
		}
	}
	return nil
}
