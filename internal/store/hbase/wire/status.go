package wire

import "strconv"

// ClusterStatusRequest is the parameter of the master's "GetClusterStatus". It asks for the
// fields of ClusterStatus, and not for servers' reports on each of their regions.
type ClusterStatusRequest struct{}

// statusOptions are HBASE_VERSION, DEAD_SERVERS, MASTER, REGIONS_IN_TRANSITION and
// SERVERS_NAME.
var statusOptions = []uint64{0, 3, 4, 7, 10}

// Append appends the message.
func (ClusterStatusRequest) Append(dst []byte) []byte {
	for _, o := range statusOptions {
		dst = appendUint(dst, 1, o)
	}
	return dst
}

// A ClusterStatus is the master's view of the servers and regions.
type ClusterStatus struct {
	Version      string // of HBase, where the master runs
	Master       ServerName
	Live, Dead   []ServerName // region servers
	InTransition []RegionInTransition
}

// A RegionInTransition is a region that no server has at the moment, or that is
// about to leave the one it is on.
type RegionInTransition struct {
	Region RegionInfo
	State  string // OPENING, CLOSING, FAILED_OPEN ...
	Since  uint64 // ms of the Unix epoch; 0 is not known
}

// regionStates are the names of RegionState.State.
var regionStates = []string{
	"OFFLINE", "PENDING_OPEN", "OPENING", "OPEN", "PENDING_CLOSE", "CLOSING", "CLOSED", "SPLITTING", "SPLIT",
	"FAILED_OPEN", "FAILED_CLOSE", "MERGING", "MERGED", "SPLITTING_NEW", "MERGING_NEW", "ABNORMALLY_CLOSED",
}

// DecodeClusterStatus decodes the response to "GetClusterStatus".
func DecodeClusterStatus(param []byte) (ClusterStatus, error) {
	var s ClusterStatus
	d := decoder{rest: param}
	for d.next() {
		if d.num == 1 {
			d.message(s.decode)
		}
	}
	return s, d.done("GetClusterStatusResponse")
}

func (s *ClusterStatus) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.message(s.decodeVersion)
		case 3:
			d.server(&s.Dead)
		case 4:
			var r RegionInTransition
			d.message(r.decode)
			s.InTransition = append(s.InTransition, r)
		case 7:
			d.message(s.Master.decode)
		case 11:
			d.server(&s.Live)
		}
	}
	return d.done("ClusterStatus")
}

func (s *ClusterStatus) decodeVersion(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		if d.num == 1 {
			d.string(&s.Version)
		}
	}
	return d.done("HBaseVersionFileContent")
}

// server decodes one ServerName of a repeated field.
func (d *decoder) server(to *[]ServerName) {
	var s ServerName
	d.message(s.decode)
	*to = append(*to, s)
}

func (r *RegionInTransition) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		if d.num == 2 {
			d.message(r.decodeState)
		}
	}
	return d.done("RegionInTransition")
}

func (r *RegionInTransition) decodeState(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.message(r.Region.Decode)
		case 2:
			var n uint64
			if d.uint64(&n); n < uint64(len(regionStates)) {
				r.State = regionStates[n]
			} else {
				r.State = strconv.FormatUint(n, 10)
			}
		case 3:
			d.uint64(&r.Since)
		}
	}
	return d.done("RegionState")
}
