// Package piece is the lines by which work is shared out: plan prints one JSON object
// a line, run-piece does what one of them says, commit reads them all.
//
//	{"usertrail":"extract","version":1,"plan":"5d0c…","piece":0,"of":12,"table":"hdfs://nn:8020/trails",…}
//
// All begin with the fields of Header; what follows is up to what is shared out. A line
// may come as Hadoop's NLineInputFormat hands it over, with its offset and a tab in
// front, and lines may be blank, come in any order, and come again.
package piece

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Version is the first version of the lines.
const Version = 1

// ErrPiece is wrapped by every error that a line causes, or a set of them that is no
// plan: another try with the same lines will not help.
var ErrPiece = errors.New("wrong piece")

// ErrMissing is wrapped where a plan cannot be committed yet.
var ErrMissing = errors.New("not all pieces are done")

// A Header is what every piece begins with.
type Header struct {
	Usertrail string `json:"usertrail"` // what it is a piece of: load or extract
	Version   int    `json:"version"`
	Plan      string `json:"plan"`  // names the plan
	Piece     int    `json:"piece"` // from 0
	Of        int    `json:"of"`    // how many the plan has
	Table     string `json:"table"` // address
}

// Each gives the lines of r that are pieces of what, "load" or "extract", to take.
// name is r's, for errors. Lines of a version past newest are refused. A line is valid
// until take returns.
func Each(r io.Reader, name, what string, newest int, take func(h Header, line []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		last := err == io.EOF
		if line = cut(line); len(line) > 0 {
			h, err := header(line, what, newest)
			if err != nil {
				return fmt.Errorf("%s: line %d: %w", name, n, err)
			}
			if err := take(h, line); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// cut takes from a line what does not belong to the piece: blanks, and an offset with
// a tab.
func cut(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if before, after, ok := bytes.Cut(line, []byte("\t")); ok && len(bytes.Trim(before, "0123456789")) == 0 {
		line = bytes.TrimSpace(after)
	}
	return line
}

// header reads what a line begins with, and refuses one that is no piece of what.
func header(line []byte, what string, newest int) (Header, error) {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("%w: %s is not a line that plan prints: %w", ErrPiece, quoted(line), err)
	}
	switch {
	case h.Usertrail == "":
		return h, fmt.Errorf("%w: %s is not a line that plan prints", ErrPiece, quoted(line))
	case h.Usertrail != what:
		return h, fmt.Errorf("%w: it is of a plan of %s, not of %s", ErrPiece, h.Usertrail, what)
	case h.Version < Version || h.Version > newest:
		return h, fmt.Errorf("%w: its version is %d, this program's %d: run plan, run-piece and commit of one release", ErrPiece, h.Version, newest)
	case h.Plan == "" || h.Of < 1 || h.Piece < 0 || h.Piece >= h.Of:
		return h, fmt.Errorf("%w: it says that it is piece %d of %d of plan %q", ErrPiece, h.Piece, h.Of, h.Plan)
	}
	return h, nil
}

// quoted is the beginning of a line.
func quoted(line []byte) string {
	const most = 60
	if len(line) > most {
		return strconv.Quote(string(line[:most])) + "…"
	}
	return strconv.Quote(string(line))
}

// Decode reads a whole line into v, a struct that embeds Header. A field that it does
// not know is an error: it may change what is to be done.
func Decode(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPiece, quoted(line), err)
	}
	return nil
}

// Check reports headers that are not all pieces of one plan. One may come again.
func Check(all []Header) error {
	if len(all) == 0 {
		return fmt.Errorf("%w: there is none: commit reads the lines that plan printed", ErrPiece)
	}
	first := all[0]
	have := make([]bool, first.Of)
	for _, h := range all {
		if h.Plan != first.Plan || h.Of != first.Of || h.Table != first.Table {
			return fmt.Errorf("%w: plan %s of %d pieces of %s, and plan %s of %d pieces of %s: commit one plan at a time",
				ErrPiece, first.Plan, first.Of, first.Table, h.Plan, h.Of, h.Table)
		}
		have[h.Piece] = true
	}
	var missing []int
	for i, ok := range have {
		if !ok {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s of plan %s %s not among the lines: commit reads all that plan printed",
			ErrPiece, Numbers(missing), first.Plan, plural(len(missing), "is", "are"))
	}
	return nil
}

// Missing is the error of a plan of which some pieces, in order, have not reported.
func Missing(plan string, numbers []int, of int) error {
	return fmt.Errorf("%w: %s of %d of plan %s %s not reported: run %s again, then commit", ErrMissing,
		Numbers(numbers), of, plan, plural(len(numbers), "has", "have"), plural(len(numbers), "it", "them"))
}

// Undone is the error of a plan of which some pieces, in order, have to be done, although some
// of them have reported: why says what became of one.
func Undone(plan string, numbers []int, of int, why error) error {
	return fmt.Errorf("%w: %s of %d of plan %s %s to be done again: run %s again, then commit: %w", ErrMissing,
		Numbers(numbers), of, plan, plural(len(numbers), "has", "have"), plural(len(numbers), "it", "them"), why)
}

// mostStretches is how many stretches of numbers are said.
const mostStretches = 8

// Numbers says which pieces some are, in order: "pieces 0, 3-5 and 9".
func Numbers(numbers []int) string {
	var said []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if len(said) == mostStretches {
			return fmt.Sprintf("pieces %s and %d more", strings.Join(said, ", "), len(numbers)-i)
		}
		if one := strconv.Itoa(numbers[i]); i == j {
			said = append(said, one)
		} else {
			said = append(said, one+"-"+strconv.Itoa(numbers[j]))
		}
		i = j + 1
	}
	if len(numbers) == 1 {
		return "piece " + said[0]
	}
	if n := len(said); n > 1 {
		return "pieces " + strings.Join(said[:n-1], ", ") + " and " + said[n-1]
	}
	return "pieces " + said[0]
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
