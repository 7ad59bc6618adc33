package wire

import "bytes"

// A SnapshotManifest is the file data.manifest of a snapshot: the table at the time of the
// snapshot.
type SnapshotManifest struct {
	Table   TableSchema
	Regions []SnapshotRegion
}

// A SnapshotRegion is a region with its files.
type SnapshotRegion struct {
	Region   RegionInfo
	Families []SnapshotFamily
}

// A SnapshotFamily holds a family's files in one region.
type SnapshotFamily struct {
	Name  string
	Files []SnapshotFile
}

// A SnapshotFile is one store file. Package snapshot documents its name.
type SnapshotFile struct {
	Name string
	Half *Reference // nil for a complete file
	Size int64      // size of the file that is finally read; 0 if unknown
}

// A Reference is one half of a file of another region.
type Reference struct {
	Key []byte // the key at which the file is cut, in the form of HFiles
	Top bool   // the half from Key on
}

// DecodeSnapshotManifest decodes a whole file.
func DecodeSnapshotManifest(b []byte) (*SnapshotManifest, error) {
	m := new(SnapshotManifest)
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.message(m.Table.decode)
		case 2:
			var r SnapshotRegion
			d.message(r.decode)
			m.Regions = append(m.Regions, r)
		}
	}
	if d.err == nil && m.Table.Name.Qualifier == "" {
		d.refuse("table name missing")
	}
	return m, d.done("SnapshotDataManifest")
}

func (r *SnapshotRegion) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 2:
			d.message(r.Region.Decode)
		case 3:
			var f SnapshotFamily
			d.message(f.decode)
			r.Families = append(r.Families, f)
		}
	}
	if d.err == nil && r.Region.Table.Qualifier == "" {
		d.refuse("region missing")
	}
	return d.done("SnapshotRegionManifest")
}

func (f *SnapshotFamily) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.string(&f.Name)
		case 2:
			var s SnapshotFile
			d.message(s.decode)
			f.Files = append(f.Files, s)
		}
	}
	return d.done("FamilyFiles")
}

func (f *SnapshotFile) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.string(&f.Name)
		case 2:
			f.Half = &Reference{Top: true} // the first value of the enumeration
			d.message(f.Half.decode)
		case 3:
			var n uint64
			d.uint64(&n)
			f.Size = int64(n)
		}
	}
	if d.err == nil && (f.Name == "" || f.Size < 0) {
		d.refuse("a store file %q of %d bytes", f.Name, f.Size)
	}
	return d.done("StoreFile")
}

func (r *Reference) decode(b []byte) error {
	d := decoder{rest: b}
	for d.next() {
		switch d.num {
		case 1:
			d.bytes(&r.Key)
		case 2:
			var half uint64
			d.uint64(&half)
			r.Top = half == 0
		}
	}
	r.Key = bytes.Clone(r.Key)
	return d.done("Reference")
}

// A SnapshotInfo is the file .snapshotinfo of a snapshot.
type SnapshotInfo struct {
	Snapshot
	Layout uint64 // 2 is one data.manifest
}

// DecodeSnapshotInfo decodes a whole file.
func DecodeSnapshotInfo(b []byte) (SnapshotInfo, error) {
	var s SnapshotInfo
	if err := s.decode(b); err != nil {
		return s, err
	}
	d := decoder{rest: b}
	for d.next() {
		if d.num == 5 {
			d.uint64(&s.Layout)
		}
	}
	return s, d.done("SnapshotDescription")
}
