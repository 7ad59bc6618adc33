package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"usertrail/internal/behaviour"
)

// wrongFlag returns the error for flags that cannot be parsed. For an unknown flag it suggests
// a flag with a similar name.
func wrongFlag(c *cobra.Command, err error) error {
	hint := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		hint = meant(unknown.GetSpecifiedName(), flagNames(c), "--")
	}
	if unknown != nil && startsWithDash(unknown.GetSpecifiedShortnames()) {
		err = fmt.Errorf("-%s is not a flag%s", unknown.GetSpecifiedShortnames(), typeHyphens)
	}
	return fmt.Errorf("%w: %w%s; see %s -h", ErrUsage, wrongValue(c, err), hint, c.CommandPath())
}

// typeHyphens is the next step for a word in which a program wrote a dash for the hyphens of a flag.
const typeHyphens = ": it has a dash in the place of hyphens: type -- again"

// startsWithDash reports whether a word begins with a dash that is not a hyphen.
func startsWithDash(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r != '-' && (unicode.Is(unicode.Pd, r) || r == '\u2212') // a minus sign is not in Pd
}

// wrongValue returns err with the form of a number, a duration or a list of names, if err is about the value of such a flag.
func wrongValue(c *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	f, form := wrong.GetFlag(), ""
	switch {
	case errors.As(wrong.Unwrap(), new(*strconv.NumError)):
		form = "write a whole number"
	case f.Value.Type() == "duration":
		form = "write a number with its unit, such as 90s, 15m or 2h"
	case errors.As(wrong.Unwrap(), new(*csv.ParseError)):
		form = namesForm(c, f.Name, wrong.GetValue())
	default:
		return err
	}
	return fmt.Errorf("invalid argument %q for --%s: %s", wrong.GetValue(), f.Name, form)
}

// namesForm returns the form of the flag with a name, which takes a list of names, if the quotes of its value are wrong.
func namesForm(c *cobra.Command, flag, value string) string {
	names := "names of behaviours"
	if flag == "fields" {
		names = "names of fields"
	}
	switch {
	case !behaviour.IsCondition(value):
		return "it takes " + names + ": write quotes around a whole name that has quotes or commas, and each of its quotes twice"
	case c.Flags().Lookup("where") == nil:
		return "it takes " + names + ", not conditions"
	}
	return "it takes " + names + ", not conditions: " + behaviour.ForConditions
}

// argumentHint returns a hint for an argument. If a list of a flag ends in a comma, a blank after the comma makes the rest of the list an
// argument. A dash in the place of hyphens makes a flag an argument.
func argumentHint(c *cobra.Command, arg string) (hint string) {
	if startsWithDash(arg) {
		return typeHyphens
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if strings.HasSuffix(strings.TrimSuffix(f.Value.String(), "]"), ",") {
			hint = fmt.Sprintf(": write the list of --%s without blanks, or in quotes", f.Name)
		}
	})
	return hint
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
