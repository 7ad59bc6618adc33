package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure/token"
)

// PrepareBulkLoad asks the region of row "" for a staging directory of a table and
// returns the directory's full URI, which is the token of the later calls. If a response
// was lost, an empty directory may remain.
func (c *Client) PrepareBulkLoad(ctx context.Context, tableName string) (token string, err error) {
	param := &wire.PrepareBulkLoadRequest{Table: wire.ParseTableName(tableName)}
	e := retryState{what: "prepare a bulk load", table: tableName}
	err = c.callFirst(ctx, &e, "PrepareBulkLoad", func(region []byte) wire.Appender {
		param.Region = region
		return param
	}, func(r *rpc.Response) error {
		var err error
		token, err = wire.DecodePrepareBulkLoad(r.Param)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := checkToken(token, tableName); err != nil {
		return "", fmt.Errorf("prepare a bulk load, table %s: the server's response: %w", tableName, err)
	}
	return token, nil
}

// BulkLoad loads files into a region in one call. The region loads all of them or none.
// The server reads and moves the files as the client's user, through the staging
// directory staging. In a cluster with Kerberos it can do so only by fsToken, a token for the files'
// HDFS; elsewhere fsToken is nil. loaded is false if the region loaded none. The reasons are a row out
// of the region's range, a family that the table does not have, or a file that is
// missing, unreadable or broken. The server's log has the reason. A server that could
// not finish may still have left files below staging, under family and base name.
//
// The call has no nonce. If the server may have executed it, BulkLoad does not send it
// again. Then the error satisfies ErrUncertain, and only the location of the files shows
// whether they were loaded. The call has the limit Config.BulkTimeout and uses one of the
// Config.InFlight places on its server. It does not wait longer for a frozen server than other
// calls do. BulkLoad retries a call that was certainly not executed, within Config.OpTimeout.
// If the region moves, BulkLoad calls its new server. If the region has been split or merged,
// the error satisfies ErrRegionGone, and Regions returns its successors.
func (c *Client) BulkLoad(ctx context.Context, tableName string, r Region, files []wire.FamilyPath, staging string, fsToken *token.Token) (loaded bool, err error) {
	if len(files) == 0 {
		return false, errors.New("hbase: bulk load of no files")
	}
	if err := checkToken(staging, tableName); err != nil {
		return false, fmt.Errorf("hbase: bulk load: %w", err)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	b := &bulkLoad{
		t: c.table(tableName), start: r.Start,
		param:      wire.BulkLoadRequest{Region: r.Name, Files: files, Token: staging, FSToken: fsToken},
		retryState: retryState{what: "bulk load of " + english.Plural(len(files), "file", ""), table: tableName, region: string(r.Name)},
	}
	return b.run(ctx)
}

// A bulkLoad is one call of BulkLoad.
type bulkLoad struct {
	t          *table
	start      []byte // of the region
	param      wire.BulkLoadRequest
	retryState retryState
}

// run repeats the call until it has a response, or an error after which it must not
// call again.
func (b *bulkLoad) run(ctx context.Context) (loaded bool, err error) {
	for {
		began := time.Now()
		at, err := b.locate(ctx)
		if err != nil && err != errNotOnline {
			return false, err
		}
		took := time.Since(began)
		var s *server
		if err == nil {
			s = b.t.c.server(at.Server, wire.ClientService)
			b.retryState.server = s.addr
			loaded, took, err = b.call(ctx, s)
		}
		switch {
		case err == nil:
			return loaded, nil
		case errors.Is(err, ErrUncertain):
			return false, b.retryState.refused(b.t.c, verdict{err: err})
		case context.Cause(ctx) != nil:
			return false, context.Cause(ctx)
		}
		if err := b.t.recover(ctx, &b.retryState, at, s, took, err); err != nil {
			return false, err
		}
	}
}

// locate returns the region's location if the region still exists. It refreshes the
// known regions if they do not have the caller's region, since they may be older than
// the region that the caller has.
func (b *bulkLoad) locate(ctx context.Context) (*region, error) {
	at := b.t.known(b.start)
	if at == nil || !at.online() || !bytes.Equal(at.Name, b.param.Region) {
		if err := b.t.refresh(ctx); err != nil {
			return nil, err
		}
		at = b.t.known(b.start)
	}
	switch {
	case at != nil && !bytes.Equal(at.Name, b.param.Region):
		return nil, b.retryState.refused(b.t.c, verdict{err: fmt.Errorf("%w: %s is in its place", ErrRegionGone, at)})
	case at == nil || !at.online():
		return nil, errNotOnline
	}
	return at, nil
}

// call makes the call once.
func (b *bulkLoad) call(ctx context.Context, s *server) (loaded bool, took time.Duration, err error) {
	resp, f, err := s.callSent(ctx, request{method: "BulkLoadHFile", param: &b.param, limit: s.c.cfg.BulkTimeout})
	if err == nil {
		s.window.grow()
		defer resp.Release()
		if loaded, err = wire.DecodeBulkLoad(resp.Param); err == nil {
			return loaded, f.took, nil
		}
		return false, f.took, ofKind(ErrUncertain, err)
	}
	switch {
	case isMissing(err):
		return false, f.took, nil
	case isHidden(err):
		return false, f.took, ofKind(ErrHidden, err)
	case mayBeDone(err):
		return false, f.took, ofKind(ErrUncertain, err)
	}
	return false, f.took, err
}

// isMissing reports whether err means that a file is missing. A server with hbase.quota.enabled
// reads the length of each file before it begins, and throws an exception if a file is missing.
// Other servers respond that they loaded none.
func isMissing(err error) bool {
	e, ok := unverified(err)
	return ok && !strings.Contains(e.Cause, accessControl)
}

// isHidden reports whether err means that HBase's own user may not see a file. Such a server reads
// the length as that user, and not as the client's.
func isHidden(err error) bool {
	e, ok := unverified(err)
	return ok && strings.Contains(e.Cause, accessControl)
}

// accessControl is the class of HDFS's exception.
const accessControl = "AccessControlException"

func unverified(err error) (*rpc.ServerError, bool) {
	e, ok := errors.AsType[*rpc.ServerError](err)
	return e, ok && e.Name() == "SpaceLimitingException" && strings.Contains(e.Message, "Could not verify length of file")
}

// mayBeDone reports whether the server may have executed a call that failed with err.
// Only an exception that the server throws before it begins counts as a refusal.
func mayBeDone(err error) bool {
	if errors.Is(err, rpc.ErrUnknownOutcome) {
		return true
	}
	e, ok := errors.AsType[*rpc.ServerError](err)
	if !ok {
		return false
	}
	switch judge(err).remedy {
	case giveUp, ask, pause, ease, reconnect:
		return false
	case relocate:
		return e.Name() == "IOException"
	}
	return true
}

// CleanupBulkLoad deletes a staging directory and the files that remain in it. The
// server deletes any directory that a call names. Therefore CleanupBulkLoad refuses a
// token that PrepareBulkLoad would not have returned for the table. A directory that
// does not exist any more is no error.
func (c *Client) CleanupBulkLoad(ctx context.Context, tableName, token string) error {
	if err := checkToken(token, tableName); err != nil {
		return fmt.Errorf("hbase: clean up a bulk load: %w", err)
	}
	param := &wire.CleanupBulkLoadRequest{Token: token}
	e := retryState{what: "clean up a bulk load", table: tableName}
	return c.callFirst(ctx, &e, "CleanupBulkLoad", func(region []byte) wire.Appender {
		param.Region = region
		return param
	}, func(*rpc.Response) error { return nil })
}

// callFirst calls a table's first region, until it responds or the budget is used
// up.
func (c *Client) callFirst(ctx context.Context, e *retryState, method string, param func(region []byte) wire.Appender, use func(*rpc.Response) error) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.table(e.table).call(ctx, e, nil, func(r *region, s *server) (timing, error) {
		resp, f, err := s.call(ctx, request{method: method, param: param(r.Name)})
		if err != nil {
			return f, err
		}
		s.window.grow()
		defer resp.Release()
		return f, use(resp)
	})
}

// randomPart matches the end of a staging directory's name: 320 random bits as a
// number in base 32. A number with fewer than half of the 64 digits does not occur in
// practice.
var randomPart = regexp.MustCompile(`^[0-9a-v]{32,64}$`)

// checkToken returns an error unless token has the form of a table's staging directory:
//
//	[scheme://authority] <root> /staging/ <user>__<table, _ for :>__<random>
func checkToken(token, tableName string) error {
	p := token
	if scheme, rest, ok := strings.Cut(token, "://"); ok && !strings.Contains(scheme, "/") {
		_, p, _ = strings.Cut(rest, "/")
		p = "/" + p
	}
	parent, name := path.Split(p)
	i := strings.LastIndex(name, "__")
	user, named := "", false
	if i >= 0 {
		user, named = strings.CutSuffix(name[:i], "__"+strings.ReplaceAll(wire.ParseTableName(tableName).String(), ":", "_"))
	}
	root, staged := strings.CutSuffix(parent, "/staging/")
	switch {
	case !path.IsAbs(p) || path.Clean(p) != p:
		return fmt.Errorf("bulk token %q is not a plain absolute path", token)
	case !staged || root == "":
		return fmt.Errorf("bulk token %q is not below the directory staging of HBase's root", token)
	case !named || user == "" || !randomPart.MatchString(name[i+len("__"):]):
		return fmt.Errorf("bulk token %q is not named <user>__<table>__<random> for table %s", token, tableName)
	}
	return nil
}
