package kerberos

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jcmturner/gokrb5/v8/config"

	"usertrail/internal/store/secure/etype"
)

// usualConf is the file of Kerberos' configuration if $KRB5_CONFIG names none.
const usualConf = "/etc/krb5.conf"

// maxInclude limits how deeply files may include others.
const maxInclude = 10

// A conf is the configuration of Kerberos.
type conf struct {
	*config.Config
	cache string // default_ccache_name
}

// loadConf reads files between colons. If names is empty, it reads the files of $KRB5_CONFIG, or /etc/krb5.conf.
func loadConf(names string) (*conf, error) {
	names = cmp.Or(names, os.Getenv("KRB5_CONFIG"), usualConf)
	s := sections{known: map[string]bool{}}
	for _, name := range filepath.SplitList(names) {
		if err := s.read(name, 0); err != nil {
			return nil, fmt.Errorf("%w: %w; $KRB5_CONFIG names another file", ErrConf, err)
		}
	}
	if !s.known["dns_lookup_kdc"] { // as Kerberos itself does
		s.lib = append(s.lib, "dns_lookup_kdc = true")
	}
	var c *config.Config
	err := guarded(func() (err error) {
		c, err = config.NewFromString(s.text())
		return err
	})
	if _, soft := err.(config.UnsupportedDirective); err != nil && !soft {
		return nil, fmt.Errorf("%w: %s: %w", ErrConf, names, err)
	}
	c.LibDefaults.DefaultTktEnctypeIDs = strong(c.LibDefaults.DefaultTktEnctypeIDs, s.known["default_tkt_enctypes"])
	c.LibDefaults.DefaultTGSEnctypeIDs = strong(c.LibDefaults.DefaultTGSEnctypeIDs, s.known["default_tgs_enctypes"])
	return &conf{Config: c, cache: s.cache}, nil
}

// strong returns the encryption types of a list that package etype has. If the configuration does
// not list any, it returns all.
func strong(ids []int32, listed bool) []int32 {
	all := []int32{int32(etype.AES256SHA1), int32(etype.AES128SHA1), int32(etype.AES256SHA384), int32(etype.AES128SHA256)}
	if !listed {
		return all
	}
	out := slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return !etype.Supported(etype.ID(id)) })
	if len(out) == 0 {
		return all
	}
	return out
}

// sections are the parts of krb5.conf that a client needs, from all of its files. gokrb5 reads one
// section of each kind, and no other files.
type sections struct {
	lib, realms, domains []string
	known                map[string]bool // keys of libdefaults; the first value counts
	cache                string
}

// text returns the configuration as one file.
func (s *sections) text() string {
	lines := slices.Concat([]string{"[libdefaults]"}, s.lib, []string{"[realms]"}, s.realms, []string{"[domain_realm]"}, s.domains)
	return strings.Join(lines, "\n") + "\n"
}

// read adds a file.
func (s *sections) read(name string, depth int) error {
	if depth > maxInclude {
		return fmt.Errorf("%s: files include each other more than %d deep", name, maxInclude)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	section := ""
	in := bufio.NewScanner(f)
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section = strings.ToLower(strings.TrimRight(strings.TrimLeft(line, "[ "), "*] "))
		case word == "include":
			err = s.read(rest, depth+1)
		case word == "includedir":
			err = s.readDir(rest, depth+1)
		case section == "libdefaults":
			s.addDefault(line)
		case section == "realms":
			s.realms = append(s.realms, line)
		case section == "domain_realm":
			s.domains = append(s.domains, line)
		}
		if err != nil {
			return err
		}
	}
	return in.Err()
}

// readDir adds the files of a directory whose names have only letters, digits, dashes and
// underscores, or end in .conf.
func (s *sections) readDir(dir string, depth int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		plain := !strings.ContainsFunc(e.Name(), func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !plain && !strings.HasSuffix(e.Name(), ".conf") {
			continue
		}
		if err := s.read(filepath.Join(dir, e.Name()), depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *sections) addDefault(line string) {
	key, value, _ := strings.Cut(line, "=")
	key = strings.ToLower(strings.TrimSpace(key))
	switch {
	case s.known[key]:
	case key == "default_ccache_name":
		s.cache = strings.TrimSpace(value)
	default:
		s.lib = append(s.lib, line)
	}
	s.known[key] = true
}
