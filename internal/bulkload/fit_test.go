package bulkload_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"usertrail/internal/bulkload"
	"usertrail/internal/job"
	"usertrail/internal/layout"
)

func TestIDsAreCutEvenly(t *testing.T) {
	for _, x := range []struct {
		ids     string
		format  string
		first   int
		last    int
		regions int
		keyLen  int
	}{
		{"0000000001..0062951396", "%010d", 1, 62951396, 16, 11},
		{"u1000000..u1999999", "u%d", 1000000, 1999999, 10, 9},
		{"1..5000", "%d", 1, 5000, 4, 0},
		{"0..9", "%d", 0, 9, 5, 2},
	} {
		ids, err := bulkload.ParseIDs(x.ids)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := bulkload.FitIDs(ids, x.regions)
		if err != nil {
			t.Fatal(err)
		}
		if len(fit.Splits) != x.regions-1 || fit.KeyLen != x.keyLen || fit.Splits.Validate() != nil {
			t.Errorf("%s: %d points %q, keys of %d bytes; want %d of %d", x.ids, len(fit.Splits), fit.Splits, fit.KeyLen, x.regions-1, x.keyLen)
		}
		counts := make([]int, x.regions)
		l, err := layout.ByName(layout.Default)
		if err != nil {
			t.Fatal(err)
		}
		n, random := 100_000, rand.New(rand.NewPCG(1, 2))
		for range n {
			id := fmt.Appendf(nil, x.format, x.first+random.IntN(x.last-x.first+1))
			counts[fit.Splits.Of(l.AppendUserKey(nil, id))]++
		}
		for i, c := range counts {
			if share := n / x.regions; c < share*9/10 || c > share*11/10 {
				t.Errorf("%s: region %d has %d of %d IDs, want about %d", x.ids, i, c, n, share)
			}
		}
	}
	for _, text := range []string{
		"", "1", "1..", "..1", "a..b", "9..1", "a1..b2", "01..100", "1..0100", "1...9", "1234567890123456789..2234567890123456789",
	} {
		if ids, err := bulkload.ParseIDs(text); !errors.Is(err, bulkload.ErrRequest) {
			t.Errorf("%q is taken for %+v, %v", text, ids, err)
		}
	}
}

func TestLogsTellHowATableIsCut(t *testing.T) {
	y := newYard(t, twoKinds)
	y.write("2014-09-01/play.csv", header)
	if _, err := bulkload.FitLogs(t.Context(), y.config("2014-09-01", "2014-09-01"), 4); !errors.Is(err, job.ErrNoInput) {
		t.Errorf("logs without a record: %v, want ErrNoInput", err)
	}
	var b strings.Builder
	b.WriteString(header)
	for i := range 400 {
		fmt.Fprintf(&b, "%04d,2014-09-01 08:00:00,a,1\n", i)
	}
	y.write("2014-09-01/play.csv", b.String())
	fit, err := bulkload.FitLogs(t.Context(), y.config("2014-09-01", "2014-09-01"), 4)
	if err != nil || len(fit.Splits) != 3 || fit.KeyLen != 5 || fit.Users != 400 {
		t.Errorf("400 users in 4 regions: %d points, keys of %d bytes, %d users, %v", len(fit.Splits), fit.KeyLen, fit.Users, err)
	}
	y.write("2014-09-01/order.csv", "user,time,price\nsomebody,2014-09-01 08:00:00,1.5\n")
	fit, err = bulkload.FitLogs(t.Context(), y.config("2014-09-01", "2014-09-01"), 0)
	if err != nil || len(fit.Splits) != 0 || fit.KeyLen != 0 || fit.Users != 401 {
		t.Errorf("a user of another length: %d points, keys of %d bytes, %d users, %v", len(fit.Splits), fit.KeyLen, fit.Users, err)
	}
	y.job.Table.Regions = 8
	if fit, err = bulkload.FitLogs(t.Context(), y.config("2014-09-01", "2014-09-01"), 0); err != nil || len(fit.Splits) != 7 {
		t.Errorf("as the job says: %d points, %v", len(fit.Splits), err)
	}
}
