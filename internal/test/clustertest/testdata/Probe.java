import org.apache.hadoop.fs.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;

/** Probe TABLE DIR says who the user is, counts the table's rows, and makes a file in DIR. */
public class Probe {
  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    UserGroupInformation.setConfiguration(conf);
    UserGroupInformation user = UserGroupInformation.getLoginUser();
    System.out.printf("%s: %s; reads: %s; writes: %s%n", user.getUserName(), user.getAuthenticationMethod(), rows(conf, args[0]), file(conf, args[1]));
  }

  private static String rows(Configuration conf, String table) throws Exception {
    try (Connection c = ConnectionFactory.createConnection(conf);
        Table t = c.getTable(TableName.valueOf(table));
        ResultScanner rows = t.getScanner(new Scan())) {
      int n = 0;
      while (rows.next() != null) {
        n++;
      }
      return n + " rows";
    } catch (AccessDeniedException e) {
      return e.getClass().getSimpleName();
    }
  }

  private static String file(Configuration conf, String dir) throws Exception {
    Path path = new Path(dir, "probe");
    try {
      path.getFileSystem(conf).create(path).close();
      return "yes";
    } catch (AccessControlException e) {
      return e.getClass().getSimpleName();
    }
  }
}
