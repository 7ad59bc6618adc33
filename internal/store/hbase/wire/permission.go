package wire

import "fmt"

// A Permission is something that a user may be allowed to do.
type Permission uint8

// The permissions, as HBase's shell has their letters: R, W, X, C, A.
const (
	PermitRead   Permission = 0
	PermitWrite  Permission = 1
	PermitExec   Permission = 2
	PermitCreate Permission = 3 // change and drop the table, and bulk load
	PermitAdmin  Permission = 4 // flush, split, snapshot, and bulk load
)

// PermissionsRequest is the parameter of the master's "HasUserPermissions", for the user of
// the connection. It asks whether all of the permissions are granted.
type PermissionsRequest struct {
	Table       TableName
	Family      string // empty is the whole table
	Permissions []Permission
}

// Append appends the message.
func (r *PermissionsRequest) Append(dst []byte) []byte {
	const scopeTable = 3
	dst, request := begin(dst, 2)
	dst = appendUint(dst, 1, scopeTable)
	dst, at := begin(dst, 4)
	dst = r.Table.append(dst, 1)
	if r.Family != "" {
		dst = appendString(dst, 2, r.Family)
	}
	for _, p := range r.Permissions {
		dst = appendUint(dst, 4, uint64(p))
	}
	return end(end(dst, at), request)
}

// DecodePermissions decodes the response to "HasUserPermissions" of one PermissionsRequest.
func DecodePermissions(param []byte) (granted bool, err error) {
	n := 0
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.numbers(func(v uint64) {
				granted = v != 0
				n++
			})
		}
	}
	if err := d.done("HasUserPermissionsResponse"); err != nil {
		return false, err
	}
	if n != 1 {
		return false, fmt.Errorf("HasUserPermissionsResponse: %w: %d results for one request", ErrMalformed, n)
	}
	return granted, nil
}
