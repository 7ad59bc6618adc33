import com.sun.management.OperatingSystemMXBean;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Hadoop's own classes doing what scripts/bench/hbasebench does with ours, on the same bytes:
 *
 * <pre>
 * write FILE MIB     words that do not compress
 * read FILE          from the beginning to the end
 * </pre>
 *
 * Each work is done twice, and the second time is measured. The last line says, as JSON, its seconds, the CPU seconds
 * of the process in them, the number of bytes as cells, and the CRC-32C of the file as the digest.
 */
public class Files {
  private static final int CHUNK = 1 << 20;
  private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final byte[] buffer = new byte[CHUNK];
  private static CRC32C sum;
  private static long bytes;

  public static void main(String[] a) throws Exception {
    Path path = new Path(a[1]);
    FileSystem files = path.getFileSystem(new Configuration());
    for (int run = 1; run <= 2; run++) {
      sum = new CRC32C();
      bytes = 0;
      OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
      long cpu = system.getProcessCpuTime();
      long start = System.nanoTime();
      switch (a[0]) {
        case "write":
          write(files, path, Integer.parseInt(a[2]));
          break;
        case "read":
          read(files, path);
          break;
        default:
          throw new IllegalArgumentException(a[0] + " is none of write, read");
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      if (run == 2) {
        System.out.printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"cells\": %d, \"digest\": \"%016x\"}%n", seconds,
          (system.getProcessCpuTime() - cpu) / 1e9, bytes, sum.getValue());
      }
    }
  }

  private static void write(FileSystem files, Path path, int chunks) throws Exception {
    try (OutputStream out = files.create(path, true)) {
      for (int i = 0; i < chunks; i++) {
        for (int at = 0; at < CHUNK; at += 8) {
          WORD.set(buffer, at, mix((long) i * CHUNK + at));
        }
        add(CHUNK);
        out.write(buffer);
      }
    }
  }

  private static void read(FileSystem files, Path path) throws Exception {
    try (InputStream in = files.open(path)) {
      for (int n = in.readNBytes(buffer, 0, CHUNK); n > 0; n = in.readNBytes(buffer, 0, CHUNK)) {
        add(n);
      }
    }
  }

  private static void add(int n) {
    sum.update(buffer, 0, n);
    bytes += n;
  }

  /** SplitMix64's finalizer. */
  private static long mix(long x) {
    x = (x ^ x >>> 30) * 0xBF58476D1CE4E5B9L;
    x = (x ^ x >>> 27) * 0x94D049BB133111EBL;
    return x ^ x >>> 31;
  }
}
