package testtable

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"usertrail/internal/behaviour"
	"usertrail/internal/test/testworld"
)

// FatJob returns the job of a table that has one behaviour and one region.
func FatJob(layout string) string {
	return `logs: {path: 'logs/{date}/{behaviour}.csv', max_line: 16MiB}
table: {path: trails, regions: 1}
layout: ` + layout + `
behaviours:
  play: {id: 1, fields: {title: string, seconds: int64}}
`
}

// FatLog returns a log of FatJob. One user has the given number of records of size bytes. The log
// has one user before and one user after this user.
func FatLog(date behaviour.Date, seed byte, records, size int) testworld.File {
	dice := rand.NewChaCha8([32]byte{seed})
	title := make([]byte, size/2)
	var text strings.Builder
	fmt.Fprintf(&text, "user_id,time,title,seconds\n1,%s 10:00:00,one,1\n", date)
	for i := range records {
		dice.Read(title)
		fmt.Fprintf(&text, "2,%s 11:%02d:%02d.%06d,%x,%d\n", date, i/60%60, i%60, i*7%1_000_000, title, i)
	}
	fmt.Fprintf(&text, "3,%s 12:00:00,two,2\n", date)
	return testworld.File{Name: date.String() + "/play.csv", Text: []byte(text.String())}
}
