package gss

import (
	"fmt"
	"time"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// A Code is an error code of Kerberos: RFC 4120, section 7.5.9.
type Code int

// The codes for which a client has a message.
const (
	CodeClientUnknown    Code = 6
	CodeServiceUnknown   Code = 7
	CodeNoEncryptionType Code = 14
	CodeClientRevoked    Code = 18
	CodeKeyExpired       Code = 23
	CodePreauthFailed    Code = 24
	CodeBadIntegrity     Code = 31
	CodeTicketExpired    Code = 32
	CodeTicketNotYet     Code = 33
	CodeRepeat           Code = 34
	CodeNotUs            Code = 35
	CodeSkew             Code = 37
	CodeModified         Code = 41
	CodeBadKeyVersion    Code = 44
	CodeServiceNotHere   Code = 63
	CodeWrongRealm       Code = 68
)

var codes = map[Code]string{
	CodeClientUnknown:    "the KDC does not know the user",
	CodeServiceUnknown:   "the KDC does not know the service",
	CodeNoEncryptionType: "the KDC has no key of a supported encryption type",
	CodeClientRevoked:    "the user is locked",
	CodeKeyExpired:       "the user's password has expired",
	CodePreauthFailed:    "the key is not the user's",
	CodeBadIntegrity:     "the ticket was made with another key",
	CodeTicketExpired:    "the ticket has expired",
	CodeTicketNotYet:     "the ticket is not valid yet",
	CodeRepeat:           "the request was repeated",
	CodeNotUs:            "the ticket is for another service",
	CodeSkew:             "the clocks differ by more than Kerberos allows",
	CodeModified:         "the message was changed",
	CodeBadKeyVersion:    "the service has another key now",
	CodeWrongRealm:       "the user is in another realm",
}

// String returns the meaning of the code.
func (c Code) String() string {
	if s, ok := codes[c]; ok {
		return s
	}
	return fmt.Sprintf("Kerberos error %d", int(c))
}

// A ServerError is the message KRB-ERROR of a server.
type ServerError struct {
	Code Code
	Time time.Time // of the server's clock
	Text string    // in the server's words; may be empty
}

func (e *ServerError) Error() string {
	s := fmt.Sprintf("the server refuses the ticket: %s (error %d)", e.Code, int(e.Code))
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// parseError parses the message KRB-ERROR.
func parseError(message []byte) error {
	in := cryptobyte.String(message)
	var all, body, at, text cryptobyte.String
	var vno, kind, usec, code int64
	var e ServerError
	ok := in.ReadASN1(&all, application(messageErr)) && all.ReadASN1(&body, asn1.SEQUENCE) &&
		readInt(&body, 0, &vno) && readInt(&body, 1, &kind) && kind == messageErr &&
		skipOptional(&body, 2) && skipOptional(&body, 3) &&
		body.ReadASN1(&at, field(4)) && at.ReadASN1GeneralizedTime(&e.Time) &&
		readInt(&body, 5, &usec) && readInt(&body, 6, &code)
	if !ok {
		return fmt.Errorf("%w: no KRB-ERROR", ErrToken)
	}
	var hasText bool
	for n := uint8(7); n <= 10; n++ {
		if !skipOptional(&body, n) {
			return fmt.Errorf("%w: no KRB-ERROR", ErrToken)
		}
	}
	var wrapped cryptobyte.String
	if body.ReadOptionalASN1(&wrapped, &hasText, field(11)) && hasText && wrapped.ReadASN1(&text, typeGeneralString) {
		e.Text = string(text)
	}
	e.Code = Code(code)
	return &e
}
