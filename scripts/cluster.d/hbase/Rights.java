import com.google.protobuf.ServiceException;
import java.io.IOException;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.protobuf.generated.AccessControlProtos;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.hbase.security.access.AccessControlUtil;
import org.apache.hadoop.hbase.security.access.Permission;

/** Asks a region's server for rights, by the messages of HBase 2. For HBase 3, scripts/cluster renames their packages. */
public class Rights {
  /** Whether the server of the region that has row permits the table's user all actions. */
  public static boolean allowed(Table table, byte[] row, Permission.Action[] actions) throws IOException {
    AccessControlProtos.TablePermission.Builder of = AccessControlProtos.TablePermission.newBuilder()
      .setTableName(ProtobufUtil.toProtoTableName(table.getName()));
    for (Permission.Action action : actions) {
      of.addAction(AccessControlUtil.toPermissionAction(action));
    }
    AccessControlProtos.Permission wanted = AccessControlProtos.Permission.newBuilder()
      .setType(AccessControlProtos.Permission.Type.Table).setTablePermission(of).build();
    try {
      AccessControlProtos.AccessControlService.newBlockingStub(table.coprocessorService(row))
        .checkPermissions(null, AccessControlProtos.CheckPermissionsRequest.newBuilder().addPermission(wanted).build());
      return true;
    } catch (ServiceException e) {
      if (e.getCause() instanceof AccessDeniedException) {
        return false;
      }
      throw new IOException("check permissions of " + table.getName(), e);
    }
  }
}
