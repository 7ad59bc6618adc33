package jobdraft_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// A night is a folder of logs such as people have them, made by a generator.
type night struct {
	name  string
	about string // what is special about it, for the page of docs
	zone  string // the zone that the user names with --zone, "" if none is needed
	files map[string]string
}

// A source makes the records of a night.
type source struct {
	*rand.Rand
	at time.Time
}

func newSource(seed uint64) *source {
	return &source{rand.New(rand.NewPCG(seed, 22)), time.Date(2021, 10, 17, 6, 0, 0, 0, time.UTC)}
}

// next moves the clock a little.
func (s *source) next() time.Time {
	s.at = s.at.Add(time.Duration(1+s.IntN(180)) * time.Second)
	return s.at
}

// among returns one of texts. The first ones are the most frequent.
func (s *source) among(texts ...string) string {
	n := s.IntN(len(texts))
	if s.IntN(3) > 0 {
		n = s.IntN(n + 1)
	}
	return texts[n]
}

// user returns one of n users.
func (s *source) user(format string, n int) string { return fmt.Sprintf(format, 1+s.IntN(n)) }

// lines returns a header and n lines, which the function line returns.
func lines(header string, n int, line func(i int) string) string {
	var b strings.Builder
	if header != "" {
		b.WriteString(header + "\n")
	}
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// object returns a JSON object without the members that are nil, in order.
func object(members ...any) string {
	var parts []string
	for i := 0; i < len(members); i += 2 {
		if members[i+1] == nil {
			continue
		}
		v, err := json.Marshal(members[i+1])
		if err != nil {
			panic(err)
		}
		parts = append(parts, fmt.Sprintf("%q:%s", members[i], v))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// gbk encodes a text as GBK.
func gbk(text string) string {
	out, err := simplifiedchinese.GBK.NewEncoder().String(text)
	if err != nil {
		panic(err)
	}
	return out
}

var persons = []string{"Anna Berg", "Bela Toth", "Chen Wei", "Dana Fox", "Emil Horn", "Fay Ito", "Gus Lind", "Hana Mori", "Ivo Petrov", "Jana Kral", "Kim Lund", "Lea Roth"}

// nights returns the folders.
func nights() []night {
	return []night{
		codedKinds(), codesWithoutHeader(), verbsWithoutHeader(), monthAndDay(), zoneAtTheEnd(), course(), chineseHeader(),
		emptyUsers(), dottedKinds(), openCourse(), visitors(), withCustomers(), cutLine(), epochWithDecimals(), dayMonthYear(),
		accessLog(), missingCustomers(), ratings(), nullTexts(), shortChinese(), zoneNames(), listening(), nested(), blanksInTexts(), manyKinds(),
		byFolder(), utcMidnight(), deviceFirst(),
	}
}

func codedKinds() night {
	s := newSource(1)
	return night{name: "coded", about: "behaviours coded 0 to 3, times without minutes", zone: "Asia/Shanghai", files: map[string]string{
		"user_log.csv": lines("user_id,item_id,behavior_type,user_geohash,item_category,time", 900, func(int) string {
			return fmt.Sprintf("%s,%d,%s,%s,%d,%s", s.user("9%07d", 60), 100000+s.IntN(5000), s.among("1", "1", "1", "2", "3", "4"), s.among("", "", "95q6hr"), 1000+s.IntN(300), s.next().Format("2006-01-02 15"))
		}),
	}}
}

func codesWithoutHeader() night {
	s := newSource(2)
	return night{name: "codes-no-header", about: "behaviours coded 0 to 3, no header, a tab", zone: "UTC", files: map[string]string{
		"actions.tsv": lines("", 900, func(int) string {
			return fmt.Sprintf("%s\t%d\t%s\t%d", s.user("%d", 400), 70000+s.IntN(5000), s.among("0", "0", "0", "1", "2", "3"), s.next().Unix())
		}),
	}}
}

func verbsWithoutHeader() night {
	s := newSource(3)
	n := 0
	return night{name: "verbs-no-header", about: "no header, sorted by user", zone: "Asia/Shanghai", files: map[string]string{
		"UserBehavior.csv": lines("", 900, func(i int) string {
			if i%60 == 0 {
				n += 1 + s.IntN(40)
				s.at = time.Date(2017, 11, 25, 0, 0, 0, 0, time.UTC)
			}
			return fmt.Sprintf("%d,%d,%d,%s,%d", 1000000+n, 2000000+s.IntN(90000), 2500000+s.IntN(300), s.among("pv", "pv", "pv", "cart", "fav", "buy"), s.next().Unix())
		}),
	}}
}

func monthAndDay() night {
	s := newSource(4)
	return night{name: "month-day", about: "days such as 0829, without a year", zone: "Asia/Shanghai", files: map[string]string{
		"log.csv": lines("user_id,item_id,cat_id,seller_id,brand_id,time_stamp,action_type", 900, func(int) string {
			s.at = s.at.Add(10 * time.Minute)
			return fmt.Sprintf("%s,%d,%d,%d,%d,%s,%s", s.user("%d", 300), 30000+s.IntN(900), 600+s.IntN(40), 2000+s.IntN(50), 3000+s.IntN(70), s.at.Format("0102"), s.among("0", "0", "0", "2", "3", "1"))
		}),
	}}
}

func zoneAtTheEnd() night {
	s := newSource(5)
	return night{name: "zone-at-end", about: "times that end with UTC", zone: "UTC", files: map[string]string{
		"2019-Oct.csv": lines("event_time,event_type,product_id,category_id,category_code,brand,price,user_id,user_session", 900, func(int) string {
			return fmt.Sprintf("%s UTC,%s,%d,%d,%s,%s,%d.%02d,%s,%08x-f2c2-4205-1a2b-%012x", s.next().Format(time.DateTime), s.among("view", "view", "cart", "purchase", "remove_from_cart"), 1000000+s.IntN(4000),
				2053013555631882655+int64(s.IntN(80)), s.among("", "electronics.smartphone", "appliances.kitchen"), s.among("samsung", "apple", ""), s.IntN(900), s.IntN(100), s.user("5%08d", 200), s.Uint32(), s.Uint32())
		}),
	}}
}

func course() night {
	s := newSource(6)
	return night{name: "course", about: "names with blanks, times such as 17/10/21, 12:39, the user inside a text", zone: "Europe/Berlin", files: map[string]string{
		"logs_course_20211017.csv": lines(`Time,"User full name","Affected user","Event context",Component,"Event name",Description,Origin,"IP address"`, 600, func(int) string {
			n := s.IntN(len(persons))
			event := s.among("Course viewed", "Course module viewed", "Quiz attempt viewed", "User graded", "Submission created", "Discussion viewed")
			return fmt.Sprintf(`"%s","%s",-,"Course: Statistics I",System,"%s","The user with id '%d' viewed the course with id '%d'.",web,10.0.%d.%d`, s.next().Format("2/01/06, 15:04"), persons[n], event, 15+n, 100+s.IntN(3), s.IntN(9), s.IntN(250))
		}),
	}}
}

func chineseHeader() night {
	s := newSource(7)
	return night{name: "chinese", about: "Chinese header in GBK, days such as 6月4日", zone: "Asia/Shanghai", files: map[string]string{
		"t_alibaba_data.csv": gbk(lines("用户编号,品牌编号,行为类型,访问时间", 700, func(int) string {
			s.at = s.at.Add(time.Hour)
			return fmt.Sprintf("%s,%d,%s,%s", s.user("%d0250", 90), 8000+s.IntN(700), s.among("0", "0", "1", "2", "3"), s.at.Format("1月2日"))
		})),
	}}
}

func emptyUsers() night {
	s := newSource(8)
	return night{name: "empty-users", about: "JSON lines of a music service, some without a user, names with blanks", zone: "UTC", files: map[string]string{
		"events.json": lines("", 900, func(i int) string {
			page := s.among("NextSong", "NextSong", "NextSong", "Home", "Thumbs Up", "Add to Playlist", "Logout", "Roll Advert")
			user, method := s.user("%d", 80), "GET"
			var artist, song, length any
			if page == "NextSong" {
				artist, song, length, method = s.among("Martha Tilston", "Five Iron Frenzy", "Enigma"), "Song "+s.user("%d", 300), 100+float64(s.IntN(20000))/100, "PUT"
			}
			if page == "Home" && i%3 == 0 {
				user = ""
			}
			return object("ts", s.next().UnixMilli(), "userId", user, "sessionId", s.IntN(400), "page", page, "auth", "Logged In", "method", method, "status", 200, "level", s.among("paid", "free"),
				"itemInSession", s.IntN(90), "artist", artist, "song", song, "length", length, "gender", s.among("M", "F"))
		}),
	}}
}

func dottedKinds() night {
	s := newSource(9)
	return night{name: "dotted", about: "JSON lines of a honeypot, names with dots", zone: "UTC", files: map[string]string{
		"cowrie.json.2021-10-17": lines("", 700, func(int) string {
			event := s.among("cowrie.session.connect", "cowrie.login.failed", "cowrie.login.failed", "cowrie.session.closed", "cowrie.command.input", "cowrie.login.success")
			var user, password, input, duration any
			switch {
			case strings.Contains(event, "login"):
				user, password = s.among("root", "admin", "pi"), s.user("pw%d", 99)
			case strings.Contains(event, "command"):
				input = s.among("uname -a", "ls", "cat /proc/cpuinfo")
			case strings.Contains(event, "closed"):
				duration = float64(s.IntN(9000)) / 100
			}
			return object("eventid", event, "username", user, "password", password, "input", input, "duration", duration, "sensor", "hp-1", "timestamp", s.next().Format("2006-01-02T15:04:05.000000Z"),
				"src_ip", fmt.Sprintf("45.10.%d.%d", s.IntN(3), s.IntN(40)), "session", fmt.Sprintf("%012x", s.Uint64()>>16))
		}),
	}}
}

func openCourse() night {
	s := newSource(10)
	return night{name: "open-course", about: "times with T, and a list of enrollments next to the log", zone: "Asia/Shanghai", files: map[string]string{
		"log_train.csv": lines("enrollment_id,time,source,event,object", 900, func(int) string {
			return fmt.Sprintf("%s,%s,%s,%s,3T6XwoiMKgol57cm29Rj%08x", s.user("%d", 120), s.next().Format("2006-01-02T15:04:05"), s.among("server", "browser"), s.among("navigate", "access", "problem", "page_close", "video", "discussion", "wiki"), s.Uint32())
		}),
		"enrollment_train.csv": lines("enrollment_id,username,course_id", 200, func(i int) string {
			return fmt.Sprintf("%d,9Uee7oEuuMmgPx2IzPfFkWgk%08x,DPnLzkJJqOOPRJfBxIHbQEERiYHu5ila", 1+i, s.Uint32())
		}),
	}}
}

func visitors() night {
	s := newSource(11)
	return night{name: "visitors", about: "epoch in milliseconds, a list of categories next to the log", zone: "UTC", files: map[string]string{
		"events.csv": lines("timestamp,visitorid,event,itemid,transactionid", 900, func(int) string {
			event, transaction := s.among("view", "view", "view", "addtocart", "transaction"), ""
			if event == "transaction" {
				transaction = fmt.Sprint(s.IntN(9000))
			}
			return fmt.Sprintf("%d,%s,%s,%d,%s", s.next().UnixMilli(), s.user("2579%02d", 99), event, 300000+s.IntN(9999), transaction)
		}),
		"category_tree.csv": lines("categoryid,parentid", 120, func(i int) string { return fmt.Sprintf("%d,%d", 1000+i, 1000+i/3) }),
	}}
}

func withCustomers() night {
	s := newSource(12)
	return night{name: "customers", about: "a list of customers with the days of their birth next to two logs", zone: "Europe/Berlin", files: map[string]string{
		"orders.csv": lines("customer_id,ordered_at,product,price", 300, func(int) string {
			return fmt.Sprintf("%s,%s,%s,%d.%02d", s.user("C%04d", 90), s.next().Format(time.DateTime), s.among("tea", "coffee", "cake"), s.IntN(30), s.IntN(100))
		}),
		"visits.csv": lines("customer_id,visited_at,page", 300, func(int) string {
			return fmt.Sprintf("%s,%s,%s", s.user("C%04d", 90), s.next().Format(time.DateTime), s.among("/", "/tea", "/cake"))
		}),
		"customers.csv": lines("customer_id,name,born,city", 90, func(i int) string {
			return fmt.Sprintf("C%04d,%s,%s,%s", 1+i, persons[i%len(persons)], s.at.AddDate(-20-s.IntN(40), s.IntN(12), 0).Format(time.DateOnly), s.among("Bonn", "Ulm"))
		}),
	}}
}

func cutLine() night {
	s := newSource(13)
	text := lines("user_id,time,action,item", 120, func(int) string {
		return fmt.Sprintf("%s,%s,%s,%d", s.user("u%03d", 50), s.next().Format(time.DateTime), s.among("view", "like", "buy"), s.IntN(900))
	})
	return night{name: "cut-line", about: "the last line of the file is truncated", zone: "UTC", files: map[string]string{"2021-10-17/actions.csv": text + "u001,2021-10"}}
}

func epochWithDecimals() night {
	s := newSource(14)
	return night{name: "epoch-decimals", about: "seconds since 1970 with decimals", zone: "UTC", files: map[string]string{
		"clicks.csv": lines("ts,uid,what,url", 500, func(int) string {
			return fmt.Sprintf("%d.%05d,%s,%s,/p/%d", s.next().Unix(), s.IntN(100000), s.user("x%05d", 70), s.among("click", "scroll", "leave"), s.IntN(40))
		}),
	}}
}

func dayMonthYear() night {
	s := newSource(15)
	return night{name: "d-m-yy", about: "times such as 17/10/21 9:05, a semicolon", zone: "Europe/Madrid", files: map[string]string{
		"accesos.csv": lines("usuario;fecha;tipo;detalle", 500, func(int) string {
			return fmt.Sprintf("%s;%s;%s;%s", s.user("usr%03d", 60), s.next().Format("2/1/06 15:04"), s.among("login", "logout", "download"), s.among("", "ok", "error, otra vez"))
		}),
	}}
}

func accessLog() night {
	s := newSource(16)
	return night{name: "access-log", about: "an access log, the user in the URL", zone: "UTC", files: map[string]string{
		"access.log": lines("", 500, func(int) string {
			return fmt.Sprintf(`10.0.%d.%d - - [%s] "GET /%s?uid=%s&x=%d HTTP/1.1" %s %d`, s.IntN(9), s.IntN(250), s.next().Format("02/Jan/2006:15:04:05 -0700"), s.among("play", "list", "stop"), s.user("m%04d", 60), s.IntN(9), s.among("200", "404"), s.IntN(9000))
		}),
	}}
}

func missingCustomers() night {
	s := newSource(17)
	return night{name: "missing-customers", about: "a quarter of the lines of a shop have no customer, times such as 12/1/2010 8:26", zone: "Europe/London", files: map[string]string{
		"online_retail.csv": lines("InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country", 800, func(i int) string {
			customer := s.user("17%03d", 90)
			if s.IntN(4) == 0 {
				customer = ""
			}
			return fmt.Sprintf(`%d,%d%s,"WHITE METAL LANTERN, %d",%d,%s,%d.%02d,%s,%s`, 536365+i/6, 22000+s.IntN(900), s.among("", "A"), s.IntN(50), 1+s.IntN(12), s.next().Format("1/2/2006 15:04"), s.IntN(20), s.IntN(100), customer, s.among("United Kingdom", "France"))
		}),
	}}
}

func ratings() night {
	s := newSource(18)
	return night{name: "ratings", about: "columns separated by ::", zone: "UTC", files: map[string]string{
		"ratings.dat": lines("", 800, func(int) string {
			return fmt.Sprintf("%s::%d::%d.%d::%d", s.user("%d", 200), 1+s.IntN(3900), 1+s.IntN(4), 5*s.IntN(2), s.next().Unix())
		}),
	}}
}

func nullTexts() night {
	s := newSource(19)
	return night{name: "nulls", about: "an export of Hive: \\N and NULL", zone: "Asia/Shanghai", files: map[string]string{
		"dt=2021-10-17/000000_0.tsv": lines("user_id\tevent_name\tlog_time\tseconds\tchannel", 500, func(int) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", s.user("%08d", 70), s.among("play_start", "play_end", "search"), s.next().Format(time.DateTime), s.among(`\N`, "17", "300"), s.among("NULL", "cctv5", "cctv1"))
		}),
	}}
}

func shortChinese() night {
	s := newSource(20)
	return night{name: "short-chinese", about: "a few short Chinese texts in GBK", zone: "Asia/Shanghai", files: map[string]string{
		"play_20211017.csv": gbk(lines("uid,time,action,title", 300, func(i int) string {
			return fmt.Sprintf("%s,%s,%s,%s", s.user("%06d", 70), s.next().Format("2006/01/02 15:04:05"), s.among("start", "stop"), s.among("", "", "西游记", "新闻", "红楼梦"))
		})),
	}}
}

func zoneNames() night {
	s := newSource(21)
	return night{name: "zone-names", about: "times with the name of a zone", zone: "America/New_York", files: map[string]string{
		"activity.csv": lines("when,member_id,activity,points", 400, func(int) string {
			return fmt.Sprintf("%s EDT,%s,%s,%d", s.next().Format(time.DateTime), s.user("M-%04d", 50), s.among("earn", "redeem", "expire"), s.IntN(500))
		}),
	}}
}

func listening() night {
	s := newSource(22)
	n := 0
	return night{name: "listening", about: "no header, sorted by user, one behaviour, texts with blanks", zone: "UTC", files: map[string]string{
		"listens.tsv": lines("", 800, func(i int) string {
			if i%50 == 0 {
				n++
			}
			return fmt.Sprintf("user_%06d\t%s\t%08x-98d9-4abb\t%s\t\t%s", n, s.next().Format("2006-01-02T15:04:05Z"), s.Uint32(), s.among("Deep Dish", "Underworld", "Boards of Canada"), "Track "+s.user("%d", 400))
		}),
	}}
}

func nested() night {
	s := newSource(23)
	return night{name: "nested", about: "JSON lines with objects, the offset in the time", zone: "UTC", files: map[string]string{
		"tracking.log": lines("", 500, func(int) string {
			event := s.among("play_video", "pause_video", "problem_check", "page_close", "seq_next")
			var current any
			if strings.HasSuffix(event, "video") {
				current = float64(s.IntN(9000)) / 10
			}
			return object("username", s.user("learner%d", 60), "event_type", event, "time", s.next().Format("2006-01-02T15:04:05.000000-07:00"), "host", "courses.example.org", "event_source", s.among("browser", "server"),
				"context", map[string]any{"course_id": "x/y/2021", "org_id": "x"}, "event", map[string]any{"id": s.user("i4x-%d", 30), "currentTime": current})
		}),
	}}
}

func blanksInTexts() night {
	s := newSource(24)
	return night{name: "blanks-in-texts", about: "a bar between columns, texts with as many blanks in every line", zone: "UTC", files: map[string]string{
		"20211017.log": lines("", 400, func(int) string {
			return fmt.Sprintf("%s|%s|%s|%s", s.next().Format("Jan 02 2006 15:04:05"), s.user("acct%04d", 60), s.among("Course viewed", "Quiz started", "Page closed"), s.among("web app", "ios app"))
		}),
	}}
}

func manyKinds() night {
	s := newSource(25)
	var kinds []string
	for i := range 60 {
		kinds = append(kinds, fmt.Sprintf("%s_%s", []string{"open", "close", "view", "click", "buy"}[i%5], []string{"home", "list", "item", "cart", "help", "news", "game", "shop", "mail", "map", "video", "music"}[i/5]))
	}
	return night{name: "sixty-kinds", about: "sixty behaviours in one csv", zone: "UTC", files: map[string]string{
		"app/2021-10-17.csv": lines("event,user_id,time,version,duration_ms", 3000, func(i int) string {
			s.at = s.at.Add(-75 * time.Second)
			return fmt.Sprintf("%s,%s,%s,%s,%d", kinds[s.IntN(len(kinds))], s.user("u%05d", 300), s.next().Format(time.DateTime), s.among("7.1", "7.2", "6.9"), s.IntN(9000))
		}),
	}}
}

func byFolder() night {
	files := map[string]string{}
	s := newSource(26)
	for _, day := range []string{"2021-10-17", "2021-10-18"} {
		for _, kind := range []string{"play", "order", "login"} {
			files[fmt.Sprintf("%s/dt=%s/part-00000.csv", kind, day)] = lines("user_id,time,"+map[string]string{"play": "title,seconds", "order": "product,price", "login": "device"}[kind], 100, func(int) string {
				rest := map[string]string{"play": s.among("news", "film") + "," + s.user("%d", 900), "order": "tea,1.5", "login": s.among("phone", "tv")}[kind]
				return fmt.Sprintf("%s,%s %02d:%02d:00,%s", s.user("u%03d", 40), day, s.IntN(24), s.IntN(60), rest)
			})
		}
	}
	return night{name: "by-folder", about: "a folder for each behaviour and day", zone: "UTC", files: files}
}

func utcMidnight() night {
	files := map[string]string{}
	s := newSource(27)
	for d := range 3 {
		day := time.Date(2021, 10, 17+d, 0, 0, 0, 0, time.UTC)
		files[day.Format("20060102")+".jsonl"] = lines("", 200, func(i int) string {
			return object("uid", s.user("k%04d", 60), "at", day.Add(time.Duration(i)*7*time.Minute).UnixMilli(), "action", s.among("open", "read", "share"))
		})
	}
	return night{name: "utc-midnight", about: "files that are split at midnight UTC, dates of Shanghai", zone: "Asia/Shanghai", files: files}
}

func deviceFirst() night {
	s := newSource(28)
	return night{name: "device-first", about: "a column of few devices before the column of the user", zone: "UTC", files: map[string]string{
		"2021/10/17/tv.csv": lines("device,client_no,when,act,ms", 400, func(int) string {
			return fmt.Sprintf("%s,%s,%s,%s,%d", s.among("ios", "android", "tv"), s.user("%06d", 80), s.next().Format("2006-01-02T15:04:05.000Z"), s.among("zap", "mute", "record"), s.IntN(900))
		}),
	}}
}
