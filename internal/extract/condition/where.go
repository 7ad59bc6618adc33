package condition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"usertrail/internal/activity"
	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
)

// A Where decides which events to keep. See the package comment.
type Where struct {
	schema *behaviour.Schema
	x      *expression
	kinds  activity.Set
	refs   Refs
}

// ParseWhere reads a condition on single events. If the text is wrong, the error wraps
// ErrCondition and shows the place.
func ParseWhere(text string, s *behaviour.Schema) (*Where, error) {
	x, err := read(text, s, single{s})
	if err != nil {
		return nil, err
	}
	if err := x.resolveKinds(s); err != nil {
		return nil, err
	}
	w := &Where{schema: s, x: x, refs: noRefs(s)}
	for kind := range s.Kinds {
		if err := w.look(kind); err != nil {
			return nil, err
		}
	}
	w.refs.Kinds = w.kinds
	return w, nil
}

// resolveKinds replaces short names of behaviours by their names, where x compares the term behaviour
// with texts by ==, != or in. A text that names no behaviour is an error.
func (x *expression) resolveKinds(s *behaviour.Schema) (err error) {
	resolve := func(n ast.Node) {
		text, ok := n.(*ast.StringNode)
		if !ok || err != nil {
			return
		}
		if kind, ok := s.Find(text.Value); ok {
			text.Value = s.Kinds[kind].Name
			return
		}
		err = wrong(x.text, position(n), "no behaviour is called %q; %s", text.Value, s.Instead(text.Value))
	}
	ast.Walk(&x.root, visitor(func(n ast.Node) {
		b, ok := n.(*ast.BinaryNode)
		if !ok || !slices.Contains([]string{"==", "!=", "in"}, b.Operator) {
			return
		}
		for _, side := range [][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
			t := x.terms[nameOf(side[0])]
			if t == nil || t.quality != behaviourOf {
				continue
			}
			if list, ok := side[1].(*ast.ArrayNode); ok {
				for _, n := range list.Nodes {
					resolve(n)
				}
				continue
			}
			resolve(side[1])
		}
	}))
	return err
}

// look finds the fields that are read of a kind, and whether any event of it may be kept.
func (w *Where) look(kind int) error {
	bind := func(t *term) binding { return (*WhereEvaluator)(nil).bind(t, kind, w.schema) }
	constant, says, err := w.x.reads(bind, func(t *term) {
		if t.quality == valueOf {
			w.refs.Fields[t.kind][t.field] = true
		}
	})
	if !constant || says {
		w.kinds.Add(kind)
	}
	return err
}

// Refs returns what w reads: for each kind in Kinds, the fields that w depends on.
func (w *Where) Refs() Refs { return w.refs }

// Kinds returns the kinds whose events can be kept. Events of other kinds need not be read.
func (w *Where) Kinds() activity.Set { return w.kinds }

// single is the vocabulary of one event.
type single struct{ schema *behaviour.Schema }

// qualities lists the terms that every event has.
var qualities = []*term{
	{name: "behaviour", typ: typeOf[string](), shown: "string", quality: behaviourOf, argument: argument{kind: -1}},
	{name: "time", typ: typeOf[time.Time](), shown: "time", quality: momentOf, argument: argument{kind: -1}},
	{name: "hour", typ: typeOf[int](), shown: "int64", quality: hourOf, argument: argument{kind: -1}},
	{name: "weekday", typ: typeOf[int](), shown: "int64", quality: weekdayOf, argument: argument{kind: -1}},
}

func (v single) alone(name string) (*term, string) {
	for _, t := range qualities {
		if t.name == name {
			return t, ""
		}
	}
	if kind, ok := v.schema.Find(name); ok {
		return nil, bareKind(&v.schema.Kinds[kind])
	}
	return nil, unknownName(v.schema, name, "behaviour", "time", "hour", "weekday")
}

// bareKind returns a hint for a behaviour that is written alone.
func bareKind(k *behaviour.Kind) string {
	say := fmt.Sprintf("%s is a behaviour: write behaviour == %q", k.Name, k.Name)
	if len(k.Fields) == 0 {
		return say
	}
	return fmt.Sprintf("%s, or one of its fields, such as %s", say, fieldTerm(k, k.Fields[0]))
}

// unknownName returns a hint for an unknown identifier. It may be a field without its behaviour,
// a misspelt behaviour, or one of others.
func unknownName(s *behaviour.Schema, name string, others ...string) string {
	var full []string
	for _, k := range s.Kinds {
		if i := slices.IndexFunc(k.Fields, func(f behaviour.Field) bool { return f.Name == name }); i >= 0 {
			full = append(full, fieldTerm(&k, k.Fields[i]))
		}
	}
	if len(full) > 0 {
		return fmt.Sprintf("%s is a field: write %s", name, strings.Join(full, " or "))
	}
	if strings.EqualFold(name, "null") {
		return name + " is written nil"
	}
	switch name {
	case "date":
		return `date is not known: choose days with --from and --to, or write time >= date("2014-09-01") in --where`
	case "user", "user_id":
		return name + " is not known: choose users with --users"
	}
	if hint := behaviour.DidYouMean(name, append(others, s.Calls()...)); hint != "" {
		return name + " is not known, " + hint
	}
	return fmt.Sprintf("%s is not known: write %q if it is a text; the behaviours are %s", name, name, s.Listed())
}

func (v single) of(kind, field int) (*term, string) {
	k := &v.schema.Kinds[kind]
	f := k.Fields[field]
	return &term{
		name: fieldTerm(k, f), typ: goTypes[f.Type], shown: string(f.Type), nullable: true, quality: valueOf, argument: argument{kind: kind, field: field},
	}, ""
}

func (v single) call(name string, args []argument) (*term, string) {
	if name == distinctName {
		name = "count"
	}
	return nil, fmt.Sprintf("%s is a property of all events of a user: use it in --having", name)
}

func (v single) calls() []string { return functionNames }

// A WhereEvaluator evaluates a Where for one event after the other.
type WhereEvaluator struct {
	programs []*program // by kind
	machine  vm.VM
	zone     *time.Location
	boxes    boxes

	batch *trail.Batch
	event *trail.Event
}

// Evaluator returns an evaluator for one goroutine.
func (w *Where) Evaluator() *WhereEvaluator {
	e := &WhereEvaluator{zone: w.x.zone}
	for kind := range w.schema.Kinds {
		p, err := w.x.program(func(t *term) binding { return e.bind(t, kind, w.schema) })
		if err != nil {
			panic("condition: " + err.Error()) // ParseWhere has built the same program
		}
		e.programs = append(e.programs, p)
	}
	return e
}

// Keeps reports whether the event ev of b is kept. It fails if arithmetic overflows 64
// bits, or if a value does not have its field's type. It does not use b after it has
// returned.
func (e *WhereEvaluator) Keeps(b *trail.Batch, ev *trail.Event) (bool, error) {
	p := e.programs[ev.Kind]
	if p.known {
		return p.says, nil
	}
	e.batch, e.event = b, ev
	return p.run(&e.machine)
}

// run evaluates p, whose terms have been set.
func (p *program) run(machine *vm.VM) (bool, error) {
	if p.alone != nil {
		v, err := p.alone()
		return err == nil && v.(bool), err
	}
	v, err := machine.Run(p.code, nil)
	if err != nil {
		return false, evaluation(p.text, err)
	}
	return v.(bool), nil
}

// bind returns the source of t's value in an event of a kind.
func (e *WhereEvaluator) bind(t *term, kind int, s *behaviour.Schema) binding {
	switch t.quality {
	case behaviourOf:
		return binding{known: s.Kinds[kind].Name}
	case momentOf:
		return binding{get: func(...any) (any, error) { return e.moment(), nil }, leaf: e.momentTester}
	case hourOf:
		return e.small(func() int { return e.moment().In(e.zone).Hour() })
	case weekdayOf:
		return e.small(func() int { return isoWeekday(e.moment().In(e.zone)) })
	}
	if t.kind != kind {
		return binding{null: true}
	}
	typ, at := s.Kinds[kind].Fields[t.field].Type, uint32(t.field)
	return binding{
		get:  e.getter(typ, at),
		leaf: func(l leaf) call0 { return e.tester(l, typ, at) },
		has:  func(...any) (any, error) { return e.batch.Refs[e.event.Refs+at].End != 0, nil },
	}
}

// small binds a whole number that every behaviour has.
func (e *WhereEvaluator) small(value func() int) binding {
	return binding{get: func(...any) (any, error) { return value(), nil }, leaf: func(l leaf) call0 { return wholeTester(l, value) }}
}

func (e *WhereEvaluator) moment() time.Time { return time.UnixMicro(e.event.Time) }

// momentTester returns a function that evaluates a whole comparison with the event's time,
// or nil.
func (e *WhereEvaluator) momentTester(l leaf) call0 {
	with, ok := l.with.(time.Time)
	test := ordered(l.operator, 0)
	if !ok || test == nil {
		return nil
	}
	return func(...any) (any, error) { return test(e.moment().Compare(with)) != l.not, nil }
}

// isoWeekday counts from 1, Monday, to 7, Sunday.
func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// tester returns a function that evaluates a whole comparison with a field of the event, or
// nil.
func (e *WhereEvaluator) tester(l leaf, t behaviour.Type, at uint32) call0 {
	var boxes *boxes
	var zone *time.Location
	if e != nil {
		boxes, zone = &e.boxes, e.zone
	}
	test, size := l.test(t, boxes, zone), t.Size()
	if test == nil {
		return nil
	}
	return func(...any) (any, error) {
		v := e.value(at)
		if v == nil {
			return false, nil
		}
		if size != 0 && len(v) != size {
			return nil, broken(t, v)
		}
		return test(v) != l.not, nil
	}
}

// value returns the value of a field of the event, or nil if it is null.
func (e *WhereEvaluator) value(at uint32) []byte {
	return e.batch.Value(e.batch.Refs[e.event.Refs+at])
}

// broken returns the error for a value that does not have type t.
func broken(t behaviour.Type, v []byte) error {
	return fmt.Errorf("a value of the trail: %w", t.Check(v))
}

// getter returns a function that reads a field of the current event. The field must not be
// null.
func (e *WhereEvaluator) getter(t behaviour.Type, at uint32) call0 {
	size := t.Size()
	return func(...any) (any, error) {
		v := e.value(at)
		if size != 0 && len(v) != size {
			return nil, broken(t, v)
		}
		return e.boxed(t, v), nil
	}
}

// boxed returns a value of a cell in the form that the machine uses.
func (e *WhereEvaluator) boxed(t behaviour.Type, v []byte) any {
	switch t {
	case behaviour.String:
		return e.boxes.text(v)
	case behaviour.Int64:
		return e.boxes.whole(int(behaviour.ToInt64(v)))
	case behaviour.Double:
		return e.boxes.number(behaviour.ToDouble(v))
	case behaviour.Bool:
		return behaviour.ToBool(v)
	case behaviour.Timestamp:
		return time.UnixMicro(behaviour.ToInt64(v))
	}
	return e.boxes.day(behaviour.ToDate(v), e.zone)
}
