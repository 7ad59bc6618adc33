package replay

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"usertrail/internal/bulkload"
	"usertrail/internal/bulkload/batch"
	"usertrail/internal/bulkload/delivered"
	"usertrail/internal/bulkload/ledger"
	"usertrail/internal/bulkload/quarantine"
	"usertrail/internal/format/job"
	"usertrail/internal/format/record"
	"usertrail/internal/store/dfs"
)

// A file is a delivered file that has corrected records. It implements batch.Corrected.
type file struct {
	delivered.File
	fs    dfs.FS
	job   *job.Job
	known *ledger.Index
	from  *corrected
	held  *held
	part  int // of the sorter of from
	sha   string

	names    []string // paths, below the logs' root, of its records in the quarantine file
	paths    []string // paths of it and of all files of the same bytes
	numbers  []uint32 // of the file and its copies
	done     []int64  // offsets of records that earlier replays added, sorted
	doneAs   []ledger.ReplayedText
	reads    []earlierRead // by loads, of the file and its copies
	unproven bool          // some lines do not have the digest
	offsets  []int64       // of the records that were read, sorted
	edited   []int64       // of them, those with a text that the user has corrected
	others   []int64       // of them, those that the table has with another text than a corrected one
	found    []bool        // by the index in offsets: held.find found the record in the table
}

// From implements batch.Corrected.
func (f *file) From() string { return f.from.name }

// Numbers implements batch.Corrected.
func (f *file) Numbers() []uint32 { return f.numbers }

// Keeps implements batch.Corrected. It keeps all lines of the loaded bytes, because the table does not have the records
// of this replay yet. A line leaves only if the record is bad again with the same text: its new line replaces it. Package replay
// removes the lines of loaded records after the commit.
func (f *file) Keeps() quarantine.Keeps {
	return func(old *quarantine.Record) quarantine.Stay {
		if old.Path == f.Rel && old.SHA256 != f.sha {
			return quarantine.Goes
		}
		return quarantine.Stays
	}
}

// replayedBefore reports whether a ledger lists a replay of the record at an offset.
func (f *file) replayedBefore(offset int64) bool { return has(f.done, offset) }

// Each implements batch.Corrected.
func (f *file) Each(ctx context.Context, do func(batch.Texts) error) error {
	whole := &wholeTexts{ctx: ctx, file: f}
	defer whole.close()
	for texts, err := range f.from.part(ctx, f.part) {
		if err != nil {
			return err
		}
		offset := texts[0].offset
		f.offsets = append(f.offsets, offset)
		if err := whole.compare(texts); err != nil {
			return batch.Refuse(err)
		}
		f.note(texts)
		var out batch.Texts
		if f.replayedBefore(offset) {
			out.Repeated = int64(len(texts))
		} else if out, err = whole.of(texts); err != nil {
			return batch.Refuse(err)
		}
		if err := do(out); err != nil {
			return err
		}
	}
	return nil
}

// Header implements batch.Corrected. It reads the header of the delivered file, if the job reads the names of
// the columns there.
func (f *file) Header(ctx context.Context) ([]string, error) {
	switch {
	case len(f.job.Format.Names) > 0:
		return f.job.Format.Names, nil
	case !f.job.Format.Header:
		return nil, nil // an empty list would be a header without columns
	}
	path, err := f.delivered(ctx)
	if err != nil {
		return nil, fmt.Errorf("replay records of %s: the names of its columns: %w: deliver the corrected records as a file of another name", f.Rel, err)
	}
	in, r, err := f.open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("the names of the columns: %w", delivered.UnfitCorrected(err))
	}
	defer in.Close()
	defer r.Close()
	return r.Header(), nil
}

// delivered returns the path of a file that still has the loaded bytes: the delivered file or a
// copy.
func (f *file) delivered(ctx context.Context) (string, error) {
	why := fmt.Errorf("%w: %s is gone", job.ErrNoInput, f.Path)
	for _, name := range f.paths {
		in := job.Input{Path: f.job.Pattern.Root + "/" + name}
		info, err := f.fs.Stat(ctx, in.Path)
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		in.Size, in.Modified = info.Size, info.Modified
		err = delivered.SameAs(ctx, f.fs, in, f.known.File(name))
		if err == nil {
			return in.Path, nil
		}
		if !errors.Is(err, bulkload.ErrChanged) {
			return "", err
		}
		why = fmt.Errorf("%s: %w", in.Path, bulkload.ErrChanged)
	}
	return "", why
}

// open begins to read the delivered file, or a copy of it, at path.
func (f *file) open(ctx context.Context, path string) (dfs.File, *record.Reader, error) {
	in, err := dfs.OpenRegular(ctx, f.fs, path)
	if err != nil {
		return nil, nil, err
	}
	r, err := record.Open(in, f.at(path), &f.job.Format)
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, r, nil
}

// at returns the description of the delivered file, or of a copy of it, at path. The ending of the path
// shows how the file is compressed.
func (f *file) at(path string) record.File {
	out := f.Input.File()
	out.Path = path
	return out
}
