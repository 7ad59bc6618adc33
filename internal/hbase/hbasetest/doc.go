// Package hbasetest is a small HBase in memory: region servers and a master on the
// loopback that speak the real protocol, for faults that a real cluster cannot be
// made to show on demand. It reads requests with its own code and not with package
// wire's, so that a mistake there is not made twice.
//
// What it does it does as HBase: a Multi's Gets before its Puts, exceptions for a
// call, a region or an action, the cap on answers, sequence numbers, partial rows
// and heartbeats of scans, hbase:meta in its own order, bulk loads of files that are
// cells, snapshots that take a while. What it does not have is deletes, durability,
// permissions, time, and what a snapshot would hold.
//
// Hooks say which call goes wrong and how, a Cluster's methods move, split and
// merge regions and stop servers while calls run, and Counts tells what was
// executed, answered or not.
//
// With Config.InMemory the servers listen on no socket, and a client reaches them by
// Cluster.Dial alone. Then the test can run in a bubble of package synctest: timeouts,
// pauses and leases take no time, and end neither early nor late on a busy machine.
package hbasetest
