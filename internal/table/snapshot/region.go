package snapshot

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase/wire"
)

// A region is a region of the snapshot with the family's files.
type region struct {
	split.Region
	name   string // encoded
	listed []wire.SnapshotFile

	users int // number of current readers; the Table's lock guards it

	mu    sync.Mutex
	files []*file // the open files; nil until they are open
}

// regionsOf returns a snapshot's regions, in order and without a gap.
func regionsOf(m *wire.SnapshotManifest, family string) ([]*region, error) {
	var out []*region
	for i := range m.Regions {
		info := &m.Regions[i].Region
		if info.Split && info.Offline || isMOB(info) {
			continue // its daughters are here too; it has large values alone
		}
		r := &region{Region: split.Region{Start: info.Start, End: info.End}, name: encoded(info)}
		for _, f := range m.Regions[i].Families {
			if f.Name == family {
				r.listed = append(r.listed, f.Files...)
			}
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *region) int { return bytes.Compare(a.Start, b.Start) })
	var end []byte
	for i, r := range out {
		if last := i == len(out)-1; !bytes.Equal(r.Start, end) || (len(r.End) == 0) != last {
			return nil, fmt.Errorf("its regions have a gap or overlap at %s, which follows %.64q", r.Region, end)
		}
		end = r.End
	}
	if len(out) == 0 {
		return nil, errors.New("it has no regions")
	}
	return out, nil
}

// isMOB reports whether a region is the artificial region that holds large values.
func isMOB(r *wire.RegionInfo) bool { return string(r.Start) == ".mob" && r.ID == 0 }

// encoded returns the name of a region's directory.
func encoded(r *wire.RegionInfo) string {
	name := append([]byte(r.Table.String()), ',')
	name = append(append(name, r.Start...), ',')
	sum := md5.Sum(strconv.AppendUint(name, r.ID, 10))
	return hex.EncodeToString(sum[:])
}

// open opens the files, unless they are.
func (r *region) open(ctx context.Context, fs dfs.FS, root string, table wire.TableName, family string) ([]*file, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files != nil {
		return r.files, nil
	}
	files := make([]*file, 0, len(r.listed))
	for _, l := range r.listed {
		p, err := placeOf(l.Name, l.Half != nil, table, r.name, family)
		var f *file
		if err == nil {
			f, err = openFile(ctx, fs, root, p, l)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("region %s: %w", r.name, err), closeAll(files))
		}
		files = append(files, f)
	}
	rank(files)
	r.files = files
	return files, nil
}

func (r *region) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	files := r.files
	r.files = nil
	return closeAll(files)
}

func closeAll(files []*file) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.bytes.close())
	}
	return errors.Join(errs...)
}
