package samplelog

import (
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"usertrail/internal/store/dfs"
)

const (
	bufferSize = 256 << 10
	lateShare  = 0.0005 // share of records that are after midnight
	lateWithin = 600    // seconds past midnight
	daySeconds = 86400
)

// A writer writes the lines of one file, from the first to the last.
type writer struct {
	file
	source *source
	users  population
	alike  bool
	round  round
	clock  clock
	bad    float64
	wide   bool

	today, tomorrow string

	user, stamp []byte // scratch for one line
	sum         Summary
}

// writeFile writes one whole file, or none.
func writeFile(ctx context.Context, fs dfs.FS, name string, f file, cfg Config) (Summary, error) {
	pending, err := fs.Create(ctx, name)
	if err != nil {
		return Summary{}, err
	}
	defer pending.Abort()
	out, err := compressor(pending, cfg.Compress)
	if err != nil {
		return Summary{}, err
	}
	w := newWriter(f, cfg)
	if err := w.write(ctx, out); err != nil {
		return Summary{}, err
	}
	if err := out.Close(); err != nil {
		return Summary{}, err
	}
	return w.sum, pending.Commit()
}

func newWriter(f file, cfg Config) *writer {
	return &writer{
		file:     f,
		source:   newSource(cfg.Seed, uint64(f.date)<<8|uint64(f.kind)),
		users:    newPopulation(cfg),
		alike:    cfg.Each > 0,
		clock:    newClock(f.records),
		bad:      cfg.Bad,
		wide:     cfg.Wide,
		today:    f.date.String(),
		tomorrow: (f.date + 1).String(),
		sum:      Summary{Files: 1},
	}
}

// write writes the header and all lines.
func (w *writer) write(ctx context.Context, out io.Writer) error {
	line := append([]byte(nil), kinds[w.kind].header...)
	for i := range w.records {
		if len(line) >= bufferSize {
			if err := w.flush(ctx, out, line); err != nil {
				return err
			}
			line = line[:0]
		}
		line = w.appendLine(line, i)
	}
	return w.flush(ctx, out, line)
}

func (w *writer) flush(ctx context.Context, out io.Writer, text []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	w.sum.Bytes += int64(len(text))
	_, err := out.Write(text)
	return err
}

// appendLine appends record i of the file, good or bad.
func (w *writer) appendLine(dst []byte, i int64) []byte {
	w.sum.Records++
	w.user = w.users.appendID(w.user[:0], w.who(i))
	second, day := w.clock.at(i, w.source), w.today
	late := w.source.chance(lateShare)
	if late {
		second, day = w.source.below(lateWithin), w.tomorrow
	}
	w.stamp = appendStamp(w.stamp[:0], day, second)
	if w.bad > 0 && w.source.chance(w.bad) {
		w.sum.Bad++
		return w.appendBad(dst)
	}
	if late {
		w.sum.Late++
	}
	dst = append(append(dst, w.user...), ',')
	dst = append(append(dst, w.stamp...), ',')
	return append(w.appendRest(dst, w.kind, false), '\n')
}

// who returns the rank of the user of record i.
func (w *writer) who(i int64) int {
	if w.alike {
		return w.users.in(&w.round, w.first+i)
	}
	return w.users.draw(w.source, w.kind)
}

func appendStamp(dst []byte, day string, second int) []byte {
	dst = append(append(dst, day...), " 00:00:00"...)
	at := dst[len(dst)-8:]
	for i, n := range [3]int{second / 3600, second / 60 % 60, second % 60} {
		at[3*i] += byte(n / 10)
		at[3*i+1] += byte(n % 10)
	}
	return dst
}

// compressor returns a writer that compresses to out by a file's ending.
func compressor(out io.Writer, compress string) (io.WriteCloser, error) {
	switch compress {
	case "gz":
		return gzip.NewWriterLevel(out, gzip.BestSpeed)
	case "zst":
		return zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	case "":
		return plain{out}, nil
	}
	return nil, fmt.Errorf("compression %q: only gz and zst", compress)
}

// plain writes text unchanged.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }
