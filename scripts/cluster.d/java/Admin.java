import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.ThrottleType;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.access.UserPermission;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Inspects and changes a cluster, by HBase's own client: a daemon of the cluster
 * that listens at the address HOST PORT of its arguments. Two more arguments are the principal and
 * the keytab that it logs in with. A client sends one request a line and
 * reads one reply a line. Requests of several connections run at the same time. A word is
 * separated from the next by a tab, and a byte that is not printable ASCII, a blank or a backslash
 * is \xNN. A reply begins with "ok" or "error".
 */
public class Admin implements AutoCloseable {
  /** The longest that one request waits for the cluster. */
  private static final long LIMIT_MS = 240_000;

  private static final String[] REQUESTS = {
    "create TABLE FAMILY [split=KEY | table.NAME=VALUE | config.NAME=VALUE of the family | NAME=VALUE of the family]..",
    "alter TABLE FAMILY NAME=VALUE..: of the family",
    "describe TABLE -> a word for each setting, NAME = VALUE, and region",
    "drop TABLE; does nothing where there is none",
    "disable TABLE", "enable TABLE", "tables", "namespace NAME", "drop-namespace NAME",
    "put TABLE ROW FAMILY QUALIFIER VALUE [TIMESTAMP]",
    "delete TABLE ROW [FAMILY QUALIFIER]: all versions, of all columns if none is named",
    "write TABLE FAMILY ORDER..: one after the other, see write",
    "get TABLE ROW -> a QUALIFIER=VALUE@TIMESTAMP for each cell",
    "count TABLE -> ROWS CELLS",
    "digest TABLE -> ROWS CELLS SHA256 of all cells, see digest",
    "regions TABLE -> a word for each: ENCODED HOST:PORT START END, with blanks between",
    "meta -> HOST:PORT of the server that has hbase:meta",
    "locks -> the master's locks, with what holds each and what waits, as JSON",
    "split TABLE KEY", "merge ENCODED ENCODED", "move ENCODED HOST:PORT", "unassign ENCODED", "assign ENCODED",
    "flush TABLE", "compact TABLE: all into one file a region",
    "snapshot NAME TABLE", "drop-snapshot NAME", "clone NAME TABLE: a new table of a snapshot",
    "grant USER ACTIONS [TABLE]: letters of RWXCA; without TABLE everywhere; done when the servers of TABLE have it", "revoke USER [TABLE]",
    "throttle TABLE TYPE NUMBER: of ThrottleType, a second on each server; 0 is no throttle of any type",
    "space PATH BYTES: of all replicas that may be below it; 0 is without bound",
    "names PATH NUMBER: of files and directories that may be below it, itself included",
    "erasure PATH POLICY: how files below it are coded", "chmod PATH MODE", "acl PATH ENTRIES: adds them, such as default:user:NAME:r-x", "safemode enter | leave",
    "mkdir PATH [OWNER [MODE]]", "rm PATH", "ls PATH -> a NAME OWNER MODE LENGTH for each",
    "healthy REGIONSERVERS REPLICATION: all servers live, every region responds, HDFS takes a file",
  };

  /** What all requests share: connections to HBase and HDFS, which any thread may use. */
  private static final class Shared {
    final Connection connection;
    final Connection patient;
    final FileSystem files;
    final File keytabs;

    /** keytabs is the directory with the keytabs of users, or null where nobody needs one. */
    Shared(File keytabs) throws IOException, InterruptedException {
      this.keytabs = keytabs;
      Configuration conf = HBaseConfiguration.create();
      // A call to the master that assigns a region lasts until it is done, and cannot be made twice.
      // A whole table is read when the last of its regions has been recovered.
      Configuration slow = new Configuration(conf);
      slow.setInt(HConstants.HBASE_RPC_TIMEOUT_KEY, (int) LIMIT_MS);
      patient = connect(slow);
      // All else gives up on a server that is gone within seconds, so that the caller can see to it.
      conf.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 6);
      conf.setInt(HConstants.HBASE_RPC_TIMEOUT_KEY, 10_000);
      connection = connect(conf);
      // A NameNode that somebody restarted is asked again, ten times after half a second.
      conf.setBoolean("dfs.client.retry.policy.enabled", true);
      conf.set("dfs.client.retry.policy.spec", "500,10");
      files = FileSystem.get(conf);
    }

    /** Connects. HBase 3 refuses until a new master has written the cluster's ID. */
    private static Connection connect(Configuration conf) throws IOException, InterruptedException {
      for (long end = System.currentTimeMillis() + LIMIT_MS;; Thread.sleep(100)) {
        try {
          return ConnectionFactory.createConnection(conf);
        } catch (IOException e) {
          if (System.currentTimeMillis() > end) {
            throw e;
          }
        }
      }
    }
  }

  private final Connection connection;
  private final Connection patient;
  private final FileSystem files;
  private final File keytabs;
  private final org.apache.hadoop.hbase.client.Admin admin;
  private final org.apache.hadoop.hbase.client.Admin assignments;

  private Admin(Shared shared) throws IOException {
    connection = shared.connection;
    patient = shared.patient;
    files = shared.files;
    keytabs = shared.keytabs;
    admin = connection.getAdmin();
    assignments = patient.getAdmin();
  }

  @Override
  public void close() throws IOException {
    assignments.close();
    admin.close();
  }

  public static void main(String[] args) throws Exception {
    File keytabs = null;
    if (args.length > 2) {
      UserGroupInformation.setConfiguration(HBaseConfiguration.create());
      UserGroupInformation.loginUserFromKeytab(args[2], args[3]);
      keytabs = new File(args[3]).getParentFile();
    }
    Shared shared = new Shared(keytabs);
    try (ServerSocket listener = new ServerSocket(Integer.parseInt(args[1]), 50, InetAddress.getByName(args[0]))) {
      for (;;) {
        Socket client = listener.accept();
        new Thread(() -> serve(shared, client)).start();
      }
    }
  }

  /** Serves a client until it closes its connection. */
  private static void serve(Shared shared, Socket client) {
    try (client;
        Admin a = new Admin(shared);
        BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))) {
      for (String line; (line = in.readLine()) != null;) {
        client.getOutputStream().write((a.reply(line.split("\t", -1)) + "\n").getBytes(StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      System.err.println("a client is gone: " + e);
    }
  }

  private String reply(String[] words) {
    try {
      StringBuilder out = new StringBuilder("ok");
      for (String word : respond(words)) {
        out.append('\t').append(word);
      }
      return out.toString();
    } catch (Exception e) {
      return "error\t" + escape(Bytes.toBytes(e.toString()), true);
    }
  }

  private List<String> respond(String[] w) throws Exception {
    switch (w[0]) {
      case "create":
        return create(w);
      case "alter":
        return alter(w);
      case "describe":
        return describe(table(w[1]));
      case "drop":
        return drop(table(w[1]));
      case "disable":
        return done(admin.disableTableAsync(table(w[1])));
      case "enable":
        return done(admin.enableTableAsync(table(w[1])));
      case "tables":
        return strings(Arrays.asList(admin.listTableNames()));
      case "namespace":
        return done(admin.createNamespaceAsync(NamespaceDescriptor.create(w[1]).build()));
      case "drop-namespace":
        return done(admin.deleteNamespaceAsync(w[1]));
      case "put":
        return put(w);
      case "delete":
        return delete(w);
      case "write":
        return write(w);
      case "get":
        return get(w);
      case "count":
        return digest(table(w[1])).subList(0, 2);
      case "digest":
        return digest(table(w[1]));
      case "regions":
        return regions(table(w[1]));
      case "meta":
        return List.of(regionServer(locations(TableName.META_TABLE_NAME).get(0)));
      case "locks":
        return List.of(word(Bytes.toBytes(admin.getLocks())));
      case "split":
        return split(table(w[1]), bytes(w[2]));
      case "merge":
        return done(admin.mergeRegionsAsync(new byte[][] {bytes(w[1]), bytes(w[2])}, false));
      case "move":
        assignments.move(bytes(w[1]), server(w[2]));
        return List.of();
      case "unassign":
        assignments.unassign(bytes(w[1]), false);
        return List.of();
      case "assign":
        assignments.assign(bytes(w[1]));
        return List.of();
      case "flush":
        admin.flush(table(w[1]));
        return List.of();
      case "compact":
        return compact(table(w[1]));
      case "snapshot":
        admin.snapshot(w[1], table(w[2]));
        return List.of();
      case "drop-snapshot":
        admin.deleteSnapshot(w[1]);
        return List.of();
      case "clone":
        admin.cloneSnapshot(w[1], table(w[2]));
        return List.of();
      case "grant":
        return grant(w);
      case "revoke":
        admin.revoke(new UserPermission(w[1], permission(w, 2, Permission.Action.values())));
        return List.of();
      case "throttle":
        return throttle(table(w[1]), ThrottleType.valueOf(w[2]), Long.parseLong(w[3]));
      case "space":
        return space(new Path(text(w[1])), Long.parseLong(w[2]));
      case "names":
        hdfs().setQuota(new Path(text(w[1])), Long.parseLong(w[2]), HdfsConstants.QUOTA_DONT_SET);
        return List.of();
      case "erasure":
        return erasure(new Path(text(w[1])), w[2]);
      case "chmod":
        files.setPermission(new Path(text(w[1])), new FsPermission(w[2]));
        return List.of();
      case "acl":
        files.modifyAclEntries(new Path(text(w[1])), AclEntry.parseAclSpec(w[2], true));
        return List.of();
      case "safemode":
        hdfs().setSafeMode(w[1].equals("enter") ? SafeModeAction.SAFEMODE_ENTER : SafeModeAction.SAFEMODE_LEAVE);
        return List.of();
      case "mkdir":
        return mkdir(w);
      case "rm":
        files.delete(new Path(text(w[1])), true);
        return List.of();
      case "ls":
        return list(new Path(text(w[1])));
      case "healthy":
        return healthy(Integer.parseInt(w[1]), Short.parseShort(w[2]));
      default:
        throw new IllegalArgumentException(w[0] + " is no request; there are: " + String.join(" | ", REQUESTS));
    }
  }

  // Tables.

  private List<String> create(String[] w) throws Exception {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(table(w[1]));
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(bytes(w[2]));
    List<byte[]> splits = new ArrayList<>();
    for (String option : Arrays.asList(w).subList(3, w.length)) {
      String[] part = option.split("=", 2);
      if (part.length < 2) {
        throw new IllegalArgumentException("create: " + option + " is not NAME=VALUE");
      }
      if (part[0].equals("split")) {
        splits.add(bytes(part[1]));
      } else if (part[0].startsWith("table.")) {
        table.setValue(part[0].substring("table.".length()), text(part[1]));
      } else if (part[0].startsWith("config.")) {
        family.setConfiguration(part[0].substring("config.".length()), text(part[1]));
      } else {
        family.setValue(part[0], text(part[1]));
      }
    }
    TableDescriptor all = table.setColumnFamily(family.build()).build();
    return done(splits.isEmpty() ? admin.createTableAsync(all) : admin.createTableAsync(all, splits.toArray(new byte[0][])));
  }

  private List<String> alter(String[] w) throws Exception {
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(admin.getDescriptor(table(w[1])).getColumnFamily(bytes(w[2])));
    for (String option : Arrays.asList(w).subList(3, w.length)) {
      String[] part = option.split("=", 2);
      family.setValue(part[0], text(part[1]));
    }
    return done(admin.modifyColumnFamilyAsync(table(w[1]), family.build()));
  }

  private List<String> describe(TableName name) throws IOException {
    TableDescriptor table = admin.getDescriptor(name);
    List<String> all = new ArrayList<>();
    table.getValues().forEach((k, v) -> all.add("table " + Bytes.toString(k.get()) + " = " + Bytes.toString(v.get())));
    for (ColumnFamilyDescriptor f : table.getColumnFamilies()) {
      String family = "family " + f.getNameAsString() + " ";
      f.getValues().forEach((k, v) -> all.add(family + Bytes.toString(k.get()) + " = " + Bytes.toString(v.get())));
      f.getConfiguration().forEach((k, v) -> all.add(family + "configuration " + k + " = " + v));
    }
    Collections.sort(all);
    for (RegionInfo r : admin.getRegions(name)) {
      all.add("region " + Bytes.toHex(r.getStartKey()));
    }
    all.replaceAll(word -> escape(Bytes.toBytes(word), true));
    return all;
  }

  private List<String> drop(TableName name) throws Exception {
    if (!admin.tableExists(name)) {
      return List.of();
    }
    if (!admin.isTableDisabled(name)) {
      done(admin.disableTableAsync(name));
    }
    return done(admin.deleteTableAsync(name));
  }

  private List<String> throttle(TableName name, ThrottleType type, long limit) throws IOException {
    admin.setQuota(limit == 0
        ? QuotaSettingsFactory.unthrottleTable(name)
        : QuotaSettingsFactory.throttleTable(name, type, limit, TimeUnit.SECONDS));
    return List.of();
  }

  private List<String> space(Path path, long bytes) throws IOException {
    long quota = bytes == 0 ? HdfsConstants.QUOTA_RESET : bytes;
    hdfs().setQuota(path, HdfsConstants.QUOTA_DONT_SET, quota);
    return List.of();
  }

  private DistributedFileSystem hdfs() {
    return (DistributedFileSystem) files;
  }

  private List<String> put(String[] w) throws IOException {
    long time = w.length > 6 ? Long.parseLong(w[6]) : HConstants.LATEST_TIMESTAMP;
    try (Table t = connection.getTable(table(w[1]))) {
      t.put(new Put(bytes(w[2])).addColumn(bytes(w[3]), bytes(w[4]), time, bytes(w[5])));
    }
    return List.of();
  }

  private List<String> delete(String[] w) throws IOException {
    try (Table t = connection.getTable(table(w[1]))) {
      Delete row = new Delete(bytes(w[2])); // alone it is deleteall of HBase's shell
      t.delete(w.length > 3 ? row.addColumns(bytes(w[3]), bytes(w[4])) : row);
    }
    return List.of();
  }

  /**
   * An order has tabs between its parts: put ROW QUALIFIER TIME VALUE TTL, where a TTL of 0 is none;
   * version, column ROW QUALIFIER TIME; moment, family ROW TIME; flush.
   */
  private List<String> write(String[] w) throws IOException {
    byte[] family = bytes(w[2]);
    try (Table t = connection.getTable(table(w[1]))) {
      for (String order : Arrays.asList(w).subList(3, w.length)) {
        String[] part = text(order).split("\t", -1);
        if (part[0].equals("flush")) {
          admin.flush(t.getName());
        } else if (part[0].equals("put")) {
          Put put = new Put(Bytes.toBytes(part[1]));
          put.addColumn(family, Bytes.toBytes(part[2]), Long.parseLong(part[3]), Bytes.toBytes(part[4]));
          if (Long.parseLong(part[5]) > 0) {
            put.setTTL(Long.parseLong(part[5]));
          }
          t.put(put);
        } else {
          t.delete(deletion(family, part));
        }
      }
    }
    return List.of();
  }

  private static Delete deletion(byte[] family, String[] part) {
    Delete of = new Delete(Bytes.toBytes(part[1]));
    switch (part[0]) {
      case "version":
        return of.addColumn(family, Bytes.toBytes(part[2]), Long.parseLong(part[3]));
      case "column":
        return of.addColumns(family, Bytes.toBytes(part[2]), Long.parseLong(part[3]));
      case "moment":
        return of.addFamilyVersion(family, Long.parseLong(part[2]));
      case "family":
        return of.addFamily(family, Long.parseLong(part[2]));
      default:
        throw new IllegalArgumentException("write: " + String.join(" ", part));
    }
  }

  private List<String> get(String[] w) throws IOException {
    List<String> out = new ArrayList<>();
    try (Table t = connection.getTable(table(w[1]))) {
      Result r = t.get(new Get(bytes(w[2])));
      for (Cell c : r.isEmpty() ? new Cell[0] : r.rawCells()) {
        out.add(word(CellUtil.cloneQualifier(c)) + "=" + word(CellUtil.cloneValue(c)) + "@" + c.getTimestamp());
      }
    }
    return out;
  }

  /**
   * The SHA-256 is of every cell in the order of a scan, all versions: row, family, qualifier and
   * value, each behind its length in 4 bytes, the value behind the timestamp in 8; all big-endian.
   */
  private List<String> digest(TableName name) throws Exception {
    MessageDigest sum = MessageDigest.getInstance("SHA-256");
    long rows = 0;
    long cells = 0;
    Scan scan = new Scan().readAllVersions().setCaching(1000).setCacheBlocks(false);
    try (Table t = patient.getTable(name); ResultScanner results = t.getScanner(scan)) {
      for (Result r : results) {
        rows++;
        for (Cell c : r.rawCells()) {
          cells++;
          add(sum, c.getRowArray(), c.getRowOffset(), c.getRowLength());
          add(sum, c.getFamilyArray(), c.getFamilyOffset(), c.getFamilyLength());
          add(sum, c.getQualifierArray(), c.getQualifierOffset(), c.getQualifierLength());
          sum.update(Bytes.toBytes(c.getTimestamp()));
          add(sum, c.getValueArray(), c.getValueOffset(), c.getValueLength());
        }
      }
    }
    return List.of(Long.toString(rows), Long.toString(cells), Bytes.toHex(sum.digest()));
  }

  private static void add(MessageDigest sum, byte[] b, int offset, int length) {
    sum.update(Bytes.toBytes(length));
    sum.update(b, offset, length);
  }

  // Regions.

  private List<HRegionLocation> locations(TableName name) throws IOException {
    try (RegionLocator locator = connection.getRegionLocator(name)) {
      locator.clearRegionLocationCache();
      return locator.getAllRegionLocations();
    }
  }

  private List<String> regions(TableName name) throws IOException {
    List<String> out = new ArrayList<>();
    for (HRegionLocation l : locations(name)) {
      out.add(String.join(" ", l.getRegion().getEncodedName(), regionServer(l), word(l.getRegion().getStartKey()), word(l.getRegion().getEndKey())));
    }
    return out;
  }

  private static String regionServer(HRegionLocation l) {
    return l.getServerName() == null ? "-" : l.getServerName().getAddress().toString();
  }

  private List<String> split(TableName name, byte[] key) throws Exception {
    try (RegionLocator locator = connection.getRegionLocator(name)) {
      return done(admin.splitRegionAsync(locator.getRegionLocation(key, true).getRegion().getRegionName(), key));
    }
  }

  private ServerName server(String address) throws IOException {
    for (ServerName s : admin.getClusterMetrics(EnumSet.of(ClusterMetrics.Option.SERVERS_NAME)).getServersName()) {
      if (s.getAddress().toString().equals(address)) {
        return s;
      }
    }
    throw new IOException("no live RegionServer at " + address);
  }

  private List<String> compact(TableName name) throws Exception {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIMIT_MS);
    admin.flush(name);
    admin.majorCompact(name);
    do { // the request only queues it
      if (System.nanoTime() > end) {
        throw new TimeoutException("compact " + name);
      }
      Thread.sleep(200);
    } while (admin.getCompactionState(name) != CompactionState.NONE);
    return List.of();
  }

  // Permissions.

  private static Permission permission(String[] w, int at, Permission.Action[] actions) {
    return w.length > at
      ? Permission.newBuilder(table(w[at])).withActions(actions).build()
      : Permission.newBuilder().withActions(actions).build();
  }

  /** Is done when every server of the table's regions has the grant: ZooKeeper informs them later. */
  private List<String> grant(String[] w) throws IOException, InterruptedException {
    Permission.Action[] actions = actions(w[2]);
    admin.grant(new UserPermission(w[1], permission(w, 3, actions)), false);
    if (w.length > 3) {
      TableName name = table(w[3]);
      try (Connection theirs = connectAs(w[1]); Table table = theirs.getTable(name); RegionLocator locator = connection.getRegionLocator(name)) {
        for (byte[] start : locator.getStartKeys()) {
          for (long end = System.currentTimeMillis() + LIMIT_MS; !Rights.allowed(table, start, actions); Thread.sleep(20)) {
            if (System.currentTimeMillis() > end) {
              throw new IOException("the server of region " + Bytes.toStringBinary(start) + " has no grant after " + LIMIT_MS + " ms");
            }
          }
        }
      }
    }
    return List.of();
  }

  /** A connection of another user, who has a keytab next to the daemon's where Kerberos is used. */
  private Connection connectAs(String user) throws IOException, InterruptedException {
    UserGroupInformation ugi = keytabs == null
      ? UserGroupInformation.createRemoteUser(user)
      : UserGroupInformation.loginUserFromKeytabAndReturnUGI(user, new File(keytabs, user + ".keytab").getPath());
    return ugi.doAs((PrivilegedExceptionAction<Connection>) () -> ConnectionFactory.createConnection(connection.getConfiguration()));
  }

  private static Permission.Action[] actions(String letters) {
    List<Permission.Action> out = new ArrayList<>();
    for (Permission.Action action : Permission.Action.values()) {
      if (letters.indexOf(action.code()) >= 0) {
        out.add(action);
      }
    }
    return out.toArray(new Permission.Action[0]);
  }

  // Files.

  /** Calls the methods by name, because the Hadoop 2 client of HBase 2.4 does not have them. */
  private List<String> erasure(Path path, String policy) throws Exception {
    Class<?> type = DistributedFileSystem.class;
    type.getMethod("enableErasureCodingPolicy", String.class).invoke(hdfs(), policy);
    type.getMethod("setErasureCodingPolicy", Path.class, String.class).invoke(hdfs(), path, policy);
    return List.of();
  }

  private List<String> mkdir(String[] w) throws IOException {
    Path path = new Path(text(w[1]));
    files.mkdirs(path);
    if (w.length > 2) {
      files.setOwner(path, w[2], null);
    }
    if (w.length > 3) {
      files.setPermission(path, new FsPermission(w[3]));
    }
    return List.of();
  }

  private List<String> list(Path path) throws IOException {
    List<String> out = new ArrayList<>();
    for (FileStatus s : files.listStatus(path)) {
      out.add(String.join(" ", word(Bytes.toBytes(s.getPath().getName())), s.getOwner(),
        String.format("%04o", s.getPermission().toShort()), Long.toString(s.getLen())));
    }
    return out;
  }

  // Health.

  private List<String> healthy(int servers, short replication) throws Exception {
    ClusterMetrics m = admin.getClusterMetrics(EnumSet.of(ClusterMetrics.Option.LIVE_SERVERS,
      ClusterMetrics.Option.REGIONS_IN_TRANSITION, ClusterMetrics.Option.MASTER));
    if (m.getLiveServerMetrics().size() != servers) {
      throw new IOException(m.getLiveServerMetrics().size() + " of " + servers + " RegionServers are live");
    }
    if (!m.getRegionStatesInTransition().isEmpty()) {
      throw new IOException(m.getRegionStatesInTransition().size() + " regions are in transition");
    }
    for (TableName name : admin.listTableNames()) {
      readable(name);
    }
    for (TableName name : List.of(TableName.META_TABLE_NAME, TableName.valueOf("hbase:acl"))) {
      readable(name);
    }
    Path probe = new Path("/.healthy-" + ProcessHandle.current().pid());
    try (FSDataOutputStream out = files.create(probe, true, 4096, replication, 1 << 20)) {
      out.write(1);
    }
    files.delete(probe, false);
    return List.of();
  }

  /** Reads from every region of a table. */
  private void readable(TableName name) throws IOException {
    if (!name.equals(TableName.META_TABLE_NAME) && !admin.isTableEnabled(name)) {
      return;
    }
    try (Table t = connection.getTableBuilder(name, null).setOperationTimeout(5_000).setRpcTimeout(2_000).build()) {
      for (HRegionLocation l : locations(name)) {
        byte[] start = l.getRegion().getStartKey();
        t.exists(new Get(start.length > 0 ? start : new byte[] {0}));
      }
    }
  }

  // Words.

  private static List<String> done(Future<?> f) throws Exception {
    f.get(LIMIT_MS, TimeUnit.MILLISECONDS);
    return List.of();
  }

  private static List<String> strings(List<?> all) {
    List<String> out = new ArrayList<>();
    all.forEach(one -> out.add(one.toString()));
    return out;
  }

  private static TableName table(String word) {
    return TableName.valueOf(text(word));
  }

  private static byte[] bytes(String word) {
    return Bytes.toBytesBinary(word);
  }

  private static String text(String word) {
    return Bytes.toString(bytes(word));
  }

  private static String word(byte[] b) {
    return escape(b, false);
  }

  private static String escape(byte[] b, boolean blanks) {
    StringBuilder out = new StringBuilder();
    for (byte c : b) {
      if (c > ' ' && c < 0x7f && c != '\\' || blanks && c == ' ') {
        out.append((char) c);
      } else {
        out.append(String.format("\\x%02X", c));
      }
    }
    return out.toString();
  }
}
