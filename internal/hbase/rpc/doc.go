// Package rpc is one connection to one HBase server and one of its services:
// calls go out, answers come back to whoever asked. Which server, and whether to
// try again, is for its user to say.
//
// # Promises
//
// Any number of calls may wait at once; answers come in any order and find their
// call by its ID. Every call gets exactly one outcome: an answer, the server's
// exception, or a *CallError. A call that runs out of time fails alone, and its
// answer, should it come late, goes nowhere: IDs are not used twice. A call's
// bytes go out in one piece or not at all. The connection is given up only when
// reading or writing fails, when what arrives makes no sense, or when nothing at
// all arrives for Options.Silence while calls wait.
//
// One goroutine writes, one reads and cuts the stream into frames; all encoding
// and decoding is done by the callers. Both have ended when Close returns.
//
// # The stream
//
// Integers are big endian, varints and messages protobuf's. RPC.proto of HBase has
// the messages.
//
//	client  "HBas" | 00 | 50 simple authentication | int32 n | ConnectionHeader
//	        repeat  int32 n | varint | RequestHeader | varint | parameter | cell block
//	server  repeat  int32 n | varint | ResponseHeader | [varint | result] | [cell block]
//
// n does not count itself. The server says nothing to the header: it answers a
// service or codec that it does not know by closing the connection. An answer
// with the call ID ffffffff is about the connection.
//
// A server drops a call whose time, sent along with it, has passed while it was
// queued. It never answers such a call.
package rpc
