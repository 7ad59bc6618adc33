package document

import "slices"

// Statuses returns the exit statuses of a table that has one in each row. A second table of
// the same page may repeat some.
func Statuses(text string) []string {
	var out []string
	for _, status := range groups(text, `(?m)^\| (\d+) \|`) {
		if !slices.Contains(out, status) {
			out = append(out, status)
		}
	}
	return out
}

// HelpStatuses returns the exit statuses that the help of a command lists.
func HelpStatuses(help string) []string { return groups(help, `(?m)^  (\d+) +\w`) }
