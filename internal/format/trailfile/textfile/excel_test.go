package textfile

import (
	"encoding/csv"
	"strings"
	"testing"
)

// TestExcelValues writes strings as values of csv for Excel. The wanted values are without the quotes of csv.
func TestExcelValues(t *testing.T) {
	long := strings.Repeat("7", maxFormula)
	for _, c := range []struct{ text, want string }{
		{"news", "news"},
		{"新闻联播", "新闻联播"},
		{"", ""},
		{"Bat, man", "Bat, man"},
		{"007", `="007"`},
		{"Sep 1", `="Sep 1"`},
		{"1E5", `="1E5"`},
		{"true", `="true"`},
		{`7" single`, `="7"" single"`},
		{"=1+1", `="=1+1"`},
		{"+49", `="+49"`},
		{"-", `="-"`},
		{"@SUM(A)", `="@SUM(A)"`},
		{"  =A", `="  =A"`},
		{"＝A", `="＝A"`},
		{"#N/A", `="#N/A"`},
		{"a;=A", "a;'=A"},
		{"a,\"=A", "a,'\"=A"},
		{"a\n=A", "a\n'=A"},
		{"\t=A1", "'\t'=A1"},
		{"1;=A", `="1;'=A"`},
		{long, `="` + long + `"`},
		{long + "7", "'" + long + "7"},
		{"1;=" + long[3:], "'1;'=" + long[3:]},
		{strings.Repeat("😀", 127) + "77", "'" + strings.Repeat("😀", 127) + "77"},
	} {
		line := string(appendExcel(nil, []byte(c.text))) + ",x\n"
		row, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil || len(row) != 2 || row[0] != c.want {
			t.Errorf("%q: %q, %v; want %q", c.text, row, err, c.want)
		}
	}
	for v, want := range map[int64]string{5: "5", -999999999999999: "-999999999999999", 1000000000000000: `"=""1000000000000000"""`, -1000000000000000: `"=""-1000000000000000"""`} {
		if got := string(appendExcelInt(nil, v)); got != want {
			t.Errorf("%d: %s, want %s", v, got, want)
		}
	}
}
