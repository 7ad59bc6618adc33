import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/** Cancel FILE cancels the tokens for HDFS in a file of tokens, and prints their number. */
public class Cancel {
  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    UserGroupInformation.setConfiguration(conf);
    int n = 0;
    for (Token<?> token : Credentials.readTokenStorageFile(new File(args[0]), conf).getAllTokens()) {
      if (token.getKind().toString().equals("HDFS_DELEGATION_TOKEN")) { // HBase cannot cancel its tokens
        token.cancel(conf);
        n++;
      }
    }
    System.out.println(n);
  }
}
