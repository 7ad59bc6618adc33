package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"usertrail/internal/format/manifest"
	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/pipe"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/hbase"
	"usertrail/internal/store/hbase/wire"
	"usertrail/internal/store/secure/token"
)

var (
	// errLost is wrapped if a file is neither staged nor in the table.
	errLost = errors.New("is gone, and its cells are not in the table")
	// errRefused is wrapped if a region does not accept a file that fits into it.
	errRefused = errors.New("the region did not accept it")
)

const (
	callsAtOnce = 8
	// mostRefusals is the number of times that a region may refuse a file that fits into it
	// before the handover fails.
	mostRefusals = 5
	// renewer may renew the token for the files. No server does, because a handover is shorter
	// than the token's life of a day.
	renewer = "hbase"
)

// A handover hands staged files to the regions of their rows. It works in rounds until no file is
// left, because regions split, merge and move in the meantime, and the response to a call can be
// lost.
type handover struct {
	*Table
	*manifest.Handover
	token   string
	fsToken *token.Token // lets the servers move the files; nil without Kerberos

	mu       sync.Mutex
	refusals map[string]int // by file
}

// newHandover makes one of HBase's staging directories for h. It records the directory before the
// first call to a region.
func (t *Table) newHandover(ctx context.Context, h *manifest.Handover) (*handover, error) {
	o := &handover{Table: t, Handover: h, refusals: map[string]int{}}
	// If HBase has quotas, it measures the files as its own user.
	if err := dfs.LetEnter(ctx, t.store.fs, t.store.top(h.Staging), dfs.Join(h.Staging, t.family)); err != nil {
		return nil, err
	}
	fsToken, needed, err := dfs.Delegate(ctx, t.store.fs, h.Staging, renewer)
	if err != nil {
		return nil, err
	}
	if needed {
		o.fsToken = &fsToken
	}
	if o.token, err = t.client.PrepareBulkLoad(ctx, t.address.Table); err != nil {
		return nil, err
	}
	h.Tokens = append(h.Tokens, o.token)
	if err := t.SetHandover(ctx, h); err != nil {
		return nil, errors.Join(err, t.client.CleanupBulkLoad(ctx, t.address.Table, o.token))
	}
	breakpoint.Reach(breakpoint.Handover)
	return o, nil
}

// Stage implements segment.Target. New files go to the directory where the files of the handover
// are staged.
func (h *handover) Stage(ctx context.Context, name string) (dfs.Pending, error) {
	return h.store.fs.Create(ctx, dfs.Join(h.Staging, name))
}

// Staged implements segment.Target.
func (h *handover) Staged(ctx context.Context, name string) (dfs.File, error) {
	return h.store.fs.Open(ctx, dfs.Join(h.Staging, name))
}

// run hands all files over. unsettled means that calls of another process may have handed some
// of them over, or may still do so.
func (h *handover) run(ctx context.Context, unsettled bool) error {
	left := slices.Clone(h.Files)
	if unsettled {
		var err error
		if left, err = h.settleAll(ctx, left); err != nil {
			return err
		}
	}
	for round := 0; len(left) > 0; round++ {
		if round > 0 {
			if err := pipe.Sleep(ctx, min(100*time.Millisecond<<min(round, 6), 5*time.Second)); err != nil {
				return err
			}
		}
		regions, err := h.client.Regions(ctx, h.address.Table)
		if err != nil {
			return err
		}
		if left, err = h.cutAll(ctx, left, regions); err != nil {
			return err
		}
		if left, err = h.give(ctx, left, regions); err != nil {
			return err
		}
	}
	return nil
}

// give calls every region once with the files within it. It returns the files that the regions
// have not accepted.
func (h *handover) give(ctx context.Context, files []manifest.Staged, regions []hbase.Region) (left []manifest.Staged, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(callsAtOnce)
	for _, r := range regions {
		var in []manifest.Staged
		for _, f := range files {
			if r.Has(f.First) {
				in = append(in, f)
			}
		}
		if len(in) == 0 {
			continue
		}
		g.Go(func() error {
			rest, err := h.call(ctx, r, in)
			h.mu.Lock()
			defer h.mu.Unlock()
			left = append(left, rest...)
			return err
		})
	}
	err = g.Wait()
	slices.SortFunc(left, func(a, b manifest.Staged) int { return bytes.Compare(a.First, b.First) })
	return left, err
}

// call calls a region once and returns the files that the region did not accept.
func (h *handover) call(ctx context.Context, r hbase.Region, files []manifest.Staged) (left []manifest.Staged, err error) {
	paths := make([]wire.FamilyPath, len(files))
	for i, f := range files {
		paths[i] = wire.FamilyPath{Family: []byte(h.family), Path: dfs.Join(h.Staging, f.Name)}
	}
	loaded, err := h.client.BulkLoad(ctx, h.address.Table, r, paths, h.token, h.fsToken)
	switch {
	case errors.Is(err, hbase.ErrRegionGone):
		return files, nil
	case errors.Is(err, hbase.ErrUncertain):
		return h.settleAll(ctx, files)
	case err != nil:
		return nil, err
	case loaded:
		breakpoint.Reach(breakpoint.Handed)
		return nil, nil
	}
	if left, err = h.settleAll(ctx, files); err != nil {
		return nil, err
	}
	return left, h.refused(r, left)
}

// refused counts how often a region refused files. A region that was split in the meantime refuses
// once or twice. It returns an error if the region always refuses.
func (h *handover) refused(r hbase.Region, files []manifest.Staged) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range files {
		if h.refusals[f.Name]++; h.refusals[f.Name] >= mostRefusals {
			return fmt.Errorf("%s: %w, %d times, and HBase does not say why: region %s on %s, whose log says \"Failed to complete bulk load\"; %s",
				dfs.Join(h.Staging, f.Name), errRefused, mostRefusals, r.Name, r.Server, h.suspicion())
		}
	}
	return nil
}

// suspicion returns the usual reason of a refusal. With Kerberos, servers move the files by the token.
func (h *handover) suspicion() string {
	if h.fsToken == nil {
		return "may the user HBase runs as read and rename the file?"
	}
	return "may the owner of the delegation token read and rename the file, and is the token still valid? If not, " + token.Advice
}

// settleAll returns the files that are not in the table.
func (h *handover) settleAll(ctx context.Context, files []manifest.Staged) (left []manifest.Staged, err error) {
	for _, f := range files {
		in, err := h.settle(ctx, f)
		if err != nil {
			return nil, err
		}
		if !in {
			left = append(left, f)
		}
	}
	return left, nil
}

// settle reports whether a file is in the table, if the response to a call was lost. A file that is
// still staged is not in the table. A file that HBase has moved may get into the table while a call
// runs. If it stays where HBase moved it, settle moves it back.
func (h *handover) settle(ctx context.Context, f manifest.Staged) (in bool, err error) {
	staged := dfs.Join(h.Staging, f.Name)
	began, taken := time.Now(), false
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		if there, err := h.exists(ctx, staged); there || err != nil {
			return false, err
		}
		moved, err := h.underToken(ctx, f)
		if err != nil {
			return false, err
		}
		if moved == "" {
			if in, err := h.inTable(ctx, f); in || err != nil {
				return in, err
			}
		}
		if time.Since(began) > h.store.patience {
			if moved == "" || taken {
				return false, fmt.Errorf("%s %w", staged, errLost)
			}
			if err := h.takeBack(ctx, moved, staged); err != nil {
				return false, err
			}
			began, taken = time.Now(), true
		}
		if err := pipe.Sleep(ctx, pause); err != nil {
			return false, err
		}
	}
}

// takeBack moves a file out of HBase's staging directory. It is no error if the server took the
// file first.
func (h *handover) takeBack(ctx context.Context, moved, staged string) error {
	err := h.store.fs.Publish(ctx, moved, staged)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	return err
}

// underToken returns the path of a file in HBase's staging directories, or "" if it is in none.
func (h *handover) underToken(ctx context.Context, f manifest.Staged) (string, error) {
	for _, token := range h.Tokens {
		path := dfs.Join(token, h.family, dfs.Base(f.Name))
		if there, err := h.exists(ctx, path); there || err != nil {
			return path, err
		}
	}
	return "", nil
}

func (h *handover) exists(ctx context.Context, name string) (bool, error) {
	_, err := h.store.fs.Stat(ctx, name)
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// inTable reports whether the first cell of a file is in the table.
func (h *handover) inTable(ctx context.Context, f manifest.Staged) (bool, error) {
	cells, err := h.client.Get(ctx, h.address.Table, f.First, wire.Get{
		Columns: []wire.Column{{Family: []byte(h.family), Qualifiers: [][]byte{f.Qualifier}}},
		Time:    wire.TimeRange{From: f.Time, To: f.Time + 1},
	})
	return len(cells) > 0, err
}
