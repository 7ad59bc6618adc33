package live

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/table"
	"usertrail/internal/table/precheck"
)

// checkRights asks HBase for the rights that a load needs, and tries to make files in the folders
// of the load.
func (s *Store) checkRights(ctx context.Context, l *precheck.List, load precheck.Load) {
	puts, err1 := s.client.Allowed(ctx, s.address.Table, s.family, wire.PermitWrite)
	create, err2 := s.client.Allowed(ctx, s.address.Table, s.family, wire.PermitCreate)
	admin, err3 := s.client.Allowed(ctx, s.address.Table, s.family, wire.PermitAdmin)
	if err := errors.Join(err1, err2, err3); err != nil {
		l.Fail(precheck.Permissions, s.address.explain(err), "")
		return
	}
	may := rights{puts: puts, hfiles: create || admin}
	if !may.enough(load) {
		err := fmt.Errorf("table %s: %w: %w as user %s: %s", s.address, table.ErrUnfit, hbase.ErrPermission, s.client.User(), may.lacks(load))
		l.Fail(precheck.Permissions, err, s.grant(load))
		return
	}
	dirs := s.writes(load)
	for _, dir := range dirs {
		if _, err := precheck.Try(ctx, s.fs, dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			l.Fail(precheck.Permissions, err, "")
			return
		}
	}
	if lacks := may.lacks(load); lacks != "" {
		l.Warn(precheck.Permissions, s.grant(load), "%s: choose the other way with --mode", lacks)
		return
	}
	l.OK(precheck.Permissions, "HBase allows it, and files can be made in %s", strings.Join(dirs, " and "))
}

// rights are the modes of loading that HBase allows.
type rights struct{ puts, hfiles bool }

// enough reports whether HBase allows a mode that the load can use.
func (r rights) enough(load precheck.Load) bool {
	return load.Puts && r.puts || load.HFiles && r.hfiles
}

// lacks names the modes of the load that HBase does not allow; empty if there are none.
func (r rights) lacks(load precheck.Load) string {
	var out []string
	if load.Puts && !r.puts {
		out = append(out, "no right to put (W)")
	}
	if load.HFiles && !r.hfiles {
		out = append(out, "no right to load HFiles (C or A)")
	}
	return strings.Join(out, ", ")
}

func (s *Store) grant(load precheck.Load) string {
	letters := ""
	if load.Puts {
		letters += "W"
	}
	if load.HFiles {
		letters += "C"
	}
	return fmt.Sprintf("grant it, in HBase's shell: grant '%s', 'R%s', '%s'; or is this the wrong user?", hbase.ShortName(s.client.User()), letters, s.address.Table)
}

// writes returns the directories in which a load makes files.
func (s *Store) writes(load precheck.Load) []string {
	dirs := []string{s.dir}
	if in, err := s.stagingIn(); err == nil && load.HFiles && !strings.HasPrefix(in, strings.TrimRight(s.dir, "/")+"/") {
		dirs = append(dirs, in)
	}
	return dirs
}

// known are the releases of HBase that usertrail is tested with.
var known = []string{"2.4", "2.5", "2.6", "3.0"}

var releaseText = regexp.MustCompile(`^\d+\.\d+`)

// checkVersion asks the master for its version and for dead servers.
func (s *Store) checkVersion(ctx context.Context, l *precheck.List) {
	status, err := s.client.Status(ctx)
	switch {
	case errors.Is(err, hbase.ErrPermission):
		l.Skip(precheck.Versions, "HBase does not tell this user: %v", err)
		return
	case err != nil:
		l.Fail(precheck.Versions, s.address.explain(err), "")
		return
	}
	detail := fmt.Sprintf("HBase %s, %s", status.Version, english.Plural(len(status.Live), "server", ""))
	if slices.Contains(known, releaseText.FindString(status.Version)) {
		l.OK(precheck.Versions, "%s", detail)
		return
	}
	l.Warn(precheck.Versions, "try it with a table that matters less", "%s: known to work are %s", detail, english.WordSeries(known, "and"))
}
