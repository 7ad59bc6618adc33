package e2e_test

import (
	"fmt"
	"net"
	"testing"

	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

const (
	// inHBase makes a table in HBase the table of the job. made creates it.
	inHBase = `table "{path: '$table', catalog: '$catalog'}"; `
	made    = inHBase + "bulkload create-table --from 2014-09-01 --to 2014-09-02 --regions 1 > created; "
	// filled loads the night into the table in HBase, and copied into a table of files before.
	filled = made + night + " > loaded; "
	copied = night + " > loaded; "
	// own loads the night into a table in HBase whose catalog every user may read.
	own = `table "{path: '$table', catalog: '$PWD/catalog'}"; bulkload create-table --from 2014-09-01 --to 2014-09-02 --regions 1 > created; ` + night + " > loaded; chmod -R a+rX .; "
	// snapshots extracts from a snapshot.
	snapshots = "extract --quiet --users all --from 2014-09-01 --to 2014-09-01 --types play --plan snapshot --out out"
	// preludeOfRows defines the commands of the scripts: table sets the table of the job, and admin sends a request to
	// the client of the test cluster.
	preludeOfRows = `table() { sed -i "s|^table: .*|table: $1|" usertrail.yaml; }
admin() {
	local reply IFS=$'\t'
	exec 3<> "/dev/tcp/$host/16050"
	printf '%s\n' "$*" >&3
	read -r reply <&3
	exec 3>&-
	[[ $reply = ok* ]] || { echo "$reply"; exit 70; }
}
`
)

// liveScripts has a script for each message in tables of the runbook that a table in HBase can provoke. $table is its address, $name its
// name, $catalog the folder of its catalog, and $other the name of another table.
var liveScripts = map[string]rowScript{
	"no such table":                                       {64, inHBase + night},
	"no such column family":                               {64, made + `table "{path: '$table', catalog: '$catalog', family: x}"; ` + night},
	"table is not enabled":                                {64, made + "admin disable $name; " + night},
	"permission denied":                                   {64, made + "HADOOP_USER_NAME=bob " + night},
	"accepts no puts":                                     {64, inHBase + "admin create $name d VERSIONS=400 table.READONLY=true; " + night + " --mode put"},
	"nothing says where HBase keeps its files":            {64, `table "{path: '$table', catalog: '$PWD/catalog'}"; bulkload create-table --from 2014-09-01 --to 2014-09-02; HADOOP_CONF_DIR= ` + night + " --mode hfile"},
	"VERSIONS of family d is 1, and the layout needs 400": {64, "sed -i '1i layout: hashed' usertrail.yaml; " + inHBase + "admin create $name d VERSIONS=1; " + night},
	"it has rows, … for one: truncate it first, in HBase's shell": {64, filled + "bulkload forget"},
	"its attribute … says …, the job says …":                      {64, filled + `table "{path: '$table', catalog: '$PWD/catalog'}"; ` + night},
	"the catalog … describes another table":                       {64, filled + "admin create $other d VERSIONS=400; sed -i s/$name/$other/ usertrail.yaml; " + night},
	"it is of table …, not of …":                                  {64, filled + "admin create $other d; admin snapshot $name-s $other; " + snapshots + " --snapshot $name-s; s=$?; admin drop-snapshot $name-s; exit $s"},
	"has COMPRESSION ZSTD, which has two formats":                 {64, inHBase + "admin create $name d VERSIONS=400 COMPRESSION=ZSTD; " + night + " --mode hfile"},
	"load the others into it from the logs":                       {64, copied + made + night + " --types play > loaded; bulkload import --from trails"},
	"some records of load … are in …": {64, kinds + "sed -i 's/{play: {id: 1}}/{play: {id: 1}, seek: {id: 2}}/; s/kind/event/' usertrail.yaml; rm -r trails; bulkload --quiet --from 2014-09-01 --to 2014-09-01; " +
		made + "bulkload --quiet --from 2014-09-01 --to 2014-09-01 --types play; bulkload import --from trails"},
	"was loaded with other bytes into … than into …": {64, copied + made + `printf 'u9,2014-09-01 10:00:00,x,1\n' >> logs/2014-09-01/play.csv; ` + night + " > loaded; bulkload import --from trails"},
	"has the layout …, … has …":                      {64, copied + "sed -i '1i layout: tall' usertrail.yaml; " + filled + "bulkload import --from trails"},
	"it has none of the rows that load … put there":  {64, filled + "admin drop $name; admin create $name d VERSIONS=400; sed -i s/u1,/u3,/ logs/2014-09-01/order.csv; " + night},
	"cells identify a field by its position": {64, copied + "mv logs/2014-09-02 logs/2014-09-03; sed -i s/09-02/09-03/ logs/2014-09-03/play.csv; sed -i 's/programme: string, seconds: int64/seconds: int64, programme: string/' usertrail.yaml; " +
		made + "bulkload --quiet --from 2014-09-03 --to 2014-09-03 > loaded; bulkload import --from trails"},
	"read another user's snapshot: --snapshot NAME":              {64, own + "admin grant bob R $name; HADOOP_USER_NAME=bob " + snapshots},
	"let HBase's files be read by that user":                     {64, own + "admin grant bob R $name; admin snapshot $name-s $name; admin chmod /hbase/data/default/$name 700; HADOOP_USER_NAME=bob " + snapshots + " --snapshot $name-s; s=$?; admin drop-snapshot $name-s; exit $s"},
	"--ids …: write FIRST..LAST, such as 0000000001..0062951396": {64, inHBase + "bulkload create-table --ids 1to9"},
	"no good record in the beginnings of … files below …":        {66, inHBase + "sed -i 2,9d logs/*/*.csv; bulkload create-table --from 2014-09-01 --to 2014-09-02"},
	"--snapshot":                 {66, filled + snapshots + " --snapshot none"},
	"all loads of … are in …":    {99, copied + made + "bulkload import --from trails; bulkload import --from trails"},
	"exists with these settings": {99, made + "bulkload create-table --from 2014-09-01 --to 2014-09-02 --regions 1"},
}

// TestOperationsRowsOfHBase provokes the messages about tables in HBase, and compares the exit status.
func TestOperationsRowsOfHBase(t *testing.T) {
	testkit.OnlyAll(t, "the same messages are tested in internal/table/live")
	c := clustertest.Get(t)
	host, _, err := net.SplitHostPort(c.ZooKeeper())
	if err != nil {
		t.Fatal(err)
	}
	for message, row := range liveScripts {
		t.Run(message, func(t *testing.T) {
			t.Parallel()
			name := c.Table(t)
			prelude := fmt.Sprintf("export HADOOP_CONF_DIR=%s; host=%s name=%s other=%s catalog=%s/catalog table=hbase://%s/%s\n", c.ConfDir(), host, name, c.Table(t), c.HDFS(t), c.ZooKeeper(), name)
			row.provokes(t, testkit.Commands(t), newNight(t), message, prelude+preludeOfRows)
		})
	}
}
