package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"usertrail/internal/format/manifest"
)

// A Ledger describes the input of one load and the outcome of its records.
type Ledger struct {
	Number int             `json:"number"`
	Job    string          `json:"job"` // the digest of the job
	Counts manifest.Counts `json:"counts"`
	// Unmapped has the skipped records whose text names no behaviour of the job.
	Unmapped manifest.Unmapped `json:"unmapped,omitzero"`
	Inputs   []manifest.Input  `json:"inputs"`
	Texts    manifest.TextList `json:"texts,omitempty"` // to which parts of inputs refer
	Days     []Day             `json:"days"`            // by date and behaviour
}

func (l *look) ledger(r *Report) error {
	m := new(manifest.Load)
	if err := manifest.Read(l.ctx, l.fs, l.path, m); err != nil {
		return err
	}
	out := &Ledger{Number: m.Number, Job: m.Job, Inputs: m.Inputs, Days: []Day{}}
	for _, in := range m.Inputs {
		out.Counts.Add(in.Counts)
		out.Unmapped.AddList(in.Unmapped)
	}
	for _, d := range m.Days {
		out.Days = append(out.Days, Day{Date: d.Date, Behaviour: d.Behaviour, Records: d.Records, Cells: d.Tally.Cells})
	}
	out.Texts.Refer(manifest.InputParts(out.Inputs))
	r.Ledger = out
	return nil
}

func (l *Ledger) text(p *page) {
	p.facts(
		fact{"load", fmt.Sprint(l.Number)},
		fact{"job", l.Job},
		fact{"delivered", count(len(l.Inputs))},
		fact{"read", count(l.Counts.Read)},
		fact{"loaded", count(l.Counts.Loaded)},
		fact{"quarantined", count(l.Counts.Quarantined)},
		fact{"duplicate", count(l.Counts.Duplicate)},
		fact{"skipped", skipped(l.Counts)},
		fact{"unmapped", l.Unmapped.Describe(l.Counts.Skips.Unknown)},
	)
	g := newGrid("path", ">number", ">size", ">read", ">loaded", ">quarantined", ">duplicate", ">skipped", "remark")
	for i := range l.Inputs {
		in := &l.Inputs[i]
		g.add(in.Path, fmt.Sprint(in.Number), size(in.Size), count(in.Read), count(in.Loaded), count(in.Quarantined), count(in.Duplicate), count(in.Skipped), remark(in))
	}
	p.list("delivered files", g, len(l.Inputs))
	p.grid("records of each day", dayGrid(l.Days, nil))
}

// skipped returns the number of skipped records with its reasons.
func skipped(c manifest.Counts) string {
	if why := c.Skips.String(); why != "" {
		return count(c.Skipped) + ": " + why
	}
	return count(c.Skipped)
}

// fieldsOf returns fields of behaviours in words.
func fieldsOf(fields map[string][]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		words = append(words, fmt.Sprintf("%s of %s", strings.Join(fields[name], ", "), name))
	}
	return strings.Join(words, "; ")
}

// remark returns the reason why an input was not loaded completely.
func remark(in *manifest.Input) string {
	switch {
	case in.SameAs != "":
		return "same bytes as " + in.SameAs
	case in.Reread != nil:
		return "read again for " + fieldsOf(in.Reread)
	case in.Offsets != nil:
		return "replayed records only"
	case in.Part != nil && in.Part.Span != nil:
		return "asked for " + in.Part.Span.String()
	case in.Part != nil:
		return "asked for some behaviours"
	}
	return ""
}
