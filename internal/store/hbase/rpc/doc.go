// Package rpc implements a connection to one service of one HBase server:
// it sends calls and returns their responses. The caller decides which server to use, and
// whether to retry.
//
// # Promises
//
// Any number of calls may wait at once. Responses may arrive in any order; the call ID shows
// which call they belong to. Every call gets exactly one outcome: a response, the server's
// exception, or a *CallError. A call that times out fails alone. If its response arrives later,
// it is dropped, because IDs are not used twice. A call's bytes are sent completely or not at
// all. The connection fails only if reading or writing fails, if the server's bytes do not
// follow the protocol, or if nothing arrives for Options.Silence while calls wait.
//
// One goroutine writes; another reads and cuts the stream into frames. The callers do all
// encoding and decoding. Both goroutines have ended when Close returns.
//
// # The stream
//
// Integers are big endian, varints and messages protobuf's. RPC.proto of HBase has
// the messages.
//
//	client  "HBas" | 00 | method [tokens of SASL] | int32 n | ConnectionHeader
//	        repeat  int32 n | varint | RequestHeader | varint | parameter | cell block
//	server  repeat  int32 n | varint | ResponseHeader | [varint | result] | [cell block]
//
// The method is 50 without authentication, 51 with Kerberos, 52 with a delegation token. After the
// tokens of SASL, the bytes of both sides travel in further tokens, if signed or sealed bytes were
// agreed on: int32 n | token. With TLS, all of this is inside TLS.
//
// n does not count itself. The server does not respond to the header. If it does not know the service or
// the codec, it closes the connection. A response
// with the call ID ffffffff is about the connection.
//
// A server drops a call whose time, sent along with it, has passed while it was
// queued. It never responds to such a call.
package rpc
