package live

import (
	"errors"
	"fmt"

	"usertrail/internal/store/hbase"
	"usertrail/internal/table"
)

// writable returns advice how to make a READONLY table accept puts.
func (a Address) writable() string {
	return fmt.Sprintf("allow puts, in HBase's shell: alter '%s', READONLY => 'false'; or load HFiles: --mode hfile", a.Table)
}

// granting returns the statement that grants the right that err misses, on a table or a namespace. If
// err does not name the right, the statement has letters.
func granting(err error, letters, on string) string {
	d, ok := hbase.DenialOf(err)
	if !ok {
		d = hbase.Denial{User: "USER", Right: letters}
	}
	return fmt.Sprintf("grant it, in HBase's shell: grant '%s', '%s', %s", d.User, d.Right, on)
}

// explain adds the table and advice to an error. It also wraps the error of package table whose
// status shows whether another try may help.
func (a Address) explain(err error) error {
	is := func(target error) bool { return errors.Is(err, target) }
	unfit := func(advice string) error {
		return fmt.Errorf("table %s: %w: %w; %s", a, table.ErrUnfit, err, advice)
	}
	switch {
	case err == nil:
		return nil
	case is(hbase.ErrNoTable):
		return unfit("is its name right? Else make it: bulkload create-table")
	case is(hbase.ErrNoFamily):
		return unfit("say which is meant: table: {family: …} in the job")
	case is(hbase.ErrDisabled):
		return unfit(fmt.Sprintf("enable it, in HBase's shell: enable '%s'", a.Table))
	case is(hbase.ErrReadOnly):
		return unfit(a.writable())
	case is(hbase.ErrPermission):
		return unfit(granting(err, "RW", "'"+a.Table+"'") + "; or is this the wrong user?")
	case is(hbase.ErrHidden):
		return unfit("let it enter the folders above the file: hdfs dfs -chmod o+x FOLDER. It needs no right to read them")
	case is(hbase.ErrInsecure):
		return fmt.Errorf("table %s: %w: %w", a, table.ErrUnfit, err)
	case is(hbase.ErrUnknownHost):
		return unfit("is it spelt right? This machine must know ZooKeeper by name, and all servers of HBase")
	case is(hbase.ErrUnavailable):
		return fmt.Errorf("table %s: %w: %w", a, table.ErrUnreachable, err)
	}
	return fmt.Errorf("table %s: %w", a, err)
}
