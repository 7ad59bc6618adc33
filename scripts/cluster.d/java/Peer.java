import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.BufferedMutatorParams;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableSnapshotScanner;
import org.apache.hadoop.hbase.filter.MultipleColumnPrefixFilter;

/**
 * HBase's own classes doing what scripts/bench/hbasebench does with ours, on the same rows:
 *
 * <pre>
 * put TABLE WARM_TABLE ROWS THREADS     every row, each thread by a BufferedMutator of its own
 * get TABLE ROWS GETS BATCH THREADS     random rows by Table.get(List), columns with three prefixes of ten
 * scan TABLE                            everything
 * snapshot NAME DIRECTORY [PREFIX..]    all of it, or some columns, by a TableSnapshotScanner; it makes references
 *                                       to the snapshot's files in a new directory there, and removes them
 * </pre>
 *
 * Each work is done twice, the first time to have it compiled: a put into WARM_TABLE, gets of other
 * rows. The second time is measured. The last line says, as JSON, its seconds, the CPU seconds of
 * the process in them, the cells and the digest of all cells.
 */
public class Peer {
  private static final byte[] FAMILY = {'d'};
  private static final int COLUMNS = 20;
  private static final int VALUE_WORDS = 10;
  private static final long TIME = 1_400_000_000_000L;
  private static final byte[][] PREFIXES = {bytes("f2:"), bytes("f5:"), bytes("f7:")};
  private static final byte[][] QUALIFIERS = new byte[COLUMNS][];

  private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Of a BufferedMutator. */
  private static final long WRITE_BUFFER = 8 << 20;

  static {
    for (int j = 0; j < COLUMNS; j++) {
      QUALIFIERS[j] = bytes("f" + j % 10 + ":" + j / 10);
    }
  }

  private final Connection connection;
  private final LongAdder cells = new LongAdder();
  private final LongAdder digest = new LongAdder();

  private Peer(Connection connection) {
    this.connection = connection;
  }

  public static void main(String[] a) throws Exception {
    try (Connection c = ConnectionFactory.createConnection(HBaseConfiguration.create())) {
      Peer p = new Peer(c);
      switch (a[0]) {
        case "put":
          p.measure(() -> p.put(a[2], Integer.parseInt(a[3]), Integer.parseInt(a[4])),
            () -> p.put(a[1], Integer.parseInt(a[3]), Integer.parseInt(a[4])));
          break;
        case "get":
          p.measure(() -> p.gets(a, 1), () -> p.gets(a, 2));
          break;
        case "scan":
          p.measure(() -> p.scan(a[1]), () -> p.scan(a[1]));
          break;
        case "snapshot":
          p.measure(() -> p.snapshot(a), () -> p.snapshot(a));
          break;
        default:
          throw new IllegalArgumentException(a[0] + " is none of put, get, scan, snapshot");
      }
    }
  }

  interface Work {
    void run() throws Exception;
  }

  private void measure(Work warm, Work work) throws Exception {
    OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    warm.run();
    cells.reset();
    digest.reset();
    long cpu = system.getProcessCpuTime();
    long start = System.nanoTime();
    work.run();
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"cells\": %d, \"digest\": \"%016x\"}%n", seconds,
      (system.getProcessCpuTime() - cpu) / 1e9, cells.sum(), digest.sum());
  }

  // Works.

  private void put(String table, int rows, int threads) throws Exception {
    BufferedMutatorParams params = new BufferedMutatorParams(TableName.valueOf(table)).writeBufferSize(WRITE_BUFFER);
    each(threads, thread -> {
      long sum = 0;
      long n = 0;
      try (BufferedMutator m = connection.getBufferedMutator(params)) {
        for (int i = thread; i < rows; i += threads) {
          byte[] row = row(i);
          Put put = new Put(row);
          for (int j = 0; j < COLUMNS; j++) {
            byte[] value = value(i, j);
            put.addColumn(FAMILY, QUALIFIERS[j], TIME + i, value);
            sum += hash(row, 0, row.length, QUALIFIERS[j], 0, QUALIFIERS[j].length, value, 0, value.length, TIME + i);
          }
          n += COLUMNS;
          m.mutate(put);
        }
      }
      cells.add(n);
      digest.add(sum);
    });
  }

  private void gets(String[] a, long seed) throws Exception {
    TableName table = TableName.valueOf(a[1]);
    int rows = Integer.parseInt(a[2]);
    int gets = Integer.parseInt(a[3]);
    int batch = Integer.parseInt(a[4]);
    int threads = Integer.parseInt(a[5]);
    each(threads, thread -> {
      try (Table t = connection.getTable(table)) {
        for (int first = thread * batch; first < gets; first += threads * batch) {
          List<Get> list = new ArrayList<>(batch);
          for (int k = first; k < Math.min(first + batch, gets); k++) {
            Get g = new Get(row(pick(seed, k, rows))).addFamily(FAMILY);
            list.add(g.setFilter(new MultipleColumnPrefixFilter(PREFIXES)));
          }
          for (Result r : t.get(list)) {
            add(r);
          }
        }
      }
    });
  }

  private void scan(String table) throws IOException {
    Scan scan = new Scan().addFamily(FAMILY).setCacheBlocks(false);
    try (Table t = connection.getTable(TableName.valueOf(table)); ResultScanner results = t.getScanner(scan)) {
      for (Result r : results) {
        add(r);
      }
    }
  }

  private void snapshot(String[] a) throws IOException {
    Scan scan = new Scan().addFamily(FAMILY).setCacheBlocks(false);
    if (a.length > 3) {
      byte[][] prefixes = Arrays.stream(a).skip(3).map(Peer::bytes).toArray(byte[][]::new);
      scan.setFilter(new MultipleColumnPrefixFilter(prefixes));
    }
    Configuration conf = connection.getConfiguration();
    try (TableSnapshotScanner results = new TableSnapshotScanner(conf, new Path(a[2]), a[1], scan)) {
      for (Result r; (r = results.next()) != null;) {
        add(r);
      }
    }
  }

  private void add(Result r) {
    if (r.isEmpty()) {
      return;
    }
    long sum = 0;
    for (Cell c : r.rawCells()) {
      sum += hash(c.getRowArray(), c.getRowOffset(), c.getRowLength(), c.getQualifierArray(), c.getQualifierOffset(),
        c.getQualifierLength(), c.getValueArray(), c.getValueOffset(), c.getValueLength(), c.getTimestamp());
    }
    cells.add(r.size());
    digest.add(sum);
  }

  interface Share {
    void run(int thread) throws Exception;
  }

  private static void each(int threads, Share share) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> all = new ArrayList<>();
    for (int k = 0; k < threads; k++) {
      int thread = k;
      all.add(pool.submit(() -> {
        share.run(thread);
        return null;
      }));
    }
    for (Future<?> f : all) {
      f.get();
    }
    pool.shutdown();
  }

  // The made-up rows, as in scripts/bench/hbasebench/rows.go.

  /** SplitMix64's finalizer. */
  private static long mix(long x) {
    x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L;
    x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
    return x ^ (x >>> 31);
  }

  private static byte[] row(long i) {
    return bytes(String.format("%08x-%d", mix(i) >>> 32, i));
  }

  private static byte[] value(long i, int column) {
    byte[] v = new byte[8 * VALUE_WORDS];
    for (int k = 0; k < VALUE_WORDS; k++) {
      WORD.set(v, 8 * k, mix((i * COLUMNS + column) * VALUE_WORDS + k));
    }
    return v;
  }

  private static long pick(long seed, long k, int rows) {
    return Long.remainderUnsigned(mix((seed << 32) + k), rows);
  }

  private static byte[] bytes(String s) {
    return s.getBytes(StandardCharsets.US_ASCII);
  }

  // The digest.

  private static final long FACTOR = 0x9E3779B97F4A7C15L;

  private static long hash(byte[] row, int rowAt, int rowLen, byte[] qualifier, int qualifierAt, int qualifierLen,
    byte[] value, int valueAt, int valueLen, long time) {
    long h = part(time, row, rowAt, rowLen);
    h = part(h, qualifier, qualifierAt, qualifierLen);
    h = part(h, value, valueAt, valueLen);
    return h ^ (h >>> 32);
  }

  private static long part(long h, byte[] b, int at, int length) {
    int end = at + length;
    h = (h ^ length) * FACTOR;
    for (; at + 8 <= end; at += 8) {
      h = Long.rotateLeft(h ^ (long) WORD.get(b, at), 29) * FACTOR;
    }
    for (; at < end; at++) {
      h = (h ^ (b[at] & 0xff)) * FACTOR;
    }
    return h;
  }
}
