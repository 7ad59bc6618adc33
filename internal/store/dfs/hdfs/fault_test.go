package hdfs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"usertrail/internal/run/breakpoint"
	"usertrail/internal/run/hadoopconf"
	"usertrail/internal/store/dfs"
	"usertrail/internal/store/dfs/hdfs"
	"usertrail/internal/test/clustertest"
	"usertrail/internal/test/testkit"
)

// A daemonFault kills or freezes a DataNode.
type daemonFault func(c *clustertest.Cluster, t testing.TB, name string)

// daemonFaults returns one fault or, in complete runs, all.
func daemonFaults(one string) map[string]daemonFault {
	all := map[string]daemonFault{"killed": (*clustertest.Cluster).Kill, "frozen": (*clustertest.Cluster).Freeze}
	return testkit.Pick(map[string]daemonFault{one: all[one]}, all)
}

// TestReadersOutliveDataNodes kills or freezes all but one of the DataNodes that have a file, while one
// goroutine reads in sequence and others read at random places.
func TestReadersOutliveDataNodes(t *testing.T) {
	for what, cause := range daemonFaults("killed") {
		t.Run(what, func(t *testing.T) {
			c := clustertest.Alone(t)
			fsys, name := as(c, ""), dfs.Join(c.HDFS(t), "file")
			want := text(testkit.Pick(16, 48)<<20 + rand.IntN(1<<20)) // so that its length identifies its block
			write(t, fsys, name, want)
			holders := waitForBlock(t, c, 2, "finalized/subdir*/subdir*", func(size int64) bool { return size == int64(len(want)) })
			f, err := fsys.Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			head := make([]byte, 1<<20)
			if _, err := io.ReadFull(f, head); err != nil {
				t.Fatal(err)
			}
			for _, datanode := range holders[1:] {
				cause(c, t, datanode)
			}
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					b := make([]byte, 100_000)
					for i := range 20 {
						off := (g*7919 + i*15_485_863) % (len(want) - len(b))
						if n, err := f.ReadAt(b, int64(off)); err != nil || !bytes.Equal(b, want[off:off+n]) {
							t.Errorf("ReadAt %d: %d bytes, %v, or not those written", off, n, err)
						}
					}
				})
			}
			rest, err := io.ReadAll(f)
			if err != nil || !bytes.Equal(append(head, rest...), want) {
				t.Errorf("read %d bytes of %d, %v, or not those written", len(head)+len(rest), len(want), err)
			}
			wg.Wait()
		})
	}
}

// writeVar is the environment variable that names the file for the process that
// TestWritersOutliveADataNode starts.
const writeVar = "USERTRAIL_HDFS_WRITE"

// writtenSize is the number of bytes that the process writes. stoppedAt is the number of
// mebibytes that it has sent when it stops.
var (
	writtenSize = testkit.Pick(48, 96) << 20
	stoppedAt   = testkit.Pick(24, 48)
)

// TestWritersOutliveADataNode freezes or kills a DataNode when a large part of the file is on its disk.
// A separate process writes the file, and is stopped during the fault.
func TestWritersOutliveADataNode(t *testing.T) {
	if name := os.Getenv(writeVar); name != "" {
		if err := breakpoint.Arm(); err != nil {
			t.Fatal(err)
		}
		write(t, hdfs.New(hdfs.Config{Silence: 5 * time.Second}), name, text(writtenSize))
		return
	}
	for what, cause := range daemonFaults("frozen") {
		t.Run(what, func(t *testing.T) {
			c := clustertest.Alone(t)
			fsys, name := as(c, ""), dfs.Join(c.HDFS(t), "file")
			var said bytes.Buffer
			writer := exec.Command(os.Args[0], "-test.run=^TestWritersOutliveADataNode$", "-test.count=1")
			writer.Env = append(os.Environ(), writeVar+"="+name, "HADOOP_CONF_DIR="+c.ConfDir(), fmt.Sprintf("%s=%s:%d", breakpoint.Variable, breakpoint.Upload, stoppedAt))
			writer.Stdout, writer.Stderr = &said, &said
			if err := writer.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- writer.Wait() }()
			t.Cleanup(func() { writer.Process.Kill() })
			if !testkit.AwaitStop(writer.Process.Pid, nil) {
				t.Fatalf("the writer ended before the fault of the DataNode: %v\n%s", <-ended, said.String())
			}
			holders := waitForBlock(t, c, 1, "rbw", func(size int64) bool { return size > 8<<20 })
			cause(c, t, holders[0])
			if err := writer.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			expectFile(t, fsys, name, text(writtenSize))
			if infos, err := fsys.List(t.Context(), dfs.Dir(name)); err != nil || len(infos) != 1 {
				t.Errorf("in the end there are %v, %v; want the file alone", infos, err)
			}
		})
	}
}

// patience is a deadline for the test.
const patience = 10 * time.Minute

// waitForBlock waits until at least the given number of DataNodes have a block whose length
// meant accepts, and returns their names. A NameNode does not select busy DataNodes.
func waitForBlock(t *testing.T, c *clustertest.Cluster, least int, in string, meant func(size int64) bool) []string {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var holders []string
		for _, d := range c.DataNodes() {
			blocks, err := filepath.Glob(filepath.Join(filepath.Dir(c.ConfDir()), "data", d.Name, "current", "BP-*", "current", in, "blk_*"))
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(blocks, func(b string) bool {
				fi, err := os.Stat(b)
				return err == nil && meant(fi.Size())
			}) {
				holders = append(holders, d.Name)
			}
		}
		if len(holders) >= least {
			return holders
		}
	}
	t.Fatalf("less than %d DataNodes have the block after %s", least, patience)
	return nil
}

// TestDeadDataNodeAtTheStart writes while the NameNode still selects a dead DataNode.
func TestDeadDataNodeAtTheStart(t *testing.T) {
	testkit.OnlyAll(t, "TestReadersOutliveDataNodes and TestWritersOutliveADataNode")
	c := clustertest.Alone(t)
	fsys, name := as(c, ""), dfs.Join(c.HDFS(t), "file")
	p, err := fsys.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	want := text(1 << 20)
	if _, err := p.Write(want); err != nil {
		t.Fatal(err)
	}
	c.Kill(t, "dn1")
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	expectFile(t, fsys, name, want)
}

// patient is as for callers that wait until the NameNode is back.
func patient(c *clustertest.Cluster) dfs.FS {
	return hdfs.New(hdfs.Config{
		Conf:     func() (*hadoopconf.Conf, error) { return hadoopconf.Load(c.ConfDir()) },
		Patience: patience,
	})
}

// TestNameNodeRestarts restarts it while a file is read, another is written, and a lock is
// held.
func TestNameNodeRestarts(t *testing.T) {
	c := clustertest.Alone(t)
	fsys, dir := patient(c), c.HDFS(t)
	want := text(1 << 20)
	write(t, fsys, dfs.Join(dir, "old"), want)
	f, err := fsys.Open(t.Context(), dfs.Join(dir, "old"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := fsys.Lock(t.Context(), dfs.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	p, err := fsys.Create(t.Context(), dfs.Join(dir, "new"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Abort()
	if _, err := p.Write(want); err != nil {
		t.Fatal(err)
	}

	c.Restart(t, "nn")
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	if err := p.Commit(); err != nil {
		t.Fatal(err)
	}
	if second, err := as(c, "").Lock(t.Context(), dfs.Join(dir, "lock")); !errors.Is(err, dfs.ErrLocked) {
		t.Errorf("a second lock: %v, %v; want ErrLocked", second, err)
	}
	if err := l.Unlock(); err != nil {
		t.Errorf("unlock: %v", err)
	}
	expectFile(t, fsys, dfs.Join(dir, "new"), want)
}

func TestSafeMode(t *testing.T) {
	c := clustertest.Alone(t)
	dir := c.HDFS(t)
	write(t, as(c, ""), dfs.Join(dir, "old"), []byte("here"))
	c.Admin(t, "safemode", "enter")
	t.Cleanup(func() { c.Admin(t, "safemode", "leave") })
	hasty := hdfs.New(hdfs.Config{Conf: func() (*hadoopconf.Conf, error) { return hadoopconf.Load(c.ConfDir()) }, Patience: 5 * time.Second})
	_, err := hasty.Create(t.Context(), dfs.Join(dir, "new"))
	if !errors.Is(err, dfs.ErrUnavailable) || !strings.Contains(err.Error(), "safe mode") {
		t.Errorf("%v, want ErrUnavailable that says safe mode", err)
	}
	expectFile(t, patient(c), dfs.Join(dir, "old"), []byte("here"))

	refused := &listener{word: "SafeModeException", told: make(chan struct{})}
	name := "hdfs://" + relay(t, c.NameNode(), refused.forward) + strings.TrimPrefix(dir, "hdfs://"+c.NameNode()) + "/new"
	written := make(chan error, 1)
	go func() { written <- dfs.WriteFile(t.Context(), patient(c), name, []byte("new")) }()
	select {
	case <-refused.told:
	case err := <-written:
		t.Fatalf("in safe mode a write ended: %v", err)
	}
	c.Admin(t, "safemode", "leave")
	if err := <-written; err != nil {
		t.Error(err)
	}
}

func TestQuotas(t *testing.T) {
	c := clustertest.Get(t)
	fsys, dir := as(c, ""), c.HDFS(t)
	for _, name := range []string{"names", "space"} {
		if err := fsys.Mkdir(t.Context(), dfs.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c.Admin(t, "names", dfs.Join(dir, "names"), "2")
	c.Admin(t, "space", dfs.Join(dir, "space"), "1048576")
	write(t, fsys, dfs.Join(dir, "names", "first"), nil)
	if _, err := fsys.Create(t.Context(), dfs.Join(dir, "names", "second")); !errors.Is(err, hdfs.ErrQuota) || !strings.Contains(err.Error(), "names/second") {
		t.Errorf("the name too many: %v, want ErrQuota with the name", err)
	}
	err := dfs.WriteFile(t.Context(), fsys, dfs.Join(dir, "space", "file"), []byte("a block is counted whole"))
	if !errors.Is(err, hdfs.ErrQuota) || !strings.Contains(err.Error(), "space/file") {
		t.Errorf("too many bytes: %v, want ErrQuota with the name", err)
	}
	if err := fsys.Sweep(t.Context(), dir); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"names", "space"} {
		infos, err := fsys.List(t.Context(), dfs.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		for _, in := range infos {
			if dfs.Base(in.Name) != "first" {
				t.Errorf("%s is there", in.Name)
			}
		}
	}
}

// TestErasureCodingIsRefused checks that the error occurs before anything is written.
func TestErasureCodingIsRefused(t *testing.T) {
	c := clustertest.Get(t)
	fsys, dir := as(c, ""), c.HDFS(t)
	const policy = "XOR-2-1-1024k"
	c.Admin(t, "erasure", dir, policy)
	_, err := fsys.Create(t.Context(), dfs.Join(dir, "file"))
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "erasure-coded") {
		t.Errorf("%v, want that erasure coding is not supported", err)
	}
	if infos, err := fsys.List(t.Context(), dir); err != nil || len(infos) != 0 {
		t.Errorf("there is %v, %v; want nothing", infos, err)
	}
}

func TestSweptFilesAreNotCommitted(t *testing.T) {
	c := clustertest.Get(t)
	fsys, dir := as(c, ""), c.HDFS(t)
	for _, b := range [][]byte{nil, []byte("some")} {
		p, err := fsys.Create(t.Context(), dfs.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Abort()
		if _, err := p.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := as(c, "").Sweep(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if err := p.Commit(); !errors.Is(err, hdfs.ErrSwept) {
			t.Errorf("Commit of %d bytes: %v, want ErrSwept", len(b), err)
		}
	}
	if infos, err := fsys.List(t.Context(), dir); err != nil || len(infos) != 0 {
		t.Errorf("there is %v, %v; want nothing", infos, err)
	}
}

// relay listens for clients of a NameNode, and calls forward with the connections of each client.
func relay(t *testing.T, to string, forward func(client, server net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				defer client.Close()
				defer server.Close()
				forward(client, server)
			}()
		}
	}()
	return l.Addr().String()
}

// A listener forwards to a NameNode, and tells when a response contains word.
type listener struct {
	word string
	once sync.Once
	told chan struct{}
}

func (l *listener) forward(client, server net.Conn) {
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	io.Copy(io.MultiWriter(client, l), server)
}

// Write implements io.Writer for responses.
func (l *listener) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(l.word)) {
		l.once.Do(func() { close(l.told) })
	}
	return len(b), nil
}

// A deafener forwards to a NameNode. After the first request that contains word, it closes
// the connection instead of returning the response.
type deafener struct {
	word  string
	fired atomic.Bool
}

func (d *deafener) listen(t *testing.T, to string) string {
	t.Helper()
	return relay(t, to, d.forward)
}

func (d *deafener) forward(client, server net.Conn) {
	var deaf atomic.Bool
	go func() {
		b := make([]byte, 64<<10)
		for {
			n, err := server.Read(b)
			if err != nil || deaf.Load() {
				client.Close()
				return
			}
			client.Write(b[:n])
		}
	}()
	b := make([]byte, 64<<10)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		if bytes.Contains(b[:n], []byte(d.word)) && d.fired.CompareAndSwap(false, true) {
			deaf.Store(true)
		}
		if _, err := server.Write(b[:n]); err != nil {
			return
		}
	}
}

// TestLostResponses loses the NameNode's response to each kind of change once. A change that has
// taken effect must not be repeated, and is not an error.
func TestLostResponses(t *testing.T) {
	c := clustertest.Get(t)
	for _, word := range []string{"mkdirs", "create", "addBlock", "complete", "rename2", "delete", "setXAttr"} {
		t.Run(word, func(t *testing.T) {
			d := &deafener{word: "\x0a" + string(rune(len(word))) + word} // RequestHeaderProto.methodName
			addr := d.listen(t, c.NameNode())
			fsys := as(c, "")
			_, path, _ := strings.Cut(strings.TrimPrefix(c.HDFS(t), "hdfs://"), "/")
			dir := "hdfs://" + addr + "/" + path
			l, err := fsys.Lock(t.Context(), dfs.Join(dir, "lock"))
			if errors.Is(err, dfs.ErrLocked) && word == "create" {
				l, err = fsys.Lock(t.Context(), dfs.Join(dir, "other lock"))
			}
			if err != nil {
				t.Fatal(err)
			}
			write(t, fsys, dfs.Join(dir, "work", "file"), []byte("here"))
			write(t, fsys, dfs.Join(dir, "gone", "file"), nil)
			if err := fsys.Publish(t.Context(), dfs.Join(dir, "work"), dfs.Join(dir, "out")); err != nil {
				t.Error(err)
			}
			if err := fsys.Remove(t.Context(), dfs.Join(dir, "gone")); err != nil {
				t.Error(err)
			}
			expectFile(t, fsys, dfs.Join(dir, "out", "file"), []byte("here"))
			if err := l.Unlock(); err != nil {
				t.Error(err)
			}
			if !d.fired.Load() {
				t.Errorf("there was no %s", word)
			}
		})
	}
	t.Run("create of a file", func(t *testing.T) {
		_, path, _ := strings.Cut(strings.TrimPrefix(c.HDFS(t), "hdfs://"), "/")
		d := &deafener{word: "\x0a\x06create"}
		name := "hdfs://" + d.listen(t, c.NameNode()) + "/" + path + "/file"
		write(t, as(c, ""), name, []byte("here"))
		expectFile(t, as(c, ""), name, []byte("here"))
		if !d.fired.Load() {
			t.Error("there was no create")
		}
	})
	t.Run("rename2 of Publish", func(t *testing.T) {
		_, path, _ := strings.Cut(strings.TrimPrefix(c.HDFS(t), "hdfs://"), "/")
		write(t, as(c, ""), "hdfs:///"+path+"/work/file", []byte("here"))
		d := &deafener{word: "\x0a\x07rename2"}
		dir := "hdfs://" + d.listen(t, c.NameNode()) + "/" + path
		if err := as(c, "").Publish(t.Context(), dfs.Join(dir, "work"), dfs.Join(dir, "out")); err != nil || !d.fired.Load() {
			t.Errorf("%v, response lost: %v", err, d.fired.Load())
		}
	})
}

// TestSilentNameNode accepts a connection and sends nothing, like a frozen NameNode.
func TestSilentNameNode(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fsys := hdfs.New(hdfs.Config{
		Conf:     func() (*hadoopconf.Conf, error) { return &hadoopconf.Conf{}, nil },
		Patience: time.Second, Silence: 200 * time.Millisecond,
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := fsys.Stat(ctx, "hdfs://"+l.Addr().String()+"/file"); !errors.Is(err, dfs.ErrUnavailable) {
		t.Errorf("%v, want ErrUnavailable", err)
	}
}
