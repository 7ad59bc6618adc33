// Package hadoopconf reads the parts of Hadoop's configuration that a client needs:
// the NameNodes of an hdfs:// address, and the ZooKeeper of an hbase:// address.
//
// The files are core-site.xml, hdfs-site.xml and hbase-site.xml of one directory;
// a later file overrides an earlier one, as in Hadoop. Values may refer to other
// properties and to the environment:
//
//	<property><name>fs.defaultFS</name><value>hdfs://${cluster}/</value></property>
//	${name}  ${user.name}  ${env.NAME}  ${env.NAME:-default}  ${env.NAME-default}
//
// Hadoop's own defaults are not read: a property that no file sets is empty.
package hadoopconf

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"usertrail/internal/run/exit"
)

// ErrConf is wrapped by every error about the content of a configuration.
var ErrConf = exit.New(exit.Usage, "hadoop configuration")

// files are read in this order.
var files = []string{"core-site.xml", "hdfs-site.xml", hbaseSite}

const hbaseSite = "hbase-site.xml"

// maxDepth limits how deeply references in values may be nested, as in Hadoop.
const maxDepth = 20

// A Conf is a configuration. The zero Conf is empty.
type Conf struct {
	properties map[string]property
}

// A property is an unexpanded value and the file that sets it.
type property struct {
	value string
	file  string
}

// FromEnv loads the configuration in $HADOOP_CONF_DIR, or else in
// $HADOOP_HOME/etc/hadoop. The hbase-site.xml in $HBASE_CONF_DIR overrides it. If no variable is
// set, the Conf is empty.
func FromEnv() (*Conf, error) {
	c, err := fromHadoop()
	if dir := os.Getenv("HBASE_CONF_DIR"); dir != "" && err == nil {
		err = c.read(filepath.Join(dir, hbaseSite))
		if err != nil {
			err = fmt.Errorf("%w: $HBASE_CONF_DIR: %w", ErrConf, err)
		}
	}
	return c, err
}

func fromHadoop() (*Conf, error) {
	if dir := os.Getenv("HADOOP_CONF_DIR"); dir != "" {
		return Load(dir)
	}
	if home := os.Getenv("HADOOP_HOME"); home != "" {
		return Load(filepath.Join(home, "etc", "hadoop"))
	}
	return &Conf{properties: map[string]property{}}, nil
}

// Load reads the files of dir. Some may be missing, but not all.
func Load(dir string) (*Conf, error) {
	c := &Conf{properties: map[string]property{}}
	found := false
	for _, name := range files {
		err := c.read(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConf, err)
		}
		found = true
	}
	if !found {
		return nil, fmt.Errorf("%w: %s holds none of %s; set HADOOP_CONF_DIR to the directory that does", ErrConf, dir, strings.Join(files, ", "))
	}
	return c, nil
}

// read adds the properties of a file.
func (c *Conf) read(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return c.add(file, b)
}

// add adds the properties of a file's content.
func (c *Conf) add(file string, b []byte) error {
	var doc struct {
		XMLName    xml.Name   `xml:"configuration"`
		Include    []struct{} `xml:"include"`
		Properties []struct {
			Name  string  `xml:"name"`
			Value *string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(doc.Include) > 0 {
		return fmt.Errorf("%s: xi:include is not supported; write the properties into the file", file)
	}
	for i, p := range doc.Properties {
		name := strings.TrimSpace(p.Name)
		if name == "" {
			return fmt.Errorf("%s: property %d has no name", file, i+1)
		}
		if p.Value != nil {
			c.properties[name] = property{strings.TrimSpace(*p.Value), file}
		}
	}
	return nil
}

// Get returns the value of a property, trimmed, with its references replaced. It returns ""
// if the property is not set.
func (c *Conf) Get(name string) (string, error) {
	p, ok := c.properties[name]
	if !ok {
		return "", nil
	}
	v, err := c.expand(p.value, 0)
	if err != nil {
		return "", c.wrong(name, "%w", err)
	}
	return v, nil
}

// list returns the parts of a value between commas.
func (c *Conf) list(name string) ([]string, error) {
	v, err := c.Get(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for part := range strings.SplitSeq(v, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out, nil
}

// wrong returns an error about the value of a property.
func (c *Conf) wrong(name, format string, args ...any) error {
	file := "no file"
	if p, ok := c.properties[name]; ok {
		file = p.file
	}
	return fmt.Errorf("%w: %s: %s: %w", ErrConf, file, name, fmt.Errorf(format, args...))
}

// expand replaces each ${…} in s.
func (c *Conf) expand(s string, depth int) (string, error) {
	if depth > maxDepth {
		return "", fmt.Errorf("${…} refer to one another more than %d deep", maxDepth)
	}
	head, rest, ok := strings.Cut(s, "${")
	if !ok {
		return s, nil
	}
	ref, tail, ok := strings.Cut(rest, "}")
	if !ok {
		return "", fmt.Errorf("%q has a ${ without its }", s)
	}
	value, err := c.refer(ref, depth)
	if err != nil {
		return "", err
	}
	tail, err = c.expand(tail, depth)
	return head + value + tail, err
}

// refer returns the value of ${ref}.
func (c *Conf) refer(ref string, depth int) (string, error) {
	if name, ok := strings.CutPrefix(ref, "env."); ok {
		return environment(name)
	}
	if p, ok := c.properties[ref]; ok {
		return c.expand(p.value, depth+1)
	}
	if ref == "user.name" {
		u, err := user.Current()
		if err != nil {
			return "", err
		}
		return u.Username, nil
	}
	return "", fmt.Errorf("${%s} is not set", ref)
}

// environment reads NAME, NAME-default or NAME:-default. With a colon, an empty variable
// counts as unset.
func environment(s string) (string, error) {
	name, fallback, ok := strings.Cut(s, "-")
	name, empty := strings.CutSuffix(name, ":")
	v, set := os.LookupEnv(name)
	if set && (v != "" || !empty) {
		return v, nil
	}
	if !ok {
		return "", fmt.Errorf("${env.%s}: the environment has no %s", s, name)
	}
	return fallback, nil
}
