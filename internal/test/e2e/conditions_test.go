package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/bulkload/samplelog"
	"usertrail/internal/test/testkit"
)

// The days of the sample logs. A few late records belong to the day after the last one.
const (
	sampleFrom = "2014-09-01"
	sampleLast = "2014-09-05"
	sampleTo   = "2014-09-06"
)

// newSQLFixture generates sample logs and loads them with the command.
func newSQLFixture(t *testing.T) *sqlFixture {
	t.Helper()
	dir := t.TempDir()
	c := &sqlFixture{
		name: "sample", table: filepath.Join(dir, "trails"), logs: filepath.Join(dir, "logs"), from: sampleFrom, to: sampleTo,
		list: filepath.Join(dir, "users.txt"),
	}
	var made struct{ Records, Loaded int64 }
	sample := samplelog.Config{Users: testkit.Pick(400, 2000), Seed: 6}
	sample.Records = 50 * int64(sample.Users)
	command(t, "bulkload", &made, "sample", c.logs, "--records", fmt.Sprint(sample.Records), "--users", fmt.Sprint(sample.Users), "--days", "5", "--seed", "6", "--bad", "0", "--from", sampleFrom)
	text, err := os.ReadFile(filepath.Join(testkit.Repository(t), "jobs", "settopbox.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	jobFile := filepath.Join(dir, "usertrail.yaml")
	testkit.WriteFile(t, jobFile, strings.Replace(string(text), "../demo/logs", c.logs, 1))
	command(t, "bulkload", &made, "--job", jobFile, "--table", c.table, "--from", sampleFrom, "--to", sampleLast, "--quiet")
	if made.Loaded != sample.Records {
		t.Fatalf("loaded %d of %d sample records", made.Loaded, sample.Records)
	}
	users := []string{"nobody"}
	for i := 0; i < sample.Users; i += sample.Users / 100 {
		users = append(users, sample.User(i))
	}
	c.write(t, users)
	return c
}

// write writes the list of users.
func (c *sqlFixture) write(t *testing.T, users []string) {
	t.Helper()
	testkit.WriteFile(t, c.list, strings.Join(users, "\n")+"\n")
}

var (
	plays  = []string{"play"}
	shops  = []string{"order", "visit"}
	viewer = []string{"play", "visit", "login"}
)

// conditions are typical queries of analysts.
var conditions = []inquiry{
	// Conditions on events.
	{all: true, types: sampleTypes, where: said{"play.seconds >= 3600 || order.price > 50", "seconds >= 3600 or price > 50"}},
	{all: true, types: sampleTypes, active: "any", where: said{"hour >= 18 && hour < 20 && (visit.duration < 60 || weekday in 6..7)", "hour(local) between 18 and 19 and (coalesce(duration < 60, false) or isodow(local) >= 6)"}},
	{all: true, types: sampleTypes, active: "min:3", where: said{
		`play.channel in ["CCTV-5 体育", "卡酷少儿"] || order.product contains "杜比" || visit.page endsWith "0" || login.device startsWith "ZTE" && !login.success`,
		`channel in ('CCTV-5 体育', '卡酷少儿') or contains(product, '杜比') or page like '%0' or device like 'ZTE%' and not success`,
	}},
	{types: sampleTypes, active: "any", where: said{
		`visit.referrer != nil && visit.duration < 10 || behaviour == "play" && (play.channel == nil || play.seconds == nil)`,
		"referrer is not null and duration < 10 or behaviour = 'play' and (channel is null or seconds is null)",
	}},
	{types: sampleTypes, active: "any", where: said{
		`!(play.seconds >= 600) && play.channel != "点播" && play.programme matches "^大.*第1集$"`,
		"behaviour = 'play' and not coalesce(seconds >= 600, false) and channel <> '点播' and regexp_matches(programme, '^大.*第1集$')",
	}},
	{types: shops, where: said{
		`order.price * order.quantity > 150 || order.note != nil && len(order.note) > 10 || visit.duration % 60 == 0 && lower(visit.page) contains "kids"`,
		"price * quantity > 150 or length(note) > 10 or duration % 60 = 0 and contains(lower(page), 'kids')",
	}},
	{types: sampleTypes, active: "min:2", whereFirst: true, where: said{
		`time >= date("2014-09-03 12:00:00") && time < date("2014-09-04") && behaviour in ["order", "login"]`,
		"local >= '2014-09-03 12:00:00' and local < '2014-09-04' and behaviour in ('order', 'login')",
	}},
	{types: sampleTypes, whereFirst: true, hours: said{"22-6", "hour(local) >= 22 or hour(local) < 6"}},
	{types: sampleTypes, active: "any", hours: said{
		"play:20-23,order:22-6", "case behaviour when 'play' then hour(local) between 20 and 22 when 'order' then hour(local) >= 22 or hour(local) < 6 else true end",
	}},
	{all: true, types: sampleTypes, active: "any", hours: said{"6-9", "hour(local) between 6 and 8"}, where: said{`behaviour != "play"`, "behaviour <> 'play'"}},
	// Conditions on users.
	{types: sampleTypes, having: said{
		"count(play) >= 5 && sum(order.price) > 100.003 && days(login) >= 3",
		"count(*) filter (behaviour = 'play') >= 5 and sum(price) > 100.003 and count(distinct date) filter (behaviour = 'login') >= 3",
	}},
	{all: true, types: plays, having: said{
		"avg(play.seconds) > 2600 && min(visit.duration) == 0 && max(order.price) <= 68 || count(play.channel) < count(play) - 1",
		"avg(seconds) > 2600 and min(duration) = 0 and max(price) <= 68 or count(channel) < count(*) filter (behaviour = 'play') - 1",
	}},
	{types: shops, active: "any", having: said{
		`last(visit) - first(visit) >= duration("96h") && first(order) < date("2014-09-02 12:00:00") && !(count(login) > 0)`,
		"max(time) filter (behaviour = 'visit') - min(time) filter (behaviour = 'visit') >= interval 96 hour and min(local) filter (behaviour = 'order') < '2014-09-02 12:00:00' and count(*) filter (behaviour = 'login') = 0",
	}},
	{all: true, types: plays, having: said{
		"count(distinct play.programme) >= 8 && count(distinct play.seconds) < count(play.seconds) || count(distinct login.success) == 2 && count(distinct order.price) > 3",
		"count(distinct programme) >= 8 and count(distinct seconds) < count(seconds) or count(distinct success) = 2 and count(distinct price) > 3",
	}},
	{types: shops, active: "any", having: said{
		"sum(order.price * order.quantity) > 300.003 && max(visit.duration - 2 * visit.duration / 3) < 30.001 || avg((play.seconds + 60) / 2) > 1500",
		"sum(price * quantity) > 300.003 and max(duration - 2 * duration / 3.0) < 30.001 or avg((seconds + 60) / 2.0) > 1500",
	}},
	{all: true, types: shops, active: "any", having: said{
		"count() in 20..30 && count(play) > count()",
		"count(*) filter (behaviour in ('order', 'visit')) between 20 and 30 and count(*) filter (behaviour = 'play') > count(*) filter (behaviour in ('order', 'visit'))",
	}},
	{types: viewer, without: []string{"order"}},
	{all: true, types: plays, without: []string{"login", "order"}},
	// Sequences.
	{types: sampleTypes, sequence: "visit -> play within 1h -> order within 1d", steps: []step{{"visit", 0}, {"play", 3600}, {"order", 86400}}},
	{all: true, types: plays, sequence: "order -> login -> order within 2h30m", steps: []step{{"order", 0}, {"login", 0}, {"order", 9000}}},
	{all: true, types: viewer, active: "any", sequence: "play -> play within 5m -> play within 5m -> play within 5m", steps: []step{{"play", 0}, {"play", 300}, {"play", 300}, {"play", 300}}},
	// Parts of a trail.
	{types: sampleTypes, active: "any", latest: 3},
	{all: true, types: sampleTypes, active: "any", at: said{"2014-09-03 18:30:00", "2014-09-03 18:30:00"}},
	{all: true, types: sampleTypes, active: "min:2", at: said{"2014-09-02", "2014-09-02 23:59:59"}, fields: []string{"play.programme", "order.price", "success"}},
	{types: shops, context: 2, where: said{"order.price > 100", "price > 100"}},
	{types: viewer, fields: []string{"visit.duration", "play.seconds"}},
	// All of these together.
	{
		types: viewer, active: "any", without: []string{"order"}, hours: said{"20-2", "hour(local) >= 20 or hour(local) < 2"},
		where: said{"play.seconds >= 60 || visit.duration >= 30 || login.success", "seconds >= 60 or duration >= 30 or success"}, whereFirst: true,
		having:   said{"count(play) >= 2", "count(*) filter (behaviour = 'play') >= 2"},
		sequence: "login -> play within 12h", steps: []step{{"login", 0}, {"play", 43200}},
		fields: []string{"play.seconds"}, context: 1, latest: 4,
	},
	{
		types: shops, where: said{"order.price >= 5 || visit.referrer != nil || play.seconds > 1000", "price >= 5 or referrer is not null or seconds > 1000"},
		having: said{"sum(play.seconds) > 20000.5", "sum(seconds) > 20000.5"}, sequence: "visit -> order", steps: []step{{"visit", 0}, {"order", 0}},
		at: said{"2014-09-05 12:00:00", "2014-09-05 12:00:00"}, context: 3,
	},
	{
		all:   true,
		types: sampleTypes, active: "min:3", where: said{`weekday == 1 || order.quantity > 1`, "isodow(local) = 1 or quantity > 1"},
		without: []string{"login"}, having: said{"days(play) >= 1 && last(play) > first(order)", "max(time) filter (behaviour = 'play') > min(time) filter (behaviour = 'order')"},
		fields: []string{"product", "visit.page"}, latest: 2,
	},
}

// TestDuckDBAgreesOnConditions makes the queries on the sample logs.
func TestDuckDBAgreesOnConditions(t *testing.T) {
	t.Parallel()
	newSQLFixture(t).inquire(t, conditions)
}

// sqlFixture returns the table of a real data set, and a list of some of its users.
func (r *real) sqlFixture(t *testing.T, users ...string) *sqlFixture {
	t.Helper()
	c := &sqlFixture{name: r.logs, table: r.load(t), logs: filepath.Join(testkit.Shared(t, "data/logs"), r.logs), from: r.from, to: r.to, list: filepath.Join(t.TempDir(), "users.txt")}
	c.write(t, append(users, "nobody"))
	return c
}

// TestDuckDBAgreesOnConditionsOfJourneys uses real logs in which many events share an instant
// and clocks change.
func TestDuckDBAgreesOnConditionsOfJourneys(t *testing.T) {
	t.Parallel()
	var households []string
	for i := 1; i < 2500; i += 7 {
		households = append(households, fmt.Sprint(i))
	}
	bought := []string{"purchase"}
	journey.sqlFixture(t, households...).inquire(t, []inquiry{
		{all: true, types: journeyTypes, active: "any", where: said{"purchase.sales_value > 20 || campaign_received.campaign_id == 18", "sales_value > 20 or behaviour = 'campaign_received' and campaign_id = 18"}},
		{all: true, types: bought, hours: said{"23-7", "hour(local) >= 23 or hour(local) < 7"}, latest: 2},
		{types: bought, having: said{
			"sum(purchase.sales_value) > 300.003 && days(purchase) >= 20 && count(coupon_redeemed) > 0",
			"sum(sales_value) > 300.003 and count(distinct date) filter (behaviour = 'purchase') >= 20 and count(*) filter (behaviour = 'coupon_redeemed') > 0",
		}},
		{all: true, types: bought, without: []string{"campaign_received"}, fields: []string{"sales_value", "store_id"}},
		{types: journeyTypes, sequence: "campaign_received -> coupon_redeemed within 30d -> purchase within 1d", steps: []step{{"campaign_received", 0}, {"coupon_redeemed", 30 * 86400}, {"purchase", 86400}}, at: said{"2017-06-30", "2017-06-30 23:59:59"}},
		{all: true, types: bought, sequence: "purchase -> purchase within 1m -> purchase within 7d", steps: []step{{"purchase", 0}, {"purchase", 60}, {"purchase", 7 * 86400}}, fields: []string{"product_id"}},
		{all: true, types: bought, context: 2, where: said{"purchase.sales_value > 30", "sales_value > 30"}},
		{all: true, types: journeyTypes, active: "any", at: said{"2017-03-12 12:00:00", "2017-03-12 12:00:00"}},
		{types: journeyTypes, active: "any", fields: []string{"coupon_redeemed.campaign_id", "quantity"}, where: said{"weekday == 7 && hour in 1..3 || coupon_redeemed.coupon_upc != nil", "isodow(local) = 7 and hour(local) between 1 and 3 or coupon_upc is not null"}},
	})
}

// TestDuckDBAgreesOnConditionsOfLaunches uses real logs of behaviours without fields. Their
// times have only a date, so all events of a day have the same time.
func TestDuckDBAgreesOnConditionsOfLaunches(t *testing.T) {
	t.Parallel()
	launch.sqlFixture(t, "6149c214f9f17a8f3fafd3ada5f9db7de13a7f375b0b30728706334dff6a3690", "87aa96fc783cd4212b9dad9f87bcc73d38f65f37865d459186fb18865e1da9b2").inquire(t, []inquiry{
		{types: launchTypes, having: said{"days(gameStarted) >= 5 && last(gameStarted) - first(newPlayer) >= duration(\"336h\")", "count(distinct date) filter (behaviour = 'gameStarted') >= 5 and max(time) filter (behaviour = 'gameStarted') - min(time) filter (behaviour = 'newPlayer') >= interval 336 hour"}},
		{types: launchTypes[:1], without: launchTypes[1:]},
		{types: launchTypes, sequence: "newPlayer -> gameStarted within 1d", steps: []step{{"newPlayer", 0}, {"gameStarted", 86400}}, latest: 3},
		{types: launchTypes, active: "any", where: said{"weekday >= 6", "isodow(local) >= 6"}, context: 1, at: said{"2016-05-09", "2016-05-09"}},
	})
}
