package org.apache.hadoop.hbase.io.compress;

import org.apache.hadoop.conf.Configuration;

/** The codec of ZSTD asks it for dictionaries. No test configures one. */
public final class DictionaryCache {
  private DictionaryCache() {}

  public static byte[] getDictionary(Configuration conf, String path) {
    return null;
  }
}
