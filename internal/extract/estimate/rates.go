package estimate

// Rates from docs/explanation/benchmarks.md, measured on two cores that servers and client share.
// Rates of workers are for one worker with a core of its own.
const (
	// startSeconds is the time of a process that reads one user from a table of files.
	startSeconds = 0.02
	// connectSeconds is the same for HBase: ZooKeeper, meta and the first call.
	connectSeconds = 0.15
	// snapshotSeconds is the time to take a snapshot and to open it.
	snapshotSeconds = 1

	// getsPerSecond and scannedCells are the rows "get" and "scan" of the table that
	// compares with HBase's own tools. A scan skips cells at the same rate as it returns them.
	getsPerSecond = 20_000
	scannedCells  = 1_700_000
	// scannedUsers is the number of users that scans look up in a second: the row "extract
	// 2000 users, --plan scan", without the time for its cells.
	scannedUsers = 6_000
	// scannedRows is the number of rows that a scan for users reads in a second: the rate
	// of scans, with three cells to skip in each row.
	scannedRows = 500_000
	// snapshotCells is the row "snapshot", with two workers. snapshotUsers is the number of
	// users that are looked up in a second.
	snapshotCells = 6_400_000
	snapshotUsers = 40_000

	// Rates of one worker. The row "extract all" takes 14 s of CPU for 10 million behaviours
	// with 38 million cells; nearly half of it writes Parquet. The row "extract 1%" reads
	// one block for each user and day.
	fileCells  = 7_000_000
	fileBlocks = 100_000
	written    = 1_500_000
	// rolledUsers is the number of users of rolls that one worker merges in a second.
	rolledUsers = 4_000_000

	// The rates of DuckDB on delivered files: the rows "DuckDB csv", with 1.47 GB, for few
	// users and for all users.
	logBytes   = 750_000_000
	logRecords = 1_600_000
)

// The content of files and calls.
const (
	// blockBytes is the usual size of a block in a table of files, before compression. A
	// block has at most 16 KiB and ends where a user ends.
	blockBytes = 12 << 10
	// encodedShare is the size of cells in FAST_DIFF, as a share of their bytes.
	encodedShare = 0.57
	readAhead    = 64 << 10 // of an HFile, where neighbouring blocks are read
	openReads    = 2        // to open an HFile
	connectCalls = 2        // that find out where the regions are
	// A call has few gets until the first response shows the size of rows. About getsBefore
	// gets are sent before that response.
	getsAtFirst = 32
	getsBefore  = 1000
	getsInCall  = 400

	usersInScan   = 256
	responseBytes = 2 << 20 // of a scan's response
)

// screenedStay is the assumed share of users whom conditions keep. The true share is not
// known before the users are judged.
const screenedStay = 0.5
