// Package hbasetest is a small HBase in memory: region servers and a master on the
// loopback that use the real protocol. It produces faults that a real cluster does not
// show on demand. It reads requests with its own code and not with the code of package
// wire, so that it does not repeat a mistake of package wire.
//
// It behaves as HBase does: it executes a Multi's Gets before its Puts. It has
// exceptions for a call, a region or an action, a limit on the size of responses,
// sequence numbers, partial rows and heartbeats of scans. It sorts hbase:meta in its
// own order. It bulk loads files that are lists of cells, and its snapshots take a
// while. It has no deletes, no durability, no permissions, no time, and no contents of
// a snapshot.
//
// Hooks choose the calls that fail, and how they fail. A Cluster's methods move, split and
// merge regions and stop servers while calls run. Counts returns the number of executed calls,
// with a response or without.
//
// With Config.InMemory the servers listen on no socket, and a client reaches them by
// Cluster.Dial only. Then the test can run in a bubble of package synctest: timeouts,
// pauses and leases take no real time, and end neither early nor late on a busy machine.
package hbasetest
