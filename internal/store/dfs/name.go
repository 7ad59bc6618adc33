package dfs

import "strings"

// Scheme returns the part before "://" in a name, in lower case. It returns "" for a
// local name.
func Scheme(name string) string {
	s, _, ok := strings.Cut(name, "://")
	if !ok || s == "" {
		return ""
	}
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return ""
		}
	}
	return strings.ToLower(s)
}

// Join appends parts to dir. Unlike path.Join it leaves dir as it was written,
// so "hdfs://nn:8020/logs" keeps its two slashes.
func Join(dir string, parts ...string) string {
	for _, p := range parts {
		if p = strings.Trim(p, "/"); p == "" {
			continue
		}
		if dir != "" && !strings.HasSuffix(dir, "/") {
			dir += "/"
		}
		dir += p
	}
	return dir
}

// Dir returns the directory that holds name: "." for a local name of one part, and
// the root for a root.
func Dir(name string) string {
	head, rest := cutRoot(name)
	rest = strings.TrimRight(rest, "/")
	i := strings.LastIndexByte(rest, '/')
	if i < 0 {
		if head == "" {
			return "."
		}
		return head
	}
	return head + strings.TrimRight(rest[:i], "/")
}

// Base returns the last part of name, or "" for a root.
func Base(name string) string {
	_, rest := cutRoot(name)
	rest = strings.TrimRight(rest, "/")
	return rest[strings.LastIndexByte(rest, '/')+1:]
}

// Root returns the root of the tree that holds name, with its slash: "hdfs://nn:8020/",
// "/", or "" for a relative name.
func Root(name string) string {
	root, _ := cutRoot(name)
	return root
}

// cutRoot splits name into its root, slash included, and the rest:
// "hdfs://nn:8020/" and "logs", "/" and "logs", "" and "logs".
func cutRoot(name string) (root, rest string) {
	n := 0
	if s := Scheme(name); s != "" {
		n = len(s) + len("://")
		i := strings.IndexByte(name[n:], '/')
		if i < 0 {
			return name + "/", ""
		}
		n += i
	}
	for n < len(name) && name[n] == '/' {
		n++
	}
	return name[:n], name[n:]
}
