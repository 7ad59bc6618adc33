package jobdraft

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"usertrail/internal/format/manifest"
	"usertrail/internal/store/dfs"
)

// Limits of a survey: the number of folders to list whose names differ only in digits, and
// the number of files.
const (
	maxAlike = 1000
	maxFiles = 200_000
	maxDepth = 12
)

// longestLink is the largest size of a link's target in bytes.
const longestLink = 4096

// A file is a file that may hold logs.
type file struct {
	rel  string // path below the folder of the logs, with slashes
	name string // name for opening it
	size int64
}

// A found is the result of a survey.
type found struct {
	files   []file
	left    int            // number of folders and files beyond the limits
	strange map[string]int // number of files that hold no logs, by ending
	passed  int            // number of files that no pattern of Config.Only matches
	single  bool           // the logs are one file
	written []string       // folders that bulkload or extract wrote, below the folder of the logs
}

// notLogs are endings of files that are not logs, or whose text cannot be read.
var notLogs = []string{
	".md", ".html", ".parquet", ".orc", ".avro", ".xlsx", ".zip", ".tar", ".tgz", ".md5", ".sha1", ".sha256", ".crc", ".yaml", ".yml",
	".sql", ".py", ".sh", ".pdf", ".png", ".jpg", ".done", ".ok", ".success", ".lzo", ".snappy", ".lz4", ".xz", ".7z", ".rar", ".hfile",
	".tmp", ".inprogress", "._copying_",
}

// survey lists the files below a folder, in order of their paths. If only is not empty, it
// lists the files that match one of its patterns. A pattern with a slash is compared with the
// path below the folder. A pattern without a slash is compared with the name of the file.
func survey(ctx context.Context, files dfs.FS, logs string, only []string) (found, error) {
	w := walker{files: files, only: only, found: found{strange: map[string]int{}}}
	info, err := files.Stat(ctx, logs)
	if err != nil {
		return w.found, err
	}
	if !info.Dir {
		w.found.single = true
		w.found.files = []file{{rel: dfs.Base(logs), name: logs, size: info.Size}}
		return w.found, nil
	}
	if err := w.walk(ctx, strings.TrimRight(logs, "/"), "", 0); err != nil {
		return w.found, err
	}
	slices.SortFunc(w.found.files, func(a, b file) int { return strings.Compare(a.rel, b.rel) })
	return w.found, nil
}

// A walker lists one folder after the other.
type walker struct {
	files dfs.FS
	only  []string
	found found
	above []string // the folders on the current path, by their real names
}

// wanted reports whether one of the patterns matches a path.
func (w *walker) wanted(rel string) bool {
	return len(w.only) == 0 || slices.ContainsFunc(w.only, func(pattern string) bool {
		name := rel
		if !strings.Contains(pattern, "/") {
			name = path.Base(rel)
		}
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

func (w *walker) walk(ctx context.Context, dir, rel string, depth int) error {
	list := dir
	if list == "" {
		list = "/"
	}
	real, err := dfs.Real(ctx, w.files, list)
	if err != nil {
		return err
	}
	if slices.Contains(w.above, real) {
		return nil // a link leads back
	}
	w.above = append(w.above, real)
	defer func() { w.above = w.above[:len(w.above)-1] }()
	infos, err := w.files.List(ctx, list)
	if err != nil {
		return err
	}
	written, err := manifest.Written(ctx, w.files, infos)
	if err != nil {
		return err
	}
	if written {
		w.found.written = append(w.found.written, cmp.Or(rel, dfs.Base(dir)))
		return nil
	}
	var folders []dfs.Info
	for _, info := range infos {
		base := dfs.Base(info.Name)
		switch ending := strings.ToLower(path.Ext(base)); {
		case strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"):
		case info.Dir:
			folders = append(folders, info)
		case !w.wanted(path.Join(rel, base)):
			w.found.passed++
		case slices.Contains(notLogs, ending) || strings.HasPrefix(base, "README"):
			w.found.strange[ending]++
		case w.broken(ctx, info):
			w.found.strange["broken links"]++
		case len(w.found.files) >= maxFiles:
			w.found.left++
		default:
			w.found.files = append(w.found.files, file{path.Join(rel, base), dfs.Join(dir, base), info.Size})
		}
	}
	if depth >= maxDepth {
		w.found.left += len(folders)
		return nil
	}
	for _, info := range w.few(folders) {
		base := dfs.Base(info.Name)
		if err := w.walk(ctx, dfs.Join(dir, base), path.Join(rel, base), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// broken reports whether a link has no target or leads in a circle. List describes such a
// link itself.
func (w *walker) broken(ctx context.Context, info dfs.Info) bool {
	if info.Size > longestLink || dfs.Scheme(info.Name) != "" {
		return false
	}
	_, err := w.files.Stat(ctx, info.Name)
	return err != nil
}

var digits = regexp.MustCompile(`[0-9]+`)

// few returns at most maxAlike, evenly chosen, of the folders whose names differ only in
// digits.
func (w *walker) few(folders []dfs.Info) []dfs.Info {
	alike := map[string][]dfs.Info{}
	for _, info := range folders {
		shape := digits.ReplaceAllString(dfs.Base(info.Name), "0")
		alike[shape] = append(alike[shape], info)
	}
	var out []dfs.Info
	for _, infos := range alike {
		kept := spread(infos, maxAlike)
		w.found.left += len(infos) - len(kept)
		out = append(out, kept...)
	}
	slices.SortFunc(out, func(a, b dfs.Info) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// spread returns at most n of all: the first, the last, and others at even distances.
func spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	if n == 1 {
		return all[:1]
	}
	out := make([]T, n)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(n-1)]
	}
	return out
}

// why returns a description of the files that are not logs.
func (f *found) why() string {
	if len(f.written) > 0 {
		return "usertrail wrote " + wordsOf(f.written)
	}
	if f.passed > 0 {
		return fmt.Sprintf("--only matches none of %s", english.Plural(f.passed, "file", ""))
	}
	if len(f.strange) == 0 {
		return "the folder has no other names, except names that begin with . or _"
	}
	return "the folder has " + f.others()
}

// others counts the files that hold no logs.
func (f *found) others() string {
	var parts []string
	for ending, n := range f.strange {
		if ending == "" {
			ending = "README"
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, ending))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
