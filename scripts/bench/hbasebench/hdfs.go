package main

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"usertrail/internal/store/dfs/hdfs"
)

// chunk is the number of bytes of one write or read.
const chunk = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeFile writes so many chunks of words that do not compress. The digest counts bytes, and its
// sum is the CRC-32C of the file.
func writeFile(ctx context.Context, name string, chunks int) (d digest, err error) {
	f, err := hdfs.New(hdfs.Config{}).Create(ctx, name)
	if err != nil {
		return d, err
	}
	defer f.Abort()
	b := make([]byte, chunk)
	for i := range chunks {
		for at := 0; at < chunk; at += 8 {
			binary.LittleEndian.PutUint64(b[at:], mix(uint64(i*chunk+at)))
		}
		d.addBytes(b)
		if _, err := f.Write(b); err != nil {
			return d, err
		}
	}
	return d, f.Commit()
}

// readFile reads a file from its beginning.
func readFile(ctx context.Context, name string) (d digest, err error) {
	f, err := hdfs.New(hdfs.Config{}).Open(ctx, name)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, chunk)
	for {
		n, err := io.ReadFull(f, b)
		d.addBytes(b[:n])
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return d, nil
		case err != nil:
			return d, err
		}
	}
}

// addBytes adds the next bytes of a file.
func (d *digest) addBytes(b []byte) {
	d.cells += int64(len(b))
	d.sum = uint64(crc32.Update(uint32(d.sum), castagnoli, b))
}
