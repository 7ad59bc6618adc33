import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Twin TABLE TWIN FAMILY [split=TEXT | table.NAME=VALUE | config.NAME=VALUE | NAME=VALUE]... makes
 * TWIN as HBase's shell does of a statement, and prints what HBase's own client says of both tables:
 * a setting or region a line, an empty line behind each table.
 */
public class Twin {
  public static void main(String[] args) throws Exception {
    try (Connection c = ConnectionFactory.createConnection(HBaseConfiguration.create())) {
      make(c.getAdmin(), args);
      describe(c.getAdmin(), TableName.valueOf(args[0]));
      describe(c.getAdmin(), TableName.valueOf(args[1]));
    }
  }

  private static void make(Admin admin, String[] args) throws Exception {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(TableName.valueOf(args[1]));
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(args[2]));
    List<byte[]> splits = new ArrayList<>();
    for (int i = 3; i < args.length; i++) {
      String[] part = args[i].split("=", 2);
      if (part[0].equals("split")) {
        splits.add(Bytes.toBytesBinary(part[1]));
      } else if (part[0].startsWith("table.")) {
        table.setValue(part[0].substring("table.".length()), part[1]);
      } else if (part[0].startsWith("config.")) {
        family.setConfiguration(part[0].substring("config.".length()), part[1]);
      } else {
        family.setValue(part[0], part[1]);
      }
    }
    admin.createTable(table.setColumnFamily(family.build()).build(), splits.toArray(new byte[0][]));
  }

  private static void describe(Admin admin, TableName name) throws Exception {
    TableDescriptor t = admin.getDescriptor(name);
    Map<String, String> all = new TreeMap<>();
    t.getValues().forEach((k, v) -> all.put("table " + text(k.get()), text(v.get())));
    for (ColumnFamilyDescriptor f : t.getColumnFamilies()) {
      String family = "family " + f.getNameAsString() + " ";
      f.getValues().forEach((k, v) -> all.put(family + text(k.get()), text(v.get())));
      f.getConfiguration().forEach((k, v) -> all.put(family + "configuration " + k, v));
    }
    all.forEach((k, v) -> System.out.println(k + " = " + v));
    for (RegionInfo r : admin.getRegions(name)) {
      System.out.println("region " + Bytes.toHex(r.getStartKey()));
    }
    System.out.println();
  }

  private static String text(byte[] b) {
    return Bytes.toString(b);
  }
}
