# `make` without a target lists the targets.

.DEFAULT_GOAL := help
SHELL := /bin/bash

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
PYTHON  := $(CURDIR)/.cache/venv/bin/python

# Parameters of the benchmarks.
RECORDS ?= 10000000
USERS   ?= 200000
RUNS    ?= 3
ROWS    ?= 100000
EACH    ?= 1 10 100 1000 10000

# The parameter of the soak.
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

# Tests with many cases, one after the other, or with much data. For example, each operation fails
# once, a process is killed at each step, each byte is flipped, or each layout runs forty queries.
# They run without the race detector: with it they would take five to fifteen times as long. Other
# tests of these packages run the same goroutines with it. The suite of tables runs with the race
# detector for one layout, and through the life of a table. A lint test fails if no test has a name
# of this list.
MANYCASES := AnyFault EveryFailure SurvivesFaults FlippedByte \
	TestReadsWhatItWrites TestNextRowLeavesTheRow TestEncodersFollowTheDrawing TestSeekColumnFindsWhatALookThroughAllFinds \
	TestReadsHBasesFiles TestBloomNeverDenies TestFilesAreHBases TestTableTakesFilesIn \
	TestBytesDoNotDependOnBatches TestEveryFormatShowsWhatWasWritten TestNoDamageAsksForMuchMemory TestPythonReadersAgree \
	TestRowsAreThoseWritten LibraryReadsWhatWasWritten TestFooterIsTheLibrarys TestPageIndexFitsPages TestEveryFailedWriteIsReported \
	TestPreCheckWantsRoom TestNightsOnWhichClocksAreSet TestValuesStayUnderTheirFields TestACopyBringsWhatTheFirstDidNot \
	TestAPlanReadsLogsWithoutTheLock TestUnmappedTextsDoNotDependOnTheWay TestLinesOfBothVersions \
	TestEveryConditionLeavesOutItsOwnRecords TestFilesOfMoreThan4GiB TestKilledLoadsContinue TestNothingIsLoadedTwiceOrLostInSilence \
	TestALostFirstLoadIsRebuiltOrMadeAgain TestAHashedTableSortsItsRolls TestEveryLayoutBecomesEveryOther \
	TestAReplayLargerThanTheMemory TestWhatAReplayCannotHold TestARowLargerThanTheMemory TestRecordsLargerThanTheMemory \
	TestFilesOfLargeRecordsAreMergedInSeveralPasses TestLargeRowsAre(Converted|KeptUp)InLittleMemory TestTooManyOffsetsAreNotListed \
	TestUsersApartAreComparedInLittleMemory TestUsersAreNotHeld TestUsersOfARollAreSortedInLittleMemory TestAnIndexIsInMemoryOnce \
	TestSizesAreThoseOfALoad TestAPartHasTheSizesOfAllLogs TestTheChoiceIsNearTheBestMeasured TestMoreWorkNeverCostsLess \
	TestSecuredConforms/^(privacy|integrity) TestIDsAreCutEvenly TestMoreRecordsShowMoreKinds TestEveryErrorWithAStatusIsListed \
	TestAListLeavesRoomForTrails TestContinuingWritesDamagedPartsAgain TestOverwriteKeepsAResult TestAnAppendWithoutItsResultLeavesNothing \
	TestAWindowChangesNoResult TestConditionsWhereTheTableLies TestEveryOutputIsTheOracles TestLayoutsAreExplained \
	TestASnapshotHasWhatAScanHas TestAMergeSeesWhatPlainLoopsSee (Is|Are)ATable/^(tall|wide|game|hashed|fixed) \
	TestAPartitionGrowsAcrossParts TestAnyPiecesOneResult TestEndsOfDaysThatComeAgain TestADayLargerThanTheMemory TestConditionsAreTheOracles TestNothingElseIsRead \
	TestKilledExtractsContinue TestKilledAppendsContinue TestKilledCommitsOfAppendsContinue TestKilledPiecesContinue \
	TestATextCutAtEveryPlace TestCutShort TestRealLogs TestChunkSize TestDraftsOfNights TestManyUsers TestRowsOfADamagedFileAreAnError \
	TestADraftReadsWhatTheTrueJobReads TestReadsGiveTheResult TestASecuredTableIsATable/^(privacy|integrity) TestALiveTableTakesFiles/^catalog_on_a_local \
	TestDictionariesAreGivenUpForDifferentStrings TestPlainIsBytesInBlocks TestLargeValuesAreReadInSmallSteps TestAllOfALongTrailIsReadInParts \
	TestAPageAmidADayCostsItsPage TestNumbersAgreeWithDuckDB \
	TestADamagedAppendIsNotFinished TestContinuingKeepsFinishedParts TestCommitKeepsAResult TestCommitFindsDamagedParts TestTheQueryIsRemovedLast \
	MustFitIntoMemory TestAFileOfTooManyConditionsIsRefusedAlone TestLargeRecordsAreLoadedOnce TestEachWayNamesTheSameFieldsWithoutValue \
	TestFinishedRegionsAreNotHeld TestAGrownJobContinues TestKilledPutsAreNamed TestACopyOfAFile TestACopyOfAnotherDay TestACopyIntoHBase \
	TestALogReplacesAnEmptyOne TestTooFewRecordsAreRefused TestOtherFilesThanLogsAreRefused TestEveryConditionIntoHBase \
	TestPiecesFollowTheTablesFields TestLinesOfAPlanThatIsGone TestADirectoryInThePlaceOfAFileOfAPlan TestRangesSkipDaysOfTwoDrops \
	TestOtherTexts TestAPlanDropsReportsOfDroppedDays TestSeveralCopiesOfAFile TestARecordTooLargeForAWorker TestReplayFindsARecordByItsColumnID \
	TestRereadsAreImportedWithTheirRecords TestARowTooLargeToImport TestWhateverAKilledExtractLeavesIsItsOwn TestOverwriteReplacesOnlyResults \
	TestTheOutcomeIsOfTheQuery TestEstimatesComeTrue TestPiecesOfEveryFormat TestAKilledCommitOfAnAppend TestSomethingElseInAPlace \
	TestADirectoryOfAKilledAppendIsInTheWay TestRollsOffIsAnotherQuery TestAFewOfALongTrailCostLittle TestATrailLargerThanTheMemory \
	TestLargeValuesAreReadInSmallBatches TestFramesAreSeenAndPassedOn TestPairsOfGB2312AreNotUTF8 TestWordsInTheirEncodingAreNotUTF8 \
	TestUTF8ReadAsAnotherEncoding TestWindows TestUsersWhoseTextsAreNoPlainIDs TestFreeTextIsNotChosenAsTheUser \
	TestTheDayOfThePathShowsTheOrderOfDayAndMonth TestTextsForNullThatAPatternSelects TestAColumnThatIsAddedLater \
	TestTimesOfUsualPrograms TestADayAndATimeOfDayInTwoColumns TestDecodedRecordsOfLargeRowsAreTheSame
empty :=
MANYCASES := $(subst $(empty) $(empty),|,$(strip $(MANYCASES)))

# Packages most of whose tests use the cluster. make test runs them first.
LIVE := $(addprefix ./,internal/store/hbase internal/table/live internal/table/snapshot cmd/bulkload cmd/extract jobs/streaming)

# Packages with tests that kill or freeze daemons. They run when no other test uses the cluster. They
# also run with the race detector, because goroutines of store/dfs/hdfs keep locks and files open.
ALONE := $(addprefix ./internal/,test/faults test/clustertest store/dfs/hdfs)

# Packages whose tests take longest. make test-all starts them first and next to the others, because
# they wait more than they work.
LONG := $(addprefix ./,internal/store/hbase internal/test/e2e internal/test/metamorphic jobs/cron jobs/streaming)

# Words in the names of tests that need programs that are not written in Go, to read our Parquet or
# to render a page.
FOREIGN := Python|PyArrow|DuckDB|Polars|Browser|Airflow

export USERTRAIL_PYTHON ?= $(PYTHON)
export USERTRAIL_AIRFLOW ?= $(CURDIR)/.cache/airflow/bin/python
export USERTRAIL_CHDB ?= $(CURDIR)/.cache/chdb/bin/python
export PYTHONDONTWRITEBYTECODE = 1

.PHONY: help build test test-all test-versions cover test-local demo bench bench-scale bench-upkeep bench-hbase bench-secure bench-layouts bench-python check fuzz golden keep-version man release metamorphic soak cluster cluster-secure cluster-down wheels venv chdb airflow java browser clean

help: ## print this list
	@echo "usertrail $(VERSION)"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

# With the tag arrow_json_stdlib, Arrow reads JSON by Go's own library. We never use Arrow to read
# JSON, and its other library is a seventh of the code to compile.
build: ## build static binaries: bin/bulkload and bin/extract
	CGO_ENABLED=0 go build -tags arrow_json_stdlib -trimpath -buildvcs=false -ldflags '-s -w -X usertrail/cmd/internal/cli.version=$(VERSION)' -o bin/ ./cmd/bulkload ./cmd/extract

test cover: export RACE := $(RACE)
test cover: export LIVE := $(LIVE)
test test-all cover: export MANYCASES := $(MANYCASES)
test test-all cover: export ALONE := $(ALONE)
test-all cover: export LONG := $(LONG)

test: ## run every test once, in 15 to 20 minutes; installs the programs that the tests need
	@scripts/test once

test-all: ## run the tests with all faults, all random test cases, all queries, and the race detector, in an hour
	@scripts/test all

cover: ## measure the statement coverage of internal/ by make test, or by make test-all with MODE=all
	@COVER=$(CURDIR)/.cache/cover.out scripts/test $(or $(MODE),once)

test-versions: ## run the tests of tables in HBase, bulk loads and snapshots on HBase 2.4, 2.5, 2.6 and 3.0
	@scripts/versions

test-local: ## run the tests that need only Go: no C compiler, no Python, no browser, no servers
	USERTRAIL_CLUSTER=none go test -timeout 10m -skip '$(FOREIGN)' ./...

demo: ## load sample logs and extract the trails of active users, in under a minute
	@scripts/demo

bench: build venv chdb ## compare usertrail, DuckDB and ClickHouse on the same data: RECORDS=10000000 USERS=200000 RUNS=3
	$(PYTHON) scripts/bench compare --records $(RECORDS) --users $(USERS) --runs $(RUNS)

bench-scale: build venv ## measure ten pieces with one worker and with two, and the time per record and peak memory at 1 million, 10 million and RECORDS records
	$(PYTHON) scripts/bench pieces
	$(PYTHON) scripts/bench scale --records $(RECORDS)

bench-upkeep: build venv ## compare a compacted table of a year of nights with a table that was loaded by months
	$(PYTHON) scripts/bench upkeep --records $(RECORDS)

bench-hbase: build ## compare usertrail with HBase's own programs on a cluster of their own, in a quarter of an hour: ROWS=100000 RUNS=3
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -o bin/ ./scripts/bench/hbasebench
	python3 scripts/bench hbase --rows $(ROWS) --runs $(RUNS)

bench-secure: ## compare our clients with Java's on a cluster with Kerberos and privacy, in ten minutes: ROWS=100000 RUNS=3
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -o bin/ ./scripts/bench/hbasebench
	python3 scripts/bench secure --rows $(ROWS) --runs $(RUNS)

bench-python: build venv ## compare a result in Python as an Arrow stream with its Parquet parts: RECORDS=5000000 RUNS=3
	$(PYTHON) scripts/bench arrow $(if $(filter command line environment,$(origin RECORDS)),--records $(RECORDS)) --runs $(RUNS)

bench-layouts: build venv ## measure every layout, in files and in HBase, for users with EACH="1 10 100 1000 10000" events; PUBLISH=yes writes docs/explanation/layouts.md, FIGURES=FILE continues an earlier run
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -o bin/ ./scripts/bench/layoutbench
	$(PYTHON) scripts/bench layouts --records $(RECORDS) --each "$(EACH)" $(if $(FIGURES),--json $(FIGURES)) $(if $(PUBLISH),--publish)

check: ## run gofmt, vet, the tests of documents and imports, staticcheck, shellcheck if it is installed, go mod tidy
	@scripts/check

fuzz: ## run each fuzz target for thirty seconds: FUZZTIME=30s
	@scripts/fuzz

metamorphic: ## run random sequences of commands against a plain model: SEED=1 COUNT=1 STEPS=120 FAT=yes; without SEED the sequences of make test
	USERTRAIL_CLUSTER=none go test -count=1 -v -timeout 3h -run TestSequences ./internal/test/metamorphic -metamorphic.keep $(or $(KEEP),$(CURDIR)/.cache) \
		$(if $(SEED),-metamorphic.seed $(SEED)) $(if $(COUNT),-metamorphic.count $(COUNT)) $(if $(STEPS),-metamorphic.steps $(STEPS)) $(if $(FAT),-metamorphic.fat)

soak: java ## load thirty nights in a row with a fault each, into a table of files and into HBase: NIGHTS=30
	@trap 'scripts/cluster down' EXIT; trap 'exit 130' INT TERM; \
	go test -count=1 -v -timeout 3h -run TestNights ./internal/test/faults -soak $(NIGHTS)

golden: ## write the drawings in testdata and the page of all flags again; look at the diff afterwards
	go test $$(grep -rl --include='*_test.go' cockroachdb/datadriven internal cmd | xargs -n1 dirname | sort -u | sed 's,^,./,') -rewrite
	go test ./cmd/bulkload ./cmd/extract -run TestFlagsPage -rewrite
	go test ./internal/test/e2e -run TestAnalystsDoc -rewrite
	git diff --stat

keep-version: ## write the files of the release VERSION, which later releases must read, into internal/test/compat/testdata
	USERTRAIL_CLUSTER=none go test -count=1 ./internal/test/compat -run TestWriteAVersion -compat.write $(VERSION)
	git status --short internal/test/compat

man: ## write the man pages of both commands to bin/man
	go test -count=1 ./cmd/bulkload ./cmd/extract -run TestManPages -man $(CURDIR)/bin/man

release: ## build archives, .deb, .rpm, bills of materials and checksums of VERSION for Linux and macOS in dist: VERSION=v1.2.0
	go -C scripts/release run . --root $(CURDIR) --out $(or $(OUT),$(CURDIR)/dist) --version $(VERSION) $(if $(PLATFORMS),--platforms $(PLATFORMS))

cluster: ## start HDFS, ZooKeeper and HBase on the loopback; tests use them as long as they are up: CLUSTER_NET=127.7
	@CLUSTER_LIGHT=yes scripts/cluster up

cluster-secure: ## start a second cluster, with Kerberos and TLS, for the tests of secured clusters
	@CLUSTER_LIGHT=yes CLUSTER_DIR=.cache/cluster-secure CLUSTER_SECURE=yes CLUSTER_DATANODES=1 CLUSTER_REGIONSERVERS=2 scripts/cluster up

cluster-down: ## end both clusters and remove their data
	@scripts/cluster down
	@CLUSTER_DIR=.cache/cluster-secure scripts/cluster down

venv: ## install in .cache/venv the Python with which tests and benchmarks read our Parquet
	@scripts/venv .cache/venv

airflow: ## install in .cache/airflow the Airflow of the tests of jobs/airflow
	@scripts/venv .cache/airflow jobs/airflow/requirements.txt

wheels: venv ## build wheels of the Python package for Linux and macOS, with the programs inside, in dist: VERSION=v1.2.0
	for platform in linux/amd64 linux/arm64 darwin/arm64; do \
		SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) USERTRAIL_VERSION=$(VERSION) USERTRAIL_PLATFORM=$$platform \
			$(PYTHON) -m pip wheel -q --no-deps --no-build-isolation --wheel-dir $(or $(OUT),$(CURDIR)/dist) ./python || exit 1; \
	done

chdb: # installs in .cache/chdb the ClickHouse of make bench and of the tests of extract ddl
	@scripts/venv .cache/chdb scripts/requirements-chdb.txt

java: # installs the JDK that HBase and HDFS of the soak need
	@scripts/need-java

browser: # installs chromium, which tests of extract report need
	@scripts/browser

clean: ## remove the files of build, demo and release
	rm -rf bin demo dist
