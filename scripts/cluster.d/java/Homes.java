import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.UserGroupInformation;

/** Homes PRINCIPAL KEYTAB PATH=OWNER=MODE.. makes directories on HDFS, as that principal. */
public class Homes {
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    UserGroupInformation.setConfiguration(conf);
    UserGroupInformation.loginUserFromKeytab(args[0], args[1]);
    FileSystem files = FileSystem.get(conf);
    for (int i = 2; i < args.length; i++) {
      String[] part = args[i].split("=");
      Path path = new Path(part[0]);
      files.mkdirs(path);
      files.setPermission(path, new FsPermission(part[2])); // mkdirs applies the umask
      files.setOwner(path, part[1], part[1]);
    }
  }
}
