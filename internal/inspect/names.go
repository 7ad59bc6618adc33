package inspect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// namesPrefix begins the name of a file of an extract that lists the users that were not found. Its lines
// are arbitrary text, so it is recognised by its name and by the manifest next to it.
const namesPrefix = "_not-found"

// Names holds the users of a list that were not found.
type Names struct {
	Users int64              `json:"users"`
	State manifest.FileState `json:"state,omitempty"` // by the digest in the extract's manifest, if the manifest has one
	First []string           `json:"first"`
}

// namesOf returns the manifest of the extract whose file of names is at the path. It returns
// nil if the path is not such a file.
func (l *look) namesOf() (*manifest.Extract, error) {
	name := dfs.Join(dfs.Dir(l.path), extractManifest)
	if !strings.HasPrefix(dfs.Base(l.path), namesPrefix) {
		return nil, nil
	}
	if there, err := l.exists(name); err != nil || !there {
		return nil, err
	}
	m := new(manifest.Extract)
	if err := manifest.Read(l.ctx, l.fs, name, m); err != nil {
		return nil, manifest.AdviseExtract(err)
	}
	return m, nil
}

// names reports f, the file of names of the extract m.
func (l *look) names(r *Report, f dfs.File, m *manifest.Extract) error {
	n, h := &Names{First: []string{}}, xxhash.New()
	in := bufio.NewReader(io.TeeReader(f, h))
	for {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if line != "" {
			n.Users++
			if len(n.First) < l.rows {
				n.First = append(n.First, strings.TrimSuffix(line, "\n"))
			}
		}
		if err != nil {
			break
		}
	}
	for _, of := range m.NamesFiles() {
		switch {
		case of.Name != dfs.Base(l.path):
			continue
		case f.Size() != of.Size:
			n.State = manifest.OtherSize
		case fmt.Sprintf("%016x", h.Sum64()) != of.Sum:
			n.State = manifest.OtherBytes
		default:
			n.State = manifest.Whole
		}
	}
	r.Kind, r.Names = KindNames, n
	return nil
}

func (n *Names) text(p *page) {
	p.facts(fact{"users not found", count(n.Users)}, fact{"state", string(n.State)})
	g := newGrid("user")
	for _, id := range n.First {
		g.add(id)
	}
	p.list("first", g, int(n.Users))
}
