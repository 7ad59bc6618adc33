package org.apache.hadoop.io.compress;

/** The codec of ZSTD, for the same reason as SnappyCodec. */
public class ZStandardCodec extends org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec {}
