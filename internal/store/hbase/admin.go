package hbase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"usertrail/internal/run/pipe"
	"usertrail/internal/split"
	"usertrail/internal/store/hbase/rpc"
	"usertrail/internal/store/hbase/wire"
)

// Describe returns a table's schema.
func (c *Client) Describe(ctx context.Context, tableName string) (*wire.TableSchema, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var all []wire.TableSchema
	e := retryState{what: "ask the master to describe", table: tableName}
	param := wire.TableDescriptorsRequest{Table: wire.ParseTableName(tableName)}
	err = c.callKnown(ctx, &e, c.masterServer, "GetTableDescriptors", param, func(r *rpc.Response) error {
		var err error
		all, err = wire.DecodeTableDescriptors(r.Param)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("table %s: %w", tableName, ErrNoTable)
	}
	return &all[0], nil
}

// CheckEnabled fails with ErrDisabled if a table is disabled or being disabled, and
// with ErrNoTable if the table does not exist.
func (c *Client) CheckEnabled(ctx context.Context, tableName string) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.table(tableName).checkEnabled(ctx)
}

// Create creates a table that is split at splits, and returns when all of its regions
// are online. It fails with ErrTableExists if the table exists.
func (c *Client) Create(ctx context.Context, schema *wire.TableSchema, splits [][]byte) error {
	name := schema.Name.String()
	if err := split.Points(splits).Validate(); err != nil {
		return fmt.Errorf("hbase: create table %s: %w", name, err)
	}
	if len(schema.Families) == 0 {
		return fmt.Errorf("hbase: create table %s: no column family", name)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := c.procedure(ctx, "create", name, "CreateTable", wire.CreateTableRequest{Schema: schema, Splits: splits}, ErrTableExists); err != nil {
		return err
	}
	return c.waitOnline(ctx, name, len(splits)+1)
}

// Disable takes a table's regions offline. After that the table can be dropped.
func (c *Client) Disable(ctx context.Context, tableName string) error {
	return c.alter(ctx, "disable", tableName, "DisableTable", ErrDisabled)
}

// Drop removes a table that is disabled.
func (c *Client) Drop(ctx context.Context, tableName string) error {
	return c.alter(ctx, "drop", tableName, "DeleteTable", ErrNoTable)
}

func (c *Client) alter(ctx context.Context, what, tableName, method string, doneAlready error) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return c.procedure(ctx, what, tableName, method, wire.TableRequest{Table: wire.ParseTableName(tableName)}, doneAlready)
}

// procedure asks the master to run a procedure and waits for its end. If a response was
// lost, the first attempt may have started the procedure. If the second attempt then
// finds it done, that is a success.
func (c *Client) procedure(ctx context.Context, what, tableName, method string, param wire.Appender, doneAlready error) error {
	e := retryState{what: what, table: tableName}
	var id uint64
	err := c.callKnown(ctx, &e, c.masterServer, method, param, func(r *rpc.Response) error {
		var err error
		id, err = wire.DecodeProcedureID(r.Param)
		return err
	})
	if err != nil {
		if e.lost > 0 && errors.Is(err, doneAlready) {
			return nil
		}
		return err
	}
	e = retryState{what: what, table: tableName}
	failed, err := c.waitProcedure(ctx, &e, id, c.cfg.OpTimeout)
	if failed != nil {
		return e.refused(c, judge(failed))
	}
	return err
}

// waitProcedure polls the master until a procedure is over or limit has passed. failed is
// the error of the procedure.
func (c *Client) waitProcedure(ctx context.Context, e *retryState, id uint64, limit time.Duration) (failed *wire.ServerError, err error) {
	began := time.Now()
	for n := 1; ; n++ {
		var state wire.ProcedureState
		err := c.callKnown(ctx, e, c.masterServer, "getProcedureResult", wire.ProcedureRequest{ID: id}, func(r *rpc.Response) error {
			var err error
			state, failed, err = wire.DecodeProcedure(r.Param)
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case failed != nil || state != wire.ProcedureRunning:
			return failed, nil
		case time.Since(began) > limit:
			e.attempts, e.spent = n, time.Since(began)
			return nil, e.gaveUp(verdict{remedy: pause, err: fmt.Errorf("procedure %d still runs", id)})
		}
		if err := pollPause(ctx, n); err != nil {
			return nil, err
		}
	}
}

// pollPause waits between two questions whether the master is done. n counts the questions.
func pollPause(ctx context.Context, n int) error {
	return pipe.Sleep(ctx, min(20*time.Millisecond<<min(n, 6), time.Second))
}

// waitOnline returns when a table has n regions and each is open on a server.
func (c *Client) waitOnline(ctx context.Context, tableName string, n int) error {
	e := retryState{what: "wait for the regions", table: tableName}
	for {
		began := time.Now()
		all, err := c.readMeta(ctx, tableName)
		if err != nil && !errors.Is(err, ErrNoTable) {
			return err
		}
		open := 0
		for _, r := range all {
			if r.Server != "" && r.State == "OPEN" {
				open++
			}
		}
		if open >= n {
			return nil
		}
		v := verdict{remedy: pause, err: fmt.Errorf("%d of %d regions are open", open, n)}
		if err := e.pauseAfter(ctx, c, time.Since(began), v); err != nil {
			return err
		}
	}
}
