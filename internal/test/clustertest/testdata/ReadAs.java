import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.security.UserGroupInformation;

/** ReadAs USER TABLE counts the table's rows as that user. */
public class ReadAs {
  public static void main(String[] args) throws Exception {
    UserGroupInformation.createRemoteUser(args[0]).doAs((PrivilegedExceptionAction<Void>) () -> {
      Configuration conf = HBaseConfiguration.create();
      try (Connection c = ConnectionFactory.createConnection(conf);
        Table t = c.getTable(TableName.valueOf(args[1]));
        ResultScanner rows = t.getScanner(new Scan())) {
        int n = 0;
        while (rows.next() != null) {
          n++;
        }
        System.out.println(n + " rows");
      } catch (AccessDeniedException e) {
        System.out.println(e.getClass().getSimpleName());
      }
      return null;
    });
  }
}
