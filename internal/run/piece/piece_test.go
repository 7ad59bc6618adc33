package piece_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"usertrail/internal/run/piece"
)

// line is a piece of a plan.
func line(number string) string {
	return `{"usertrail":"extract","version":1,"plan":"p","piece":` + number + `,"of":3,"table":"t","more":"m"}`
}

func read(text string) (numbers []int, err error) {
	err = piece.Each(strings.NewReader(text), "pieces", "extract", 1, func(h piece.Header, l []byte) error {
		var p struct {
			piece.Header
			More string `json:"more"`
		}
		numbers = append(numbers, h.Piece)
		return piece.Decode(l, &p)
	})
	return numbers, err
}

func TestLinesComeInManyWays(t *testing.T) {
	for name, text := range map[string]string{
		"plain":         line("2") + "\n" + line("0") + "\n",
		"no last break": line("2") + "\n" + line("0"),
		"blank lines":   "\n" + line("2") + "\n \r\n\n" + line("0") + "\n\n",
		"Windows":       line("2") + "\r\n" + line("0") + "\r\n",
		"Hadoop":        "0\t" + line("2") + "\n81\t" + line("0") + "\n",
	} {
		if got, err := read(text); err != nil || !slices.Equal(got, []int{2, 0}) {
			t.Errorf("%s: pieces %v, %v; want 2 and 0", name, got, err)
		}
	}
	if got, err := read("\n\n"); len(got) > 0 || err != nil {
		t.Errorf("blank lines are pieces %v, %v", got, err)
	}
}

func TestForeignLinesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"users":            `line 1: wrong piece: "users" is not a line that plan prints`,
		line("0") + "\n{}": `line 2: wrong piece: "{}" is not a line that plan prints`,
		strings.Replace(line("0"), "ext", "x", 1):   "of a plan of xract, not of extract",
		strings.Replace(line("0"), ":1,", ":2,", 1): "its version is 2, this program's 1",
		line("3"):  "piece 3 of 3",
		line("-1"): "piece -1 of 3",
		strings.Replace(line("0"), `"p"`, `""`, 1):    `of plan ""`,
		strings.Replace(line("0"), "more", "mroe", 1): `unknown field "mroe"`,
		"x\t" + line("0"):        "is not a line that plan prints",
		strings.Repeat("x", 100): strings.Repeat("x", 60) + `"…`,
	} {
		if _, err := read(text); !errors.Is(err, piece.ErrPiece) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
}

func TestCheckWantsOneWholePlan(t *testing.T) {
	h := func(plan string, n int) piece.Header { return piece.Header{Plan: plan, Piece: n, Of: 4, Table: "t"} }
	if err := piece.Check([]piece.Header{h("p", 3), h("p", 1), h("p", 0), h("p", 1), h("p", 2)}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		all  []piece.Header
		want string
	}{
		{nil, "there is none"},
		{[]piece.Header{h("p", 0), h("q", 1)}, "plan p of 4 pieces of t, and plan q of 4 pieces of t"},
		{[]piece.Header{h("p", 1), h("p", 1)}, "pieces 0 and 2-3 of plan p are not among the lines"},
		{[]piece.Header{h("p", 0), h("p", 1), h("p", 3)}, "piece 2 of plan p is not among the lines"},
	} {
		if err := piece.Check(c.all); !errors.Is(err, piece.ErrPiece) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestMissingPiecesAreNamed(t *testing.T) {
	for want, numbers := range map[string][]int{
		"piece 7 of 40 of plan p has no result yet: run it, then commit": {7},
		"pieces 0, 2-4 and 9 of 40 of plan p have no result yet":         {0, 2, 3, 4, 9},
		"pieces 0-3 of 40": {0, 1, 2, 3},
		"pieces 0, 2, 4, 6, 8, 10, 12, 14 and 2 more of": {0, 2, 4, 6, 8, 10, 12, 14, 16, 18},
	} {
		if err := piece.Missing("p", numbers, 40); !errors.Is(err, piece.ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
