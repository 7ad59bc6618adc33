package show

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/trail"
)

const (
	tokenVersion = 1
	tokenLen     = 1 + 8 + 2 + 8 // without the digest
	digestLen    = 4
)

var tokenText = base64.RawURLEncoding

// binding returns the text that a token is bound to. It has the dates and types as the user
// gave them, because the table's own dates change every night.
func (c *Config) binding() string {
	types := slices.Compact(slices.Sorted(slices.Values(c.Types)))
	return fmt.Sprintf("%q %s %s %q", c.User, dateOr(c.From), dateOr(c.To), types)
}

func dateOr(d *behaviour.Date) string {
	if d == nil {
		return "-"
	}
	return d.String()
}

// token returns the token of e, the last event that was shown.
func (a *Asked) token(e *trail.Event) string {
	b := make([]byte, 0, tokenLen+digestLen)
	b = append(b, tokenVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Time))
	b = binary.BigEndian.AppendUint16(b, a.Schema.Kinds[e.Kind].ID)
	b = binary.BigEndian.AppendUint64(b, uint64(e.ID))
	return tokenText.EncodeToString(append(b, digest(a.binding, b)...))
}

func digest(binding string, b []byte) []byte {
	sum := sha256.Sum256(append([]byte(binding), b...))
	return sum[:digestLen]
}

// parseToken returns the event that c.After names, with its time, kind and ID.
func parseToken(c *Config, s *behaviour.Schema) (*trail.Event, error) {
	wrong := func(why string) error {
		return fmt.Errorf("%w: --after %q %s: use the token that the page before names, with the same --user, --from, --to and --types", ErrQuery, c.After, why)
	}
	b, err := tokenText.DecodeString(c.After)
	if err != nil || len(b) != tokenLen+digestLen || b[0] != tokenVersion {
		return nil, wrong("is no token")
	}
	body := b[:tokenLen]
	if string(digest(c.binding(), body)) != string(b[tokenLen:]) {
		return nil, wrong("is not a token of this query")
	}
	id := binary.BigEndian.Uint16(body[9:])
	kind, ok := s.KindByID(id)
	if !ok {
		return nil, wrong(fmt.Sprintf("names behaviour ID %d, which the table does not have", id))
	}
	return &trail.Event{
		Time: int64(binary.BigEndian.Uint64(body[1:])), Kind: uint16(kind), ID: int64(binary.BigEndian.Uint64(body[11:])),
	}, nil
}
