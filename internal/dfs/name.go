package dfs

import "strings"

// Scheme returns what stands before "://" in a name, lower case, or "" for a
// local one.
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

// Join puts parts below dir. Unlike path.Join it leaves dir as it was written,
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

// Dir is the directory that name lies in: "." for a local name of one part, and
// the root of a root.
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

// Base is the last part of name, "" for a root.
func Base(name string) string {
	_, rest := cutRoot(name)
	rest = strings.TrimRight(rest, "/")
	return rest[strings.LastIndexByte(rest, '/')+1:]
}

// Root is the root of the tree that name lies in, with its slash: "hdfs://nn:8020/",
// "/", or "" of a relative name.
func Root(name string) string {
	root, _ := cutRoot(name)
	return root
}

// cutRoot cuts name into its root, slash included, and what lies below it:
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
