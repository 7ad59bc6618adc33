package org.apache.hadoop.io.compress;

/** The codec of LZ4, for the same reason as SnappyCodec. */
public class Lz4Codec extends org.apache.hadoop.hbase.io.compress.lz4.Lz4Codec {}
