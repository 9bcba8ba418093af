-- The tables of a folder that `iotrace export --format parquet --partition` made, for DuckDB that is
-- started in that folder; views.sql comes next. `WHERE rank = 3` reads the files of that rank alone.
CREATE VIEW events AS FROM read_parquet('events/**/*.parquet', hive_partitioning = true,
    hive_types = {'job': VARCHAR, 'rank': BIGINT});
CREATE VIEW files AS FROM read_parquet('files/**/*.parquet', hive_partitioning = true,
    hive_types = {'job': VARCHAR, 'rank': BIGINT});
CREATE VIEW lanes AS FROM read_parquet('lanes/**/*.parquet', hive_partitioning = true,
    hive_types = {'job': VARCHAR, 'rank': BIGINT});
CREATE VIEW processes AS FROM read_parquet('processes/**/*.parquet', hive_partitioning = true,
    hive_types = {'job': VARCHAR, 'rank': BIGINT});
CREATE VIEW stacks AS FROM read_parquet('stacks/**/*.parquet', hive_partitioning = true,
    hive_types = {'job': VARCHAR, 'rank': BIGINT});
CREATE VIEW steps AS FROM read_parquet('steps/**/*.parquet', hive_partitioning = true,
    hive_types = {'job': VARCHAR, 'rank': BIGINT});
CREATE VIEW units AS FROM read_parquet('units/*.parquet', hive_partitioning = false);
