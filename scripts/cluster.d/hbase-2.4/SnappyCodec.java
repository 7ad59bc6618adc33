package org.apache.hadoop.io.compress;

/**
 * HBase 2.4 asks for Hadoop's codec by this name, which needs native code. This class comes first
 * on the class path, and is the codec of a later HBase, whose blocks have the same bytes.
 */
public class SnappyCodec extends org.apache.hadoop.hbase.io.compress.xerial.SnappyCodec {}
