package trailfile

import "math"

// levels store which rows of a nullable column have a value, as lengths of runs: rows without a value, rows with one, and so on. A
// result of very many columns has few values in each, and few runs.
type levels struct {
	runs []uint16 // the first run, the third, … have no values; a run may be empty
}

// add adds rows.
func (l *levels) add(valid []bool) {
	for from := 0; from < len(valid); {
		to := from + 1
		for to < len(valid) && valid[to] == valid[from] {
			to++
		}
		l.addRun(to-from, valid[from])
		from = to
	}
}

// addRun adds n rows with or without values.
func (l *levels) addRun(n int, valid bool) {
	if len(l.runs) == 0 || len(l.runs)%2 == 0 != valid {
		l.begin(valid)
	}
	for n > 0 {
		last := &l.runs[len(l.runs)-1]
		more := min(n, math.MaxUint16-int(*last))
		*last += uint16(more)
		if n -= more; n > 0 {
			l.runs = append(l.runs, 0, 0)
		}
	}
}

// begin begins a run with or without values.
func (l *levels) begin(valid bool) {
	l.runs = append(l.runs, 0)
	if len(l.runs)%2 == 0 != valid {
		l.runs = append(l.runs, 0)
	}
}

// reset removes all rows and keeps the memory.
func (l *levels) reset() { l.runs = l.runs[:0] }

// A levelReader reads levels from the first row on.
type levelReader struct {
	runs  []uint16
	valid bool // of the first of runs
	read  int  // rows of the first of runs
}

// reader returns a reader of the rows.
func (l *levels) reader() levelReader { return levelReader{runs: l.runs} }

// next appends the next n rows to dst, 1 for a row with a value and 0 for another row. It returns the number of values, too.
func (r *levelReader) next(dst []byte, n int) ([]byte, int) {
	from, values := len(dst), 0
	dst = grow(dst, n)
	for rows := dst[from:]; len(rows) > 0; {
		run := min(int(r.runs[0])-r.read, len(rows))
		if !r.valid {
			clear(rows[:run])
		} else {
			values += run
			for i := range rows[:run] {
				rows[i] = 1
			}
		}
		rows = rows[run:]
		if r.read += run; r.read == int(r.runs[0]) {
			r.runs, r.read, r.valid = r.runs[1:], 0, !r.valid
		}
	}
	return dst, values
}
