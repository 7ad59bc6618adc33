import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Asks for the same rows again and again by HBase's own client: TABLE ROWS READY STOP. ROWS is a
 * file of rows, one a line. The file READY is made when the client has warmed up, and the response that
 * comes after the file STOP is there is the last. Prints the longest time between two responses, in
 * milliseconds, and the number of responses.
 */
public class StallOfGets {
  private static final int WARM = 20;

  public static void main(String[] args) throws Exception {
    List<Get> gets = new ArrayList<>();
    for (String row : Files.readAllLines(Path.of(args[1]))) {
      gets.add(new Get(Bytes.toBytes(row)));
    }
    Path ready = Path.of(args[2]);
    Path stop = Path.of(args[3]);
    try (Connection c = ConnectionFactory.createConnection(HBaseConfiguration.create());
      Table t = c.getTable(TableName.valueOf(args[0]))) {
      long cells = cells(t.get(gets));
      for (int i = 0; i < WARM; i++) {
        t.get(gets);
      }
      Files.createFile(ready);
      long longest = 0;
      long responses = 0;
      for (long last = System.nanoTime(); !Files.exists(stop); responses++) {
        long found = cells(t.get(gets));
        if (found != cells) {
          throw new IllegalStateException(found + " cells, at first there were " + cells);
        }
        long now = System.nanoTime();
        longest = Math.max(longest, now - last);
        last = now;
      }
      System.out.println(TimeUnit.NANOSECONDS.toMillis(longest) + " " + responses);
    }
  }

  private static long cells(Result[] all) {
    long n = 0;
    for (Result r : all) {
      n += r.size();
    }
    return n;
  }
}
