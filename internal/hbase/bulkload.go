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

	"usertrail/internal/hbase/rpc"
	"usertrail/internal/hbase/wire"
)

// PrepareBulkLoad asks the region of row "" for a staging directory of a table and
// returns its full URI, the token of the calls to come. Where an answer was lost a
// directory may stay behind that is empty.
func (c *Client) PrepareBulkLoad(ctx context.Context, tableName string) (token string, err error) {
	param := &wire.PrepareBulkLoadRequest{Table: wire.ParseTableName(tableName)}
	e := effort{what: "prepare a bulk load", table: tableName}
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
		return "", fmt.Errorf("prepare a bulk load, table %s: the server's answer: %w", tableName, err)
	}
	return token, nil
}

// BulkLoad hands files to a region in one call, which takes all of them or none.
// The server reads and moves them as the client's user, through the staging
// directory token. loaded is false where the region took none: a row out of its
// range, a family that the table does not have, a file that is missing, unreadable
// or broken; the server's log has the reason. A server that could not finish may
// have left files below token all the same, under family and base name.
//
// The call has no nonce and is never sent again once it may have been executed:
// then the error satisfies ErrUncertain, and only the files tell whether they were
// loaded, by where they lie. It has Config.BulkTimeout, takes one of the
// Config.InFlight places on its server, and does not wait for a frozen one any longer
// than other calls do. What surely was not done is tried again within
// Config.OpTimeout. The region is followed where it moves. If it has been split or
// merged the error satisfies ErrRegionGone, and Regions has its successors.
func (c *Client) BulkLoad(ctx context.Context, tableName string, r Region, files []wire.FamilyPath, token string) (loaded bool, err error) {
	if len(files) == 0 {
		return false, errors.New("hbase: bulk load of no files")
	}
	if err := checkToken(token, tableName); err != nil {
		return false, fmt.Errorf("hbase: bulk load: %w", err)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	b := &bulkLoad{
		t: c.table(tableName), start: r.Start,
		param:  wire.BulkLoadRequest{Region: r.Name, Files: files, Token: token},
		effort: effort{what: fmt.Sprintf("bulk load of %d files", len(files)), table: tableName, region: string(r.Name)},
	}
	return b.run(ctx)
}

// A bulkLoad is one call of BulkLoad.
type bulkLoad struct {
	t      *table
	start  []byte // of the region
	param  wire.BulkLoadRequest
	effort effort
}

// run calls until there is an answer, or an error that must not be followed by
// another call.
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
			b.effort.server = s.addr
			loaded, took, err = b.call(ctx, s)
		}
		switch {
		case err == nil:
			return loaded, nil
		case errors.Is(err, ErrUncertain):
			return false, b.effort.refused(b.t.c, verdict{err: err})
		case context.Cause(ctx) != nil:
			return false, context.Cause(ctx)
		}
		if err := b.t.recover(ctx, &b.effort, at, s, took, err); err != nil {
			return false, err
		}
	}
}

// locate returns where the region is, if it still is: what is known may be older
// than what the caller has.
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
		return nil, b.effort.refused(b.t.c, verdict{err: fmt.Errorf("%w: %s is in its place", ErrRegionGone, at)})
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
	case mayBeDone(err):
		return false, f.took, ofKind(ErrUncertain, err)
	}
	return false, f.took, err
}

// isMissing says whether a file is not there. A server with hbase.quota.enabled
// looks for its length before it begins, and throws where another takes none.
func isMissing(err error) bool {
	e, ok := errors.AsType[*rpc.ServerError](err)
	return ok && e.Name() == "SpaceLimitingException" && strings.Contains(e.Message, "Could not verify length of file")
}

// mayBeDone says whether a call that failed with err may have been executed all the
// same. Of a server's exceptions only those count as a refusal that it throws
// before it begins.
func mayBeDone(err error) bool {
	if errors.Is(err, rpc.ErrUnknownOutcome) {
		return true
	}
	e, ok := errors.AsType[*rpc.ServerError](err)
	if !ok {
		return false
	}
	switch judge(err).remedy {
	case giveUp, pause, ease, reconnect:
		return false
	case relocate:
		return e.Name() == "IOException"
	}
	return true
}

// CleanupBulkLoad deletes a staging directory and what has stayed in it. The server
// deletes whatever it is told, so a token that PrepareBulkLoad would not have
// returned for the table is refused. One that is not there any more is no error.
func (c *Client) CleanupBulkLoad(ctx context.Context, tableName, token string) error {
	if err := checkToken(token, tableName); err != nil {
		return fmt.Errorf("hbase: clean up a bulk load: %w", err)
	}
	param := &wire.CleanupBulkLoadRequest{Token: token}
	e := effort{what: "clean up a bulk load", table: tableName}
	return c.callFirst(ctx, &e, "CleanupBulkLoad", func(region []byte) wire.Appender {
		param.Region = region
		return param
	}, func(*rpc.Response) error { return nil })
}

// callFirst calls a table's first region, until it answers or the budget is used
// up.
func (c *Client) callFirst(ctx context.Context, e *effort, method string, param func(region []byte) wire.Appender, use func(*rpc.Response) error) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.table(e.table).call(ctx, e, nil, func(r *region, s *server) (flight, error) {
		resp, f, err := s.call(ctx, request{method: method, param: param(r.Name)})
		if err != nil {
			return f, err
		}
		s.window.grow()
		defer resp.Release()
		return f, use(resp)
	})
}

// randomPart is what ends a staging directory's name: 320 random bits to the base
// of 32, of which a number with fewer than half is not met.
var randomPart = regexp.MustCompile(`^[0-9a-v]{32,64}$`)

// checkToken says whether token has the shape of a table's staging directory:
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
		return fmt.Errorf("bulk token %q does not lie in the directory staging of HBase's root", token)
	case !named || user == "" || !randomPart.MatchString(name[i+len("__"):]):
		return fmt.Errorf("bulk token %q is not named <user>__<table>__<random> for table %s", token, tableName)
	}
	return nil
}
