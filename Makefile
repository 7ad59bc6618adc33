# `make` alone lists what there is to make.

.DEFAULT_GOAL := help
SHELL := /bin/bash

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
PYTHON  := $(CURDIR)/.cache/venv/bin/python

# Of the benchmarks.
RECORDS ?= 10000000
USERS   ?= 200000
RUNS    ?= 3
ROWS    ?= 100000
EACH    ?= 1 10 100 1000 10000

# Of the soak.
NIGHTS  ?= 30

# Packages in which goroutines meet: make test runs their tests with the race detector.
# make test-all runs the tests of all packages with it.
#   store/hbase store/hbase/rpc       goroutines share connections, windows and the cache of regions
#   store/dfs store/dfs/local store/dfs/dfstest    several goroutines read one file
#   table/live table/files table/snapshot table/rolls    several goroutines read one table
#   bulkload and extract with their steps, table/fetch table/shuffle    workers share batches, sorters and queues
#   format/hfile                      goroutines compress blocks
#   run/progress run/ratelimit run/pipe table/runlog    workers share counters and limits
RACE := $(addprefix ./internal/,store/hbase store/hbase/rpc store/dfs store/dfs/local store/dfs/dfstest \
	table/live table/files table/snapshot table/rolls $(addprefix bulkload/,load batch pieces replay importer quarantine) \
	table/fetch table/shuffle \
	extract $(addprefix extract/,judge output place pieces explain) format/hfile run/progress run/ratelimit run/pipe table/runlog)

# Tests that have many cases, one after the other, or much data: each operation fails once,
# each step is the one at which a process is killed, each byte is flipped, each layout runs
# forty queries. They run without the race detector, which makes them take five to fifteen
# times as long. Other tests of these packages show it the same goroutines. The suite of tables has the race detector in one
# layout and through the life of a table. A test fails for a name that no test has.
MANYCASES := AnyFault EveryFailure SurvivesFaults FlippedByte \
	TestReadsWhatItWrites TestNextRowLeavesTheRow TestEncodersFollowTheDrawing TestSeekColumnFindsWhatALookThroughAllFinds \
	TestReadsHBasesFiles TestBloomNeverDenies TestFilesAreHBases TestTableTakesFilesIn \
	TestBytesDoNotDependOnBatches TestEveryFormatShowsWhatWasWritten TestNoDamageAsksForMuchMemory TestPythonReadersAgree \
	TestRowsAreThoseWritten LibraryReadsWhatWasWritten TestFooterIsTheLibrarys TestPageIndexFitsPages TestEveryFailedWriteIsReported \
	TestPreCheckWantsRoom TestNightsOnWhichClocksAreSet TestValuesStayUnderTheirFields TestACopyBringsWhatTheFirstDidNot \
	TestAPlanReadsLogsWithoutTheLock TestUnmappedTextsDoNotDependOnTheWay TestLinesOfBothVersions \
	TestEveryConditionLeavesOutItsOwnRecords TestFilesOfMoreThan4GiB TestKilledLoadsGoOn TestNothingIsLoadedTwiceOrLostInSilence \
	TestALostFirstLoadIsRebuiltOrMadeAgain TestAHashedTableSortsItsRolls TestEveryLayoutBecomesEveryOther \
	TestAReplayLargerThanTheMemory TestWhatAReplayCannotHold TestARowLargerThanTheMemory TestRecordsLargerThanTheMemory \
	TestFilesOfLargeRecordsAreMergedInSeveralPasses TestLargeRowsAre(Converted|KeptUp)InLittleMemory TestTooManyOffsetsAreNotListed \
	TestSizesAreThoseOfALoad TestAPartTellsOfAllLogs TestTheChoiceIsNearTheBestMeasured TestMoreWorkNeverCostsLess \
	TestSecuredConforms/^(privacy|integrity) TestIDsAreCutEvenly TestMoreRecordsShowMoreKinds TestEveryErrorWithAStatusIsListed \
	TestAListLeavesRoomForTrails TestGoingOnWritesDamagedPartsAgain TestOverwriteKeepsAResult TestAVoidAppendLeavesNothing \
	TestAWindowChangesNoResult TestConditionsWhereTheTableLies TestEveryOutputIsTheOracles TestLayoutsAreExplained \
	TestASnapshotHasWhatAScanHas TestAMergeSeesWhatPlainLoopsSee (Is|Are)ATable/^(tall|wide|game|hashed|fixed) \
	TestAPartitionGrowsAcrossParts TestAnyPiecesOneResult TestEndsOfDaysThatComeAgain TestADayLargerThanTheMemory TestConditionsAreTheOracles TestNothingElseIsRead \
	TestKilledExtractsGoOn TestKilledAppendsGoOn TestKilledCommitsOfAppendsGoOn TestKilledPiecesGoOn \
	TestADamagedAppendIsNotFinished TestGoingOnKeepsFinishedParts TestCommitKeepsAResult TestCommitFindsDamagedParts TestTheQueryIsRemovedLast
empty :=
MANYCASES := $(subst $(empty) $(empty),|,$(strip $(MANYCASES)))

# Packages most of whose tests use the cluster. make test runs them first.
LIVE := $(addprefix ./,internal/store/hbase internal/table/live internal/table/snapshot cmd/bulkload cmd/extract jobs/streaming)

# Packages with tests that kill or freeze daemons: they run when no other test uses the
# cluster, and with the race detector, too: in store/dfs/hdfs goroutines keep locks and files.
ALONE := $(addprefix ./internal/,test/faults test/clustertest store/dfs/hdfs)

# Tests that need programs that are not written in Go, to read our Parquet or to look at a page,
# say so in their names.
FOREIGN := Python|PyArrow|DuckDB|Polars|Browser|Airflow

export USERTRAIL_PYTHON ?= $(PYTHON)
export USERTRAIL_AIRFLOW ?= $(CURDIR)/.cache/airflow/bin/python
export USERTRAIL_CHDB ?= $(CURDIR)/.cache/chdb/bin/python
export PYTHONDONTWRITEBYTECODE = 1

.PHONY: help build test test-all cover test-local demo bench bench-scale bench-upkeep bench-hbase bench-secure bench-layouts bench-python check fuzz golden keep-version man release metamorphic soak cluster cluster-secure cluster-down wheels venv chdb airflow java browser clean

help: ## list the targets
	@echo "usertrail $(VERSION)"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

# With the tag Arrow reads JSON, which we have it do nowhere, by Go's own library: the
# other one is a seventh of what there is to compile.
build: ## bin/bulkload and bin/extract, static
	CGO_ENABLED=0 go build -tags arrow_json_stdlib -trimpath -buildvcs=false -ldflags '-s -w -X usertrail/cmd/internal/cli.version=$(VERSION)' -o bin/ ./cmd/bulkload ./cmd/extract

test cover: export RACE := $(RACE)
test cover: export LIVE := $(LIVE)
test test-all cover: export MANYCASES := $(MANYCASES)
test test-all cover: export ALONE := $(ALONE)

test: ## everything once, in about 20 minutes; installs what it needs and says so
	@scripts/test once

test-all: ## everything: all faults, all random worlds, all queries, with the race detector; in an hour
	@scripts/test all

cover: ## the statement coverage of internal/ by make test, or by make test-all with MODE=all
	@COVER=$(CURDIR)/.cache/cover.out scripts/test $(or $(MODE),once)

test-local: ## what needs nothing but Go: no C compiler, no Python, no browser, no servers
	USERTRAIL_CLUSTER=none go test -timeout 10m -skip '$(FOREIGN)' ./...

demo: ## sample logs in, active users' trails out, in under a minute
	@scripts/demo

bench: build venv chdb ## ours, DuckDB and ClickHouse on the same data: RECORDS=10000000 USERS=200000 RUNS=3
	$(PYTHON) scripts/bench compare --records $(RECORDS) --users $(USERS) --runs $(RUNS)

bench-scale: build venv ## ten pieces by one worker and by two; time a record and peak memory at 1 million records, 10 million and RECORDS
	$(PYTHON) scripts/bench pieces
	$(PYTHON) scripts/bench scale --records $(RECORDS)

bench-upkeep: build venv ## a year of nights, compacted, beside a load of each month
	$(PYTHON) scripts/bench upkeep --records $(RECORDS)

bench-hbase: build ## ours and HBase's own programs on a cluster of their own, in a quarter of an hour: ROWS=100000 RUNS=3
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -o bin/ ./scripts/bench/hbasebench
	python3 scripts/bench hbase --rows $(ROWS) --runs $(RUNS)

bench-secure: ## our clients and Java's on a cluster with Kerberos and privacy, in ten minutes: ROWS=100000 RUNS=3
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -o bin/ ./scripts/bench/hbasebench
	python3 scripts/bench secure --rows $(ROWS) --runs $(RUNS)

bench-python: build venv ## a result in Python as an Arrow stream, and its Parquet parts: RECORDS=5000000 RUNS=3
	$(PYTHON) scripts/bench arrow $(if $(filter command line environment,$(origin RECORDS)),--records $(RECORDS)) --runs $(RUNS)

bench-layouts: build venv ## every layout, in files and in HBase, for users of EACH="1 10 100 1000 10000" behaviours; PUBLISH=yes writes docs/explanation/layouts.md, FIGURES=FILE goes on where an earlier run ended
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -o bin/ ./scripts/bench/layoutbench
	$(PYTHON) scripts/bench layouts --records $(RECORDS) --each "$(EACH)" $(if $(FIGURES),--json $(FIGURES)) $(if $(PUBLISH),--publish)

check: ## gofmt, vet, documents and imports, staticcheck, shellcheck where it is, a tidy go.mod
	@scripts/check

fuzz: ## thirty seconds of each fuzz target: FUZZTIME=30s
	@scripts/fuzz

metamorphic: ## random sequences of commands against a plain model: SEED=1 COUNT=1 STEPS=120 FAT=yes; without SEED those of make test
	USERTRAIL_CLUSTER=none go test -count=1 -v -timeout 3h -run TestSequences ./internal/test/metamorphic -metamorphic.keep $(or $(KEEP),$(CURDIR)/.cache) \
		$(if $(SEED),-metamorphic.seed $(SEED)) $(if $(COUNT),-metamorphic.count $(COUNT)) $(if $(STEPS),-metamorphic.steps $(STEPS)) $(if $(FAT),-metamorphic.fat)

soak: java ## thirty nights in a row, with a trouble each, into a table of files and into HBase: NIGHTS=30
	@trap 'scripts/cluster down' EXIT; trap 'exit 130' INT TERM; \
	go test -count=1 -v -timeout 3h -run TestNights ./internal/test/faults -soak $(NIGHTS)

golden: ## write the drawings in testdata anew; look at the diff afterwards
	go test $$(grep -rl --include='*_test.go' cockroachdb/datadriven internal cmd | xargs -n1 dirname | sort -u | sed 's,^,./,') -rewrite
	go test ./cmd/bulkload ./cmd/extract -run TestFlagsPage -rewrite
	go test ./internal/test/e2e -run TestAnalystsDoc -rewrite
	git diff --stat

keep-version: ## write the files of the release VERSION, which later releases must read, into internal/test/compat/testdata
	USERTRAIL_CLUSTER=none go test -count=1 ./internal/test/compat -run TestWriteAVersion -compat.write $(VERSION)
	git status --short internal/test/compat

man: ## man pages of both commands, in bin/man
	go test -count=1 ./cmd/bulkload ./cmd/extract -run TestManPages -man $(CURDIR)/bin/man

release: ## archives, .deb, .rpm, bills of materials and checksums of VERSION for Linux and macOS, in dist: VERSION=v1.2.0
	go -C scripts/release run . --root $(CURDIR) --out $(or $(OUT),$(CURDIR)/dist) --version $(VERSION) $(if $(PLATFORMS),--platforms $(PLATFORMS))

cluster: ## HDFS, ZooKeeper and HBase on the loopback, which tests use as long as it is up: CLUSTER_NET=127.7
	@CLUSTER_LIGHT=yes scripts/cluster up

cluster-secure: ## a second cluster, with Kerberos and TLS, for the tests of secured clusters
	@CLUSTER_LIGHT=yes CLUSTER_DIR=.cache/cluster-secure CLUSTER_SECURE=yes CLUSTER_DATANODES=1 CLUSTER_REGIONSERVERS=2 scripts/cluster up

cluster-down: ## end them and forget their data
	@scripts/cluster down
	@CLUSTER_DIR=.cache/cluster-secure scripts/cluster down

venv: ## the Python that tests and benchmarks read our Parquet with, in .cache/venv
	@scripts/venv .cache/venv

airflow: ## the Airflow that jobs/airflow is tested in, in .cache/airflow
	@scripts/venv .cache/airflow jobs/airflow/requirements.txt

wheels: venv ## wheels of the Python package for Linux and macOS, with the programs inside, in dist: VERSION=v1.2.0
	for platform in linux/amd64 linux/arm64 darwin/arm64; do \
		SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) USERTRAIL_VERSION=$(VERSION) USERTRAIL_PLATFORM=$$platform \
			$(PYTHON) -m pip wheel -q --no-deps --no-build-isolation --wheel-dir $(or $(OUT),$(CURDIR)/dist) ./python || exit 1; \
	done

chdb: # the ClickHouse that make test-all tries the tables of extract ddl in, in .cache/chdb
	@scripts/venv .cache/chdb scripts/requirements-chdb.txt

java: # on which HBase and HDFS of the soak run
	@scripts/need-java

browser: # chromium, in which the page of extract report is looked at
	@scripts/browser

clean: ## remove what was built and what the demo made
	rm -rf bin demo dist
