package reread

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"usertrail/internal/behaviour"
	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/format/job"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/quantity"
)

// unusable returns an error if the job does not read the file as a load must: the limits of bad records and of unknown behaviours
// hold for a reread, too, and some record must be good. Otherwise the ledger would show that the fields were read, and no
// later reread with a corrected job would read them.
func (in *input) unusable(j *job.Job) error {
	const noValue = ": no record of the file gets a value: correct "
	c := &in.counts
	read, bad := c.read.Read, c.again.Bad
	if err := delivered.TooBad(j, in.Path, read, bad, &c.reasons, noValue+"the job, or raise max_bad"); err != nil {
		return err
	}
	if err := delivered.TooManyOthers(j, in.Path, &c.read, &c.others, noValue+"logs.behaviour, or raise max_skipped"); err != nil {
		return err
	}
	if skips := &c.read.Skips; read == 0 || read > bad+skips.Unknown+skips.WithoutUser+skips.Condition {
		return nil
	}
	return fmt.Errorf("%w: %s: the job reads none of its %s, and the table has records of it: %s: add the new field to a copy of the job that loaded the file",
		bulkload.ErrRequest, in.Path, quantity.Of(read, "record"), in.why())
}

// why says why no record of in is good.
func (in *input) why() string {
	skips := &in.counts.read.Skips
	var out []string
	for _, x := range []struct {
		records int64
		why     string
	}{
		{in.counts.again.Bad, "bad: " + in.counts.reasons.String()}, {skips.Unknown, "name no behaviour of the job"},
		{skips.WithoutUser, "have no user"}, {skips.Condition, "are skipped by logs.skip"},
	} {
		if x.records > 0 {
			out = append(out, humanize.Comma(x.records)+" "+x.why)
		}
	}
	return strings.Join(out, ", ")
}

// leaveOut removes the fields of which no file has a value from the fields that the inputs give. They stay unread, because the job may
// read a wrong column. Of other fields, each input gets a list of the days on which its own records have no value. leaveOut warns of both. A
// file of which the table has no record needs no value.
func (x *reread) leaveOut() {
	by := x.cfg.Job.FieldsBy()
	none := make([]manifest.NoValues, len(x.inputs))
	for k := range x.to.Schema.Kinds {
		kind := &x.to.Schema.Kinds[k]
		for i, f := range kind.Fields {
			if files, dates := x.withoutValue(k, i, manifest.FieldBy{Name: f.Name, By: by(kind.Name, f.Name)}, none); files > 0 {
				x.cfg.Log.Warn("no record of these files has a value of a field, which stays unread on these dates: if the logs have the field, correct its column in the job, and read them again",
					"behaviour", kind.Name, "field", f.Name, "files", files, "dates", dates.String())
			}
		}
	}
	for i := range none {
		x.inputs[i].noValue = none[i].Result()
	}
}

// withoutValue removes a field, which is field i of kind k, from what the inputs give, if no file has a value of it. Otherwise it adds the
// days of each input without a value to none. It returns the number of inputs that were read for such days, and a span that includes these
// days.
func (x *reread) withoutValue(k, i int, field manifest.FieldBy, none []manifest.NoValues) (files int, dates behaviour.Span) {
	name := x.to.Schema.Kinds[k].Name
	some := slices.ContainsFunc(x.inputs, func(in *input) bool { return !in.Failed() && in.counts.hasValue(k, i) })
	dates = behaviour.NoDays
	for n, in := range x.inputs {
		if in.Failed() || in.counts.met == 0 || !slices.Contains(in.names[name], field.Name) {
			continue
		}
		days, valued := in.counts.of(k, i, in.fields[k][i])
		without := days.without(valued)
		for _, s := range without {
			dates.Add(s)
		}
		if len(without) > 0 || !some {
			files++
		}
		if some {
			without.addAll(x.withoutBefore(in, name, field.Name))
			none[n].AddSpans(name, field, without.without(valued))
		} else if in.names[name] = slices.DeleteFunc(in.names[name], func(n string) bool { return n == field.Name }); len(in.names[name]) == 0 {
			delete(in.names, name)
		}
	}
	if dates == behaviour.NoDays {
		dates = x.cfg.Span
	}
	return files, dates
}

// withoutBefore returns the days on which earlier loads and rereads of a file found no value of a field. The entry of this reread must
// not show that it gave the values of those days that it did not read.
func (x *reread) withoutBefore(in *input, name, field string) (out daySet) {
	for _, l := range x.known.Loads() {
		if slices.Contains(in.loads, l.Number) {
			out.addAll(l.NoValue.DaysOf(field, name))
		}
	}
	for _, again := range in.given {
		out.addAll(again.RereadNoValue.DaysOf(field, name))
	}
	if dates := in.loaded.Dates; dates != nil {
		out = out.and([]behaviour.Span{*dates})
	}
	return out.and([]behaviour.Span{in.Part.Dates()})
}

// remains reports whether the file can give values.
func (in *input) remains() bool { return !in.Failed() && len(in.names) > 0 }

// gives reports whether the ledger gets in: some record got a value, or no record lacks one that the job does not read.
func (in *input) gives() bool {
	return in.remains() && (in.counts.again.Records > 0 || in.counts.again.Missed == 0)
}

// warnOfMissed warns of records of the table that lack a value, and that the job does not read.
func (x *reread) warnOfMissed() {
	var records int64
	var files int
	var example string
	for _, in := range x.inputs {
		if n := in.counts.again.Missed; n > 0 && !in.Failed() {
			if files++; files == 1 {
				example = in.Path
			}
			records += n
		}
	}
	if files > 0 {
		x.cfg.Log.Warn("the table has records of these files without a value, and the job does not read them: they are bad, skipped, or of another user, time or behaviour: add the new field to a copy of the job that loaded them",
			"records", records, "files", files, "example", example)
	}
}

// warnOfKeys warns of key fields that got values: records that have one key now stay in the table.
func (x *reread) warnOfKeys() {
	if x.result.Reread.Records == 0 {
		return
	}
	for k, kind := range x.to.Schema.Kinds {
		for _, i := range x.to.Unique[k].Fields {
			if x.fields[k] != nil && x.fields[k][i] {
				x.cfg.Log.Warn("a field in unique got values, and --reread removes no duplicates: if other logs have the same records, load all logs of these dates into a new table",
					"behaviour", kind.Name, "field", kind.Fields[i].Name)
			}
		}
	}
}

// noneGiven returns the error of a reread that adds nothing. It returns nil if files failed, because their errors have other
// statuses, or if the reread finished another load.
func (x *reread) noneGiven() error {
	if slices.ContainsFunc(x.inputs, func(in *input) bool { return in.Failed() }) || x.result.Finished > 0 {
		return nil
	}
	return fmt.Errorf("%w: no record of %s has a value for a day on which the field has none", bulkload.ErrNothing, quantity.Of(len(x.inputs), "file"))
}

// unmatched returns an error if the table has records that the file should give values, and the job reads none of them. The job
// then reads other users, times or behaviours than the job that loaded the file.
func (in *input) unmatched() error {
	c := &in.counts
	if c.met > 0 || c.again.Missed == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s: the job reads none of the %s that the table has without a value: it reads other users, times or behaviours than the job that loaded the file: add the new field to a copy of that job",
		bulkload.ErrRequest, in.Path, quantity.Of(c.again.Missed, "record"))
}
