// Package hbase implements a client of HBase 2.4 to 2.6 and 3.0 without a JVM. It finds the
// regions of a table, sends many Gets at once, scans, puts and bulk loads. It also
// makes the few calls of the master that a table needs.
//
//	Client ─ table (where regions are) ─ multi, scanning ─ server (window) ─ rpc ─ wire
//
// # Promises
//
// Each requested row is returned once, or the operation fails. Servers are busy, frozen and killed.
// Regions move, split and merge. Responses are lost. The client retries only the part that failed. It
// retries until that part succeeds or Config.OpTimeout is used up. Then it returns a *GaveUpError, which
// has the attempts of the client, their servers and the last error of the server. BulkLoad is the only
// call that is not retried if the server may have executed it. Every call has a time limit. Every wait
// ends with its context or with Close. When Close returns, no goroutine is left. The arguments of a
// callback are valid until the callback returns. Errors that may pass with time satisfy ErrUnavailable.
//
// # Connection
//
// The client opens one TCP connection per server and service. RPC.proto:
//
//	"HBas" | 00 | 50 simple | int32 n | ConnectionHeader      the server sends nothing
//
//	request   int32 total | vint n | RequestHeader  | vint n | parameter | cell block
//	response  int32 total | vint n | ResponseHeader | vint n | result    | cell block
//
// Responses arrive in any order and carry the call's ID. If the deadline of a call has
// passed on the server, the server sends no response. A frozen server shows only as
// silence. If calls wait and no bytes arrive for a quarter of Config.CallTimeout, the
// client sends one cheap Get. If that Get has no response after another quarter, the
// client closes the connection.
//
// The messages only count cells. The cell block holds them (KeyValueCodec):
//
//	int32 8+key+value | int32 key | int32 value | key | value
//	key: int16 row | row | int8 family | family | qualifier | int64 time | uint8 type
//
// # Regions
//
// ZooKeeper (ZooKeeper.proto) or a master (Registry.proto) names the server of
// hbase:meta. In hbase:meta a region is a row:
//
//	table , start , id . md5 .     info:regioninfo           PBUF RegionInfo (HBase.proto)
//	                               info:server               host:port, absent if on none
//	                               info:seqnumDuringOpen     int64, grows with each opening
//	table                          table:state               TableState
//
// The rows of a table's regions are between "t,," and "t ,,". With one
// comma, the scan leaves out the first region. Parents of a split stay for minutes,
// and the client skips them. The client reads all regions of a table at once, one reading at a time, and
// keeps them. If a location is wrong, the next attempt waits for a new reading. The
// regions of a disabled table look as if they had moved. Therefore the client reads
// table:state when it finds a region gone twice.
//
// # Multi
//
// Client.proto. A request has actions by region. A response has results by region.
// Each result has the index of its action, and results have any order. Regions and
// actions fail one by one. The server processes a Multi in one thread, so the client
// sends several at a time. The client does not mix Gets and Puts in one Multi: the
// server would execute all Gets first.
//
// # Scans
//
// Client.proto. The client opens one scanner per region, from the region's start to
// its end, since a server ends a scan at the end of the region without a message:
//
//	open   region, scan                → id, results
//	next   id, next_call_seq 0, 1, 2 … → results, possibly none (a heartbeat)
//
// The response reports whether the scan is over, or the region, or neither. Its last
// result may be a part of a row. The client never repeats a call to next that got no
// response: the server may have advanced. The client opens a new scanner after the last
// whole row, or at the unfinished row. In the unfinished row it skips the cells that
// the caller already has.
//
// If a scan has a limit, each call returns how many rows the client still wants: the
// server counts from zero in each call. After that many rows the server ends the
// scan. The server learns only from the next row whether the part at the end of an
// response was the rest of its row. Therefore a few more rows may arrive. The client
// does not emit them.
//
// # Bulk load
//
// Client.proto. Files in HBase's own file system become part of regions:
//
//	PrepareBulkLoad  first region            → token, a staging directory's URI
//	BulkLoadHFile    region, files, token    → loaded, for each region with files
//	CleanupBulkLoad  first region, token     → the directory is deleted
//
// A region loads all files of a call or none. The response has no reason: only the
// server's log has it. The region flushes first. The call has no nonce, so the client
// never repeats it after a response was lost: ErrUncertain. The server deletes any
// directory that CleanupBulkLoad names. Therefore the client sends only a path that
// looks like a staging directory.
//
// # Snapshots, status and permissions
//
// Master.proto. The response means only that a snapshot has begun:
//
//	Snapshot            name, table, FLUSH, nonce → how long it may take, a procedure
//	getProcedureResult  procedure                 → running, or ended, and with what error
//	IsSnapshotDone      name, table               → done, or what it failed with
//
// From HBase 2.6 on, a procedure of the master takes the snapshot, if the request has a
// nonce. Then a repeated request takes no second snapshot, and a region that moves does not
// make the snapshot fail. Other masters name no procedure, and the client calls
// IsSnapshotDone until the snapshot is done. If a region moves meanwhile, the whole snapshot
// fails. The master sets the time of creation.
//
// HasUserPermissions is about the user of the connection. If a server does not
// know a call, or has no AccessController, it responds with a DoNotRetryIOException
// around Java's UnsupportedOperationException.
//
// # Errors
//
// An exception is a Java class and a text. The class decides the remedy, because
// servers set do_not_retry on exceptions that a retry solves, and omit it on
// exceptions that no retry solves. See judge. The bound of a pause grows from 100 ms
// to 10 s, with full jitter.
//
// # Load on the servers
//
// Each server has a window of calls in flight, at most Config.InFlight. Every call
// takes a place in the window, whatever its purpose and at every attempt. The only
// exception is the cheap Get that checks a silent server. The client halves the
// window in three cases: the server says that it is too busy, the server sends no
// response in time, or its responses take a multiple of the best time in the minutes
// before. The window is shut for as long as a quota demands. It grows back by one for
// each window's worth of successful calls. Config.Limiter limits the requests per
// second. Client.Held returns how much the client held back.
package hbase
