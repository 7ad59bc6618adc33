// Package wire is HBase's messages as bytes: what a client says to region servers
// and masters, and what they answer. It needs no generated code, and it does no
// input or output.
//
// # Promises
//
// What goes out is appended to the caller's buffer; what comes in is walked over
// where it lies, and bytes that are handed out alias it, clipped, for as long as
// it is left alone. A Multi costs no allocation for an action or a cell, either
// way. Whatever comes in, the worst is an error that wraps ErrMalformed and says
// in which message and field; unknown fields are skipped, and repeated numbers may
// be packed or not.
//
// # Messages
//
// Protocol buffers, version 2: fields that are required are written also when they
// are zero. Numbers and types are those of RPC.proto, Client.proto, Filter.proto,
// HBase.proto, Master.proto, Snapshot.proto, ClusterStatus.proto,
// AccessControl.proto and ZooKeeper.proto of HBase 2.6; 2.4 and 2.5 have the same.
//
// # Cell block
//
// Cells do not travel as messages but behind them, in KeyValueCodec's form without
// tags. Integers are big endian.
//
//	repeat  int32 8+keyLen+valueLen | int32 keyLen | int32 valueLen | key | value
//
//	key: int16 rowLen | row | int8 famLen | family | qualifier | int64 time | uint8 type
//
// The messages say how many cells belong to each mutation and result, in order.
package wire
