// Package wire encodes and decodes HBase's messages: the requests of a client to
// RegionServers and masters, and their responses. It needs no generated code, and it does no
// input or output.
//
// # Promises
//
// Requests are appended to the caller's buffer. Responses are decoded in place: slices that
// are returned alias the response's buffer, with their capacity clipped, and are valid until
// the buffer changes. Encoding and decoding a Multi allocates nothing for an action or a
// cell. A message that does not follow the protocol is an error that wraps ErrMalformed and
// names the message and field. Unknown fields are skipped, and repeated numbers may
// be packed or not.
//
// # Messages
//
// Messages are protocol buffers, version 2: required fields are written even if they
// are zero. Numbers and types are from RPC.proto, Client.proto, Filter.proto,
// HBase.proto, Master.proto, Snapshot.proto, ClusterStatus.proto,
// AccessControl.proto and ZooKeeper.proto of HBase 2.6; 2.4 and 2.5 have the same.
//
// # Cell block
//
// Cells are not part of messages. They follow a message, in the format of KeyValueCodec
// without tags. Integers are big endian.
//
//	repeat  int32 8+keyLen+valueLen | int32 keyLen | int32 valueLen | key | value
//
//	key: int16 rowLen | row | int8 famLen | family | qualifier | int64 time | uint8 type
//
// The messages have the number of cells of each mutation and result, in order.
package wire
