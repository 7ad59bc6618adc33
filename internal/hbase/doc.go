// Package hbase speaks HBase's protocol, 2.4 to 2.6, without a JVM: where a table's
// regions are, many Gets at once, scans, Puts, bulk load, and the few calls of the
// master that a table needs.
//
//	Client ─ table (where regions are) ─ multi, scanning ─ server (window) ─ rpc ─ wire
//
// # Promises
//
// Each row that is asked for is answered once or the operation fails. Servers are
// busy, frozen and killed; regions move, split and are merged; answers are lost. All
// of that is tried again, just what failed, until it succeeds or Config.OpTimeout is
// used up, and then a *GaveUpError says what was tried, where, and what the server
// said. Only BulkLoad is not tried again where it may have been done. Every call has
// a limit, every wait ends with its context or with Close, and when Close returns no
// goroutine is left. What a method gives to a callback is valid until that returns.
// Errors that time may heal satisfy ErrUnavailable.
//
// # Connection
//
// One TCP connection per server and service. RPC.proto:
//
//	"HBas" | 00 | 50 simple | int32 n | ConnectionHeader      the server answers nothing
//
//	request   int32 total | vint n | RequestHeader  | vint n | parameter | cell block
//	response  int32 total | vint n | ResponseHeader | vint n | result    | cell block
//
// Answers come in any order and carry the call's ID. A call whose deadline has
// passed on the server gets none at all. A server that is frozen shows only as
// silence: when calls wait and nothing comes for a quarter of Config.CallTimeout, one
// cheap Get must bring an answer within another, or the connection is closed.
//
// A cell block holds what the messages only count (KeyValueCodec):
//
//	int32 8+key+value | int32 key | int32 value | key | value
//	key: int16 row | row | int8 family | family | qualifier | int64 time | uint8 type
//
// # Regions
//
// ZooKeeper (ZooKeeper.proto) or a master (Registry.proto) names the server of
// hbase:meta. There a region is a row:
//
//	table , start , id . md5 .     info:regioninfo           PBUF RegionInfo (HBase.proto)
//	                               info:server               host:port, absent if on none
//	                               info:seqnumDuringOpen     int64, grows with each opening
//	table                          table:state               TableState
//
// A table's regions stand from "t,," to "t ,,": with one comma the first is left
// out. Parents of a split stay for minutes and are skipped. They are read all at
// once, one reading at a time, and kept; a location that proves wrong makes the next
// attempt wait for a new reading. The regions of a disabled table look as if they
// had moved, so that whoever finds one gone twice asks for table:state.
//
// # Multi
//
// Client.proto. A request has actions by region, an answer results by region, each
// with the action's index in any order. Regions and actions fail one by one. The
// server works through a Multi in one thread, so that several are under way. Gets
// and Puts do not go together: the server would do all Gets first.
//
// # Scans
//
// Client.proto. One scanner per region, from its start to its end, since a server
// ends it there without a word:
//
//	open   region, scan                → id, results
//	next   id, next_call_seq 0, 1, 2 … → results, possibly none (a heartbeat)
//
// The answer says whether the scan is over, or the region, or neither. Its last
// result may be part of a row. A call to next that got no answer is never sent
// again: the server may have gone on. The scan opens anew behind the last whole row,
// or at the unfinished one, of which the cells are skipped that were given away.
//
// Of a scan with a limit each call says how many rows are still wanted: the server
// counts anew each time. When it has given so many the scan is over. Whether the part
// that an answer ends with was all of its row, it finds out with the next row, so a few
// more may come than are wanted; they are not given away.
//
// # Bulk load
//
// Client.proto. Files that lie in HBase's own file system become part of regions:
//
//	PrepareBulkLoad  first region            → token, a staging directory's URI
//	BulkLoadHFile    region, files, token    → loaded, for each region with files
//	CleanupBulkLoad  first region, token     → the directory is deleted
//
// A region takes all files of a call or none, and says no more than that: why is in
// its log alone. It flushes first. The call has no nonce, so that it is never
// repeated after an answer was lost: ErrUncertain. The server deletes whatever
// CleanupBulkLoad names; only what looks like a staging directory is sent.
//
// # Snapshots, status and permissions
//
// Master.proto. Of a snapshot the master only says that it has begun; it is asked
// until it is done:
//
//	Snapshot        name, table, FLUSH, created   → how long it may take
//	IsSnapshotDone  name, table                   → done, or what it failed with
//
// A region that moves meanwhile fails the whole snapshot. Without a nonce servers of
// all versions do it in this way. The time of creation is given and not left to the
// master, to tell whether a snapshot of the name is the one that was asked for.
//
// HasUserPermissions answers for whoever asks. A server that does not know a call,
// or has no AccessController, answers with a DoNotRetryIOException around Java's
// UnsupportedOperationException.
//
// # Errors
//
// An exception is a Java class and a text; the class decides what helps, because
// do_not_retry is set on exceptions that a retry heals and missing where none does.
// See judge. Pauses go from 100 ms to 10 s, with full jitter.
//
// # Good neighbour
//
// Each server has a window of calls in flight, Config.InFlight at most, which every
// call has a place in, whatever it is for and however often it was tried; but for the one
// cheap Get that asks whether a silent server is still there. The window is halved
// when the server says that it has too much to do, when it gives no answer in time,
// and when its answers take a multiple of what they took at best in the minutes
// before; it is shut for as long as a quota asks for. It grows back by one for each
// window's worth of calls that go well. Config.Pace bounds what is asked for in a
// second. Client.Held tells what that came to.
package hbase
