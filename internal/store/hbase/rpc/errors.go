package rpc

import (
	"errors"

	"usertrail/internal/store/hbase/wire"
)

// A ServerError is an exception in a server's response.
type ServerError = wire.ServerError

var (
	// ErrUnknownOutcome is matched by the error of a call that was sent, or may have been,
	// and has no response. The server may have executed it.
	ErrUnknownOutcome = errors.New("outcome unknown")

	// ErrRefused is matched if the server closed the connection before it sent a frame. It
	// does not accept the header (service, codec, user, security). A server that stops at
	// this moment looks the same.
	ErrRefused = errors.New("connection closed without a response: the server does not offer the service, or wants another authentication")

	// ErrSimple is matched if a server without Kerberos was asked with it.
	ErrSimple = errors.New("the server does not ask for Kerberos")

	// ErrNoTLS is matched if a server without TLS was asked with it.
	ErrNoTLS = errors.New("the server does not speak TLS")

	// ErrClosed is matched after Close.
	ErrClosed = errors.New("connection closed")

	// ErrSilent is matched if nothing arrived for Options.Silence while calls waited.
	ErrSilent = errors.New("no bytes from the server")
)

// A DialError is returned if no connection could be made. Nothing was executed.
type DialError struct {
	Addr string
	Err  error
}

func (e *DialError) Error() string { return "connect to " + e.Addr + ": " + e.Err.Error() }
func (e *DialError) Unwrap() error { return e.Err }

// A ConnError is returned for a connection that cannot be used any more. Err is the cause: an
// I/O error, ErrRefused, ErrSilent, ErrClosed, a *ServerError about the connection, or a
// malformed frame.
type ConnError struct {
	Addr string
	Err  error
}

func (e *ConnError) Error() string { return "connection to " + e.Addr + ": " + e.Err.Error() }
func (e *ConnError) Unwrap() error { return e.Err }

// A CallError is returned for a call without a response. If Err is a *ConnError, the
// connection has ended. Otherwise the connection is still usable, and Err is the cause of the
// end of the call's context, wire.ErrMalformed for its response, or the error for a request
// that is too large.
type CallError struct {
	Method string
	Addr   string
	Sent   bool // sending has at least begun: errors.Is(e, ErrUnknownOutcome)
	Err    error
}

func (e *CallError) Error() string {
	s := e.Method + " at " + e.Addr + ": " + e.Err.Error()
	if e.Sent {
		s += " (" + ErrUnknownOutcome.Error() + ")"
	}
	return s
}

func (e *CallError) Unwrap() error { return e.Err }

// Is makes a call that was sent match ErrUnknownOutcome.
func (e *CallError) Is(target error) bool { return e.Sent && target == ErrUnknownOutcome }
