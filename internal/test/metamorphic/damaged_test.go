package metamorphic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The ways in which a file of a table is damaged.
const (
	lostManifest    = "lost manifest"    // it is removed
	changedManifest = "changed manifest" // a digit in it changes
	olderManifest   = "older manifest"   // a manifest with fewer loads replaces it
	lostLedger      = "lost ledger"
	changedLedger   = "changed ledger"
	lostFile        = "lost file" // an HFile or a roll
	cutFile         = "cut file"
	changedFile     = "changed file" // a byte in it changes
	lostList        = "lost list"    // retired.json is removed
)

// tableDamages lists the ways.
var tableDamages = []string{lostManifest, changedManifest, olderManifest, lostLedger, changedLedger, lostFile, cutFile, changedFile, lostList}

// A damagedFile is a file of a table before and after the damage.
type damagedFile struct {
	name string // path below the table
	was  []byte
	now  []byte // nil if removed
}

// manifestJSON holds the fields of manifest.json that a damagedFile needs.
type manifestJSON struct {
	Retired bool `json:"retired"`
	Loads   []struct {
		Name string `json:"name"`
	} `json:"loads"`
	Files []fileJSON `json:"files"`
}

type fileJSON struct {
	Name string `json:"name"`
	Roll string `json:"roll"`
}

// damage damages a file of a table. Every command must then refuse the table and change no file
// that belongs to it. After the file is repaired or restored, the table must be as before.
func (x *run) damage(s *Step) error {
	if x.table(s.Table) == nil || x.Real || x.half != nil {
		return nil
	}
	w, err := x.chooseDamage(s)
	if err != nil || w == nil {
		return err
	}
	if err := errors.Join(x.jobFile(s), x.overwrite(s, w.name, w.now)); err != nil {
		return err
	}
	before, err := x.treeOf(s.Table)
	if err != nil {
		return err
	}
	for _, try := range x.tries(s) {
		if err := x.tryDamaged(s, try); err != nil {
			return fmt.Errorf("%s %s: %s: %w", s.Damage, w.name, try.Do, err)
		}
		after, err := x.treeOf(s.Table)
		if err != nil {
			return err
		}
		if s.Damage == changedLedger { // a command sweeps before it reads ledgers
			if err := x.forgetSwept(s.Table, before, after); err != nil {
				return err
			}
		}
		if diff := different(before, after); diff != "" {
			return fmt.Errorf("%s %s: %s: it changed %s", s.Damage, w.name, try.Do, diff)
		}
	}
	delete(x.checks, s.Table)
	if w.name == "manifest.json" && !s.Back {
		return x.rebuilt(s, w)
	}
	return x.overwrite(s, w.name, w.was)
}

// chooseDamage chooses a file and its damage. It returns nil if there is none.
func (x *run) chooseDamage(s *Step) (*damagedFile, error) {
	text, err := os.ReadFile(x.path(s.Table + "/manifest.json"))
	if err != nil {
		return nil, err
	}
	var m manifestJSON
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	w := &damagedFile{name: "manifest.json"}
	switch s.Damage {
	case lostList:
		if lists, err := x.listsRetired(s.Table, &m); err != nil || !lists {
			return nil, err
		}
		w.name = "retired.json"
	case lostLedger, changedLedger:
		w.name = m.Loads[s.Pick%len(m.Loads)].Name
	case lostFile, cutFile, changedFile:
		var all []string
		for _, f := range m.Files {
			if f.Name != "" && !x.inHBase(s.Table) {
				all = append(all, f.Name)
			}
			all = append(all, f.Roll)
		}
		if len(all) == 0 {
			return nil, nil
		}
		w.name = all[s.Pick%len(all)]
	}
	if w.was, err = os.ReadFile(x.path(s.Table + "/" + w.name)); err != nil {
		return nil, err
	}
	switch s.Damage {
	case changedManifest, changedLedger:
		w.now = otherDigit(w.was, s.Pick)
	case olderManifest:
		if w.now = x.olderThan(s, len(m.Loads)); w.now == nil {
			return nil, nil
		}
	case cutFile:
		w.now = w.was[:s.Pick%len(w.was)]
	case changedFile:
		w.now = slices.Clone(w.was)
		w.now[s.Pick%len(w.now)] ^= 0x10
	}
	return w, nil
}

// listsRetired reports whether the table has a list of retired files without which a sweep would
// remove one of them.
func (x *run) listsRetired(name string, m *manifestJSON) (bool, error) {
	text, err := os.ReadFile(x.path(name + "/retired.json"))
	if errors.Is(err, iofs.ErrNotExist) || !m.Retired {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var list manifestJSON
	if err := json.Unmarshal(text, &list); err != nil {
		return false, err
	}
	for _, f := range list.Files {
		named := slices.ContainsFunc(m.Files, func(now fileJSON) bool { return f.Name == now.Name || f.Name == now.Roll })
		if _, err := os.Stat(x.path(name + "/" + f.Name)); err == nil && !named {
			return true, nil
		}
	}
	return false, nil
}

// checksum matches the first field of a JSON file. The damage does not change its name,
// because a file without a checksum is from an older release.
var checksum = regexp.MustCompile(`^\s*\{\s*"sha256"`)

// version finds the first version in a file. A file of a later version is not damaged: rebuild keeps it.
var version = regexp.MustCompile(`"version":\s*\d+`)

// otherDigit changes a digit, but not the version.
func otherDigit(b []byte, pick int) []byte {
	out := slices.Clone(b)
	var at []int
	kept := version.FindIndex(b)
	for i := len(checksum.Find(b)); i < len(b); i++ {
		if '0' <= b[i] && b[i] <= '9' && (kept == nil || i < kept[0] || i >= kept[1]) {
			at = append(at, i)
		}
	}
	i := at[pick%len(at)]
	out[i] = '0' + (b[i]-'0'+1)%10
	return out
}

// olderThan returns an earlier manifest with fewer loads, nil if there is none.
func (x *run) olderThan(s *Step, loads int) []byte {
	var fit []string
	for _, text := range x.older[s.Table] {
		var m manifestJSON
		if json.Unmarshal([]byte(text), &m) == nil && len(m.Loads) < loads {
			fit = append(fit, text)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return []byte(fit[s.Pick%len(fit)])
}

// overwrite replaces or removes a file of a table.
func (x *run) overwrite(s *Step, name string, b []byte) error {
	path := s.Table + "/" + name
	if b == nil {
		x.script.line("rm %s", word(path))
		return os.Remove(x.path(path))
	}
	x.script.write(path, b)
	return os.WriteFile(x.path(path), b, 0o644)
}

// treeOf returns the digests of all files of a table, except the lock and the log of runs, which
// a refused run may write. It removes unfinished files of dead runs.
func (x *run) treeOf(name string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(x.path(name), func(path string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(x.path(name), path)
		if err != nil || rel == "lock" || strings.HasPrefix(rel, "runs/") || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		b, err := os.ReadFile(path)
		out[rel] = digest(b)
		return err
	})
	return out, err
}

// forgetSwept deletes the remains of killed commands from before if they are not in after.
// Remains are HFiles, rolls, ledgers and records of plans that neither the manifest nor the list of retired files names.
func (x *run) forgetSwept(name string, before, after map[string]string) error {
	named := map[string]bool{}
	for _, list := range []string{"manifest.json", "retired.json"} {
		text, err := os.ReadFile(x.path(name + "/" + list))
		if errors.Is(err, iofs.ErrNotExist) && list == "retired.json" {
			continue
		}
		if err != nil {
			return err
		}
		var m manifestJSON
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		for _, f := range m.Files {
			named[f.Name], named[f.Roll] = true, true
		}
		for _, l := range m.Loads {
			named[l.Name] = true
		}
	}
	for file := range before {
		swept := strings.HasSuffix(file, ".hfile") || strings.HasSuffix(file, ".roll") || strings.HasPrefix(file, "loads/") || strings.HasPrefix(file, "pieces/")
		if swept && !named[file] && after[file] == "" {
			delete(before, file)
		}
	}
	return nil
}

// different returns the name of a file that differs between two trees.
func different(a, b map[string]string) string {
	for name, d := range a {
		if b[name] != d {
			return name
		}
	}
	for name := range b {
		if a[name] == "" {
			return name
		}
	}
	return ""
}

// A try is a command on a damaged table.
type try struct {
	Do    string
	args  []string
	right bool  // it may succeed with the right result
	also  []int // other allowed statuses
}

// tries returns the commands that must refuse a damaged table.
func (x *run) tries(s *Step) []try {
	table := x.tableFlags(s.Table)
	unread := slices.Contains([]string{changedLedger, lostFile, cutFile, changedFile, lostList}, s.Damage)
	load := dates(s)
	if x.Store == inHBase && !x.inHBase(s.Table) { // the job file names the table in HBase
		load = append(load, "--table", s.Table)
	}
	reads := []try{
		{Do: "verify", args: slices.Concat([]string{"verify"}, table, quiet)},
		{Do: "extract", args: x.everything(s.Table, x.table(s.Table)), right: unread},
	}
	if unread && x.inHBase(s.Table) && s.Damage != changedLedger { // verify reads no rolls of a table in HBase
		reads = reads[1:]
	}
	if s.Damage == changedFile { // other commands do not read the whole file
		return reads
	}
	out := append(reads, []try{
		{Do: "pre-check", args: slices.Concat([]string{"pre-check", "--sample", "0"}, load)},
		{Do: "load", args: slices.Concat(load, quiet)},
		{Do: "plan", args: slices.Concat([]string{"plan"}, load, quiet[:1])},
	}...)
	if !x.inHBase(s.Table) {
		flags := slices.Concat([]string{"--table", x.address(s.Table)}, quiet)
		if s.Damage != changedLedger { // a compact reads none
			out = append(out, try{Do: "compact", args: slices.Concat([]string{"compact"}, flags)})
		}
		undrop := try{Do: "undrop", args: slices.Concat([]string{"undrop"}, flags)}
		if s.Damage == changedLedger && x.table(s.Table).dropped == "" {
			undrop.also = []int{99} // it reads none
		}
		drop := try{Do: "drop", args: slices.Concat([]string{"drop", "--all", "--before", days[3]}, flags)}
		if s.Damage == changedLedger && x.table(s.Table).dropped >= days[3] {
			drop.also = []int{99} // it reads none
		}
		out = append(out, undrop, drop,
			try{Do: "convert", args: slices.Concat([]string{"convert", "--out", x.address("made"), "--to", "tall"}, flags)},
		)
	}
	return out
}

// tryDamaged runs a command on a damaged table.
func (x *run) tryDamaged(s *Step, t try) error {
	program := "bulkload"
	if t.Do == "extract" {
		program = "extract"
	}
	got, err := x.command(&Step{Do: "damaged " + t.Do}, program, "", t.args...)
	if err != nil {
		return err
	}
	if t.right && got.Status == 0 && t.Do == "extract" {
		rows, err := rowsOf([]byte(got.Stdout))
		if err != nil {
			return err
		}
		return sameEvents(rows, x.table(s.Table).events)
	}
	if t.Do == "convert" {
		return errors.Join(os.RemoveAll(x.path("made")), got.want(append(t.also, 1, 64))) // partial output of the command
	}
	return got.want(append(t.also, 1, 64))
}

// rebuilt makes the manifest again. The table must be as before. It may also have the load
// that was killed after its ledger was written.
func (x *run) rebuilt(s *Step, w *damagedFile) error {
	got, err := x.command(&Step{Do: "rebuild"}, "bulkload", "", slices.Concat([]string{"rebuild"}, x.tableFlags(s.Table))...)
	if err != nil {
		return err
	}
	if err := got.want([]int{0}); err != nil {
		return fmt.Errorf("rebuild after %s: %w", s.Damage, err)
	}
	now, err := os.ReadFile(x.path(s.Table + "/manifest.json"))
	switch begun := x.pending[s.Table]; {
	case err != nil:
		return err
	case string(now) == string(w.was):
		return nil
	case begun == nil && x.maimed: // it names the files before that compact
		return nil
	case begun == nil:
		return fmt.Errorf("rebuild after %s made another manifest:\n%s\nwas\n%s", s.Damage, now, w.was)
	default:
		x.tables[s.Table] = begun
		return nil
	}
}
