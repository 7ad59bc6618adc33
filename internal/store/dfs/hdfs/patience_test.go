package hdfs_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
)

// TestTheContextBoundsTheWait uses a NameNode that does not respond or does not exist. Without
// the context, the file system would wait for a day.
func TestTheContextBoundsTheWait(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, address := range map[string]string{"silent": silent.Addr().String(), "gone": "127.0.0.1:1"} {
		t.Run(name, func(t *testing.T) {
			fs := hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return new(hadoopconf.Conf), nil }, User: "u", Patience: 24 * time.Hour, Silence: 24 * time.Hour})
			_, err := fs.Stat(dfs.WithPatience(t.Context(), time.Millisecond), "hdfs://"+address+"/trails")
			if !errors.Is(err, dfs.ErrUnavailable) {
				t.Errorf("got %v, want ErrUnavailable", err)
			}
		})
	}
}
