package wire

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/secure/token"
)

// TokenRequest is the parameter of "ExecService" at the server of hbase:meta that requests a
// delegation token of the connection's user. Authentication.proto has the service, whose name
// comes without its package.
type TokenRequest struct{}

// Append appends the message.
func (TokenRequest) Append(dst []byte) []byte {
	dst = appendRegion(dst, 1, []byte(MetaRegion))
	dst, at := begin(dst, 2)
	dst = appendBytes(dst, 1, nil)
	dst = appendString(dst, 2, "AuthenticationService")
	dst = appendString(dst, 3, "GetAuthenticationToken")
	dst = appendBytes(dst, 4, nil)
	return end(dst, at)
}

// DecodeToken decodes the response to TokenRequest: CoprocessorServiceResponse, value,
// GetAuthenticationTokenResponse, Token.
func DecodeToken(param []byte) (token.Token, error) {
	t := token.Token{Kind: token.HBase}
	err := within(param, 2, "CoprocessorServiceResponse", func(b []byte) error {
		return within(b, 2, "NameBytesPair", func(b []byte) error {
			return within(b, 1, "GetAuthenticationTokenResponse", func(b []byte) error { return decodeToken(b, &t) })
		})
	})
	return t, err
}

// decodeToken decodes the message Token, whose service is the cluster's ID.
func decodeToken(b []byte, t *token.Token) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.bytes(&t.Identifier)
		case 2:
			d.bytes(&t.Password)
		case 3:
			d.string(&t.Service)
		}
	}
	if d.err == nil && (len(t.Identifier) == 0 || len(t.Password) == 0) {
		d.refuse("identifier or password missing")
	}
	t.Identifier, t.Password = bytes.Clone(t.Identifier), bytes.Clone(t.Password)
	return d.done("Token")
}

// within decodes the message in a field of another message. The field must not be missing.
func within(b []byte, num protowire.Number, name string, decode func([]byte) error) error {
	found := false
	d := decoder{rest: b}
	for d.next() {
		if d.num == num {
			d.message(decode)
			found = true
		}
	}
	if d.err == nil && !found {
		d.refuse("field %d is missing", num)
	}
	return d.done(name)
}
