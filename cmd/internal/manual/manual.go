// Package manual writes what -h prints in two more forms: docs/reference/flags.md, a page with the flags
// of all commands, and man pages. The tests of the programs call it, because a program's
// commands cannot be imported. The programs themselves do not contain it.
package manual

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

var (
	rewrite = flag.Bool("rewrite", false, "write the page with the flags, in place of comparing it")
	manDir  = flag.String("man", "", "directory to write man pages to")
)

// CheckFlags compares the section of a program in the page called name with its commands.
// With -rewrite it writes the section. In every command, -o must be short for --out, and --memory must name its
// minimum.
func CheckFlags(t *testing.T, root *cobra.Command, name string) {
	t.Helper()
	checkFlags(t, root)
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := fmt.Sprintf("<!-- %s -->\n", root.Name()), fmt.Sprintf("<!-- end of %s -->\n", root.Name())
	before, rest, ok := bytes.Cut(page, []byte(begin))
	section, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		t.Fatalf("%s has no lines %q and %q", name, begin, end)
	}
	want := Flags(root)
	switch {
	case string(section) == want:
	case !*rewrite:
		t.Errorf("%s differs from %s -h: write it with `make golden`, and look at the diff", name, root.Name())
	default:
		text := bytes.Join([][]byte{before, []byte(begin), []byte(want), []byte(end), after}, nil)
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFlags checks --out and --memory of c and its commands.
func checkFlags(t *testing.T, c *cobra.Command) {
	t.Helper()
	if f := c.LocalFlags().Lookup("out"); f != nil && f.Shorthand != "o" {
		t.Errorf("%s: -o is not short for --out", c.CommandPath())
	}
	if f := c.LocalFlags().Lookup("memory"); f != nil && !strings.Contains(f.Usage, "at least") {
		t.Errorf("%s: -h does not say the minimum of --memory", c.CommandPath())
	}
	for _, sub := range c.Commands() {
		checkFlags(t, sub)
	}
}

// Flags returns the commands of a program and their flags as Markdown.
func Flags(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n```text\n%s\n```\n\n", root.Name(), root.Short, root.UseLine())
	table(&b, root.LocalNonPersistentFlags())
	fmt.Fprintf(&b, "### Flags of `%s` and its commands\n\n", root.Name())
	table(&b, root.PersistentFlags())
	for _, g := range root.Groups() {
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				fmt.Fprintf(&b, "### %s\n\n%s.\n\n```text\n%s\n```\n\n", c.CommandPath(), c.Short, c.UseLine())
				table(&b, c.LocalNonPersistentFlags())
			}
		}
	}
	return b.String()
}

// table writes flags with the descriptions that -h prints.
func table(b *strings.Builder, flags *pflag.FlagSet) {
	var rows strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		one := pflag.NewFlagSet("", pflag.ContinueOnError)
		one.AddFlag(f)
		head, usage, _ := strings.Cut(strings.TrimSpace(one.FlagUsages()), "   ")
		fmt.Fprintf(&rows, "| `%s` | %s |\n", head, strings.ReplaceAll(strings.TrimSpace(usage), "|", `\|`))
	})
	if rows.Len() > 0 {
		fmt.Fprintf(b, "| flag | description |\n|---|---|\n%s\n", rows.String())
	}
}

// WriteMan writes a man page of each command into the directory of -man. Without -man it
// writes them into a directory that is removed at the end of the test.
func WriteMan(t *testing.T, root *cobra.Command) {
	t.Helper()
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	forMan(root)
	header := &doc.GenManHeader{Source: root.Name() + " " + root.Version, Manual: "usertrail"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		t.Fatal(err)
	}
	if *manDir != "" {
		t.Logf("the man pages of %s are in %s", root.Name(), dir)
	}
}

// forMan prepares a command and its commands for package doc, which reads descriptions as
// Markdown and writes every default.
func forMan(c *cobra.Command) {
	c.DisableAutoGenTag = true
	c.Long = markdown(c.Long)
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			switch f.DefValue {
			case "0", "0s", "[]":
				f.DefValue = ""
			}
		})
	}
	for _, sub := range c.Commands() {
		forMan(sub)
	}
}

// markdown returns a text in which indented lines are a block of code, so that they stay
// separate lines.
func markdown(text string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(text) {
		indented := strings.HasPrefix(line, "  ")
		if indented != code && strings.TrimSpace(line) != "" {
			b.WriteString("\n")
			code = indented
		}
		if indented {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
