// Package token reads and writes files of Hadoop's delegation tokens, as
// $HADOOP_TOKEN_FILE_LOCATION names one for each container of YARN (org.apache.hadoop.security.Credentials):
//
//	"HDTS" | 00 | vint n | n × (text alias | token)    | vint m | m × (text alias | bytes)      Writable
//	"HDTS" | 01 | varint length | CredentialsProto                                                protobuf
//
//	token   bytes identifier | bytes password | text kind | text service
//	bytes   vint length | the bytes; a text is UTF-8
//
//	CredentialsProto    1 tokens, 2 secrets: repeated CredentialsKVProto
//	CredentialsKVProto  1 alias, 2 token: TokenProto, 3 secret
//	TokenProto          1 identifier, 2 password, 3 kind, 4 service
//
// A vint is a byte from -112 to 127. Below, it is followed by -112-b bytes of a positive number,
// or by -120-b bytes of the complement of a negative one (org.apache.hadoop.io.WritableUtils).
package token

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"usertrail/internal/run/exit"
	"usertrail/internal/store/protofield"
)

var (
	// ErrFile is wrapped if a file of tokens cannot be read or written.
	ErrFile = exit.New(exit.Usage, "file of tokens")
	// ErrExpired is wrapped if a token is not valid any more.
	ErrExpired = exit.New(exit.Usage, "the delegation token has expired")
)

// Advice says what to do about a token that a server does not accept.
const Advice = "get a new delegation token, for example by bulkload token --out FILE"

// Variable is the variable of the environment that names the file of tokens.
const Variable = "HADOOP_TOKEN_FILE_LOCATION"

// The kinds of tokens that usertrail uses.
const (
	HDFS  = "HDFS_DELEGATION_TOKEN"
	HBase = "HBASE_AUTH_TOKEN"
)

// A Token lets its owner use a service. Its password is a secret.
type Token struct {
	Kind       string
	Service    string // such as 10.0.0.1:8020, ha-hdfs:nameservice, or the ID of an HBase cluster
	Identifier []byte
	Password   []byte
}

// String returns the kind and the service.
func (t Token) String() string { return t.Kind + " for " + t.Service }

// GoString is the same as String.
func (t Token) GoString() string { return t.String() }

// Load reads a file of tokens.
func Load(file string) ([]Token, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	all, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, file, err)
	}
	return all, nil
}

// Save writes a file of tokens that only its owner may read. A file of this name is replaced as a
// whole.
func Save(file string, all []Token) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*") // its mode is 0600
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	_, err = f.Write(Append(nil, all))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// Find returns the token of a kind for one of some names of a service.
func Find(all []Token, kind string, services ...string) (Token, bool) {
	for _, t := range all {
		if t.Kind == kind && slices.Contains(services, t.Service) {
			return t, true
		}
	}
	return Token{}, false
}

const magic = "HDTS"

var errShort = errors.New("it ends early")

// Parse parses the content of a file of tokens. The tokens alias b.
func Parse(b []byte) ([]Token, error) {
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(rest) == 0 {
		return nil, errors.New("it does not begin with HDTS")
	}
	switch version, rest := rest[0], rest[1:]; version {
	case 0:
		return parseWritable(rest)
	case 1:
		return parseProto(rest)
	default:
		return nil, fmt.Errorf("it has version %d, and 0 and 1 are known", version)
	}
}

// Append appends the content of a file of tokens, in the Writable form, which every Hadoop reads.
func Append(dst []byte, all []Token) []byte {
	dst = append(dst, magic...)
	dst = append(dst, 0)
	dst = appendVint(dst, int64(len(all)))
	for _, t := range all {
		alias := t.Service
		if alias == "" {
			alias = strings.ToLower(t.Kind)
		}
		for _, part := range []string{alias, string(t.Identifier), string(t.Password), t.Kind, t.Service} {
			dst = append(appendVint(dst, int64(len(part))), part...)
		}
	}
	return appendVint(dst, 0)
}

// parseWritable parses the tokens of the Writable form. It skips the other secrets.
func parseWritable(b []byte) ([]Token, error) {
	r := reader{rest: b}
	var out []Token
	for n := r.vint(); n > 0 && r.err == nil; n-- {
		r.bytes() // the alias
		t := Token{Identifier: r.bytes(), Password: r.bytes()}
		t.Kind, t.Service = string(r.bytes()), string(r.bytes())
		out = append(out, t)
	}
	return out, r.err
}

// A reader reads the Writable form. After an error it returns nothing.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) byte() byte {
	if r.err != nil || len(r.rest) == 0 {
		r.err = errShort
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) vint() int64 {
	first := int8(r.byte())
	if first >= -112 {
		return int64(first)
	}
	negative, n := first < -120, -112-int(first)
	if negative {
		n = -120 - int(first)
	}
	var v int64
	for range n {
		v = v<<8 | int64(r.byte())
	}
	if negative {
		v = ^v
	}
	return v
}

func (r *reader) bytes() []byte {
	n := r.vint()
	if r.err == nil && (n < 0 || n > int64(len(r.rest))) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func appendVint(dst []byte, v int64) []byte {
	if v >= -112 && v <= 127 {
		return append(dst, byte(v))
	}
	first := -112
	if v < 0 {
		first, v = -120, ^v
	}
	n := 1
	for n < 8 && v>>(8*n) != 0 {
		n++
	}
	dst = append(dst, byte(int8(first-n)))
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// parseProto parses the tokens of the protobuf form.
func parseProto(b []byte) ([]Token, error) {
	message, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return nil, protowire.ParseError(n)
	}
	var out []Token
	for entry, err := range protofield.All(message) {
		if err != nil {
			return out, err
		}
		if entry.Num != 1 || entry.Type != protowire.BytesType {
			continue
		}
		for part, err := range protofield.All(entry.Bytes) {
			if err != nil {
				return out, err
			}
			if part.Num != 2 || part.Type != protowire.BytesType {
				continue
			}
			t, err := ParseMessage(part.Bytes)
			if err != nil {
				return out, err
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// ParseMessage parses a TokenProto. The token shares its bytes with b.
func ParseMessage(b []byte) (Token, error) {
	var t Token
	for f, err := range protofield.All(b) {
		if err != nil {
			return t, err
		}
		if f.Type != protowire.BytesType {
			continue
		}
		switch f.Num {
		case 1:
			t.Identifier = f.Bytes
		case 2:
			t.Password = f.Bytes
		case 3:
			t.Kind = string(f.Bytes)
		case 4:
			t.Service = string(f.Bytes)
		}
	}
	return t, nil
}
