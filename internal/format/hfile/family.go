package hfile

import (
	"fmt"
	"strconv"
	"strings"
)

// Attributes of a column family, by HBase's names.
const (
	attrCompression = "COMPRESSION"
	attrEncoding    = "DATA_BLOCK_ENCODING"
	attrBloom       = "BLOOMFILTER"
	attrBloomPrefix = "RowPrefixBloomFilter.prefix_length"
	attrBlockSize   = "BLOCKSIZE"
	attrEncryption  = "ENCRYPTION"
)

// ForFamily returns Options for a column family. With them a Writer makes the same blocks as
// HBase's own writer. attributes are the family's attributes together with its configuration;
// a missing attribute has HBase's default. If a value is not supported, the error names the
// attribute and the value.
//
// The attribute value ZSTD does not distinguish the two forms that servers read. ForFamily
// returns the framed form. Reader.Codec returns the form that a file of the table uses.
func ForFamily(attributes map[string]string) (Options, error) {
	o := Options{ShortIndexKeys: true}
	for _, read := range []func(*Options, map[string]string) error{
		familyCodec, familyEncoding, familyBloom, familyBlockSize, familyEncryption,
	} {
		if err := read(&o, attributes); err != nil {
			return Options{}, err
		}
	}
	return o, nil
}

func familyCodec(o *Options, attributes map[string]string) error {
	v := attribute(attributes, attrCompression, string(Plain))
	switch c := Codec(v); c {
	case Plain, GZ, Snappy, LZ4, ZSTD:
		o.Codec = c
		return nil
	}
	return refused(attributes, attrCompression, "want NONE, GZ, SNAPPY, LZ4 or ZSTD")
}

func familyEncoding(o *Options, attributes map[string]string) error {
	o.Encoding = Encoding(attribute(attributes, attrEncoding, string(NoEncoding)))
	if _, ok := o.Encoding.id(); !ok {
		return refused(attributes, attrEncoding, "want NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1")
	}
	return nil
}

func familyBloom(o *Options, attributes map[string]string) error {
	switch o.Bloom = BloomType(attribute(attributes, attrBloom, string(RowBloom))); o.Bloom {
	case NoBloom, RowBloom, RowColBloom:
		return nil
	case PrefixBloom:
		n, err := strconv.Atoi(strings.TrimSpace(attributes[attrBloomPrefix]))
		if err != nil || n < 1 || n > maxRow {
			return refused(attributes, attrBloomPrefix, fmt.Sprintf("want 1 to %d with %s %s", maxRow, attrBloom, o.Bloom))
		}
		o.BloomPrefix = n
		return nil
	}
	return refused(attributes, attrBloom, "want NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH")
}

func familyBlockSize(o *Options, attributes map[string]string) error {
	n, err := strconv.Atoi(attribute(attributes, attrBlockSize, "65536"))
	if err != nil || n < 1 || n > maxBlockSize {
		return refused(attributes, attrBlockSize, fmt.Sprintf("want bytes from 1 to %d", maxBlockSize))
	}
	o.BlockSize = n
	return nil
}

// familyEncryption refuses a family whose files are encrypted. Servers would accept an
// unencrypted file silently.
func familyEncryption(_ *Options, attributes map[string]string) error {
	if attribute(attributes, attrEncryption, "") != "" {
		return refused(attributes, attrEncryption, "encrypted files cannot be written")
	}
	return nil
}

// attribute returns a value as HBase interprets it: upper and lower case are the same.
func attribute(attributes map[string]string, name, byDefault string) string {
	if v := strings.ToUpper(strings.TrimSpace(attributes[name])); v != "" {
		return v
	}
	return byDefault
}

func refused(attributes map[string]string, name, why string) error {
	return fmt.Errorf("hfile: attribute %s of the family is %q: %s: %w", name, attributes[name], why, ErrUnsupported)
}
