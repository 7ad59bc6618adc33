package testworld

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// nasty are user IDs that a key design may confuse or a format may damage.
var nasty = []string{
	"u", "u1", "u10", "1u", "01u", "u1,", ",u1", "u1,20140901,00001", ",", ",,", `\`, `\\`, `\c`, `,\`, `c\`,
	"0", "00", "000", "-1", "1e3", "9223372036854775808", "NULL", "true", "all", "#1",
	"张三", "张三丰", "三张", "😀", "😀张", "👨‍👩‍👧", "é", "e\u0301", "\u0301e", "ﬀ", "ß", "İ", "\u202eu", "\U0010ffff",
	`"`, `""`, `q"x`, "a b", "a\tb", "n\x00l", "\x7f", "%2C", "a|b", "~",
	strings.Repeat("a", 255), strings.Repeat("a", 254), strings.Repeat("界", 85), strings.Repeat(",", 127), strings.Repeat(`\`, 255),
}

// names returns different user IDs, sorted: nasty ones and ordinary ones.
func names(r *rand.Rand, people int) []string {
	pool := slices.Clone(nasty)
	r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	for len(pool) < 2*people {
		pool = append(pool, fmt.Sprintf("%010d", 7919*len(pool)))
	}
	out := pool[:people]
	if people >= 4 { // not only nasty ones
		copy(out[people*3/4:], pool[len(pool)-people:])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// numbers returns different numeric user IDs, sorted. Some are prefixes of others.
func numbers(r *rand.Rand, people int) []string {
	out := []string{"0", "1", "10", "100000", "999999"}
	for len(out) < people {
		out = append(out, fmt.Sprint(2+r.IntN(999_997)))
	}
	out = out[:people]
	slices.Sort(out)
	return slices.Compact(out)
}
