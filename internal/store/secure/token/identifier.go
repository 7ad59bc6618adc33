package token

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/store/protofield"
)

// An Owner has the fields of a token's identifier.
type Owner struct {
	User    string
	Expires time.Time // the token cannot be used or renewed after it
}

var errIdentifier = errors.New("the token's identifier is malformed")

// Owner reads the token's identifier: HDFS's AbstractDelegationTokenIdentifier or HBase's
// AuthenticationTokenIdentifier.
//
//	HDFS    00 | text owner | text renewer | text real user | vint issued | vint ends, ms | …
//	HBase   int32 length | 2 username, 5 expiration date, ms
func (t Token) Owner() (Owner, error) {
	switch t.Kind {
	case HDFS:
		return hdfsOwner(t.Identifier)
	case HBase:
		return hbaseOwner(t.Identifier)
	}
	return Owner{}, errIdentifier
}

// Check returns ErrExpired if the token is not valid any more at a time. A token whose identifier is
// not understood is left to the server.
func (t Token) Check(now time.Time) error {
	o, err := t.Owner()
	if err != nil || now.Before(o.Expires) {
		return nil //nolint:nilerr // the server knows
	}
	return fmt.Errorf("%w: %s of %s was valid until %s: %s", ErrExpired, t, o.User, o.Expires.UTC().Format(time.RFC3339), Advice)
}

func hdfsOwner(b []byte) (Owner, error) {
	r := reader{rest: b}
	version := r.byte()
	o := Owner{User: string(r.bytes())}
	r.bytes()
	r.bytes()
	r.vint()
	o.Expires = time.UnixMilli(r.vint())
	if r.err != nil || version != 0 {
		return Owner{}, errIdentifier
	}
	return o, nil
}

func hbaseOwner(b []byte) (Owner, error) {
	if len(b) < 4 || int(binary.BigEndian.Uint32(b)) != len(b)-4 {
		return Owner{}, errIdentifier
	}
	var o Owner
	for f, err := range protofield.All(b[4:]) {
		if err != nil {
			return Owner{}, errIdentifier
		}
		switch {
		case f.Num == 2 && f.Type == protowire.BytesType:
			o.User = string(f.Bytes)
		case f.Num == 5 && f.Type == protowire.VarintType:
			o.Expires = time.UnixMilli(int64(f.Number))
		}
	}
	return o, nil
}
