#!/usr/bin/env bash
# Both commands are on the $PATH, built by
#   go build -tags breakpoints -o DIR/ ./cmd/bulkload ./cmd/extract
# The script works in a new directory.
cd "$(mktemp -d)" && mkdir logs empty

# stopped STEP:N COMMAND...: runs a command until it stops itself at a step
stopped() {
	local step=$1; shift
	USERTRAIL_BREAKPOINT=$step "$@" & pid=$!
	until [[ $(ps -o state= -p $pid) != [RSD]* ]]; do sleep 0.01; done
}
# cut short and continued: what becomes of a command that has stopped
short() { kill -KILL $pid; wait $pid; }
thaw() { kill -CONT $pid; wait $pid; echo "# status $?"; }

mkdir -p docs/2014-09-01
cat > docs/2014-09-01/notes.parquet <<'END'
none
END
mkdir -p docs
cat > docs/thesis.txt <<'END'
ten years
END
mkdir -p lists
cat > lists/team.txt <<'END'
u1
u10
END
cat > photo.jpg <<'END'
jpg
END

# job

# deliver
mkdir -p logs/2014-09-04
cat > logs/2014-09-04/events.1.jsonl <<'END'
END

# growing
cat > usertrail.yaml <<'END'
logs:
  path: logs/{date}/events.*
  format: jsonl
  zone: Asia/Shanghai
  max_bad: 10%
  behaviour: {column: event, others: skip, texts: {}}
table: hdfs://lab/trails
layout: hashed
user: who
time: at
behaviours:
  "login":
    id: 65535
    fields:
      s2: string
END
stopped begun:1 bulkload --from 2014-08-31 --to 2014-09-04 --quiet --memory 64MiB --settle 1ms
mkdir -p logs/2014-08-31
base64 -d > logs/2014-08-31/events.6.jsonl.gz <<'END'
H4sIAAAJbogA/5zSQUrDQBgF4L2nGB646rT8k2SaZs5Q3LkbkIkZsRgnNUlbQnHh0gvo1iO4FPQIHkMFbyFNmtJAiuIF/v/jvbfG6jKDwufb08fLPThMCQWPRDCkydAXTIxVIBXRgKQKJDicBxV5nu+HHvnjiQzCUE4o5IgFVJkvLIcTUP6YiKPwoGB4DI7ELmfnFgrJ7lchoHByOp2Cwy6t27zO8sTmuD1aIxFQwg58Ir5FGhb3CYNGOCKiKIo6UGpYFyYttq4W9fXw/P342nE152tUQ25N89RUnAmiY6aRzpZWg2l9tlMOaSRb46JP6PdkuKWV+eJ32eZo7SpMxTRcprEX2dxUBwKz73d/5TR9dUW4Nq7qRNQcrCnlKtMunTlbHGxvPxeNG42+fcn/7au11WWyODXuinWo7cO+kR0u9GcAXKIp+RADAAA=
END
thaw
# status 75
extract --table hdfs://lab/trails --users all --from 0001-01-01 --to 9999-12-31 --types login --active any --format jsonl --out - --quiet --memory 128MiB
# status 0
bulkload verify --table hdfs://lab/trails --quiet --memory 64MiB
# status 0

# both
bulkload --from 2014-08-31 --to 2014-09-04 --types login --quiet --memory 64MiB & first=$!
extract --table hdfs://lab/trails --users all --from 0001-01-01 --to 9999-12-31 --types login --active any --format jsonl --out - --quiet --memory 128MiB
wait $first
# status 0
# status 0
extract --table hdfs://lab/trails --users all --from 0001-01-01 --to 9999-12-31 --types login --active any --format jsonl --out - --quiet --memory 128MiB
# status 0
bulkload verify --table hdfs://lab/trails --quiet --memory 64MiB
# status 0

# rename
mkdir -p logs/2014-08-31
base64 -d > logs/2014-08-31/events.14.jsonl.gz <<'END'
H4sIAAAJbogA/5zSQUrDQBgF4L2nGB646rT8k2SaZs5Q3LkbkIkZsRgnNUlbQnHh0gvo1iO4FPQIHkMFbyFNmtJAiuIF/v/jvbfG6jKDwufb08fLPThMCQWPRDCkydAXTIxVIBXRgKQKJDicBxV5nu+HHvnjiQzCUE4o5IgFVJkvLIcTUP6YiKPwoGB4DI7ELmfnFgrJ7lchoHByOp2Cwy6t27zO8sTmuD1aIxFQwg58Ir5FGhb3CYNGOCKiKIo6UGpYFyYttq4W9fXw/P342nE152tUQ25N89RUnAmiY6aRzpZWg2l9tlMOaSRb46JP6PdkuKWV+eJ32eZo7SpMxTRcprEX2dxUBwKz73d/5TR9dUW4Nq7qRNQcrCnlKtMunTlbHGxvPxeNG42+fcn/7au11WWyODXuinWo7cO+kR0u9GcAXKIp+RADAAA=
END
rm logs/2014-08-31/events.6.jsonl.gz

# pieces
bulkload plan --from 2014-08-31 --to 2014-09-04 --quiet --piece-size 1GiB > pieces
# status 0
sed -n 1p pieces | bulkload run-piece --quiet --memory 64MiB
# status 0
sed -n 1p pieces | bulkload run-piece --quiet --memory 64MiB
# status 0
sed -n 1p pieces | bulkload run-piece --quiet --memory 64MiB
# status 0
sed -n 1p pieces | bulkload run-piece --quiet --memory 64MiB
# status 0
bulkload commit --quiet --pieces pieces
# status 0
bulkload commit --quiet --pieces pieces
# status 99
sed -n 1p pieces | bulkload run-piece --quiet --memory 64MiB
# status 0
extract --table hdfs://lab/trails --users all --from 0001-01-01 --to 9999-12-31 --types login --active any --format jsonl --out - --quiet --memory 128MiB
# status 0
bulkload verify --table hdfs://lab/trails --quiet --memory 64MiB
# status 0

# job

# pieces
cat > usertrail.yaml <<'END'
logs:
  path: logs/{date}/events.*
  format: jsonl
  zone: Asia/Shanghai
  max_bad: 10%
  behaviour: {column: event, others: skip, texts: {"pay": "login"}}
table: hdfs://lab/trails
layout: hashed
user: who
time: at
behaviours:
  "login":
    id: 65535
    fields:
      s2: string
END
bulkload plan --from 2014-08-31 --to 2014-09-04 --types login --quiet --piece-size 1GiB > pieces
# status 0
sed -n 1p pieces | bulkload run-piece --quiet --memory 64MiB
# status 0
sed -n 1p pieces | bulkload run-piece --quiet --memory 64MiB
# status 0
sed -n 1p pieces | bulkload run-piece --quiet --memory 64MiB
# status 0
bulkload drop --all --table hdfs://lab/trails --before 2014-09-03 --quiet --memory 64MiB
# status 0
bulkload commit --quiet --pieces pieces
# status 75
bulkload plan --from 2014-08-31 --to 2014-09-04 --types login --quiet --piece-size 1GiB > pieces
# status 0
# wrong: plan after a drop: other pieces:
# {"usertrail":"load","version":2,"plan":"b1f505928c2ee8e14138","piece":0,"of":1,"table":"hdfs://lab/trails","common":585,"at":585,"bytes":866,"sha256":"8d442cffd08e3698b3ae7908a9f434f4d3434b140793d0864d6a7087fef410fd"}
# 
# want
# {"usertrail":"load","version":2,"plan":"4f0c99c802ab2d141290","piece":0,"of":1,"table":"hdfs://lab/trails","common":585,"at":585,"bytes":825,"sha256":"c9258244a79358e2a626ff68cc329da4d1a297886de478ec10608188c26a3d19"}
# 
