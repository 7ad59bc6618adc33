import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Write TABLE FILE does to family d of a table what stands in a file, a line each: put ROW QUALIFIER
 * TIME VALUE TTL, where a TTL of 0 is none; version, column ROW QUALIFIER TIME; moment, family ROW
 * TIME; flush; clone SNAPSHOT TABLE.
 */
public class Write {
  private static final byte[] FAMILY = Bytes.toBytes("d");

  public static void main(String[] args) throws Exception {
    try (Connection c = ConnectionFactory.createConnection(HBaseConfiguration.create());
      Table t = c.getTable(TableName.valueOf(args[0])); Admin admin = c.getAdmin()) {
      for (String line : Files.readAllLines(Path.of(args[1]))) {
        String[] w = line.split("\t", -1);
        switch (w[0]) {
          case "put":
            Put p = new Put(row(w)).addColumn(FAMILY, column(w), Long.parseLong(w[3]), Bytes.toBytes(w[4]));
            if (Long.parseLong(w[5]) > 0) {
              p.setTTL(Long.parseLong(w[5]));
            }
            t.put(p);
            break;
          case "version":
            t.delete(new Delete(row(w)).addColumn(FAMILY, column(w), Long.parseLong(w[3])));
            break;
          case "column":
            t.delete(new Delete(row(w)).addColumns(FAMILY, column(w), Long.parseLong(w[3])));
            break;
          case "moment":
            t.delete(new Delete(row(w)).addFamilyVersion(FAMILY, Long.parseLong(w[2])));
            break;
          case "family":
            t.delete(new Delete(row(w)).addFamily(FAMILY, Long.parseLong(w[2])));
            break;
          case "flush":
            admin.flush(t.getName());
            break;
          case "clone":
            admin.cloneSnapshot(w[1], TableName.valueOf(w[2]));
            break;
          default:
            throw new IllegalArgumentException(line);
        }
      }
    }
  }

  private static byte[] row(String[] w) {
    return Bytes.toBytes(w[1]);
  }

  private static byte[] column(String[] w) {
    return Bytes.toBytes(w[2]);
  }
}
