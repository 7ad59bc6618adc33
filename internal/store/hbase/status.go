package hbase

import (
	"context"
	"errors"
	"strings"

	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// Status asks the master for the cluster's status.
func (c *Client) Status(ctx context.Context) (wire.ClusterStatus, error) {
	var s wire.ClusterStatus
	e := retryState{what: "ask the master for the cluster's status"}
	err := c.callMaster(ctx, &e, "GetClusterStatus", wire.ClusterStatusRequest{}, func(r *rpc.Response) error {
		var err error
		s, err = wire.DecodeClusterStatus(r.Param)
		return err
	})
	return s, err
}

// Allowed asks the master whether the client's user has all of some permissions on a
// family of a table. If family is empty, it checks the whole table. The table need not exist. A
// cluster that does not check permissions, or is older than 2.3, allows everything.
func (c *Client) Allowed(ctx context.Context, tableName, family string, actions ...wire.Permission) (bool, error) {
	if len(actions) == 0 {
		return true, nil
	}
	var granted bool
	e := retryState{what: "ask the master for permissions", table: tableName}
	param := &wire.PermissionsRequest{Table: wire.ParseTableName(tableName), Family: family, Permissions: actions}
	err := c.callMaster(ctx, &e, "HasUserPermissions", param, func(r *rpc.Response) error {
		var err error
		granted, err = wire.DecodePermissions(r.Param)
		return err
	})
	if unsupported(err) {
		return true, nil
	}
	return granted, err
}

// unsupported reports whether the server does not know a call, or cannot
// execute it. Both cases end in Java's UnsupportedOperationException, which
// HBase wraps in its own exception.
func unsupported(err error) bool {
	e, ok := errors.AsType[*rpc.ServerError](err)
	return ok && (e.Name() == "UnsupportedOperationException" || strings.Contains(e.Message, "UnsupportedOperationException"))
}

// callMaster calls the master until it responds or the budget is used up.
func (c *Client) callMaster(ctx context.Context, e *retryState, method string, param wire.Appender, use func(*rpc.Response) error) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.callKnown(ctx, e, c.masterServer, method, param, use)
}
