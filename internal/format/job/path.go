package job

import (
	"path"
	"strings"

	"usertrail/internal/store/dfs"
)

// cutScheme cuts a name into its scheme with host, such as "hdfs://nn:8020", and its path. A
// local name has an empty prefix.
func cutScheme(name string) (prefix, rest string) {
	if dfs.Scheme(name) == "" {
		return "", name
	}
	start := strings.Index(name, "://") + len("://")
	slash := strings.IndexByte(name[start:], '/')
	if slash < 0 {
		return name, "/"
	}
	return name[:start+slash], name[start+slash:]
}

// resolve returns the full name for name in a file that is stored in folder. A name with a
// scheme or a leading slash does not depend on folder.
func resolve(folder, name string) string {
	if prefix, rest := cutScheme(name); prefix != "" || strings.HasPrefix(name, "/") {
		return prefix + path.Clean(rest)
	}
	prefix, rest := cutScheme(folder)
	return prefix + path.Join(rest, name)
}

// join returns the path of name in folder, as short as possible.
func join(folder, name string) string {
	if folder == "." {
		return name
	}
	return dfs.Join(folder, name)
}

// below returns the part of name below folder, and reports whether name is below folder.
func below(folder, name string) (string, bool) {
	if folder == "." {
		return strings.TrimPrefix(name, "./"), !strings.HasPrefix(name, "/") && dfs.Scheme(name) == ""
	}
	return strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}
