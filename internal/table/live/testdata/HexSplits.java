import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.RegionSplitter;

/** HexSplits N... prints the points at which HBase's HexStringSplit makes N regions, a line for each N. */
public class HexSplits {
  public static void main(String[] args) {
    for (String n : args) {
      StringBuilder line = new StringBuilder();
      for (byte[] point : new RegionSplitter.HexStringSplit().split(Integer.parseInt(n))) {
        line.append(line.length() == 0 ? "" : " ").append(Bytes.toString(point));
      }
      System.out.println(line);
    }
  }
}
