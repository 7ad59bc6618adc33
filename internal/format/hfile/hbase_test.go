package hfile_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"usertrail/internal/cell"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// family is the family that the printer expects in a file's path.
const family = "fam"

// An hbase collects requests for StoreFiles.java. One JVM processes them all.
type hbase struct {
	t        *testing.T
	c        *clustertest.Cluster
	requests []string
}

func newHBase(t *testing.T) *hbase { return &hbase{t: t, c: clustertest.Get(t)} }

// ask adds a request and returns the index of its response.
func (h *hbase) ask(words ...string) int {
	h.requests = append(h.requests, strings.Join(words, "\t"))
	return len(h.requests) - 1
}

// responses returns the words of each response. Words that belong to no request are complaints of
// HBase.
func (h *hbase) responses() [][]string {
	h.t.Helper()
	path := filepath.Join(h.t.TempDir(), "requests")
	save(h.t, path, []byte(strings.Join(h.requests, "\n")+"\n"))
	h.t.Setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC") // the JVM runs only briefly
	out := h.c.Java(h.t, "../../../scripts/cluster.d/java/StoreFiles.java", path)
	var all [][]string
	for line := range strings.Lines(out) {
		all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	if len(all) != len(h.requests) {
		h.t.Fatalf("%d responses to %d requests: %s", len(all), len(h.requests), out)
	}
	return all
}

func save(t *testing.T, path string, b []byte) {
	t.Helper()
	testkit.WriteFile(t, path, string(b))
}

// list returns cells in the form that StoreFiles.java reads.
func list(cells []cell.Cell) []byte {
	var b, kv []byte
	for i := range cells {
		c := &cells[i]
		kv = binary.BigEndian.AppendUint32(kv[:0], uint32(12+len(c.Row)+len(c.Family)+len(c.Qualifier)))
		kv = binary.BigEndian.AppendUint32(kv, uint32(len(c.Value)))
		kv = append(binary.BigEndian.AppendUint16(kv, uint16(len(c.Row))), c.Row...)
		kv = append(append(kv, byte(len(c.Family))), c.Family...)
		kv = binary.BigEndian.AppendUint64(append(kv, c.Qualifier...), uint64(c.Time))
		kv = append(append(kv, byte(c.Type)), c.Value...)
		if len(c.Tags) > 0 {
			kv = append(binary.BigEndian.AppendUint16(kv, uint16(len(c.Tags))), c.Tags...)
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(kv)))
		b = append(binary.BigEndian.AppendUint64(b, c.MVCC), kv...)
	}
	return b
}

// counted returns the words of a response about cells.
func counted(cells []cell.Cell) string {
	sum := sha256.Sum256(list(cells))
	return fmt.Sprintf("%d\t%s", len(cells), hex.EncodeToString(sum[:]))
}
