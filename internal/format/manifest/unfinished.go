package manifest

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"
	"syscall"

	"usertrail/internal/store/dfs"
)

// Names of an extract or a plan that is not finished, which has its files next to its --out.
const (
	QueryName     = "_question.json" // the query or the plan
	PartialEnding = ".partial"       // the longest ending of the names next to --out
)

// Partial returns the directory in which an extract collects the files of the result out.
func Partial(out string) string { return dfs.Join(dfs.Dir(out), "."+dfs.Base(out)+PartialEnding) }

// Aside returns the directory to which a command that replaces the result out moves it before the new result gets its name.
func Aside(out string) string { return dfs.Join(dfs.Dir(out), "."+dfs.Base(out)+".old") }

// Replaced returns the next step if dir does not exist because a command that replaces a result has moved it aside. It returns "" if
// no complete result was moved aside.
func Replaced(ctx context.Context, fs dfs.FS, dir string) string {
	old := Aside(strings.TrimRight(dir, "/"))
	is, err := has(ctx, fs, dfs.Join(old, ExtractName), new(Extract))
	if err == nil && is {
		is, err = IsComplete(ctx, fs, old)
	}
	if err != nil || !is {
		return ""
	}
	return fmt.Sprintf("extract --overwrite is replacing it or was killed, and the earlier result is in %s: if no extract runs, type the killed command again", old)
}

// unfinished has the fields of each file QueryName, except of the file of a piece.
type unfinished struct{ Query }

func (q *unfinished) ours() bool { return q.Active != "" && q.Users != "" && q.Format != "" }

// planned returns the directory of an unfinished extract or plan whose result will be dir, or "" if there is none. If dir holds
// files, no result can get its name.
func planned(ctx context.Context, fs dfs.FS, dir string) (string, error) {
	if dfs.Base(dir) == "" {
		return "", nil
	}
	partial := Partial(dir)
	is, err := has(ctx, fs, dfs.Join(partial, QueryName), new(unfinished))
	if err == nil && !is { // a result that is complete and has not got its name
		is, err = has(ctx, fs, dfs.Join(partial, ExtractName), new(Extract))
	}
	if errors.Is(err, syscall.ENAMETOOLONG) {
		return "", nil
	}
	if err != nil || !is {
		return "", err
	}
	list, err := fs.List(ctx, dir)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return partial, nil
	case errors.Is(err, iofs.ErrPermission) || errors.Is(err, dfs.ErrNotDir):
		return "", nil
	case err != nil || len(list) > 0:
		return "", err
	}
	return partial, nil
}

// Why completes the sentence "NAME is inside …" for a NAME in a directory of extract, and ends with the advice. It returns "" for a table.
func (o Outer) Why(advice string) string {
	if o.Unfinished != "" {
		advice += "; or, if nobody finishes the extract or plan, remove " + o.Unfinished
	}
	switch {
	case o.Result:
		return fmt.Sprintf("the result %s of extract, which may have no other files: %s", o.Dir, advice)
	case o.Unfinished == "":
		return ""
	case o.Unfinished == o.Dir:
		return fmt.Sprintf("%s, which has the files of an extract or plan that is not finished: %s", o.Dir, advice)
	}
	return fmt.Sprintf("%s, the --out of an extract or plan that is not finished and has its files in %s: %s", o.Dir, o.Unfinished, advice)
}
