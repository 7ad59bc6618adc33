package convert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"syscall"

	"github.com/cespare/xxhash/v2"

	"usertrail/internal/format/manifest"
	"usertrail/internal/split"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table"
	"usertrail/internal/table/catalog"
)

// A state describes the contents of the output directory.
type state int

const (
	nothing   state = iota
	begun           // a plan of this conversion, and some of its files
	overtaken       // a plan of this conversion, but the old table or the number of regions has changed
	finished        // the new table, and the rest of a workshop whose removal was interrupted
)

// look returns the state of the output directory. It returns an error if the directory holds
// something that is not part of this conversion.
func (r *run) look(ctx context.Context) (state, error) {
	out := r.cfg.Out.Address()
	_, err := r.cfg.FS.Stat(ctx, dfs.Join(out, catalog.ManifestName))
	made := err == nil
	if errors.Is(err, syscall.ELOOP) {
		return nothing, fmt.Errorf("%w: move it away, then type the same command again", err)
	}
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nothing, err
	}
	if !made {
		if err := catalog.CheckBare(ctx, r.cfg.FS, out); errors.Is(err, table.ErrNoManifest) {
			return nothing, err
		}
	}
	plan, err := r.shop.Plan(ctx)
	if made && errors.Is(err, manifest.ErrDamaged) { // the next load of the table removes it
		plan, err = nil, nil
	}
	if err != nil {
		return nothing, err
	}
	want, err := r.wanted()
	if err != nil {
		return nothing, err
	}
	switch {
	case made && (plan == nil || plan.From != want.From || plan.Layout != want.Layout):
		return nothing, there("%s is a table: name another --out, or move it away", out)
	case plan == nil:
		return nothing, r.empty(ctx)
	case plan.From != want.From || plan.Layout != want.Layout:
		return nothing, there("%s is of an unfinished conversion of %s to %s: begin that again, name another --out, or move it away", out, plan.From, plan.Layout)
	case made && (plan.Source != want.Source || plan.Regions != want.Regions):
		return nothing, there("%s is a table that was made from an earlier state of %s, or with another --regions: name another --out, or move it away", out, plan.From)
	case made:
		return finished, nil
	case plan.Source != want.Source || plan.Regions != want.Regions:
		return overtaken, nil
	}
	r.plan = plan
	return begun, nil
}

// wanted returns the plan without its split points.
func (r *run) wanted() (*manifest.Conversion, error) {
	b, err := json.Marshal(r.m)
	if err != nil {
		return nil, err
	}
	return &manifest.Conversion{
		From: r.cfg.From.Address(), Source: fmt.Sprintf("%016x", xxhash.Sum64(b)), Layout: r.new.Name(), Regions: r.cfg.Regions,
	}, nil
}

// empty returns an error if the output directory holds foreign files.
func (r *run) empty(ctx context.Context) error {
	out := r.cfg.Out.Address()
	list, err := r.cfg.FS.List(ctx, out)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range list {
		if !r.shop.Own(f) {
			return there("%s holds %s, and no table: name another --out, or move it away", out, dfs.Base(f.Name))
		}
	}
	return nil
}

// apart returns an error if the output is or contains the table, or if it is inside a manifest.Outer. A
// load of an outer table would remove the inner one.
func (r *run) apart(ctx context.Context) error {
	from, out := r.cfg.From.Address(), r.cfg.Out.Address()
	twofold, err := dfs.Twofold(ctx, r.cfg.FS, out)
	if err != nil {
		return err
	}
	if twofold {
		return fmt.Errorf("%w: %s: the path has .. after a symbolic link: name the directory without it", ErrRequest, out)
	}
	how, err := dfs.Overlap(ctx, r.cfg.FS, out, from)
	if err != nil {
		return err
	}
	if how != "" {
		return fmt.Errorf("%w: --out %s %s the table %s: a load into one would remove files of the other: name another directory", ErrRequest, out, how, from)
	}
	around, err := manifest.Around(ctx, r.cfg.FS, out)
	if err != nil {
		return err
	}
	why := around.Why("name another --out")
	switch {
	case around.Dir == "":
		return nil
	case why != "":
		return fmt.Errorf("%w: %s is inside %s", ErrRequest, out, why)
	}
	return fmt.Errorf("%w: %s is inside the table %s, whose next load would sweep it", ErrRequest, out, around.Dir)
}

// prepare makes the plan, or continues with the existing plan.
func (r *run) prepare(ctx context.Context, s state) (err error) {
	if s == begun {
		if r.done, err = r.shop.Done(ctx); err != nil {
			return err
		}
		if err := r.shop.Tidy(ctx); err != nil {
			return err
		}
		if err := r.keepWhole(ctx); err != nil {
			return err
		}
	} else if err := r.begin(ctx); err != nil {
		return err
	}
	splits := manifest.PointsOf(r.plan.Splits)
	r.to, err = r.cfg.Out.NewFiles(ctx, table.Plan{
		Layout: r.plan.Layout, Compression: r.m.Compression, Schema: r.m.Schema,
		Splits: func(context.Context) (split.Points, error) { return splits, nil },
	})
	if err != nil {
		return err
	}
	return r.shop.Keep(ctx, r.to.Manifest().Family, r.done)
}

// begin removes the files of an earlier plan and makes a new plan.
func (r *run) begin(ctx context.Context) error {
	if err := r.shop.Clear(ctx, r.m.Family); err != nil {
		return err
	}
	plan, err := r.wanted()
	if err != nil {
		return err
	}
	if err := r.surveyUsers(ctx); err != nil {
		return err
	}
	points, err := r.users.choosePoints(ctx)
	if err != nil {
		return err
	}
	plan.Splits = manifest.KeysOf(points)
	r.plan = plan
	return r.shop.Begin(ctx, plan)
}
