package org.apache.hadoop.hbase.io.compress;

import org.apache.hadoop.conf.Configuration;

/** The codecs of a later HBase implement it. HBase 2.4 does not have it, and does not call it. */
public interface CanReinit {
  void reinit(Configuration conf);
}
