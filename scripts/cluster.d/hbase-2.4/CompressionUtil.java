package org.apache.hadoop.hbase.io.compress;

/** What the codecs of a later HBase need, and HBase 2.4 does not have. */
public final class CompressionUtil {
  private CompressionUtil() {}

  /** Returns the least power of two that is not less than v, and at most 1 << 30. */
  public static int roundInt2(int v) {
    int power = Integer.highestOneBit(Math.max(v, 1));
    return power == v || power == 1 << 30 ? power : power << 1;
  }
}
