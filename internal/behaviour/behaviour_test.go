package behaviour_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/behaviour"
)

func journey() *behaviour.Schema {
	return &behaviour.Schema{Zone: "Asia/Shanghai", Kinds: []behaviour.Kind{
		{ID: 1, Name: "login"},
		{ID: 3, Name: "play", Fields: []behaviour.Field{{Name: "programme", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}}},
		{ID: 7, Name: "order", Fields: []behaviour.Field{{Name: "price", Type: behaviour.Double}, {Name: "programme", Type: behaviour.String}}},
	}}
}

func TestSchemaFindsItsKinds(t *testing.T) {
	s := journey()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	for i, k := range s.Kinds {
		if got, ok := s.Kind(k.Name); got != i || !ok {
			t.Errorf("%s is kind %d, %v; want %d", k.Name, got, ok, i)
		}
		if got, ok := s.KindByID(k.ID); got != i || !ok {
			t.Errorf("id %d is kind %d, %v; want %d", k.ID, got, ok, i)
		}
	}
	for _, name := range []string{"", "Play", "visit"} {
		if i, ok := s.Kind(name); ok {
			t.Errorf("%q is kind %d", name, i)
		}
	}
	for _, id := range []uint16{0, 2, 8, 65535} {
		if i, ok := s.KindByID(id); ok {
			t.Errorf("id %d is kind %d", id, i)
		}
	}
	if got := s.Names(); !slices.Equal(got, []string{"login", "play", "order"}) {
		t.Errorf("names are %q", got)
	}
}

func TestColumnsStandOnceInOrderOfKinds(t *testing.T) {
	s := journey()
	for _, c := range []struct {
		kinds []int
		want  string
	}{
		{[]int{0}, ""},
		{[]int{0, 1}, "programme seconds"},
		{[]int{1, 2}, "programme seconds price"},
		{[]int{2, 1}, "price programme seconds"},
		{nil, ""},
	} {
		var got []string
		for _, f := range s.Columns(c.kinds) {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("kinds %v have the columns %q, want %s", c.kinds, got, c.want)
		}
	}
}

func TestSchemaIsRemembered(t *testing.T) {
	b, err := json.Marshal(journey())
	if err != nil {
		t.Fatal(err)
	}
	var back behaviour.Schema
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(&back, journey()) {
		t.Errorf("%s comes back as %+v, %v", b, back, err)
	}
}

func TestValidateSaysWhatIsWrong(t *testing.T) {
	field := func(name string, typ behaviour.Type) behaviour.Field { return behaviour.Field{Name: name, Type: typ} }
	for _, c := range []struct {
		change func(*behaviour.Schema)
		want   string
	}{
		{func(s *behaviour.Schema) { s.Kinds = nil }, "no behaviours"},
		{func(s *behaviour.Schema) {
			s.Kinds = nil
			for i := range behaviour.MaxKinds + 1 {
				s.Kinds = append(s.Kinds, behaviour.Kind{ID: uint16(i + 1), Name: fmt.Sprint("k", i)})
			}
		}, "1025 behaviours: at most 1024 in one table"},
		{func(s *behaviour.Schema) { s.Kinds[0].Name = "" }, `behaviour "": a name has at least one character`},
		{func(s *behaviour.Schema) { s.Kinds[0].Name = "a\n" }, `behaviour "a\n": a name has no control characters, and this one has U+000A`},
		{func(s *behaviour.Schema) { s.Kinds[1].Name = "login" }, "behaviour login occurs twice"},
		{func(s *behaviour.Schema) { s.Kinds[0].ID = 0 }, "behaviour login: id is not in 1..65535"},
		{func(s *behaviour.Schema) { s.Kinds[1].ID = 1 }, "behaviours login and play: ids 1 and 1 are not ascending"},
		{func(s *behaviour.Schema) { s.Kinds[1].ID = 9 }, "behaviours play and order: ids 9 and 7 are not ascending"},
		{func(s *behaviour.Schema) { s.Kinds[1].Fields[0].Name = "a,b" }, `behaviour play: field "a,b": a name is a letter, then letters, digits and _`},
		{func(s *behaviour.Schema) { s.Kinds[1].Fields[0].Name = "_" }, `behaviour play: field "_": a name is a letter, then letters, digits and _`},
		{func(s *behaviour.Schema) { s.Kinds[1].Fields[0].Name = "time" }, "behaviour play: field time: every trail has a column of that name; give the field another"},
		{func(s *behaviour.Schema) { s.Kinds[1].Fields[0].Name = "seconds" }, "behaviour play: field seconds occurs twice"},
		{func(s *behaviour.Schema) { s.Kinds[1].Fields[0].Type = "float" }, `behaviour play: field programme: unknown type "float"`},
		{func(s *behaviour.Schema) { s.Kinds[2].Fields[1] = field("programme", behaviour.Int64) }, "behaviour order: field programme is int64 here and string in another behaviour: one column cannot be both"},
	} {
		s := journey()
		c.change(s)
		if err := s.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	s := journey()
	s.Kinds[0].Name, s.Kinds[1].Fields[0].Name, s.Kinds[2].Fields[1].Name = "登录", "节目_1", "é2"
	if err := s.Validate(); err != nil {
		t.Errorf("names in other scripts: %v", err)
	}
	for _, name := range behaviour.Reserved {
		s := journey()
		s.Kinds[1].Fields[1].Name = name
		if err := s.Validate(); err == nil {
			t.Errorf("a field may be called %s, as a column of every trail is", name)
		}
	}
}

func TestMergeAddsWhatIsNew(t *testing.T) {
	old, next := journey(), journey()
	next.Kinds = append(next.Kinds[1:], behaviour.Kind{ID: 5, Name: "visit", Fields: []behaviour.Field{{Name: "page", Type: behaviour.String}}})
	next.Kinds[0].Fields = []behaviour.Field{{Name: "device", Type: behaviour.String}, {Name: "seconds", Type: behaviour.Int64}}
	got, err := old.Merge(next)
	if err != nil {
		t.Fatal(err)
	}
	want := journey()
	want.Kinds[1].Fields = append(want.Kinds[1].Fields, behaviour.Field{Name: "device", Type: behaviour.String})
	want.Kinds = slices.Insert(want.Kinds, 2, next.Kinds[2])
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !reflect.DeepEqual(old, journey()) {
		t.Errorf("Merge changed the schema it was asked of: %+v", old)
	}
	again, err := got.Merge(next)
	if err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("merged once more it is %+v, %v", again, err)
	}
}

func TestMergeIntoAKindThatHadNoFields(t *testing.T) {
	next := journey()
	next.Kinds[0].Fields = []behaviour.Field{{Name: "device", Type: behaviour.String}, {Name: "city", Type: behaviour.String}}
	got, err := journey().Merge(next)
	if err != nil || !reflect.DeepEqual(got, next) {
		t.Errorf("got %+v, %v; want %+v", got, err, next)
	}
}

// TestMergeRefusesToChange checks that no change that would misread written cells is
// accepted.
func TestMergeRefusesToChange(t *testing.T) {
	for _, c := range []struct {
		change func(*behaviour.Schema)
		want   string
	}{
		{func(s *behaviour.Schema) { s.Zone = "UTC" }, "the table's zone is Asia/Shanghai, the job's is UTC: dates in the table would not agree: write the zone of the table, or load into a new table"},
		{func(s *behaviour.Schema) { s.Kinds[0].ID = 2 }, "behaviour login: id 2, but 1 in the table: write the id of the table"},
		{func(s *behaviour.Schema) { s.Kinds[1].Name = "watch" }, "behaviour watch: id 3 is play in the table: keep that name, or choose another id for a new behaviour"},
		{func(s *behaviour.Schema) { s.Kinds[1].Fields[1].Type = behaviour.String }, "behaviour play: field seconds is string, but int64 in the table: undo the change, or give the field another name"},
		{func(s *behaviour.Schema) {
			s.Kinds[0].Fields = []behaviour.Field{{Name: "seconds", Type: behaviour.Double}}
		}, "behaviour play: field seconds is int64 here and double in another behaviour: one column cannot be both"},
	} {
		next := journey()
		c.change(next)
		if got, err := journey().Merge(next); err == nil || err.Error() != c.want {
			t.Errorf("got %+v, %v; want %s", got, err, c.want)
		}
	}
}

// TestATableKeepsTheCaseOfItsFields checks that the fields of an older program remain, and
// that no field is added that differs from one of them only in case.
func TestATableKeepsTheCaseOfItsFields(t *testing.T) {
	kind := func(id uint16, name string, fields ...string) behaviour.Kind {
		k := behaviour.Kind{ID: id, Name: name}
		for _, f := range fields {
			k.Fields = append(k.Fields, behaviour.Field{Name: f, Type: behaviour.String})
		}
		return k
	}
	table := &behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{kind(1, "play", "ID", "Price", "price"), kind(2, "order", "Größe")}}
	if err := table.Validate(); err != nil {
		t.Errorf("a table of an older program: %v", err)
	}
	for _, next := range []behaviour.Kind{kind(1, "play", "ID", "price", "more"), kind(2, "order", "Price"), kind(3, "visit", "Größe", "new")} {
		if _, err := table.Merge(&behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{next}}); err != nil {
			t.Errorf("%v: %v", next, err)
		}
	}
	for _, next := range []behaviour.Kind{kind(1, "play", "PRICE"), kind(2, "order", "größe"), kind(3, "visit", "Id")} {
		_, err := table.Merge(&behaviour.Schema{Zone: "UTC", Kinds: []behaviour.Kind{next}})
		if err == nil || !strings.Contains(err.Error(), "differs only in case") || !strings.Contains(err.Error(), next.Fields[0].Name) {
			t.Errorf("%v: %v, want an error that names the field", next, err)
		}
	}
}
