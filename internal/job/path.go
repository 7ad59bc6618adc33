package job

import (
	"path"
	"strings"
)

// cutScheme cuts a name into scheme and host ("hdfs://nn:8020", empty for a
// local name) and the path there.
func cutScheme(name string) (prefix, rest string) {
	i := strings.Index(name, "://")
	if i < 0 {
		return "", name
	}
	host := name[i+3:]
	j := strings.IndexByte(host, '/')
	if j < 0 {
		return name, "/"
	}
	return name[:i+3+j], host[j:]
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

// join returns the name of what is called name in folder.
func join(folder, name string) string {
	switch {
	case folder == ".":
		return name
	case strings.HasSuffix(folder, "/"):
		return folder + name
	}
	return folder + "/" + name
}

// below returns what is left of a name below folder.
func below(folder, name string) (string, bool) {
	if folder == "." {
		return name, !strings.HasPrefix(name, "/") && !strings.Contains(name, "://")
	}
	if !strings.HasSuffix(folder, "/") {
		folder += "/"
	}
	return strings.CutPrefix(name, folder)
}
