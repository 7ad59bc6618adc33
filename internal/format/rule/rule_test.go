package rule_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/format/rule"
)

// record is the record that the rules of the tests read.
var record = map[string]string{
	"method": "PUT", "userId": "", "status": "404", "bytes": "12.5", "Event name": "Course viewed", "context.course.id": "x/1", "$3": "buy", "用户": "u1", "text": "not a number",
}

func holds(t *testing.T, text string) (bool, []string) {
	t.Helper()
	r, err := rule.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	e := r.Evaluator()
	for range 2 { // an evaluator has no memory
		got, err := e.Holds(func(i int) string { return record[r.Columns()[i]] })
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, err := e.Holds(func(i int) string { return record[r.Columns()[i]] }); err != nil || again != got {
			t.Errorf("%s: %t, and then %t, %v", text, got, again, err)
		}
	}
	got, err := r.Evaluator().Holds(func(i int) string { return record[r.Columns()[i]] })
	if err != nil {
		t.Fatal(err)
	}
	return got, r.Columns()
}

func TestHolds(t *testing.T) {
	for text, want := range map[string]bool{
		`method == "PUT" && userId == ""`:                   true,
		`method == "PUT" and userId != ""`:                  false,
		`not (method == "GET")`:                             true,
		`status in ["404", "500"]`:                          true,
		`status not in ["404", "500"]`:                      false,
		`number(status) >= 400`:                             true,
		`number(bytes) == 12.5`:                             true,
		`number(bytes) + 1 > 13`:                            true,
		`number(text) > 0 || number(text) <= 0`:             false,
		`number(userId) == 0`:                               false,
		`number(text) != 1`:                                 true,
		`$env["Event name"] startsWith "Course"`:            true,
		`$env["Event name"] matches "view(ed)?$"`:           true,
		`lower(method) == "put" && len(userId) == 0`:        true,
		`context.course.id == "x/1"`:                        true,
		`$env["context.course.id"] contains "/"`:            true,
		`$3 == "buy"`:                                       true,
		`用户 == 'u1'`:                                        true,
		`missing == ""`:                                     true,
		`true`:                                              true,
		`method == "PUT" ? userId == "" : status == "none"`: true,
	} {
		if got, _ := holds(t, text); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	_, got := holds(t, `lower(method) == "put" && userId == "" && $env["Event name"] != method && context.course.id != "" && number($3) > 1`)
	if want := []string{"method", "userId", "Event name", "context.course.id", "$3"}; !slices.Equal(got, want) {
		t.Errorf("the columns are %q, want %q", got, want)
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "it is empty",
		`method = "PUT"`:                 "character 8: ",
		`method == `:                     "something is missing at the end",
		`method`:                         "the whole must be true or false, and it is a text",
		`method > 5`:                     "invalid operation: > (mismatched types text and int): every column is a text, and number(x) is the number in the column x: write number(x) to compare it",
		`1.5 != a.b`:                     "(mismatched types number and text): every column is a text",
		`bytes + 1 > 2`:                  "(mismatched types text and int): every column is a text",
		`status in [404, 500]`:           "cannot use text as type int in array: every column is a text",
		`userId == nil`:                  `character 11: nil: every column is a text, and a null is the empty text: write ""`,
		`method in ["PUT", nil]`:         `character 19: nil: `,
		`int(status) > 5`:                "int is no function here: there are len, lower, upper, trim and number",
		`filter(1..3, # > 1) == []`:      "filter is no function here",
		`method matches "("`:             "missing closing )",
		`fetch(method) == ""`:            "character 1: ",
		strings.Repeat("(", 50_000):      "it has 50000 characters, at most 10000 are read",
		strings.Repeat("true && ", 9999): "characters, at most 10000 are read",
	} {
		r, err := rule.Parse(text)
		if !errors.Is(err, rule.ErrRule) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, %v; want %s", text, r, err, want)
		}
	}
}

// TestErrorsOfTheEvaluationAreReturned divides by the length of an empty text.
func TestErrorsOfTheEvaluationAreReturned(t *testing.T) {
	r, err := rule.Parse(`5 % len(userId) == 0`)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := r.Evaluator().Holds(func(int) string { return "" }); err == nil {
		t.Errorf("it is %t", v)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`method == "PUT" && userId == ""`)
	f.Add(`$env["a b"].c in ["x"] or number(d) ** 2 > 1 ? a matches "x" : !true`)
	f.Add(`let x = a; x ?? b; {a: 1}["a"] == 1..3`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := rule.Parse(text)
		if err != nil {
			if !errors.Is(err, rule.ErrRule) {
				t.Errorf("%v does not wrap ErrRule", err)
			}
			return
		}
		first, failed := r.Evaluator().Holds(func(i int) string { return r.Columns()[i] })
		if again, err := r.Evaluator().Holds(func(i int) string { return r.Columns()[i] }); again != first || (err == nil) != (failed == nil) {
			t.Errorf("%q: %t, %v and then %t, %v", text, first, failed, again, err)
		}
	})
}

func BenchmarkHolds(b *testing.B) {
	r, err := rule.Parse(`method == "PUT" && userId == ""`)
	if err != nil {
		b.Fatal(err)
	}
	e := r.Evaluator()
	for b.Loop() {
		if _, err := e.Holds(func(int) string { return "PUT" }); err != nil {
			b.Fatal(err)
		}
	}
}
