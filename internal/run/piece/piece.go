// Package piece reads the lines of a plan. plan prints one JSON object on each line. run-piece
// does the piece of one line. commit reads all lines.
//
//	{"usertrail":"extract","version":1,"plan":"5d0c…","piece":0,"of":12,"table":"hdfs://nn:8020/trails",…}
//
// Every line has the fields of Header. The other fields depend on the kind of plan. A line may
// begin with its offset and a tab, as Hadoop's NLineInputFormat passes it. Lines may be blank,
// be in any order, and be repeated.
package piece

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"usertrail/internal/run/exit"
)

// Version is the first version of the lines.
const Version = 1

// ErrPiece is wrapped by every error about a line, or about a set of lines that is not a plan.
// Another attempt with the same lines fails again.
var ErrPiece = exit.New(exit.Usage, "wrong piece")

// ErrMissing is wrapped by the error for a plan that cannot be committed yet.
var ErrMissing = exit.New(exit.NotNow, "not all pieces are done")

// A Header holds the fields that every piece has.
type Header struct {
	Usertrail string `json:"usertrail"` // the kind of plan: load or extract
	Version   int    `json:"version"`
	Plan      string `json:"plan"`  // name of the plan
	Piece     int    `json:"piece"` // from 0
	Of        int    `json:"of"`    // number of pieces of the plan
	Table     string `json:"table"` // address
}

// Each calls take for each line of r. Parameter what is "load" or "extract". A line for the other kind
// of plan is an error. name is the name of r in errors. A line with a version after newest is an error.
// A line is valid until take returns.
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

// cut returns a line without the text around the piece: blanks, and an offset with a tab.
func cut(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if before, after, ok := bytes.Cut(line, []byte("\t")); ok && len(bytes.Trim(before, "0123456789")) == 0 {
		line = bytes.TrimSpace(after)
	}
	return line
}

// header returns the header of a line. It fails if the line is a piece of another kind.
func header(line []byte, what string, newest int) (Header, error) {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("%w: %s is not a line that plan prints: %w", ErrPiece, quoted(line), err)
	}
	switch {
	case h.Usertrail == "":
		return h, fmt.Errorf("%w: %s is not a line that plan prints", ErrPiece, quoted(line))
	case h.Usertrail != what:
		return h, fmt.Errorf("%w: it is of a plan of %s, not of %s: use plan, run-piece and commit of one program", ErrPiece, h.Usertrail, what)
	case h.Version < Version || h.Version > newest:
		return h, fmt.Errorf("%w: its version is %d, this program's %d: run plan, run-piece and commit of one release", ErrPiece, h.Version, newest)
	case h.Plan == "" || h.Of < 1 || h.Piece < 0 || h.Piece >= h.Of:
		return h, fmt.Errorf("%w: it says that it is piece %d of %d of plan %q", ErrPiece, h.Piece, h.Of, h.Plan)
	}
	return h, nil
}

// quoted returns the beginning of a line in quotes.
func quoted(line []byte) string {
	const most = 60
	if len(line) > most {
		return strconv.Quote(string(line[:most])) + "…"
	}
	return strconv.Quote(string(line))
}

// Decode reads a whole line into v, a struct that embeds Header. An unknown field
// is an error, because it may change the work.
func Decode(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPiece, quoted(line), err)
	}
	return nil
}

// Check returns an error if the headers are not all pieces of one plan. A header may be repeated.
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
		return fmt.Errorf("%w: %s of plan %s %s not among the lines: pass all lines that plan printed",
			ErrPiece, Numbers(missing), first.Plan, plural(len(missing), "is", "are"))
	}
	return nil
}

// Missing returns the error for a plan with pieces that have no result yet. numbers is sorted.
func Missing(plan string, numbers []int, of int) error {
	return fmt.Errorf("%w: %s of %d of plan %s %s no result yet: run %s, then commit", ErrMissing,
		Numbers(numbers), of, plan, plural(len(numbers), "has", "have"), plural(len(numbers), "it", "them"))
}

// Undone returns the error for a plan with pieces that must run again. Some of these pieces may
// have reported. numbers is sorted. why is the reason for one piece.
func Undone(plan string, numbers []int, of int, why error) error {
	return fmt.Errorf("%w: %s of %d of plan %s %s to be done again: run %s again, then commit: %w", ErrMissing,
		Numbers(numbers), of, plan, plural(len(numbers), "has", "have"), plural(len(numbers), "it", "them"), why)
}

// mostStretches is the largest number of ranges that Numbers prints.
const mostStretches = 8

// Numbers returns a list of pieces as text: "pieces 0, 3-5 and 9". numbers is sorted.
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
