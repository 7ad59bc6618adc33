package job

import (
	"path"
	"strings"

	"usertrail/internal/dfs"
)

// cutScheme cuts a name into scheme and host ("hdfs://nn:8020", empty for a
// local name) and the path there.
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

// resolve returns what name means in a file that lies in folder. A name with a
// scheme, or that begins with a slash, means itself.
func resolve(folder, name string) string {
	if prefix, rest := cutScheme(name); prefix != "" || strings.HasPrefix(name, "/") {
		return prefix + path.Clean(rest)
	}
	prefix, rest := cutScheme(folder)
	return prefix + path.Join(rest, name)
}

// join returns the name of what is called name in folder, as short as it can be.
func join(folder, name string) string {
	if folder == "." {
		return name
	}
	return dfs.Join(folder, name)
}

// below returns what is left of a name below folder.
func below(folder, name string) (string, bool) {
	if folder == "." {
		return strings.TrimPrefix(name, "./"), !strings.HasPrefix(name, "/") && dfs.Scheme(name) == ""
	}
	return strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}
