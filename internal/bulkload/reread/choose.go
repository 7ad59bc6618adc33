package reread

import (
	"maps"
	"slices"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
)

// choose chooses the files that are read again, and the HFiles that can have their records.
func (x *reread) choose(found []job.Input) error {
	unread, err := x.search.UnreadFields(x.known.Loads(), found, x.to.Info().Dropped)
	if err != nil {
		return err
	}
	x.fields, x.byNumber = make([][]bool, len(x.to.Schema.Kinds)), map[uint32]int{}
	loads, byLoad := x.loadsOf(), x.makePlaces()
	for _, of := range found {
		in := x.input(of, unread)
		if in == nil {
			x.result.Already++
			continue
		}
		x.byNumber[in.Number] = len(x.inputs)
		x.inputs = append(x.inputs, in)
		x.result.Bytes += in.Size
		in.loads = loads[in.Number]
		in.places = x.placesOf(in.loads, byLoad)
	}
	return nil
}

// goneOf returns the logs of the dates that are not among the files found, if loads read them without a field of the job, in order.
func (x *reread) goneOf(found []job.Input) ([]string, error) {
	known := map[string]bool{}
	for i := range found {
		known[found[i].Rel] = true
	}
	var gone []job.Input
	for _, l := range x.known.Loads() {
		for i := range l.Inputs {
			if in := &l.Inputs[i]; in.Loaded > 0 && !known[in.Path] && x.mayHave(in) {
				known[in.Path] = true
				gone = append(gone, job.Input{Rel: in.Path})
			}
		}
	}
	unread, err := x.search.UnreadFields(x.known.Loads(), gone, x.to.Info().Dropped)
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for _, u := range unread {
		for path := range u.Paths {
			paths[path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths)), nil
}

// putBack is the next step for logs that are gone.
const putBack = "put the logs back under the names of the load, and repeat the command"

// warnOfGone warns of what goneOf has returned.
func (x *reread) warnOfGone(gone []string) {
	if len(gone) > 0 {
		x.cfg.Log.Warn("logs are gone or have other names, so their records stay without values: "+putBack, "files", len(gone), "example", gone[0])
	}
}

// mayHave reports whether the path of a loaded file has a date of the dates, or whether the file may have records of them if the path
// has none.
func (x *reread) mayHave(in *manifest.Input) bool {
	// A replay of the file has no dates in its ledger.
	if dates := x.known.File(in.Path).Dates; dates != nil {
		return x.cfg.Span.Has(dates.Middle())
	}
	return len(in.Days) == 0 || slices.ContainsFunc(in.Days, func(d manifest.DaysOf) bool {
		return slices.ContainsFunc(d.Days, x.cfg.Span.Overlaps)
	})
}

// loadsOf returns the loads that added records of a file, by the number of the file.
func (x *reread) loadsOf() map[uint32][]int {
	out := map[uint32][]int{}
	for _, l := range x.known.Loads() {
		for i := range l.Inputs {
			if in := &l.Inputs[i]; in.Loaded > 0 {
				out[in.Number] = append(out[in.Number], l.Number)
			}
		}
	}
	return out
}

// input returns a file with the fields that it is read for. It returns nil if there are none.
func (x *reread) input(of job.Input, unread []bulkload.UnreadField) *input {
	var in *input
	for _, u := range unread {
		days := u.Paths[of.Rel]
		if days == nil {
			continue
		}
		if in == nil {
			in = x.newInput(of)
		}
		k, _ := x.to.Schema.Kind(u.Behaviour)
		i := slices.IndexFunc(x.to.Schema.Kinds[k].Fields, func(f behaviour.Field) bool { return f.Name == u.Field })
		in.fields.add(k, i, len(x.to.Schema.Kinds[k].Fields), days)
		mark(x.fields, k, i, len(x.to.Schema.Kinds[k].Fields))
		in.names[u.Behaviour] = slices.Sorted(slices.Values(append(in.names[u.Behaviour], u.Field)))
	}
	return in
}

func (x *reread) newInput(of job.Input) *input {
	loaded := x.known.File(of.Rel)
	f := &delivered.File{Input: of, Number: loaded.Number, Part: x.search.Part(of)}
	content := ledger.Content{SHA256: loaded.SHA256, Behaviour: f.Behaviour(x.cfg.Job.Schema)}
	again := func(in *manifest.Input) bool { return in.Reread != nil }
	return &input{
		Input: batch.NewInput(f), loaded: loaded, fields: make(lacking, len(x.to.Schema.Kinds)), names: map[string][]string{}, replayed: x.known.Replayed(content),
		begun: slices.ContainsFunc(x.known.Begun(of.Rel), again), given: slices.DeleteFunc(slices.Clone(x.known.Inputs(of.Rel)), func(in *manifest.Input) bool { return !again(in) }),
	}
}

// mark marks field i of n of a kind.
func mark(fields [][]bool, kind, i, n int) {
	if fields[kind] == nil {
		fields[kind] = make([]bool, n)
	}
	fields[kind][i] = true
}
