package wire

import (
	"fmt"

	"usertrail/internal/store/secure/token"
)

// PrepareBulkLoadRequest is the parameter of "PrepareBulkLoad".
type PrepareBulkLoadRequest struct {
	Table  TableName
	Region []byte // complete name
}

// Append appends the message. The region is optional in the protocol, but a server does not
// response without it.
func (r *PrepareBulkLoadRequest) Append(dst []byte) []byte {
	return appendRegion(r.Table.append(dst, 1), 2, r.Region)
}

// DecodePrepareBulkLoad decodes the response to "PrepareBulkLoad": the URI of the
// staging directory.
func DecodePrepareBulkLoad(param []byte) (token string, err error) {
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.string(&token)
		}
	}
	if d.err == nil && token == "" {
		d.refuse("bulk token missing")
	}
	return token, d.done("PrepareBulkLoadResponse")
}

// A FamilyPath is a file for one family.
type FamilyPath struct {
	Family []byte
	Path   string // absolute, or a URI
}

// BulkLoadRequest is the parameter of "BulkLoadHFile", for files in a staging directory. The
// server sets its own sequence number in them and moves them.
type BulkLoadRequest struct {
	Region []byte // complete name
	Files  []FamilyPath
	Token  string // of PrepareBulkLoad

	// FSToken lets the server read and move the files on HDFS as the client's user. Without
	// Kerberos it is nil, and the server believes the name of the connection's header.
	FSToken *token.Token
}

// Append appends the message. It names no cluster. A server that reads its own cluster's ID
// in this field responds that everything is loaded, and does nothing.
func (r *BulkLoadRequest) Append(dst []byte) []byte {
	dst = appendRegion(dst, 1, r.Region)
	for _, f := range r.Files {
		var at int
		dst, at = begin(dst, 2)
		dst = appendBytes(dst, 1, f.Family)
		dst = appendString(dst, 2, f.Path)
		dst = end(dst, at)
	}
	dst = appendBool(dst, 3, true)
	if t := r.FSToken; t != nil {
		var at int
		dst, at = begin(dst, 4)
		dst = appendBytes(dst, 1, t.Identifier)
		dst = appendBytes(dst, 2, t.Password)
		dst = appendString(dst, 3, t.Kind)
		dst = appendString(dst, 4, t.Service)
		dst = end(dst, at)
	}
	dst = appendString(dst, 5, r.Token)
	return appendBool(dst, 6, false)
}

// DecodeBulkLoad decodes the response to "BulkLoadHFile": whether the region loaded the files.
func DecodeBulkLoad(param []byte) (loaded bool, err error) {
	found := false
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.bool(&loaded)
			found = true
		}
	}
	if err := d.done("BulkLoadHFileResponse"); err != nil {
		return false, err
	}
	if !found {
		return false, fmt.Errorf("BulkLoadHFileResponse: %w: loaded is missing", ErrMalformed)
	}
	return loaded, nil
}

// CleanupBulkLoadRequest is the parameter of "CleanupBulkLoad". Up to HBase 2.6.4 the server
// deletes any directory that Token names. The response has no fields.
type CleanupBulkLoadRequest struct {
	Token  string
	Region []byte // complete name
}

// Append appends the message.
func (r *CleanupBulkLoadRequest) Append(dst []byte) []byte {
	return appendRegion(appendString(dst, 1, r.Token), 2, r.Region)
}
