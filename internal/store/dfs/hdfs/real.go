package hdfs

import (
	"context"
	"io/fs"
	"slices"
	"strings"
)

// Real implements dfs.Resolver. The cluster of fs.defaultFS needs no authority, another
// NameNode is named with its port. HDFS has no links, unless it is built for tests.
func (s *system) Real(ctx context.Context, name string) (string, error) {
	p, err := s.begin(ctx, "resolve", name)
	if err != nil {
		return "", err
	}
	conf, err := s.conf()
	if err != nil {
		return "", &fs.PathError{Op: "resolve", Path: name, Err: err}
	}
	_, rest, _ := strings.Cut(name, "://")
	authority, _, _ := strings.Cut(rest, "/")
	ours := func(address string) bool {
		return slices.ContainsFunc(p.addresses, func(a string) bool { return strings.EqualFold(a, address) })
	}
	usual, err := conf.NameNodes("")
	switch {
	case err == nil && slices.ContainsFunc(usual, ours):
		authority = ""
	case len(p.addresses) == 1:
		authority = strings.ToLower(p.addresses[0])
	}
	return Scheme + "://" + authority + p.path, nil
}
