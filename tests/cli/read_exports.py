"""What other people's readers find in exports: run by an interpreter that has them.

read_exports.py parquet FOLDER VIEWS | partition FOLDER SQL | clickhouse FOLDER SQL |
same PARQUET CSV | perfetto FILE; prints JSON. SQL: the folder doc/sql; PARQUET, CSV: exports of one run.
"""
import json
import os
import re
import sys
from pathlib import Path


def parquet(folder, views):
    import duckdb
    import pyarrow.parquet
    files = sorted(Path(folder).glob("*.parquet"))
    database = duckdb.connect()
    for file in files:
        database.read_parquet(str(file)).create_view(file.stem)
    database.execute(Path(views).read_text())
    names = [row[0] for row in database.execute(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
    arrow = {file.stem: pyarrow.parquet.read_table(file) for file in files}
    return {
        "views": {name: [list(row) for row in database.execute(f"FROM {name}").fetchall()]
                  for name in names if name not in arrow},
        "rows": {name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in arrow},
        "arrow_rows": {name: table.num_rows for name, table in arrow.items()},
        "arrow": {name: table.to_pylist() for name, table in arrow.items() if table.num_rows < 500000},
        "codecs": sorted({pyarrow.parquet.ParquetFile(file).metadata.row_group(0).column(c).compression
                          for file in files
                          if pyarrow.parquet.ParquetFile(file).metadata.num_row_groups
                          for c in range(pyarrow.parquet.ParquetFile(file).metadata.num_columns)}),
        "groups": {file.stem: pyarrow.parquet.ParquetFile(file).metadata.num_row_groups for file in files},
    }


def rows_of(cursor):
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor.fetchall()]


def wrong_bounds(file):
    """Column chunks whose least and greatest value, or number of nulls, are not those of the values."""
    import pyarrow.compute
    import pyarrow.parquet
    parquet, bad = pyarrow.parquet.ParquetFile(file), []
    for group in range(parquet.metadata.num_row_groups):
        table = parquet.read_row_group(group)
        for column in range(parquet.metadata.num_columns):
            chunk = parquet.metadata.row_group(group).column(column)
            values = table.column(column)
            known = len(values) > values.null_count
            want = [None, None]
            if known:
                bounds = pyarrow.compute.min_max(values).as_py()
                want = [bounds["min"], bounds["max"]]
            got = chunk.statistics
            if got.null_count != values.null_count or \
                    (got.has_min_max and [got.min, got.max] != want) or (known and not got.has_min_max):
                bad.append([str(file), chunk.path_in_schema, group])
    return bad


def partition(folder, sql):
    """Every view of doc/sql, as its README says, and what of the files lets engines pass over some."""
    import duckdb
    import pyarrow.parquet
    os.chdir(folder)
    database = duckdb.connect()
    for name in "duckdb.sql", "views.sql":
        database.execute((Path(sql) / name).read_text())
    names = [row[0] for row in database.execute(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
    files = sorted(Path(".").rglob("*.parquet"))
    groups = [pyarrow.parquet.ParquetFile(file).metadata for file in files]
    return {
        "views": {name: rows_of(database.execute(f"FROM {name}")) for name in names
                  if name not in ("events", "io")},
        "hive": database.execute("SELECT DISTINCT job, rank FROM events ORDER BY rank").fetchall(),
        "groups": max(g.num_row_groups for g in groups),
        "group_rows": max(g.row_group(k).num_rows for g in groups for k in range(g.num_row_groups)),
        "bad_bounds": sum(map(wrong_bounds, files), []),
    }


def same(parquet_folder, csv_folder):
    """How many rows of each table there are, and how many of them the other format has not."""
    import duckdb
    database, counts = duckdb.connect(), {}
    for file in sorted(Path(parquet_folder).glob("*.parquet")):
        texts = f"(SELECT COLUMNS(*)::VARCHAR FROM '{file}')"
        others = f"(FROM read_csv('{csv_folder}/{file.stem}.csv', all_varchar = true, header = true, delim = ','))"
        counts[file.stem] = [database.execute(f"SELECT COUNT(*) FROM ({query})").fetchone()[0] for query in (
            f"FROM {texts}", f"FROM {texts} EXCEPT ALL FROM {others}", f"FROM {others} EXCEPT ALL FROM {texts}")]
    return counts


def clickhouse(folder, sql):
    from chdb import session
    server = session.Session()
    server.query("CREATE DATABASE tables")
    server.query("USE tables")
    for name in sorted(os.listdir(folder)):
        server.query(f"CREATE VIEW {name} AS SELECT * FROM file('{folder}/{name}/**/*.parquet')")
    names = []
    for statement in re.sub("(?m)^--.*", "", (Path(sql) / "views.sql").read_text()).split(";"):
        if statement.strip():
            server.query(statement)
            names.append(re.search(r"CREATE VIEW (\w+)", statement)[1])
    return {name: [json.loads(line) for line in
                   str(server.query(f"SELECT * FROM {name}", "JSONEachRow")).splitlines()] for name in names}


def perfetto(file):
    """Slices are put together as a viewer would; what does not fit is counted."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(Path(file).read_bytes())
    tracks, names, categories, notes, strings = {}, {}, {}, {}, {}
    slices, instants, counters, open_slices, flows, ends, bad = [], [], {}, {}, {}, [], 0
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            d = packet.track_descriptor
            tracks[d.uuid] = d
        for table, entries, value in ((names, packet.interned_data.event_names, "name"),
                                      (categories, packet.interned_data.event_categories, "name"),
                                      (notes, packet.interned_data.debug_annotation_names, "name"),
                                      (strings, packet.interned_data.debug_annotation_string_values, "str")):
            for entry in entries:
                bad += entry.iid in table
                table[entry.iid] = getattr(entry, value)
        if not packet.HasField("track_event"):
            continue
        e = packet.track_event
        bad += e.track_uuid not in tracks
        stack = open_slices.setdefault(e.track_uuid, [])
        if e.type == e.TYPE_COUNTER:
            counters.setdefault(tracks[e.track_uuid].name, []).append([packet.timestamp, e.double_counter_value])
            continue
        if e.type == e.TYPE_SLICE_END:
            bad += not stack
            if stack:
                one = stack.pop()
                one["end"] = packet.timestamp
                bad += one["end"] < one["start"]
            continue
        one = {"track": e.track_uuid, "start": packet.timestamp,
               "name": e.name or names[e.name_iid],
               "category": categories[e.category_iids[0]] if e.category_iids else None}
        for note in e.debug_annotations:
            one[notes[note.name_iid]] = (strings[note.string_value_iid].decode("utf-8", "surrogateescape")
                                         if note.string_value_iid else note.int_value)
        for flow in e.flow_ids:
            flows[flow] = one
        ends += [[flow, packet.timestamp] for flow in e.terminating_flow_ids]
        if e.type == e.TYPE_SLICE_BEGIN:
            stack.append(one)
            slices.append(one)
        else:
            instants.append(one)
    bad += sum(map(len, open_slices.values()))
    bad += sum(flow not in flows for flow, _ in ends)
    return {"slices": slices, "instants": instants, "counters": counters, "bad": bad, "arrows": len(ends),
            "tracks": {str(uuid): [d.name or d.thread.thread_name or d.process.process_name,
                                   d.thread.tid, d.parent_uuid] for uuid, d in tracks.items()}}


if __name__ == "__main__":
    json.dump({"parquet": parquet, "partition": partition, "clickhouse": clickhouse, "same": same,
               "perfetto": perfetto}[sys.argv[1]](*sys.argv[2:]), sys.stdout)
