package wire

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// A TableSchema is a table and its families. Attributes are text: BLOOMFILTER,
// VERSIONS, COMPRESSION ...
type TableSchema struct {
	Name          TableName
	Attributes    map[string]string
	Families      []FamilySchema
	Configuration map[string]string
}

// A FamilySchema is one family.
type FamilySchema struct {
	Name          string
	Attributes    map[string]string
	Configuration map[string]string
}

// appendPairs appends a map in order of its keys: BytesBytesPairs and
// NameStringPairs are the same bytes.
func appendPairs(dst []byte, num protowire.Number, m map[string]string) []byte {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		var at int
		dst, at = begin(dst, num)
		dst = appendString(dst, 1, name)
		dst = appendString(dst, 2, m[name])
		dst = end(dst, at)
	}
	return dst
}

// pair decodes one entry of a map.
func (d *decoder) pair(m *map[string]string) {
	d.message(func(b []byte) error {
		var name, value string
		d := decoder{rest: b}
		for d.next() {
			switch d.num {
			case 1:
				d.string(&name)
			case 2:
				d.string(&value)
			}
		}
		if *m == nil {
			*m = map[string]string{}
		}
		(*m)[name] = value
		return d.done("pair")
	})
}

// Append appends the message.
func (s *TableSchema) Append(dst []byte) []byte {
	dst = s.Name.append(dst, 1)
	dst = appendPairs(dst, 2, s.Attributes)
	for _, f := range s.Families {
		var at int
		dst, at = begin(dst, 3)
		dst = appendString(dst, 1, f.Name)
		dst = appendPairs(dst, 2, f.Attributes)
		dst = appendPairs(dst, 3, f.Configuration)
		dst = end(dst, at)
	}
	return appendPairs(dst, 4, s.Configuration)
}

func (s *TableSchema) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.message(s.Name.decode)
		case 2:
			d.pair(&s.Attributes)
		case 3:
			var f FamilySchema
			d.message(f.decode)
			s.Families = append(s.Families, f)
		case 4:
			d.pair(&s.Configuration)
		}
	}
	return d.done("TableSchema")
}

func (f *FamilySchema) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.string(&f.Name)
		case 2:
			d.pair(&f.Attributes)
		case 3:
			d.pair(&f.Configuration)
		}
	}
	return d.done("ColumnFamilySchema")
}

// TableDescriptorsRequest is the parameter of the master's "GetTableDescriptors".
type TableDescriptorsRequest struct{ Table TableName }

// Append appends the message.
func (r TableDescriptorsRequest) Append(dst []byte) []byte { return r.Table.append(dst, 1) }

// DecodeTableDescriptors decodes the response to "GetTableDescriptors". No schema
// is no such table.
func DecodeTableDescriptors(param []byte) ([]TableSchema, error) {
	var all []TableSchema
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			var s TableSchema
			d.message(s.decode)
			all = append(all, s)
		}
	}
	return all, d.done("GetTableDescriptorsResponse")
}

// CreateTableRequest is the parameter of the master's "CreateTable". The response
// is a procedure's ID.
type CreateTableRequest struct {
	Schema *TableSchema
	Splits [][]byte // the first rows of all regions but the first
}

// Append appends the message.
func (r CreateTableRequest) Append(dst []byte) []byte {
	dst, at := begin(dst, 1)
	dst = r.Schema.Append(dst)
	dst = end(dst, at)
	for _, s := range r.Splits {
		dst = appendBytes(dst, 2, s)
	}
	return dst
}

// TableRequest is the parameter of the master's "EnableTable", "DisableTable" and
// "DeleteTable". The response is a procedure's ID.
type TableRequest struct{ Table TableName }

// Append appends the message.
func (r TableRequest) Append(dst []byte) []byte { return r.Table.append(dst, 1) }

// DecodeProcedureID decodes the response to a call of the master that starts a procedure.
func DecodeProcedureID(param []byte) (uint64, error) {
	var id uint64
	found := false
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.uint64(&id)
			found = true
		}
	}
	if err := d.done("procedure ID"); err != nil {
		return 0, err
	}
	if !found {
		return 0, fmt.Errorf("procedure ID: %w: missing", ErrMalformed)
	}
	return id, nil
}

// ProcedureRequest is the parameter of the master's "getProcedureResult".
type ProcedureRequest struct{ ID uint64 }

// Append appends the message.
func (r ProcedureRequest) Append(dst []byte) []byte { return appendUint(dst, 1, r.ID) }

// A ProcedureState is the progress of a procedure.
type ProcedureState uint8

// The states of a procedure.
const (
	ProcedureUnknown  ProcedureState = 0 // never heard of, or over for long
	ProcedureRunning  ProcedureState = 1
	ProcedureFinished ProcedureState = 2
)

// DecodeProcedure decodes the response to "getProcedureResult": the state and, if the
// procedure has failed, its error.
func DecodeProcedure(param []byte) (ProcedureState, *ServerError, error) {
	var state uint64
	var failed *ServerError
	d := decoder{rest: param}
	for d.next() {
		switch d.num {
		case 1:
			if d.uint64(&state); state > uint64(ProcedureFinished) {
				d.refuse("state %d", state)
			}
		case 5:
			failed = new(ServerError)
			d.message(failed.decodeForeign)
		}
	}
	return ProcedureState(state), failed, d.done("GetProcedureResultResponse")
}

// CheckTableName returns an error if HBase does not accept name for a table. A name is a
// qualifier, or a namespace, a colon and a qualifier.
func CheckTableName(name string) error {
	space, qualifier, spaced := strings.Cut(name, ":")
	if !spaced {
		space, qualifier = "default", name
	}
	if space == "" || qualifier == "" {
		return errors.New("it names no table")
	}
	if !isName(space, "_") || !isName(qualifier, "_-.") || strings.ContainsRune("-.", rune(qualifier[0])) {
		return fmt.Errorf("a table cannot be called %q: names have letters, digits and _ in any language, and also - and . after the first character", name)
	}
	return nil
}

// CheckSnapshotName returns an error if HBase does not accept name for a snapshot.
func CheckSnapshotName(name string) error {
	if name == "" || !isName(name, "_-.") || strings.ContainsRune("-.", rune(name[0])) {
		return fmt.Errorf("a snapshot cannot be called %q: a name has letters and digits of any language, _, - and ., the latter two not at its start", name)
	}
	return nil
}

// isName reports whether s has only letters and digits, and the characters in others. Letters
// and digits are the 16-bit characters for which Java's Character.isAlphabetic or isDigit
// returns true. The name zookeeper is reserved. Source: TableName.isLegalTableQualifierName,
// isLegalNamespaceName.
func isName(s, others string) bool {
	if s == "zookeeper" || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		alphabetic := unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_Alphabetic)
		return r > 0xFFFF || !alphabetic && !unicode.Is(unicode.Nd, r) && !strings.ContainsRune(others, r)
	})
}
