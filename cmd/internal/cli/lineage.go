package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"usertrail/internal/behaviour"
	"usertrail/internal/extract/place"
	"usertrail/internal/format/manifest"
	"usertrail/internal/run/exit"
	"usertrail/internal/run/lineage"
	"usertrail/internal/run/outcome"
	"usertrail/internal/store/dfs"
	"usertrail/internal/table/catalog"
)

const lineageFlag = "openlineage"

// producer is the producer of events, before the version.
const producer = "urn:usertrail:"

// traced sends the events of c's run to OpenLineage if the flag or the environment names an
// address and c writes a dataset.
func (e *Env) traced(c *cobra.Command, place string) error {
	named := place != ""
	if !named {
		if place = os.Getenv("OPENLINEAGE_URL"); place == "" || strings.EqualFold(os.Getenv("OPENLINEAGE_DISABLED"), "true") {
			return nil
		}
		if path := os.Getenv("OPENLINEAGE_ENDPOINT"); path != "" {
			place = strings.TrimRight(place, "/") + "/" + strings.TrimLeft(path, "/")
		}
	}
	part := &e.shared().part
	if _, reports := e.results[c]; !reports || !makes(part.runName(c), c) {
		if named {
			return fmt.Errorf("%w: %s sends no OpenLineage events: leave out --openlineage", ErrUsage, c.CommandPath())
		}
		return nil
	}
	s, err := lineage.NewSender(place, os.Getenv("OPENLINEAGE_API_KEY"))
	if err != nil {
		return fmt.Errorf("%w: --openlineage: %w", ErrUsage, err)
	}
	t := &trace{env: e, c: c, sender: s, run: lineage.Run{
		ID: cmp.Or(part.id, lineage.NewID()), Namespace: cmp.Or(os.Getenv("OPENLINEAGE_NAMESPACE"), "default"),
		Job: e.name + "." + part.runName(c), Producer: producer + programVersion(),
	}}
	if p, ok := lineage.ParseParent(os.Getenv("OPENLINEAGE_PARENT_ID")); ok {
		t.run.Parent = p
	}
	t.run.From, t.run.To = nominal(c)
	e.AtEnd(t.end)
	if !part.begins(c) {
		return nil
	}
	if err := t.sender.Send(c.Context(), t.run.Event(lineage.Start, time.Now(), nil, nil, "")); err != nil {
		e.warn(fmt.Errorf("the OpenLineage event was not sent: %w", err))
	}
	return nil
}

// makes reports whether the run called name of c writes a dataset. Pieces are not runs.
func makes(name string, c *cobra.Command) bool {
	switch name {
	case "load":
		return !IsSet(c, "dry-run")
	case "reread", "replay", "import", "commit", "extract", "compact", "drop", "undrop", "convert":
		return true
	}
	return false
}

// nominal returns the dates of a command line as times.
func nominal(c *cobra.Command) (from, to time.Time) {
	days := make([]behaviour.Date, 2)
	for i, name := range []string{"from", "to"} {
		f := c.Flags().Lookup(name)
		if f == nil {
			return from, to
		}
		var err error
		if days[i], err = behaviour.ParseDate(f.Value.String()); err != nil {
			return from, to
		}
	}
	return midnight(days[0]), midnight(days[1] + 1)
}

func midnight(d behaviour.Date) time.Time {
	y, m, day := d.Civil()
	return time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
}

// A trace sends the events of one run to OpenLineage.
type trace struct {
	env    *Env
	c      *cobra.Command
	sender *lineage.Sender
	run    lineage.Run
}

func (t *trace) end(ctx context.Context, end *outcome.Outcome) error {
	if !t.env.shared().part.ends(t.c, end.Status) {
		return nil
	}
	kind, why := lineage.Fail, end.Error
	switch {
	case end.Status == exit.OK, end.Status == exit.Nothing:
		kind, why = lineage.Complete, ""
	case t.env.stopped():
		kind = lineage.Abort
	}
	inputs, outputs := t.datasets(ctx, end)
	event := t.run.Event(kind, end.At, inputs, outputs, why)
	if err := t.sender.Send(ctx, event); err != nil {
		return fmt.Errorf("the OpenLineage event was not sent: %w", err)
	}
	return nil
}

// datasets returns the datasets that a run reads and writes, as far as the run knows them.
func (t *trace) datasets(ctx context.Context, end *outcome.Outcome) (inputs, outputs []lineage.Dataset) {
	about := t.env.shared().about()
	if about.address == "" {
		return nil, nil
	}
	table := lineage.Place(about.address)
	table.Fields = tableFields(ctx, about)
	if t.env.name == "extract" {
		return []lineage.Dataset{table}, resultDataset(ctx, t, end)
	}
	if commandName(t.c) == "convert" {
		return converted(t.c, table, end)
	}
	if f := t.c.Flags().Lookup("from"); commandName(t.c) == "import" && f != nil {
		inputs = append(inputs, lineage.Place(f.Value.String()))
	} else if about.logs != "" {
		inputs = append(inputs, lineage.Place(about.logs))
	}
	if end.Status == exit.OK || end.Counts().Int(outcome.Loaded) > 0 { // a load that fails may have loaded other files
		table.Written = written(end, outcome.Loaded, outcome.HFiles)
	}
	return inputs, []lineage.Dataset{table}
}

// converted returns the old table, if the command line names it, and the new table.
func converted(c *cobra.Command, table lineage.Dataset, end *outcome.Outcome) (inputs, outputs []lineage.Dataset) {
	if f := c.Flags().Lookup("table"); f != nil && f.Value.String() != "" {
		inputs = append(inputs, lineage.Place(f.Value.String()))
	}
	if end.Status == exit.OK {
		table.Written = written(end, outcome.Records, outcome.Files)
	}
	return inputs, []lineage.Dataset{table}
}

// tableFields returns the fields of all behaviours of a table, from its manifest. It returns
// nil if the manifest cannot be read.
func tableFields(ctx context.Context, a about) []lineage.Field {
	var m manifest.Table
	if a.fs == nil || manifest.Read(ctx, a.fs, dfs.Join(a.catalog, catalog.ManifestName), &m) != nil || m.Schema == nil {
		return nil
	}
	var out []lineage.Field
	for _, k := range m.Schema.Kinds {
		for _, f := range k.Fields {
			out = append(out, lineage.Field{Name: k.Name + "." + f.Name, Type: fmt.Sprint(f.Type)})
		}
	}
	return out
}

// written returns how much a run wrote. rows and files name its counts.
func written(end *outcome.Outcome, rows, files outcome.Name) *lineage.Written {
	c := end.Counts()
	return &lineage.Written{Rows: c.Int(rows), Files: c.Int(files)}
}

// resultDataset returns the result of an extract as its manifest describes it.
func resultDataset(ctx context.Context, t *trace, end *outcome.Outcome) []lineage.Dataset {
	dir := end.Made()
	if dir == "" || dir == "-" { // "-" is standard output
		return nil
	}
	out := lineage.Place(dir)
	var m manifest.Extract
	if end.Status != exit.OK || manifest.Read(ctx, Files(), dfs.Join(dir, place.ManifestName), &m) != nil {
		return []lineage.Dataset{out}
	}
	for _, f := range m.Columns {
		out.Fields = append(out.Fields, lineage.Field{Name: f.Name, Type: fmt.Sprint(f.Type)})
	}
	out.Written = written(end, outcome.Events, outcome.Files)
	if m.Query.Shape != "" {
		out.Written = written(end, outcome.Kept, outcome.Files)
	}
	for _, p := range m.Parts {
		out.Written.Size += p.Size
	}
	return []lineage.Dataset{out}
}

// stopped reports whether a signal ended the run.
func (e *Env) stopped() bool {
	var s *stop
	return e.cause != nil && errors.As(e.cause(), &s)
}
