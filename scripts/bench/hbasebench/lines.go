package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"usertrail/internal/cell"
	"usertrail/internal/column"
	"usertrail/internal/store/hbase"
)

// The made-up log, a line for each user:
//
//	user    16 hex digits of a hash of i, spread evenly whether they are reversed or not
//	time    ms since 1970; a day has room for 86,400,000 lines
//	fields  20 of them, 4, 8, 12 or 16 hex digits long, so that one line is 20 cells
const (
	firstLine = 1_409_529_600_000 // 2014-09-01 UTC
	lineBytes = 1 << 20           // of the buffer that lines are written through
)

// writeLines makes the file of lines.
func writeLines(name string, n int) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, lineBytes)
	for i := range n {
		if _, err := w.Write(appendLine(w.AvailableBuffer(), i)); err != nil {
			return err
		}
	}
	return w.Flush()
}

func appendLine(dst []byte, i int) []byte {
	dst = appendHex(dst, mix(uint64(i)+1), 16)
	dst = strconv.AppendInt(append(dst, '\t'), firstLine+int64(i), 10)
	for j := range columns {
		dst = appendHex(append(dst, '\t'), mix(uint64(i*columns+j)+1<<40), 4+j%4*4)
	}
	return append(dst, '\n')
}

// appendHex appends the n highest hex digits of x.
func appendHex(dst []byte, x uint64, n int) []byte {
	for shift := 60; n > 0; shift, n = shift-4, n-1 {
		dst = append(dst, hexDigits[x>>shift&15])
	}
	return dst
}

// content digests the lines that a table holds, no matter which program loaded them. The
// digest has the time, the field and the value of each cell. Each line has a time of its own.
// The digest has no keys, because the programs write different keys: usertrail's keys have the
// day, the behaviour and the record, so that two events of a user stay apart. ImportTsv's keys
// have only the user and the field.
type content struct {
	rows int64
	digest
	row []byte // the last
}

func (k *content) take(c *cell.Cell) error {
	if k.rows == 0 || !bytes.Equal(k.row, c.Row) {
		k.rows++
		k.row = append(k.row[:0], c.Row...)
	}
	field, _, _ := bytes.Cut(c.Qualifier, []byte{column.Separator})
	k.addHash(part(part(uint64(c.Time), field), c.Value))
	return nil
}

// printContent scans a table and prints its content.
func printContent(ctx context.Context, c *hbase.Client, table string) error {
	var k content
	if err := c.Scan(ctx, table, hbase.Scan{Columns: all()}, k.take); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"rows": k.rows, "cells": k.cells, "digest": fmt.Sprintf("%016x", k.sum)})
}
