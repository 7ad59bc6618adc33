package wire

// RegionRequest is the parameter of the AdminService's "FlushRegion", and of
// "GetRegionInfo".
type RegionRequest struct {
	Region []byte // complete name
}

// Append appends the message.
func (r RegionRequest) Append(dst []byte) []byte { return appendRegion(dst, 1, r.Region) }

// CompactRegionRequest is the parameter of the AdminService's "CompactRegion", which only
// starts the compaction.
type CompactRegionRequest struct {
	Region []byte // complete name
	Major  bool
}

// Append appends the message.
func (r CompactRegionRequest) Append(dst []byte) []byte {
	return appendBool(appendRegion(dst, 1, r.Region), 2, r.Major)
}

// DecodeRegionInfo decodes the response to "GetRegionInfo".
func DecodeRegionInfo(param []byte) (RegionInfo, error) {
	var r RegionInfo
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.message(r.Decode)
		}
	}
	return r, d.done("GetRegionInfoResponse")
}

// DecodeFlush decodes the response to "FlushRegion": whether there was anything to flush.
func DecodeFlush(param []byte) (flushed bool, err error) {
	d := decoder{rest: param}
	for d.next() {
		if d.num == 2 {
			d.bool(&flushed)
		}
	}
	return flushed, d.done("FlushRegionResponse")
}
