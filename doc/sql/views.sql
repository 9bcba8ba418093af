-- Views on the tables of `iotrace export`, in the SQL that SQLite, DuckDB, ClickHouse and Spark have
-- in common. A database that `iotrace export --format sqlite` made has them already; for Parquet
-- see README.md in this folder.

-- What each call adds to the row of its file, in the report's words. Bytes of sendfile and its kind
-- count at both ends, their calls and time at the source.
CREATE VIEW io AS
SELECT unit, file, object, lane, step, op,
       CASE WHEN class = 'data' AND bytes > 0 THEN bytes ELSE 0 END AS bytes,
       CASE WHEN class = 'data' AND bytes > 0 AND moves <> 'write' THEN bytes ELSE 0 END AS read_bytes,
       CASE WHEN class = 'data' AND bytes > 0 AND moves = 'write' THEN bytes ELSE 0 END AS write_bytes,
       CASE WHEN class = 'data' AND op <> 'gpu_memcpy_rest' THEN 1 ELSE 0 END AS data_ops,
       CASE WHEN class = 'metadata' THEN 1 ELSE 0 END AS metadata_ops,
       CASE WHEN class = 'sync' THEN 1 ELSE 0 END AS sync_ops,
       CASE WHEN class = 'data' AND bytes > 0 AND bytes < 4096 THEN 1 ELSE 0 END AS small_ops,
       service_ns, exposed_ns, waited_ns
FROM events WHERE object IS NOT NULL
UNION ALL
SELECT unit, file2, object2, lane, step, op, bytes, 0, bytes, 0, 0, 0, 0, 0, 0, 0
FROM events WHERE object2 IS NOT NULL;

-- The report's figures of each row of files, rebuilt from the calls. The ledgers below are sums of
-- it, and the same integers as those of the report; of files that no call names there is no row.
CREATE VIEW ledger_files AS
SELECT s.unit AS unit, s.file AS file, f.path AS path, s.object AS object,
       s.bytes AS bytes, s.read_bytes AS read_bytes, s.write_bytes AS write_bytes,
       s.data_ops AS data_ops, s.metadata_ops AS metadata_ops, s.sync_ops AS sync_ops,
       s.service_ns AS service_ns, s.exposed_ns AS exposed_ns, s.waited_ns AS waited_ns,
       s.service_ns - s.exposed_ns AS hidden_ns, s.exposed_ns - s.waited_ns AS blocking_ns,
       s.small_ops AS small_ops
FROM (SELECT i.unit AS unit, i.file AS file, i.object AS object,
             SUM(i.bytes) AS bytes, SUM(i.read_bytes) AS read_bytes,
             SUM(i.write_bytes) AS write_bytes, SUM(i.data_ops) AS data_ops,
             SUM(i.metadata_ops) AS metadata_ops, SUM(i.sync_ops) AS sync_ops,
             SUM(i.small_ops) AS small_ops, SUM(i.service_ns) AS service_ns,
             SUM(i.exposed_ns) AS exposed_ns, SUM(i.waited_ns) AS waited_ns
      FROM io i GROUP BY i.unit, i.file, i.object) s
JOIN files f ON f.unit = s.unit AND f.file = s.file;

-- By object: the ledger of the report, of a run or of a job.
CREATE VIEW ledger AS
SELECT l.object AS object,
       SUM(l.bytes) AS bytes, SUM(l.read_bytes) AS read_bytes, SUM(l.write_bytes) AS write_bytes,
       SUM(l.data_ops) AS data_ops, SUM(l.metadata_ops) AS metadata_ops, SUM(l.sync_ops) AS sync_ops,
       SUM(l.service_ns) AS service_ns, SUM(l.exposed_ns) AS exposed_ns,
       SUM(l.waited_ns) AS waited_ns, SUM(l.hidden_ns) AS hidden_ns,
       SUM(l.blocking_ns) AS blocking_ns, SUM(l.small_ops) AS small_ops
FROM ledger_files l GROUP BY l.object;

CREATE VIEW ledger_total AS
SELECT SUM(l.bytes) AS bytes, SUM(l.read_bytes) AS read_bytes, SUM(l.write_bytes) AS write_bytes,
       SUM(l.data_ops) AS data_ops, SUM(l.metadata_ops) AS metadata_ops, SUM(l.sync_ops) AS sync_ops,
       SUM(l.service_ns) AS service_ns, SUM(l.exposed_ns) AS exposed_ns,
       SUM(l.waited_ns) AS waited_ns, SUM(l.hidden_ns) AS hidden_ns,
       SUM(l.blocking_ns) AS blocking_ns, SUM(l.small_ops) AS small_ops
FROM ledger l;

-- By rank and object.
CREATE VIEW ledger_units AS
SELECT u.unit AS unit, u.job AS job, u.rank AS rank, u.host AS host, l.object AS object,
       SUM(l.bytes) AS bytes, SUM(l.read_bytes) AS read_bytes, SUM(l.write_bytes) AS write_bytes,
       SUM(l.data_ops) AS data_ops, SUM(l.metadata_ops) AS metadata_ops, SUM(l.sync_ops) AS sync_ops,
       SUM(l.service_ns) AS service_ns, SUM(l.exposed_ns) AS exposed_ns,
       SUM(l.waited_ns) AS waited_ns, SUM(l.hidden_ns) AS hidden_ns,
       SUM(l.blocking_ns) AS blocking_ns, SUM(l.small_ops) AS small_ops
FROM ledger_files l JOIN units u ON u.unit = l.unit
GROUP BY u.unit, u.job, u.rank, u.host, l.object;

-- By path and object, over all ranks.
CREATE VIEW ledger_paths AS
SELECT l.path AS path, l.object AS object, COUNT(DISTINCT l.unit) AS units,
       SUM(l.bytes) AS bytes, SUM(l.read_bytes) AS read_bytes, SUM(l.write_bytes) AS write_bytes,
       SUM(l.data_ops) AS data_ops, SUM(l.metadata_ops) AS metadata_ops, SUM(l.sync_ops) AS sync_ops,
       SUM(l.service_ns) AS service_ns, SUM(l.exposed_ns) AS exposed_ns,
       SUM(l.waited_ns) AS waited_ns, SUM(l.hidden_ns) AS hidden_ns,
       SUM(l.blocking_ns) AS blocking_ns, SUM(l.small_ops) AS small_ops
FROM ledger_files l GROUP BY l.path, l.object;

-- The files that cost most, and how. (This and the next are of the report's own rows: no call is read.)
CREATE VIEW slow_files AS
SELECT f.path AS path, f.object AS object, COUNT(DISTINCT f.unit) AS units,
       SUM(f.exposed_ns) AS exposed_ns, SUM(f.service_ns) AS service_ns,
       SUM(f.data_ops) AS data_ops, SUM(f.metadata_ops) AS metadata_ops, SUM(f.sync_ops) AS sync_ops,
       SUM(f.read_bytes + f.write_bytes) AS bytes,
       CASE WHEN SUM(f.data_ops) > 0
            THEN 1.0 * SUM(f.read_bytes + f.write_bytes) / SUM(f.data_ops) END AS bytes_a_call,
       MIN(f.why) AS why
FROM files f GROUP BY f.path, f.object
ORDER BY SUM(f.exposed_ns) DESC, SUM(f.service_ns) DESC;

-- What several ranks read, and how many times what the one reads that reads most.
CREATE VIEW read_amplification AS
SELECT f.path AS path, f.object AS object, COUNT(*) AS units, SUM(f.read_bytes) AS read_bytes,
       MAX(f.read_bytes) AS largest_read_bytes,
       1.0 * SUM(f.read_bytes) / MAX(f.read_bytes) AS times,
       SUM(f.exposed_ns) AS exposed_ns
FROM files f WHERE f.read_bytes > 0
GROUP BY f.path, f.object HAVING COUNT(*) > 1 ORDER BY SUM(f.read_bytes) DESC;

-- How many files are read by n ranks.
CREATE VIEW files_by_readers AS
SELECT r.units AS units, COUNT(*) AS files, SUM(r.read_bytes) AS read_bytes
FROM (SELECT f.path AS path, f.object AS object, COUNT(*) AS units, SUM(f.read_bytes) AS read_bytes
      FROM files f WHERE f.read_bytes > 0 GROUP BY f.path, f.object) r
GROUP BY r.units ORDER BY r.units;

-- Files that are read in small pieces: below a page of memory the fixed cost outweighs the bytes.
CREATE VIEW small_reads AS
SELECT e.path AS path, e.object AS object, COUNT(*) AS calls, SUM(e.bytes) AS bytes,
       SUM(e.service_ns) AS service_ns, SUM(e.exposed_ns) AS exposed_ns
FROM events e
WHERE e.class = 'data' AND e.moves = 'read' AND e.bytes > 0 AND e.bytes < 4096
GROUP BY e.path, e.object ORDER BY SUM(e.exposed_ns) DESC, COUNT(*) DESC;

-- Ranks, the longest first, by the parts of their critical path and beside the median of their job.
CREATE VIEW stragglers AS
SELECT u.job AS job, u.rank AS rank, u.host AS host, u.unit AS unit, u.wall_ns AS wall_ns,
       u.io_ns AS io_ns, u.compute_ns AS compute_ns, u.gpu_ns AS gpu_ns, u.sleep_ns AS sleep_ns,
       1.0 * u.wall_ns / m.median_ns AS times_median
FROM units u
JOIN (SELECT o.job AS job, AVG(o.wall_ns) AS median_ns
      FROM (SELECT COALESCE(w.job, '') AS job, w.wall_ns AS wall_ns,
                   ROW_NUMBER() OVER (PARTITION BY COALESCE(w.job, '') ORDER BY w.wall_ns) AS k,
                   COUNT(*) OVER (PARTITION BY COALESCE(w.job, '')) AS n
            FROM units w) o
      WHERE 2 * o.k BETWEEN o.n AND o.n + 2 GROUP BY o.job) m ON m.job = COALESCE(u.job, '')
ORDER BY u.wall_ns DESC;

-- How long a byte and a call take on each machine, by object: a slow one stands out in both.
CREATE VIEW host_rates AS
SELECT u.host AS host, e.object AS object, COUNT(DISTINCT e.unit) AS units, COUNT(*) AS calls,
       SUM(e.bytes) AS bytes, SUM(e.service_ns) AS service_ns,
       1.0 * SUM(e.service_ns) / SUM(e.bytes) AS ns_a_byte,
       1.0 * SUM(e.service_ns) / COUNT(*) AS ns_a_call
FROM events e JOIN units u ON u.unit = e.unit
WHERE e.class = 'data' AND e.bytes > 0 AND e.object IS NOT NULL
GROUP BY u.host, e.object ORDER BY e.object, 1.0 * SUM(e.service_ns) / SUM(e.bytes) DESC;

-- What each process did: within a rank, the one that takes longest holds the others.
CREATE VIEW process_io AS
SELECT p.unit AS unit, p.process AS process, p.pid AS pid, p.command AS command,
       p.end_ns - p.start_ns AS wall_ns,
       SUM(CASE WHEN e.class = 'data' THEN e.bytes ELSE 0 END) AS bytes,
       SUM(e.service_ns) AS service_ns, SUM(e.exposed_ns) AS exposed_ns
FROM processes p JOIN lanes l ON l.unit = p.unit AND l.process = p.process
JOIN events e ON e.unit = l.unit AND e.lane = l.lane
GROUP BY p.unit, p.process, p.pid, p.command, p.end_ns - p.start_ns
ORDER BY SUM(e.service_ns) DESC;

-- Steps with the I/O that ended in them.
CREATE VIEW step_io AS
SELECT s.unit AS unit, s.step AS step, s.start_ns AS start_ns, s.end_ns - s.start_ns AS wall_ns,
       COALESCE(SUM(e.service_ns), 0) AS service_ns, COALESCE(SUM(e.exposed_ns), 0) AS exposed_ns
FROM steps s LEFT JOIN events e ON e.unit = s.unit AND e.step = s.step
GROUP BY s.unit, s.step, s.start_ns, s.end_ns - s.start_ns;

-- Steps that took more than twice the median of their rank.
CREATE VIEW step_outliers AS
SELECT t.unit AS unit, t.step AS step, t.start_ns AS start_ns, t.wall_ns AS wall_ns,
       t.service_ns AS service_ns, t.exposed_ns AS exposed_ns
FROM step_io t
JOIN (SELECT o.unit AS unit, AVG(o.wall_ns) AS median_ns
      FROM (SELECT s.unit AS unit, s.end_ns - s.start_ns AS wall_ns,
                   ROW_NUMBER() OVER (PARTITION BY s.unit ORDER BY s.end_ns - s.start_ns) AS k,
                   COUNT(*) OVER (PARTITION BY s.unit) AS n
            FROM steps s) o
      WHERE 2 * o.k BETWEEN o.n AND o.n + 2 GROUP BY o.unit) m ON m.unit = t.unit
WHERE t.wall_ns > 2 * m.median_ns ORDER BY t.wall_ns DESC;

-- Who let whom go on: of waits, by pairs of lanes.
CREATE VIEW who_waited AS
SELECT e.unit AS unit, w.name AS waiter, m.name AS waited_for, COUNT(*) AS waits,
       SUM(e.t1_ns - e.t0_ns) AS wait_ns
FROM events e JOIN lanes w ON w.unit = e.unit AND w.lane = e.lane
JOIN lanes m ON m.unit = e.unit AND m.lane = e.waker_lane
WHERE e.part = 'wait' AND e.waker_lane <> e.lane
GROUP BY e.unit, w.name, m.name ORDER BY SUM(e.t1_ns - e.t0_ns) DESC;

-- Copies of GPUs by direction, and the object of the bytes that they carry.
CREATE VIEW gpu_copies AS
SELECT e.path AS path, e.object AS object, COUNT(*) AS calls, SUM(e.bytes) AS bytes,
       SUM(e.service_ns) AS service_ns, SUM(e.exposed_ns) AS exposed_ns,
       1.0 * SUM(e.bytes) / SUM(e.t1_ns - e.t0_ns) AS gb_a_second
FROM events e WHERE e.op = 'gpu_memcpy' AND e.t1_ns > e.t0_ns
GROUP BY e.path, e.object ORDER BY SUM(e.exposed_ns) DESC, SUM(e.bytes) DESC;
