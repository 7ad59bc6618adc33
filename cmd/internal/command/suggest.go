package command

import (
	"errors"
	"fmt"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wrongFlag is what a command says of flags it cannot read; of one it does not
// have, which one may be meant.
func wrongFlag(c *cobra.Command, err error) error {
	hint := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		hint = meant(unknown.GetSpecifiedName(), flagNames(c), "--")
	}
	return fmt.Errorf("%w: %w%s; see %s -h", ErrUsage, err, hint, c.CommandPath())
}

// maxDistance is how many letters may be wrong in a word that is still taken for
// another.
const maxDistance = 2

// meant asks whether the nearest of names was meant, if one is near.
func meant(word string, names []string, dashes string) string {
	best, least := "", maxDistance+1
	for _, name := range names {
		if d := levenshtein.Distance(word, name, nil); d < least && d < len(name) {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %s%s?", dashes, best)
}

func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return names
}
