-- Views on the tables of `iotrace export`, for SQLite and DuckDB alike. A database that
-- `iotrace export --format sqlite` made has them already; for Parquet see README.md in this folder.

-- The ledger of the report, rebuilt from the events: the same integers. Bytes of sendfile and its
-- kind count at both ends.
CREATE VIEW ledger AS
SELECT object,
       SUM(bytes) AS bytes, SUM(read_bytes) AS read_bytes, SUM(write_bytes) AS write_bytes,
       SUM(data_ops) AS data_ops, SUM(metadata_ops) AS metadata_ops, SUM(sync_ops) AS sync_ops,
       SUM(service_ns) AS service_ns, SUM(exposed_ns) AS exposed_ns,
       SUM(waited_ns) AS waited_ns, SUM(service_ns) - SUM(exposed_ns) AS hidden_ns
FROM (SELECT object,
             CASE WHEN class = 'data' AND bytes > 0 THEN bytes ELSE 0 END AS bytes,
             CASE WHEN class = 'data' AND bytes > 0 AND moves <> 'write' THEN bytes ELSE 0 END
                 AS read_bytes,
             CASE WHEN class = 'data' AND bytes > 0 AND moves = 'write' THEN bytes ELSE 0 END
                 AS write_bytes,
             CASE WHEN class = 'data' AND op <> 'gpu_memcpy_rest' THEN 1 ELSE 0 END AS data_ops,
             CASE WHEN class = 'metadata' THEN 1 ELSE 0 END AS metadata_ops,
             CASE WHEN class = 'sync' THEN 1 ELSE 0 END AS sync_ops,
             service_ns, exposed_ns, waited_ns
      FROM events WHERE object IS NOT NULL
      UNION ALL
      SELECT object2, bytes, 0, bytes, 0, 0, 0, 0, 0, 0 FROM events WHERE object2 IS NOT NULL) AS both_ends
GROUP BY object;

-- The files that cost most, and how.
CREATE VIEW slow_files AS
SELECT path, object, exposed_ns, service_ns, data_ops, metadata_ops, sync_ops,
       read_bytes + write_bytes AS bytes,
       CASE WHEN data_ops > 0 THEN 1.0 * (read_bytes + write_bytes) / data_ops END AS bytes_a_call,
       why
FROM files ORDER BY exposed_ns DESC, service_ns DESC;

-- Files that are read in small pieces: below a page of memory the fixed cost outweighs the bytes.
CREATE VIEW small_reads AS
SELECT path, object, COUNT(*) AS calls, SUM(bytes) AS bytes, SUM(service_ns) AS service_ns,
       SUM(exposed_ns) AS exposed_ns
FROM events
WHERE class = 'data' AND moves = 'read' AND bytes > 0 AND bytes < 4096
GROUP BY path, object ORDER BY exposed_ns DESC, calls DESC;

-- What each process did: the one that takes longest is the straggler.
CREATE VIEW process_io AS
SELECT p.process, p.pid, p.command, p.end_ns - p.start_ns AS wall_ns,
       SUM(CASE WHEN e.class = 'data' THEN e.bytes ELSE 0 END) AS bytes,
       SUM(e.service_ns) AS service_ns, SUM(e.exposed_ns) AS exposed_ns
FROM processes p JOIN lanes l ON l.process = p.process JOIN events e ON e.lane = l.lane
GROUP BY p.process, p.pid, p.command, p.end_ns - p.start_ns ORDER BY service_ns DESC;

-- Steps with the exposed I/O that ended in them.
CREATE VIEW step_io AS
SELECT s.step, s.start_ns, s.end_ns - s.start_ns AS wall_ns,
       COALESCE(SUM(e.service_ns), 0) AS service_ns, COALESCE(SUM(e.exposed_ns), 0) AS exposed_ns
FROM steps s LEFT JOIN events e ON e.step = s.step
GROUP BY s.step, s.start_ns, s.end_ns - s.start_ns ORDER BY s.step;

-- Steps that took more than twice the median.
CREATE VIEW step_outliers AS
SELECT * FROM step_io
WHERE wall_ns > 2 * (SELECT AVG(wall_ns) FROM (
    SELECT wall_ns, ROW_NUMBER() OVER (ORDER BY wall_ns) AS k, COUNT(*) OVER () AS n
    FROM step_io) AS ordered WHERE 2 * k BETWEEN n AND n + 2);

-- Who let whom go on: of waits, by pairs of lanes.
CREATE VIEW who_waited AS
SELECT w.name AS waiter, m.name AS waited_for, COUNT(*) AS waits, SUM(e.t1_ns - e.t0_ns) AS wait_ns
FROM events e JOIN lanes w ON w.lane = e.lane JOIN lanes m ON m.lane = e.waker_lane
WHERE e.part = 'wait' AND e.waker_lane <> e.lane
GROUP BY w.name, m.name ORDER BY wait_ns DESC;
