package cli

import (
	"errors"
	"fmt"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wrongFlag returns the error for flags that cannot be parsed. For an unknown flag it suggests
// a flag with a similar name.
func wrongFlag(c *cobra.Command, err error) error {
	hint := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		hint = meant(unknown.GetSpecifiedName(), flagNames(c), "--")
	}
	return fmt.Errorf("%w: %w%s; see %s -h", ErrUsage, err, hint, c.CommandPath())
}

// maxDistance is the maximum number of wrong letters in a word for which meant suggests a name.
const maxDistance = 2

// meant returns a suggestion of the name that is nearest to word, or "".
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
