import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.ExtendedCell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.filter.MultipleColumnPrefixFilter;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.hfile.BloomFilterMetrics;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFilePrettyPrinter;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.mapreduce.RowCounter;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.regionserver.StoreUtils;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.mapreduce.Job;

/**
 * Store files as HBase's own classes write and read them: StoreFiles REQUESTS, a file of one request
 * a line, words separated by tabs. For each a line of words comes out. The first that fails ends it.
 *
 * <p>Files of cells hold for each cell int32 length, int64 write number, and the cell as a KeyValue
 * of that length.
 */
public class StoreFiles {
  private static final String[] REQUESTS = {
    "write CELLS FILE FAMILY [tags | conf.NAME=VALUE | NAME=VALUE of the family]..: as a RegionServer would",
    "scan FILE -> COUNT SHA256 of the file of cells that it was made from",
    "bloom FILE CELLS -> how many of the gets for each cell's row and column would open the file",
    "print FILE -> COUNT of the cells that HFilePrettyPrinter scans",
    "load DIR TABLE: the files in DIR/FAMILY/, which is local, by the bulk load of HBase's client",
    "gets TABLE PREFIXES ROW.. -> COUNT SHA256 of all versions of the cells whose qualifiers begin with one of PREFIXES, "
      + "which have commas between",
    "rows TABLE -> how many there are, by HBase's MapReduce job RowCounter in this process",
  };

  private final Configuration cluster = HBaseConfiguration.create();
  private final Configuration conf = new Configuration(cluster); // for local files
  private final FileSystem files;

  private StoreFiles() throws IOException {
    conf.set("fs.defaultFS", "file:///");
    conf.set("hbase.rootdir", "file:///");
    files = new HFileSystem(conf, true); // the blocks' own checksums are checked
  }

  public static void main(String[] args) throws Exception {
    // HBase reports much of what is wrong with a file only to its log.
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true));
    try {
      StoreFiles s = new StoreFiles();
      for (String line : Files.readAllLines(java.nio.file.Path.of(args[0]))) {
        said.reset();
        String response = String.join("\t", s.respond(line.split("\t", -1)));
        System.out.println(response + complaints(said.toString(StandardCharsets.UTF_8)));
      }
    } catch (Throwable e) {
      err.print(said);
      e.printStackTrace(err);
      System.exit(1);
    }
    System.exit(0); // whatever threads are left
  }

  /** What a log says that is worse than information, a word for each line. */
  private static String complaints(String log) {
    StringBuilder out = new StringBuilder();
    for (String line : log.split("\n")) {
      if (line.matches(".*(WARN|ERROR|FATAL).*") && !line.contains("NativeCodeLoader")) {
        out.append('\t').append(line.replace('\t', ' '));
      }
    }
    return out.toString();
  }

  private List<String> respond(String[] w) throws Exception {
    switch (w[0]) {
      case "write":
        return write(w);
      case "scan":
        return scan(new Path(w[1]));
      case "bloom":
        return bloom(new Path(w[1]), cells(w[2]));
      case "print":
        return print(w[1]);
      case "load":
        return load(new Path(w[1]), TableName.valueOf(w[2]));
      case "gets":
        return gets(w);
      case "rows":
        return rows(w[1]);
      default:
        throw new IllegalArgumentException(w[0] + " is no request; there are: " + String.join(" | ", REQUESTS));
    }
  }

  private static List<KeyValue> cells(String file) throws IOException {
    List<KeyValue> all = new ArrayList<>();
    try (DataInputStream in = new DataInputStream(Files.newInputStream(java.nio.file.Path.of(file)))) {
      ByteBuffer b = ByteBuffer.wrap(in.readAllBytes());
      while (b.hasRemaining()) {
        byte[] cell = new byte[b.getInt()];
        long mvcc = b.getLong();
        b.get(cell);
        KeyValue kv = new KeyValue(cell, 0, cell.length);
        kv.setSequenceId(mvcc);
        all.add(kv);
      }
    }
    return all;
  }

  /** A sum over cells in the form of a file of cells. */
  private static class Digest {
    final MessageDigest sum = MessageDigest.getInstance("SHA-256");
    long cells;

    Digest() throws Exception {}

    void add(Cell c) {
      KeyValue kv = KeyValueUtil.copyToNewKeyValue((ExtendedCell) c);
      sum.update(Bytes.toBytes(kv.getLength()));
      sum.update(Bytes.toBytes(kv.getSequenceId()));
      sum.update(kv.getBuffer(), kv.getOffset(), kv.getLength());
      cells++;
    }

    List<String> words() {
      return List.of(Long.toString(cells), Bytes.toHex(sum.digest()));
    }
  }

  // Files.

  private List<String> write(String[] w) throws IOException {
    ColumnFamilyDescriptorBuilder b = ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(w[3]));
    Configuration settings = new Configuration(conf);
    boolean tags = false;
    for (String option : Arrays.asList(w).subList(4, w.length)) {
      String[] part = option.split("=", 2);
      if (option.equals("tags")) {
        tags = true;
      } else if (part[0].startsWith("conf.")) {
        settings.set(part[0].substring("conf.".length()), part[1]);
      } else {
        b.setValue(part[0], part[1]);
      }
    }
    ColumnFamilyDescriptor family = b.build();
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("t")).setColumnFamily(family).build();
    Configuration store = StoreUtils.createStoreConfiguration(settings, table, family);
    HFileContext context = new HFileContextBuilder().withIncludesMvcc(true).withIncludesTags(tags)
      .withCompression(family.getCompressionType()).withChecksumType(StoreUtils.getChecksumType(store))
      .withBytesPerCheckSum(StoreUtils.getBytesPerChecksum(store)).withBlockSize(family.getBlocksize())
      .withHBaseCheckSum(true).withDataBlockEncoding(family.getDataBlockEncoding()).withCompressTags(family.isCompressTags())
      .withCreateTime(0).withColumnFamily(family.getName()).build();
    StoreFileWriter out = new StoreFileWriter.Builder(store, new CacheConfig(store), files).withFilePath(new Path(w[2]))
      .withBloomType(family.getBloomFilterType()).withFileContext(context).build();
    for (KeyValue kv : cells(w[1])) {
      out.append(kv);
    }
    out.appendTrackedTimestampsToMetadata();
    out.close();
    return List.of();
  }

  /** Opens a file as a RegionServer opens those of a store. */
  private StoreFileReader open(Path file) throws IOException {
    HStoreFile f = new HStoreFile(new StoreFileInfo(conf, files, file, true),
      BloomType.ROW, CacheConfig.DISABLED, new BloomFilterMetrics()); // with any type but NONE the file's holds
    f.initReader();
    return f.getReader();
  }

  private List<String> scan(Path file) throws Exception {
    StoreFileReader r = open(file);
    Digest d = new Digest();
    HFileScanner s = r.getHFileReader().getScanner(conf, false, false);
    for (boolean more = s.seekTo(); more; more = s.next()) {
      d.add(s.getCell());
    }
    r.close(false);
    return d.words();
  }

  private List<String> bloom(Path file, List<KeyValue> cells) throws Exception {
    StoreFileReader r = open(file);
    Method passes = StoreFileReader.class.getDeclaredMethod("passesBloomFilter", Scan.class, SortedSet.class);
    passes.setAccessible(true);
    int n = 0;
    for (KeyValue c : cells) {
      SortedSet<byte[]> columns = new TreeSet<>(Bytes.BYTES_COMPARATOR);
      columns.add(CellUtil.cloneQualifier(c));
      if ((boolean) passes.invoke(r, new Scan(new Get(CellUtil.cloneRow(c))), columns)) {
        n++;
      }
    }
    r.close(false);
    return List.of(Integer.toString(n));
  }

  private List<String> print(String file) throws IOException {
    HFilePrettyPrinter printer = new HFilePrettyPrinter(new Configuration(conf));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    printer.setPrintStreams(new PrintStream(out, true), System.err);
    int status = printer.run(new String[] {"-v", "-k", "-a", "-m", "-b", "-h", "-s", "-f", file});
    String text = out.toString(StandardCharsets.UTF_8);
    if (status != 0) {
      throw new IOException("HFilePrettyPrinter of " + file + " ends with " + status + "\n" + text);
    }
    String count = text.replaceFirst("(?s).*Scanned kv count -> (\\d+).*", "$1");
    return List.of(count + complaints(text));
  }

  // Tables.

  private List<String> load(Path dir, TableName table) throws IOException {
    FileSystem fs = FileSystem.get(cluster);
    Path to = new Path("/test/load-" + table.getNameAsString());
    fs.mkdirs(to.getParent());
    fs.copyFromLocalFile(dir, to);
    BulkLoadHFiles.create(cluster).bulkLoad(table, to);
    fs.delete(to, true);
    return List.of();
  }

  private List<String> gets(String[] w) throws Exception {
    byte[][] prefixes = Arrays.stream(w[2].split(",")).map(Bytes::toBytes).toArray(byte[][]::new);
    List<Get> gets = new ArrayList<>();
    for (String row : Arrays.asList(w).subList(3, w.length)) {
      gets.add(new Get(Bytes.toBytes(row)).readAllVersions().setFilter(new MultipleColumnPrefixFilter(prefixes)));
    }
    Digest d = new Digest();
    try (Connection c = ConnectionFactory.createConnection(cluster); Table t = c.getTable(TableName.valueOf(w[1]))) {
      for (Result r : t.get(gets)) {
        for (Cell cell : r.isEmpty() ? new Cell[0] : r.rawCells()) {
          d.add(cell);
        }
      }
    }
    return d.words();
  }

  private List<String> rows(String table) throws Exception {
    Job job = RowCounter.createSubmittableJob(new Configuration(cluster), new String[] {table});
    if (!job.waitForCompletion(false)) {
      throw new IOException("RowCounter of " + table + " ends with " + job.getStatus());
    }
    long rows = job.getCounters().findCounter(RowCounter.class.getName() + "$RowCounterMapper$Counters", "ROWS").getValue();
    return List.of(Long.toString(rows));
  }
}
