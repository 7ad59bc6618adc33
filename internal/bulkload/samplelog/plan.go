package samplelog

import "usertrail/internal/behaviour"

// The kinds of behaviour, in the order of their IDs in the sample job.
const (
	play = iota
	order
	visit
	login
)

// kinds has for each kind the beginning of its files, its share of all records, and the
// probability that a user has any of it. The probability is most for the heaviest user, least
// for the lightest user, and linear between them.
var kinds = [...]struct {
	name        string
	header      string
	weight      int64
	most, least float64
}{
	play:  {"play", "user_id,time,programme,channel,seconds,url\n", 50, 1.00, 0.80},
	order: {"order", "user_id,time,product,price,quantity,note\n", 8, 1.00, -1.00},
	visit: {"visit", "user_id,time,page,referrer,duration\n", 30, 1.00, 0.60},
	login: {"login", "user_id,time,device,ip,success\n", 12, 0.95, 0.25},
}

// weekday is the relative load of the days of a week, from Sunday.
var weekday = [7]int64{13, 9, 9, 9, 9, 11, 14}

// A file is a file to be written.
type file struct {
	date    behaviour.Date
	kind    int
	first   int64 // the first record, counted over all logs
	records int64
}

// plan distributes cfg.Records over the days and kinds. Their numbers add up to it exactly.
func plan(cfg Config) []file {
	files := make([]file, 0, cfg.Days*len(kinds))
	var total int64
	for day := range cfg.Days {
		for k := range kinds {
			files = append(files, file{date: cfg.From + behaviour.Date(day), kind: k})
			total += weight(files[len(files)-1])
		}
	}
	// A file ends at its share of the sum so far, so that rounding errors do not add up. The
	// division comes first to avoid overflow.
	var laid, given int64
	for i := range files {
		laid += weight(files[i])
		upTo := cfg.Records/total*laid + cfg.Records%total*laid/total
		files[i].first, files[i].records = given, upTo-given
		given = upTo
	}
	return files
}

func weight(f file) int64 {
	sunday := (int64(f.date)%7 + 7 + 4) % 7 // 1970-01-01 was a Thursday
	return kinds[f.kind].weight * weekday[sunday]
}
