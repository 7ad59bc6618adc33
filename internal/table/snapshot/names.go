package snapshot

import (
	"fmt"
	"strconv"
	"strings"

	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase/wire"
)

// A place is the location of a store file below HBase's data directory or below HBase's
// archive directory.
type place struct {
	table  wire.TableName
	region string // encoded
	family string
	file   string
}

// placeOf reads the name of a store file of a region:
//
//	hfile                            the region's own
//	[namespace=]table=region-hfile   a link to another region's
//	hfile.parent, link.parent        half of a parent's own, or of the linked
func placeOf(name string, half bool, table wire.TableName, region, family string) (place, error) {
	p := place{table: table, region: region, family: family, file: name}
	wrong := fmt.Errorf("store file %q: no name that is known", name)
	at := strings.LastIndexByte(name, '=')
	linked := at >= 0
	if linked {
		p.table = wire.TableName{Namespace: "default", Qualifier: name[:at]}
		if space, rest, ok := strings.Cut(name[:at], "="); ok {
			p.table = wire.TableName{Namespace: space, Qualifier: rest}
		}
		var ok bool
		if p.region, p.file, ok = strings.Cut(name[at+1:], "-"); !ok || p.table.Qualifier == "" {
			return p, wrong
		}
	}
	file, parent, ok := strings.Cut(p.file, ".")
	if ok != half {
		return p, wrong
	}
	p.file = file
	if half && !linked {
		p.region = parent
	}
	if p.region == "" || p.file == "" || strings.ContainsRune(p.region+p.file+p.table.Namespace+p.table.Qualifier, '/') {
		return p, wrong
	}
	return p, nil
}

// paths returns all possible paths of the file, in the order in which the file moves. A
// compaction archives the files that it has merged.
func (p place) paths(root string) []string {
	var out []string
	for _, dir := range []string{"data", "archive/data"} {
		out = append(out, dfs.Join(root, dir, p.table.Namespace, p.table.Qualifier, p.region, p.family, p.file))
	}
	return out
}

// bulkMark is in the name of a bulk loaded file, before the sequence number and another
// underscore.
const bulkMark = "_SeqId_"

// bulkNumber returns the sequence number in the name of a bulk loaded file. bulk reports
// whether the name is the name of such a file.
func bulkNumber(name string) (seq int64, bulk bool, err error) {
	_, rest, ok := strings.Cut(name, bulkMark)
	if !ok {
		return 0, false, nil
	}
	number, _, ok := strings.Cut(rest, "_")
	seq, err = strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return 0, true, fmt.Errorf("store file %q: no sequence number", name)
	}
	return seq, true, nil
}
