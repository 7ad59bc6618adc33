package hfile

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestForFamily(t *testing.T) {
	for _, v := range []struct {
		name       string
		attributes map[string]string
		want       Options
	}{
		{"HBase's defaults", nil, Options{Codec: Plain, Encoding: NoEncoding, Bloom: RowBloom, BlockSize: 65536}},
		{
			"all of them",
			map[string]string{
				"COMPRESSION": "GZ", "DATA_BLOCK_ENCODING": "ROW_INDEX_V1", "BLOCKSIZE": "16384",
				"BLOOMFILTER": "ROWPREFIX_FIXED_LENGTH", "RowPrefixBloomFilter.prefix_length": "12",
				"VERSIONS": "1", "TTL": "FOREVER", "ENCRYPTION": "",
			},
			Options{Codec: GZ, Encoding: RowIndex, Bloom: PrefixBloom, BloomPrefix: 12, BlockSize: 16384},
		},
		{
			"letters of any case",
			map[string]string{"COMPRESSION": "snappy", "DATA_BLOCK_ENCODING": "fast_diff", "BLOOMFILTER": "rowcol"},
			Options{Codec: Snappy, Encoding: FastDiff, Bloom: RowColBloom, BlockSize: 65536},
		},
		{
			"a prefix without its filter",
			map[string]string{"COMPRESSION": "ZSTD", "BLOOMFILTER": "NONE", "RowPrefixBloomFilter.prefix_length": "x"},
			Options{Codec: ZSTD, Encoding: NoEncoding, Bloom: NoBloom, BlockSize: 65536},
		},
	} {
		v.want.ShortIndexKeys = true
		got, err := ForFamily(v.attributes)
		if err != nil || !reflect.DeepEqual(got, v.want) {
			t.Errorf("%s: %+v, %v; want %+v", v.name, got, err, v.want)
		}
		if _, err := NewWriter(&bytes.Buffer{}, got); err != nil {
			t.Errorf("%s: no file can be written so: %v", v.name, err)
		}
	}
}

func TestForFamilyRefuses(t *testing.T) {
	prefix := func(n string) map[string]string {
		return map[string]string{"BLOOMFILTER": "ROWPREFIX_FIXED_LENGTH", "RowPrefixBloomFilter.prefix_length": n}
	}
	for want, attributes := range map[string]map[string]string{
		`attribute COMPRESSION of the family is "LZO"`:                             {"COMPRESSION": "LZO"},
		`attribute COMPRESSION of the family is "zstd_plain"`:                      {"COMPRESSION": "zstd_plain"},
		`attribute DATA_BLOCK_ENCODING of the family is "PREFIX_TREE"`:             {"DATA_BLOCK_ENCODING": "PREFIX_TREE"},
		`attribute BLOOMFILTER of the family is "ROWPREFIX_DELIMITED"`:             {"BLOOMFILTER": "ROWPREFIX_DELIMITED"},
		`attribute RowPrefixBloomFilter.prefix_length of the family is ""`:         {"BLOOMFILTER": "ROWPREFIX_FIXED_LENGTH"},
		`attribute RowPrefixBloomFilter.prefix_length of the family is "0"`:        prefix("0"),
		`attribute RowPrefixBloomFilter.prefix_length of the family is "40000": w`: prefix("40000"),
		`attribute BLOCKSIZE of the family is "64 KB"`:                             {"BLOCKSIZE": "64 KB"},
		`attribute BLOCKSIZE of the family is "999999999"`:                         {"BLOCKSIZE": "999999999"},
		`attribute ENCRYPTION of the family is "AES"`:                              {"ENCRYPTION": "AES"},
	} {
		_, err := ForFamily(attributes)
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
