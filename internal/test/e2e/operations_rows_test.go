package e2e_test

import (
	"iter"
	"maps"
	"regexp"
	"strings"
	"testing"

	"usertrail/internal/test/document"
	"usertrail/internal/test/testkit"
)

// A rowScript provokes a message in a table of the runbook, in a folder as newNight makes it.
type rowScript struct {
	status int
	script string
}

const (
	allowed = spoilt + "; sed -i 's|^logs: .*|logs: {path: \"logs/{date}/{behaviour}.csv\", max_bad: 50%}|' usertrail.yaml; " + night + "; "
	bad     = "trails/quarantine/2014-09-01__play.csv.jsonl"
	// secured has the configuration of a cluster with Kerberos.
	secured = `mkdir conf; printf '<configuration><property><name>hadoop.security.authentication</name><value>kerberos</value></property></configuration>' > conf/core-site.xml; ` +
		`printf '[libdefaults]\n default_realm = X\n' > krb5.conf; export HADOOP_CONF_DIR=$PWD/conf; `
	remote = " extract show --user u1 --table hdfs://127.0.0.1:1/trails --retry-for 1s"
	// stopped defines a command that runs a program until it stops at a breakpoint.
	stopped = `stopped() { USERTRAIL_BREAKPOINT=$1 "${@:2}" & p=$!; until [[ $(ps -o state= -p $p) != [RSD]* ]]; do sleep 0.1; done; }; `
	// killed defines a command that kills a program at a breakpoint.
	killed = stopped + `killed() { stopped "$@"; kill -KILL $p; wait $p; }; `
	// ordinary sets $as, which precedes a command that has only the rights that the modes of files give, also if root runs it.
	ordinary = `as=; [ $UID != 0 ] || as='setpriv --inh-caps=-all --bounding-set=-all'; trap 'chmod -R u+rwX .' EXIT; `
	// edited loads the night, and removes the checksum of the manifest, so that a line of it can be changed.
	edited = night + "; sed -i '2{/sha256/d}' trails/manifest.json; "
	// nowhere makes a file with data of the time zone Here, which only programs with $ZONEINFO=$PWD know.
	nowhere = `{ printf TZif; head -c 32 /dev/zero; printf '\0\0\0\1\0\0\0\4\0\0\0\0\0\0UTC\0'; } > Here; ` +
		`sed -i 's|^logs: .*|logs: {path: "logs/{date}/{behaviour}.csv", zone: Here}|' usertrail.yaml; `
	// mixed loads one file by a column of behaviours, and a copy of it by a path. Both have a bad record, which both.jsonl has corrected.
	mixed = `job() { printf "logs: {path: 'logs/$1.csv', max_bad: 100%%${2-}}\ntable: trails\nbehaviours: {play: {id: 1, fields: {s: int64}}, order: {id: 2, fields: {s: int64}}}\n" > usertrail.yaml; bulkload --quiet --from 2014-09-01 --to 2014-09-02; }; ` +
		`printf 'user_id,time,ev,s\nu1,2014-09-02 10:00:00,order,5\nu1,2014-09-02 11:00:00,,x\n' | tee logs/play-a.csv > copy; job '*' ', behaviour: {column: ev, others: skip}'; ` +
		`mv copy logs/order-b.csv; job '{behaviour}-*'; sed 's/,x"/,7"/' trails/quarantine/*.jsonl > both.jsonl; `
	// waiting plans an extract.
	waiting = "extract plan --quiet --users users.txt --from 2014-09-01 --to 2014-09-02 --types play --out active > pieces.jsonl; "
	// grown extracts the first day into a result that grows.
	grown = "day() { extract --quiet --append --users all --types play --active any --partition-by date --out grown --from 2014-09-0$1 --to 2014-09-0$1; }; " + night + "; day 1; "
)

// rowScripts has a script for each message in tables of the runbook that a table of files can provoke.
var rowScripts = map[string]rowScript{
	"no record was loaded: all are outside the dates":                            {0, "sed -i 's|{date}|*|' usertrail.yaml; bulkload --from 2015-01-01 --to 2015-01-01"},
	"logs have the name of another log and another compression":                  {0, night + "; gzip logs/2014-09-01/play.csv; sed -i 's|}.csv|}.csv*|' usertrail.yaml; " + night},
	"every record of these logs was skipped":                                     {0, "sed -i '2i user: {empty: skip}' usertrail.yaml; sed -i 's/^u[0-9]*,/,/' logs/2014-09-01/play.csv; bulkload --from 2014-09-01 --to 2014-09-02"},
	"logs have the bytes of logs of other days, and no record of their own days": {0, "cp logs/2014-09-01/play.csv logs/2014-09-02/play.csv; bulkload --from 2014-09-01 --to 2014-09-02"},
	"skipped records of days that were dropped from the table": {0, night + "; bulkload drop --quiet --before 2014-09-02; " +
		`printf 'user_id,time,product,price\nu1,2014-09-01 23:00:00,a,1\nu1,2014-09-02 01:00:00,a,1\n' > logs/2014-09-02/order.csv; bulkload --from 2014-09-02 --to 2014-09-02`},
	"corrected lines were moved out of a quarantine file": {0, spoilt + "; " + night + "; sed -i 's/u9,yesterday/u9,2014-09-01 09:00:00/' " + bad + "; sed -i /yesterday/d logs/2014-09-01/play.csv; " + night},
	"the piece is done again":                             {0, planned + `bulkload run-piece < pieces.jsonl; printf '{' > "$(echo trails/plans/*/00000.json)"; bulkload run-piece < pieces.jsonl`},
	"has the bytes of …, which was loaded by a job with other settings of": {64, kinds + "sed -i 's/{play: {id: 1}}/{play: {id: 1}, seek: {id: 2}}/; s/{date}.csv/{date}*.csv/' usertrail.yaml; " +
		"mv events/2014-09-01.csv events/2014-09-01b.csv; bulkload --quiet --from 2014-09-01 --to 2014-09-01"},
	"the corrected text has … records: write one record into \"raw\"":      {64, allowed + `sed -i 's/u9,yesterday,x,1/u9,2014-09-01 09:00:00,x,1\\nu8,2014-09-01 09:00:00,x,1/' ` + bad + "; bulkload replay " + bad},
	"the corrected text begins with an empty line: remove it from \"raw\"": {64, allowed + `sed -i 's/"raw":"u9,yesterday,x,1/"raw":"\\nu9,2014-09-01 09:00:00,x,1/' ` + bad + "; bulkload replay " + bad},
	"the path, line, offset or sha256 of the record was changed":           {65, allowed + `sed -i 's/"offset":/"offset":1/' ` + bad + "; bulkload replay " + bad},
	"two corrected texts of its record differ: keep one":                   {64, allowed + "sed 's/yesterday/2014-09-01 09:00:00/' " + bad + " > both.jsonl; sed 's/yesterday/2014-09-01 10:00:00/' " + bad + " >> both.jsonl; bulkload replay both.jsonl"},
	"is none of the job's files":                                           {64, allowed + "sed -i 's/yesterday/2014-09-01 09:00:00/' " + bad + "; sed 's|{behaviour}.csv|{behaviour}.log|' usertrail.yaml > other.yaml; bulkload replay --job other.yaml " + bad},
	"has no file of bad records, which is called ….jsonl":                  {66, night + "; bulkload replay logs"},
	"has the layout … already":                                             {64, night + "; bulkload convert --table trails --to reversed --out made"},
	"a load into one would remove files of the other":                      {64, night + "; bulkload convert --table trails --to tall --out trails/made"},
	"is in HBase: only a table of files can be converted":                  {64, "bulkload convert --table hbase://zk/a:b --to tall --out made"},
	"choose another layout, or load the logs into a new table":             {64, night + "; bulkload convert --table trails --to fixed --out made"},
	"--from … comes after --to …":                                          {64, "bulkload --from 2014-09-02 --to 2014-09-01"},
	"no file below … that may hold logs":                                   {66, "mkdir empty; bulkload init empty --out -"},
	"all … files below … are empty":                                        {66, "mkdir empty; : > empty/2014-09-01.csv; bulkload init empty --out -"},
	"no good record of … in … files below …: choose other dates":           {66, "sed -i 2,9d logs/*/*.csv; bulkload advise --from 2014-09-01 --to 2014-09-02"},
	"the days before … were dropped: restore them with bulkload undrop":    {66, night + "; bulkload drop --quiet --before 2015-01-01 --all; extract --users all --types play --out none; [ $? = 66 ] && extract show --user u1"},
	"waited …: …: deliver it, or wait longer with --wait":                  {66, "sed -i 's/id: 2,/id: 2, required: true,/' usertrail.yaml; bulkload --quiet --wait 1s --settle 0s --from 2014-09-02 --to 2014-09-02"},
	"--pieces": {66, night + "; bulkload commit --pieces missing.jsonl"},
	"name a file or a directory that usertrail wrote":                                   {66, "bulkload inspect missing"},
	"extract --overwrite is replacing it or was killed, and the earlier result is in …": {66, night + "; " + asking + " --out active; mv active .active.old; extract inspect active"},
	"no such directory":                                            {66, "extract report missing"},
	"no days were dropped from":                                    {99, night + "; bulkload undrop"},
	"holds no records":                                             {99, allowed + ": > " + bad + "; bulkload replay " + bad},
	"holds no bad records of the job's files; it has":              {99, allowed + "sed 's|{behaviour}.csv|{behaviour}.log|' usertrail.yaml > other.yaml; bulkload replay --job other.yaml trails/quarantine"},
	"holds no bad records":                                         {99, allowed + ": > " + bad + "; bulkload replay trails/quarantine"},
	"and compact merges none of them":                              {99, night + "; bulkload compact"},
	"neither HBase nor HDFS has Kerberos, so no tokens are needed": {99, "bulkload token --job usertrail.yaml --out tokens"},
	"is the result of this plan; remove it to have it made again": {99, night + "; p='extract plan --users all --from 2014-09-01 --to 2014-09-02 --types play --out active'; " +
		"$p > pieces.jsonl; extract run-piece < pieces.jsonl; extract commit < pieces.jsonl; $p"},
	"is not finished: a bulkload convert makes it from …, or was killed":                       {64, killed + night + "; killed segment bulkload convert --table trails --to tall --out made; " + night + " --table made"},
	"a piece has to be done again":                                                             {75, planned + `bulkload run-piece < pieces.jsonl; printf '{' > "$(echo trails/plans/*/00000.json)"; bulkload commit < pieces.jsonl`},
	"is inside the table …, whose loads remove files that they do not know":                    {64, night + "; " + night + " --table trails/other"},
	"is inside the table …, whose next load would sweep it":                                    {64, night + "; cp -r trails other; bulkload convert --table trails --to tall --out other/made"},
	"the path has .. after a symbolic link: name the directory without it":                     {64, night + "; mkdir -p far/away; ln -s far/away link; bulkload convert --table trails --to tall --out link/../made"},
	"within … of memory: raise --memory, or …":                                                 {64, allowed + `head -c 3000000 /dev/zero | tr '\0' x > long.jsonl; bulkload replay --memory 64MiB --workers 1 long.jsonl`},
	"the raw text is marked as cut and was changed":                                            {64, strings.Replace(allowed, spoilt, tooLong, 1) + "sed -i 's/09:00:00/09:00:01/' " + bad + "; bulkload replay " + bad},
	"which have the same bytes and are of other days or behaviours":                            {64, mixed + "bulkload replay both.jsonl"},
	"is inside the result … of extract, which may have no other files: name another directory": {64, night + "; " + asking + " --out active; " + night + " --table active/other"},
	"is inside the result … of extract, which may have no other files: name another --out":     {64, night + "; " + asking + " --out active; bulkload convert --table trails --to tall --out active/made"},
	"which has the files of an extract or plan that is not finished":                           {64, night + "; " + waiting + night + " --table .active.partial/other"},
	"the --out of an extract or plan that is not finished and has its files in …":              {64, night + "; " + waiting + night + " --table active/other"},
	"and has its files in …: name another --out":                                               {64, night + "; " + waiting + "bulkload convert --table trails --to tall --out active/made"},
	"zone of the table": {64, nowhere + "ZONEINFO=$PWD " + night + "; bulkload convert --table trails --to tall --out made"},
	"makes about … pieces, more than …: --piece-size … is enough":                   {64, "truncate -s 200M logs/2014-09-01/play.csv; bulkload plan --from 2014-09-01 --to 2014-09-01 --piece-size 1KiB"},
	"layout \"…\" is not known; there is …; a release that knows it made the table": {64, edited + "sed -i 's/reversed/spiral/' trails/manifest.json; " + night},
	"is the catalog of …, not a table of files":                                     {64, edited + `sed -i '2s|^|"address": "hbase://zk/a:b",|' trails/manifest.json; ` + night},
	"host name does not resolve here":                                               {64, "bulkload pre-check --from 2014-09-01 --to 2014-09-02 --table hbase://no..host/a:b"},
	"is in HBase":                                                                   {64, "bulkload compact --table hbase://127.0.0.1:1/a:b"},
	"nothing says where its catalog is":                                             {64, "bulkload create-table --table hbase://127.0.0.1:1/a:b --ids 1..9 --print"},
	"may not write":                                                                 {64, ordinary + night + "; chmod a-w trails/lock; $as " + night + " --types play"},
	"run as a user who may read the table":                                          {64, ordinary + night + "; chmod 0 trails/manifest.json; $as " + asking},
	"the job file cannot be read":                                                   {64, ordinary + "chmod 0 usertrail.yaml; $as " + night},
	"the result cannot be written":                                                  {64, ordinary + night + "; mkdir kept; chmod a-w kept; $as " + asking + " --out kept/active"},
	"sorted runs were not removed":                                                  {0, ordinary + stopped + "mkdir sorted; stopped batch $as " + night + " --temp sorted; chmod a-w sorted; kill -CONT $p; wait $p"},
	"configuration of Kerberos":                                                     {64, secured + "KRB5_CONFIG=/missing" + remote},
	"no Kerberos ticket":                                                            {64, secured + "KRB5_CONFIG=$PWD/krb5.conf KRB5CCNAME=FILE:$PWD/missing" + remote},
	"credentials of Kerberos":                                                       {64, secured + "echo x > x.keytab; KRB5_CONFIG=$PWD/krb5.conf" + remote + " --keytab x.keytab"},
	"file of tokens":                                                                {64, secured + "HADOOP_TOKEN_FILE_LOCATION=$PWD/missing" + remote},
	"of the list were not found":                                                    {0, night + "; printf 'u7\\nu8\\n' >> users.txt; " + asking},
	"none of the … users asked for has any of these behaviours on these days":                                    {0, night + "; printf 'u8\\nu9\\n' > users.txt; " + asking},
	"the table has no … on …; it has …":                                                                          {0, night + "; " + asking + ",order --from 2014-09-02"},
	"active as --active all asks":                                                                                {0, night + "; echo u2 > users.txt; " + asking + ",order"},
	"the list of users is empty":                                                                                 {0, night + "; : > users.txt; " + asking},
	"has no directory date=…, because no user is in the result":                                                  {0, night + "; echo u9 > users.txt; " + asking + " --partition-by date"},
	"the result has … without …: load these days if they are not loaded, and use --append for them":              {0, grown + "cp -r logs/2014-09-02 logs/2014-09-03; sed -i s/09-02/09-03/ logs/2014-09-03/*; bulkload --quiet --from 2014-09-03 --to 2014-09-03; day 3"},
	"days of the result that gained records or values in the table after they were extracted":                    {0, grown + "sed s/u1/u3/ logs/2014-09-01/play.csv > logs/2014-09-01/play2.csv; sed -i 's|}.csv|}*.csv|' usertrail.yaml; " + night + "; day 2"},
	"days of the result that were extracted from another table of this name, or before the table was made again": {0, grown + "rm -r trails; sed -i s/u1/u3/ logs/2014-09-01/play.csv; " + night + "; day 2"},
	"using the dates of the table: --from … --to …":                                                              {0, night + "; extract --users users.txt --types play"},
	"no event of … is left by …":                                                                                 {0, night + "; " + asking + " --where 'play.seconds > 1000'"},
	"was read as one user ID on each line: to read a column of it, write --users …:COLUMN":                       {0, night + "; sed s/^/x/ users.txt > users.csv; " + strings.Replace(asking, "users.txt", "users.csv", 1)},
	"the days before … were dropped from the table":                                                              {0, night + "; bulkload drop --quiet --before 2014-09-02; " + asking},
	"an earlier plan for --out … was replaced":                                                                   {0, night + "; pieces() { extract plan --quiet --users all --from 2014-09-01 --to 2014-09-02 --types $1 --out many; }; pieces play | extract run-piece --quiet; pieces order"},
}

// rowTests maps other messages in tables of the runbook to the test that provokes them: a file, and a text in it that shows the test.
var rowTests = map[string][2]string{
	"describes a table in another HBase cluster":                                                      {"internal/bulkload/load/gone_test.go", "func TestTwoClustersDoNotShareACatalog("},
	"is a table of files, not the catalog of a table in HBase":                                        {"internal/bulkload/load/gone_test.go", "func TestATableOfFilesIsNoCatalog("},
	"a killed load put some of its records by another job":                                            {"internal/bulkload/batch/roll_test.go", "func TestAGrownJobContinues("},
	"connection closed without a response":                                                            {"internal/store/hbase/rpc/conn_test.go", `rpc.ErrRefused, "does not offer"`},
	"HBase's user may not see the file":                                                               {"internal/store/hbase/secure_cluster_test.go", "!errors.Is(err, ErrHidden)"},
	"has records of it: load the missing records from the logs":                                       {"internal/bulkload/importer/importer_test.go", `}, "has the same bytes as 2014-09-01/play.txt"}`},
	"the job reads none of the … that the table has without a value":                                  {"internal/bulkload/reread/truth_test.go", "the job reads none of the 1 record that the table has without a value"},
	"logs are gone or have other names, so their records stay without values":                         {"cmd/bulkload/testdata/script/field_reread_wrong.txtar", "logs are gone or have other names, so their records stay without values"},
	"logs of … that were loaded without a field of the job are gone or have other names":              {"cmd/bulkload/testdata/script/field_reread_wrong.txtar", "that were loaded without a field of the job are gone or have other names"},
	"the job reads none of its …, and the table has records of it":                                    {"cmd/bulkload/testdata/script/field_reread_wrong.txtar", "the job reads none of its 2 records, and the table has records of it"},
	"no record of the file gets a value":                                                              {"cmd/bulkload/testdata/script/field_reread_wrong.txtar", "no record of the file gets a value"},
	"no record of … has a value for a day on which the field has none":                                {"cmd/bulkload/testdata/script/field_reread_wrong.txtar", "no record of 2 files has a value for a day on which the field has none"},
	"no record of these files has a value of a field, which stays unread":                             {"cmd/bulkload/testdata/script/field_reread_wrong.txtar", "no record of these files has a value of a field, which stays unread"},
	"logs are not read, because the text for {behaviour} in their path names no behaviour of the job": {"cmd/bulkload/testdata/script/unmapped_files.txtar", "logs are not read, because the text for"},
	"the manifest does not have the newest drop or undrop of the run log":                             {"cmd/bulkload/testdata/script/rebuild.txtar", "the manifest does not have the newest drop or undrop of the run log"},
	"no record has a column of logs.skip":                                                             {"cmd/bulkload/testdata/script/skip_absent.txtar", "no record has a column of logs.skip"},
	"a field in unique got values, and --reread removes no duplicates":                                {"cmd/bulkload/testdata/script/unique.txtar", "a field in unique got values, and --reread removes no duplicates"},
	"the table has records of these files without a value, and the job does not read them":            {"cmd/bulkload/testdata/script/field_reread_wrong.txtar", "the table has records of these files without a value, and the job does not read them"},
	"added fields to records of its load …, and … has these records already":                          {"internal/bulkload/importer/rereads_test.go", "added fields to records of its load 1"},
	"is too little memory to count them":                                                              {"internal/bulkload/importer/importer_test.go", "func TestARowTooLargeToImport("},
	"finished a load that was killed":                                                                 {"internal/bulkload/load/onestate_test.go", "func TestAKilledHandoverIsNotExtracted("},
	"HFiles of a killed load are gone, and other HFiles of it are in the table":                       {"internal/bulkload/load/onestate_test.go", "func TestALostHandoverIsNotExtracted("},
	"deletes of another client hide loaded cells from all readers":                                    {"internal/bulkload/verify/live_test.go", "func TestWhatIsLoadedUnderADeleteIsNamed("},
	"an earlier load took records of it by … without …":                                               {"cmd/bulkload/testdata/script/other.txtar", "an earlier load took records of it by"},
	"rows of the layout … do not begin with their users":                                              {"internal/bulkload/fit/fit_test.go", "do not begin with their users"},
	"mount it for writing, or name another table":                                                     {"internal/table/catalog/unwritable_test.go", `"mount it for writing, or name another table"`},
	"its layout is version …; take another with a newer HBase":                                        {"internal/table/snapshot/snapshot_test.go", `"its layout is version 1, not 2; take another with a newer HBase"`},
	"read it through the servers: --plan auto":                                                        {"internal/table/snapshot/snapshot_test.go", `"has visibility labels; read it through the servers: --plan auto"`},
	"changed after its lines were checked: replay a file that no program writes":                      {"internal/bulkload/replay/quarantine_test.go", "changed after its lines were checked: replay a file that no program writes"},
	"their records would be mistaken for each other; load one of them from the logs":                  {"internal/bulkload/importer/importer_test.go", "their records would be mistaken for each other; load one of them from the logs"},
	"the snapshot was not dropped; an extract on a later day drops it":                                {"cmd/extract/endsnapshot_test.go", "the snapshot was not dropped; an extract on a later day drops it"},
	"conditions logs.skip, and at most … can be told apart: load the logs into a new table":           {"internal/bulkload/load/skips_test.go", "conditions logs.skip, and at most 64 can be told apart: load the logs into a new table"},
	"table … cannot be loaded by --mode …":                                                            {"internal/bulkload/load/load_test.go", "trails cannot be loaded by --mode put"},
	"the job of the piece has no behaviour":                                                           {"internal/bulkload/pieces/line_test.go", "the job of the piece has no behaviour"},
	"the Kerberos ticket has expired":                                                                 {"internal/store/secure/kerberos/kerberos_test.go", "!errors.Is(err, kerberos.ErrExpired)"},
	"the KDC refuses":                                                                                 {"internal/store/secure/kerberos/kerberos_test.go", "!errors.Is(err, kerberos.ErrRefused)"},
	"the clock differs from that of the KDC":                                                          {"internal/store/secure/kerberos/errors_internal_test.go", "{ErrSkew, "},
	"no KDC responds":                                                                                 {"internal/store/secure/kerberos/kerberos_test.go", "!errors.Is(err, kerberos.ErrSilent)"},
	"encryption type is not supported":                                                                {"internal/store/secure/gss/gss_test.go", "!errors.Is(err, etype.ErrUnsupported)"},
	"no secure connection":                                                                            {"internal/store/hbase/security_test.go", "{sasl.ErrWeak, giveUp, ErrInsecure, "},
	"no secure connection to HDFS":                                                                    {"internal/store/dfs/hdfs/security_inside_test.go", "!errors.Is(got, ErrInsecure)"},
	"the server does not ask for Kerberos":                                                            {"internal/store/hbase/rpc/secure_test.go", "rpc.ErrSimple, "},
	"the NameNode does not ask for Kerberos":                                                          {"internal/store/dfs/hdfs/security_inside_test.go", "the NameNode does not ask for Kerberos: "},
	"the server does not speak TLS":                                                                   {"internal/store/hbase/rpc/secure_test.go", "!errors.Is(err, rpc.ErrNoTLS)"},
	"certificates of TLS":                                                                             {"internal/store/secure/certs/certs_test.go", "!errors.Is(err, certs.ErrStore)"},
	"the cluster has Kerberos: set hbase.security.authentication to kerberos":                         {"internal/store/hbase/security_test.go", `"the cluster has Kerberos: set hbase.security.authentication to kerberos"`},
	"Name it by the host of its principal, or correct the property":                                   {"internal/store/dfs/hdfs/security_inside_test.go", "Name it by the host of its principal, or correct the property"},
	"protection of connections":                                                                       {"internal/store/secure/secure_test.go", "!errors.Is(err, secure.ErrPolicy)"},
	"the DataNode refuses the block token":                                                            {"internal/store/dfs/hdfs/transfer/transfer_test.go", ", ErrRefused}"},
	"the delegation token has expired":                                                                {"internal/store/secure/token/token_test.go", "!errors.Is(err, ErrExpired)"},
	"the server offers less protection than is required":                                              {"internal/store/secure/sasl/gssapi_test.go", ", sasl.ErrWeak}"},
	"the server did not prove who it is":                                                              {"internal/store/secure/gss/gss_test.go", "!errors.Is(err, gss.ErrServer)"},
	"the server did not prove that it knows the token":                                                {"internal/store/secure/sasl/digest_test.go", "!errors.Is(err, ErrPassword)"},
	"the bytes were changed":                                                                          {"internal/store/secure/etype/etype_test.go", "!errors.Is(err, ErrForged)"},
	"security token out of sequence":                                                                  {"internal/store/secure/gss/gss_test.go", ", gss.ErrSequence}"},
	"security token is not protected as agreed":                                                       {"internal/store/secure/gss/gss_test.go", ", gss.ErrUnsealed}"},
	"malformed security token":                                                                        {"internal/store/secure/gss/gss_test.go", ", gss.ErrToken}"},
	"the server does not follow SASL":                                                                 {"internal/store/secure/sasl/gssapi_test.go", ", sasl.ErrProtocol}"},
}

// provokes runs the script in dir after a prelude. It compares the message and the exit status.
func (r rowScript) provokes(t *testing.T, programs, dir, message, prelude string) {
	t.Helper()
	said, status := shellIn(t, programs, dir)("-uo", prelude+r.script)
	if status != r.status {
		t.Errorf("ends with status %d, want %d\n%s", status, r.status, said)
	}
	if !regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(message), "…", ".*")).MatchString(said) {
		t.Errorf("the page has %q, and the command printed\n%s", message, said)
	}
}

// TestOperationsRowsSayWhatIsSaid provokes the messages in tables of the runbook, and compares the exit status.
func TestOperationsRowsSayWhatIsSaid(t *testing.T) {
	programs := testkit.Commands(t)
	used := map[string]bool{}
	for _, a := range document.Advices(t) {
		for _, message := range a.Rows {
			used[message] = true
			row, ok := rowScripts[message]
			_, inHBase := liveScripts[message]
			_, inMemory := memoryScripts[message]
			test, tested := rowTests[message]
			if tested && !strings.Contains(document.Read(t, test[0]), test[1]) {
				t.Errorf("%s: %s has no %s", message, test[0], test[1])
			}
			if !ok && !inHBase && !inMemory && !tested {
				t.Errorf("no script and no test provokes %q of the entry %s", message, a.Heading)
			}
			if !ok {
				continue
			}
			t.Run(message, func(t *testing.T) {
				t.Parallel()
				row.provokes(t, programs, newNight(t), message, "")
			})
		}
	}
	for _, messages := range []iter.Seq[string]{maps.Keys(rowScripts), maps.Keys(liveScripts), maps.Keys(memoryScripts), maps.Keys(rowTests)} {
		for message := range messages {
			if !used[message] {
				t.Errorf("the book has no row %q", message)
			}
		}
	}
}
