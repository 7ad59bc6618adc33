package estimate

// Rates as docs/benchmarks.md has them, of two cores that servers and client share.
// Those of workers are for one worker with a core of its own.
const (
	// startSeconds is a process that asks for one user of a table of files.
	startSeconds = 0.02
	// connectSeconds is the same of HBase: ZooKeeper, meta and the first call.
	connectSeconds = 0.15
	// snapshotSeconds is how long it takes to take a snapshot, and to open it.
	snapshotSeconds = 1

	// getsPerSecond and scannedCells are the rows "get" and "scan" of the table of
	// HBase's own tools. A scan passes over cells that do not come out at no other rate.
	getsPerSecond = 20_000
	scannedCells  = 1_700_000
	// scannedUsers is how many users' places scans find in a second: the row "extract
	// 2000 users, --plan scan" without what its cells take.
	scannedUsers = 6_000
	// scannedRows is how many rows are found to be there in a second, of which no more
	// is asked: the rate of scans, where a row has three cells to pass over.
	scannedRows = 500_000
	// snapshotCells is the row "snapshot", of two workers, and snapshotUsers how many
	// users' places are found in a second.
	snapshotCells = 6_400_000
	snapshotUsers = 40_000

	// Of one worker. The row "extract all" takes 14 s of CPU for 10 million behaviours
	// of 38 million cells, of which nearly half goes into Parquet; "extract 1%" reads
	// one block for each user and day.
	fileCells  = 7_000_000
	fileBlocks = 100_000
	written    = 1_500_000
	// rolledUsers is how many users of rolls are merged in a second, by one worker.
	rolledUsers = 4_000_000

	// The delivered files as DuckDB reads them: the rows "DuckDB csv" of 1.47 GB, of
	// few users and of all.
	logBytes   = 750_000_000
	logRecords = 1_600_000
)

// What files and calls hold.
const (
	// blockBytes are of a table of files, before compression: of 16 KiB at most, cut
	// where a user ends.
	blockBytes = 12 << 10
	// encodedShare is what FAST_DIFF leaves of cells' bytes.
	encodedShare = 0.57
	readAhead    = 64 << 10 // of an HFile, where neighbouring blocks are read
	openReads    = 2        // to open an HFile
	connectCalls = 2        // that find out where the regions are
	// Gets go out by few until the first answer tells how large rows are; before it
	// comes, there are about getsBefore.
	getsAtFirst = 32
	getsBefore  = 1000
	getsInCall  = 400

	usersInScan = 256
	answerBytes = 2 << 20 // of a scan's answer
)

// screenedStay is the share of users who are taken to stay by conditions: nobody knows
// before they are judged.
const screenedStay = 0.5
