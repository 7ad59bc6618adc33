package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"usertrail/internal/bulkload/fit"
	"usertrail/internal/format/job"
	"usertrail/internal/format/layout"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/files"
	"usertrail/internal/table/live"
)

// Store returns the table of --table, or else of the job, and the job. If --table is given,
// Store reads a job only if --job is given too, and otherwise returns a nil job.
func (f *Flags) Store(ctx context.Context, fs dfs.FS) (table.Store, *job.Job, error) {
	address, j, err := f.address(ctx, fs)
	if err != nil {
		return nil, nil, err
	}
	s, err := Store(ctx, fs, address, j, f.Waits)
	return s, j, err
}

// StoreOfFiles is Store for a command that takes only tables of files. instead is its advice for a table in HBase.
func (f *Flags) StoreOfFiles(ctx context.Context, fs dfs.FS, instead string) (files.Store, error) {
	address, j, err := f.address(ctx, fs)
	if err != nil {
		return files.Store{}, err
	}
	if dfs.Scheme(address) == live.Scheme {
		return files.Store{}, fmt.Errorf("%w: %s is in HBase: %s", table.ErrUnfit, address, instead)
	}
	return StoreOfFiles(ctx, fs, address, j, f.Waits)
}

// address returns the address of --table, or else of the job, and the job as Store does.
func (f *Flags) address(ctx context.Context, fs dfs.FS) (address string, j *job.Job, err error) {
	address = f.Table
	if address == "" || f.Job != "" {
		j, err = f.LoadJob(ctx, fs)
		if errors.Is(err, ErrNoJob) {
			return "", nil, fmt.Errorf("%w; or name the table with --table", err)
		}
		if err != nil {
			return "", nil, err
		}
	}
	if address == "" {
		address = j.Table.Address
	}
	if address == "" {
		return "", nil, fmt.Errorf("%w: no table: write --table TABLE, or table: in the job file", ErrUsage)
	}
	return address, j, nil
}

// Store returns the table at an address. The job, if it is not nil, adds the settings that the
// address does not have.
func Store(ctx context.Context, fs dfs.FS, address string, j *job.Job, w Waits) (table.Store, error) {
	s, err := store(ctx, fs, address, j, w)
	if err == nil {
		stored(ctx, fs, s, j)
	}
	return s, err
}

// StoreOfFiles is Store for an address that is not in HBase.
func StoreOfFiles(ctx context.Context, fs dfs.FS, address string, j *job.Job, w Waits) (files.Store, error) {
	s, err := storeOfFiles(fs, address, w)
	if err == nil {
		stored(ctx, fs, s, j)
	}
	return s, err
}

// About records that the run of a context is about the store and the job.
func About(ctx context.Context, fs dfs.FS, s table.Store, j *job.Job) { stored(ctx, fs, s, j) }

func store(ctx context.Context, fs dfs.FS, address string, j *job.Job, w Waits) (table.Store, error) {
	if dfs.Scheme(address) != live.Scheme {
		s, err := storeOfFiles(fs, address, w)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	o, err := liveOptions(j, w)
	if err != nil {
		return nil, err
	}
	s, err := live.Connect(ctx, fs, address, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func storeOfFiles(fs dfs.FS, address string, w Waits) (files.Store, error) {
	if err := w.check(); err != nil {
		return files.Store{}, err
	}
	if rest, ok := strings.CutPrefix(address, live.Scheme+":/"); ok {
		return files.Store{}, fmt.Errorf("%w: table %s: did you mean %s://%s?", ErrUsage, address, live.Scheme, rest)
	}
	if s := dfs.Scheme(address); s != "" && s != "hdfs" {
		return files.Store{}, fmt.Errorf("%w: table %s: %s:// is not supported; a table is a directory, local or hdfs://, or hbase://zk1,zk2:2181/namespace:table", ErrUsage, address, s)
	}
	if err := w.checkFiles(address); err != nil {
		return files.Store{}, err
	}
	return files.Store{FS: fs, Dir: strings.TrimRight(address, "/")}, nil
}

// Candidate is Store for a pre-check: faults of a table in HBase are reported by its checks
// and not as an error here.
func Candidate(ctx context.Context, fs dfs.FS, address string, j *job.Job, w Waits) (table.Store, error) {
	if dfs.Scheme(address) != live.Scheme {
		return Store(ctx, fs, address, j, w)
	}
	o, err := liveOptions(j, w)
	if err != nil {
		return nil, err
	}
	c, err := live.Look(ctx, fs, address, o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Design returns the design of a new table in HBase, with the settings of the job.
func Design(address string, j *job.Job, w Waits, cut fit.Fit) (*live.Design, error) {
	o, err := liveOptions(j, w)
	if err != nil {
		return nil, err
	}
	l, err := layout.ByName(j.Layout)
	if err != nil {
		return nil, err
	}
	return live.NewDesign(address, o, live.Spec{
		Splits: cut.Splits, KeyLen: cut.KeyLen, Compression: j.Table.Compression, Versions: l.Traits().Versions, TTL: j.Table.TTL,
	})
}

// liveOptions returns the options from the job, which may be nil, and from Hadoop's
// configuration.
func liveOptions(j *job.Job, w Waits) (live.Options, error) {
	if err := w.check(); err != nil {
		return live.Options{}, err
	}
	conf, err := hadoopconf.FromEnv()
	if err != nil {
		return live.Options{}, err
	}
	o := live.Options{Conf: conf, User: user}
	o.Client.CallTimeout, o.Client.OpTimeout = w.CallTimeout, w.RetryFor
	w.Bounds.of(&o)
	if j != nil {
		o.Catalog, o.Family, o.Root, o.Others = j.Table.Catalog, j.Table.Family, j.Table.Root, j.Table.Others
	}
	return o, nil
}
