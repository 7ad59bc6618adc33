package wire

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// MetaRegion is the complete name of the region that has the locations of all others.
const MetaRegion = "hbase:meta,,1"

// A ServerName identifies one run of one server.
type ServerName struct {
	Host      string
	Port      uint32
	StartCode uint64 // ms; differs after each start
}

// Addr returns host:port.
func (s ServerName) Addr() string { return s.Host + ":" + strconv.FormatUint(uint64(s.Port), 10) }

func (s ServerName) String() string {
	return fmt.Sprintf("%s,%d,%d", s.Host, s.Port, s.StartCode)
}

// Append appends the message.
func (s ServerName) Append(dst []byte) []byte {
	dst = appendString(dst, 1, s.Host)
	dst = appendUint(dst, 2, uint64(s.Port))
	return appendUint(dst, 3, s.StartCode)
}

func (s *ServerName) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.string(&s.Host)
		case 2:
			d.uint32(&s.Port)
		case 3:
			d.uint64(&s.StartCode)
		}
	}
	if d.err == nil && s.Host == "" {
		d.refuse("host name missing")
	}
	return d.done("ServerName")
}

// A TableName is a namespace and a name in it.
type TableName struct {
	Namespace, Qualifier string
}

// ParseTableName reads "name" or "namespace:name".
func ParseTableName(s string) TableName {
	if namespace, name, ok := strings.Cut(s, ":"); ok {
		return TableName{namespace, name}
	}
	return TableName{"default", s}
}

// String returns the name in the form of region names and meta.
func (t TableName) String() string {
	if t.Namespace == "default" || t.Namespace == "" {
		return t.Qualifier
	}
	return t.Namespace + ":" + t.Qualifier
}

func (t TableName) append(dst []byte, num protowire.Number) []byte {
	dst, at := begin(dst, num)
	dst = appendString(dst, 1, t.Namespace)
	dst = appendString(dst, 2, t.Qualifier)
	return end(dst, at)
}

func (t *TableName) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.string(&t.Namespace)
		case 2:
			d.string(&t.Qualifier)
		}
	}
	return d.done("TableName")
}

// A RegionInfo describes a region: the rows from Start to before End.
type RegionInfo struct {
	ID         uint64 // ms of its creation; a daughter's is larger than its parent's
	Table      TableName
	Start, End []byte // empty is open
	Offline    bool
	Split      bool // it is a parent whose daughters cover it
	ReplicaID  int
}

// Append appends the message.
func (r *RegionInfo) Append(dst []byte) []byte {
	dst = appendUint(dst, 1, r.ID)
	dst = r.Table.append(dst, 2)
	dst = appendBytes(dst, 3, r.Start)
	dst = appendBytes(dst, 4, r.End)
	dst = appendBool(dst, 5, r.Offline)
	dst = appendBool(dst, 6, r.Split)
	return appendUint(dst, 7, uint64(r.ReplicaID))
}

// Decode decodes a message. Start and End do not alias b.
func (r *RegionInfo) Decode(b []byte) error {
	*r = RegionInfo{}
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.uint64(&r.ID)
		case 2:
			d.message(r.Table.decode)
		case 3:
			d.bytes(&r.Start)
		case 4:
			d.bytes(&r.End)
		case 5:
			d.bool(&r.Offline)
		case 6:
			d.bool(&r.Split)
		case 7:
			d.count(&r.ReplicaID)
		}
	}
	if d.err == nil && r.Table.Qualifier == "" {
		d.refuse("table name missing")
	}
	r.Start, r.End = bytes.Clone(r.Start), bytes.Clone(r.End)
	return d.done("RegionInfo")
}

// Name is the complete name, by which servers know the region and meta has its
// row:
//
//	table , start , id . md5 .     md5 in hex, of the part before its dot
//
// A replica has _%04X behind its id.
func (r *RegionInfo) Name() []byte {
	if r.Table == (TableName{"hbase", "meta"}) {
		return []byte(MetaRegion)
	}
	name := append([]byte(r.Table.String()), ',')
	name = append(append(name, r.Start...), ',')
	name = strconv.AppendUint(name, r.ID, 10)
	if r.ReplicaID > 0 {
		name = fmt.Appendf(name, "_%04X", r.ReplicaID)
	}
	sum := md5.Sum(name)
	name = append(name, '.')
	name = hex.AppendEncode(name, sum[:])
	return append(name, '.')
}

// A RegionLocation is where a region is served.
type RegionLocation struct {
	Region RegionInfo
	Server ServerName // the zero ServerName is nowhere now
}

func (l *RegionLocation) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.message(l.Region.Decode)
		case 2:
			d.message(l.Server.decode)
		}
	}
	return d.done("RegionLocation")
}

// DecodeMetaLocations decodes the response to "GetMetaRegionLocations" of the
// ClientMetaService; the request has no fields.
func DecodeMetaLocations(param []byte) ([]RegionLocation, error) {
	var all []RegionLocation
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			var l RegionLocation
			d.message(l.decode)
			all = append(all, l)
		}
	}
	return all, d.done("GetMetaRegionLocationsResponse")
}

// DecodeActiveMaster decodes the response to "GetActiveMaster" of the
// ClientMetaService; the request has no fields. The zero ServerName is none.
func DecodeActiveMaster(param []byte) (ServerName, error) {
	var s ServerName
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.message(s.decode)
		}
	}
	return s, d.done("GetActiveMasterResponse")
}

// pbMagic precedes messages in ZooKeeper and in meta.
const pbMagic = "PBUF"

// StripPB returns the message behind PBUF, as info:regioninfo of meta has it.
func StripPB(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte(pbMagic)) {
		return nil, fmt.Errorf("%w: %d bytes that do not begin with %s", ErrMalformed, len(b), pbMagic)
	}
	return b[len(pbMagic):], nil
}

// stripZnode returns the message in a znode:
//
//	[FF | int32 n | n bytes about the writer] | PBUF | message
func stripZnode(b []byte) ([]byte, error) {
	if len(b) > 0 && b[0] == 0xff {
		if len(b) < 5 || int64(binary.BigEndian.Uint32(b[1:])) > int64(len(b)-5) {
			return nil, fmt.Errorf("%w: %d bytes end within the header of the writer", ErrMalformed, len(b))
		}
		b = b[5+binary.BigEndian.Uint32(b[1:]):]
	}
	return StripPB(b)
}

// DecodeMetaZnode decodes the data of meta-region-server. It returns open false if meta is not
// open at the moment.
func DecodeMetaZnode(data []byte) (server ServerName, open bool, err error) {
	b, err := stripZnode(data)
	if err != nil {
		return ServerName{}, false, fmt.Errorf("znode meta-region-server: %w", err)
	}
	const stateOpen = 3
	state := uint64(stateOpen)
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.message(server.decode)
		case 3:
			d.uint64(&state)
		}
	}
	return server, state == stateOpen && server.Host != "", d.done("MetaRegionServer")
}

// DecodeMasterZnode decodes the data of master.
func DecodeMasterZnode(data []byte) (ServerName, error) {
	b, err := stripZnode(data)
	if err != nil {
		return ServerName{}, fmt.Errorf("znode master: %w", err)
	}
	var s ServerName
	d := decoder{rest: b}
	for d.next() {
		if d.num == 1 {
			d.message(s.decode)
		}
	}
	return s, d.done("Master")
}

// DecodeClusterZnode decodes the data of hbaseid: the ID that a cluster gave itself when
// it began.
func DecodeClusterZnode(data []byte) (string, error) {
	b, err := stripZnode(data)
	if err != nil {
		return "", fmt.Errorf("znode hbaseid: %w", err)
	}
	return DecodeClusterID(b)
}

// DecodeClusterID decodes the response to GetClusterId of a ClientMetaService; the request
// has no fields.
func DecodeClusterID(param []byte) (string, error) {
	var id string
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.string(&id)
		}
	}
	return id, d.done("ClusterId")
}

// A TableState is the value of table:state in meta.
type TableState uint8

// The states of a table.
const (
	TableEnabled   TableState = 0
	TableDisabled  TableState = 1
	TableDisabling TableState = 2
	TableEnabling  TableState = 3
)

func (s TableState) String() string {
	if names := []string{"enabled", "disabled", "disabling", "enabling"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("TableState(%d)", uint8(s))
}

// DecodeTableState decodes the value of table:state.
func DecodeTableState(b []byte) (TableState, error) {
	var state uint64
	d := decoder{rest: b}
	for d.next() {
		if d.num == 1 {
			if d.uint64(&state); state > 3 {
				d.refuse("state %d", state)
			}
		}
	}
	return TableState(state), d.done("TableState")
}
