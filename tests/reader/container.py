"""One file of a trace: FORMAT.md, sections 2 to 5 and 11. Gives rows and definitions, and says what
of the file is lost."""
import collections
import os
import stat
import struct
import subprocess

from xxh64 import xxh64

MAJOR, MINOR = 1, 0
SEGMENT, HALF_ROWS, ROW = 131072, 1020, 64
HALF = 64 + HALF_ROWS * ROW
SEGMENT_MAGIC, BLOCK_MAGIC = 0x53544F49, 0x42544F49
RAW_MAX = HALF_ROWS * 88 + 128
STRING, DESC = 0x101, 0x102
MASK = (1 << 64) - 1

Row = collections.namedtuple("Row", "t0 t1 result bytes offset addr obj obj2 site err op")
Row.__new__.__defaults__ = (0,) * 11
Definition = collections.namedtuple("Definition", "op number text fields")
Piece = collections.namedtuple("Piece", "at lane tid slot epoch live anchor rows")

HEADER = [("major", "H"), ("minor", "H"), ("header_bytes", "I"), ("segment_bytes", "I"),
          ("row_bytes", "I"), ("half_rows", "I"), ("clock", "I"), ("pid", "I"), ("ppid", "I"),
          ("parent_lane", "I"), ("root", "I"), ("start_ticks", "Q"), ("start_mono", "Q"),
          ("start_realtime_ns", "Q"), ("usage", "24s"), ("boot_id", "16s"), ("checksum", "Q"),
          ("reserved", "8s"), ("next_segment", "I"), ("segment_limit", "I"), ("lanes", "I"),
          ("end", "I"), ("dropped", "Q"), ("last_ticks", "Q"), ("last_mono", "Q"),
          ("usage_end", "24s"), ("called_start", "16s"), ("called_end", "16s"), ("own_read_bytes", "Q"),
          ("older", "Q"), ("older_until", "Q")]


class Rejected(Exception):
    """Nothing of the file can be used."""


class Newer(Exception):
    """Of a later major version: nothing of the run can be used."""


class Damage(Exception):
    """A part of the file that is lost."""


def varint(data, at, end):
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise Damage("a varint that does not end")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            if value > MASK:
                raise Damage("a varint beyond 64 bits")
            return value, at


def unzigzag(v):
    return (v >> 1) ^ -(v & 1)


def signed(v):
    v &= MASK
    return v - (1 << 64) if v >> 63 else v


def packed_values(data, at, end, n, decode):
    """Section 5: PACKED."""
    raw, at = varint(data, at, end)
    values = [decode(raw)]
    while len(values) < n:
        count = min(16, n - len(values))
        if at == end or data[at] > 64:
            raise Damage("a group without its width")
        width = data[at]
        size = (count * width + 7) // 8
        if size > end - at - 1:
            raise Damage("a group beyond its column")
        bits = int.from_bytes(data[at + 1:at + 1 + size], "little")
        values += [decode(bits >> k * width & (1 << width) - 1) for k in range(count)]
        at += 1 + size
    if at != end:
        raise Damage("bytes behind a column's last value")
    return values


def column_values(data, at, end, encoding, n, decode):
    """Section 5: EACH, SAME, RUNS, PACKED."""
    if encoding > 3:
        raise Damage("an unknown encoding")
    if encoding == 3:
        return packed_values(data, at, end, n, decode)
    values, before = [], None
    while len(values) < (1 if encoding == 1 else n):
        raw, at = varint(data, at, end)
        values.append(decode(raw))
        if encoding == 2 and raw == before:
            more, at = varint(data, at, end)
            if len(values) + more > n:
                raise Damage("a run beyond the events")
            values += [decode(raw)] * more
            before = None
        else:
            before = raw
    if at != end:
        raise Damage("bytes behind a column's last value")
    return values * n if encoding == 1 else values


def decode_definitions(data, at, end, n):
    found = []
    for _ in range(n):
        op, at = varint(data, at, end)
        number, at = varint(data, at, end)
        if op == STRING:
            length, at = varint(data, at, end)
            if length > end - at:
                raise Damage("a string beyond its column")
            found.append(Definition(op, number & 0xFFFFFFFF, bytes(data[at:at + length]), None))
            at += length
        elif op == DESC:
            fields = []
            for _ in range(7):
                value, at = varint(data, at, end)
                fields.append(value)
            obj2, result, size, offset, addr, site, cached = fields
            found.append(Definition(op, number & 0xFFFFFFFF, None, Row(
                obj=number & 0xFFFFFFFF, obj2=obj2 & 0xFFFFFFFF, result=signed(result),
                bytes=signed(size), offset=signed(offset), addr=addr, site=site & 0xFFFFFFFF, err=cached & 0xFFFF)))
        else:
            raise Damage("an unknown definition")
    if at != end:
        raise Damage("bytes behind the definitions")
    return found


def columns_of(raw):
    entries, at, columns = raw[0] if raw else 0, 1, {}
    to = 1 + 6 * entries
    for _ in range(entries):
        if at + 6 > len(raw):
            raise Damage("columns beyond their block")
        column, encoding, size = struct.unpack_from("<BBI", raw, at)
        at += 6
        if column in columns or size > len(raw) - to:
            raise Damage("a column twice, or beyond its block")
        columns[column] = (to, to + size, encoding)
        to += size
    if to != len(raw):
        raise Damage("columns that do not fill their block")
    return columns


def decode_payload(raw, n_events, n_definitions):
    columns = columns_of(raw)
    if 0 not in columns or (n_events and not {1, 2, 3} <= columns.keys()):
        raise Damage("a column is missing")
    if columns[0][2] or (n_events and columns[2][2] == 1):
        raise Damage("an encoding that its column cannot have")
    definitions = decode_definitions(raw, columns[0][0], columns[0][1], n_definitions)
    c = {}
    for column in range(1, 12):
        at, end, encoding = columns.get(column, (0, 0, None))
        if encoding is None:
            c[column] = ([0] * n_events, 1)
        else:
            plain = column in (2, 3)
            c[column] = (column_values(raw, at, end, encoding, n_events,
                                       (lambda v: v) if plain else unzigzag), encoding)
    return rows_of_columns(c, n_events), definitions


def is_event(op):
    return 1 <= op <= 255 or 260 <= op <= 511


def rows_of_columns(c, n_events):
    """Sums and predictions undone."""
    rows, t1, obj, addr, expected = [], 0, 0, 0, [0] * 64
    for i in range(n_events):
        op = c[1][0][i] & 0xFFFF
        if not is_event(op):
            raise Damage("no operation")
        t0 = (t1 + c[2][0][i]) & MASK
        t1 = (t0 + c[3][0][i]) & MASK
        obj = (c[4][0][i] + (obj if c[4][1] != 1 else 0)) & 0xFFFFFFFF
        result = signed(c[6][0][i])
        moved = signed(c[7][0][i] + max(result, 0))
        offset = c[8][0][i]
        if c[8][1] != 1 and (op in (22, 23) or 26 <= op <= 29):
            offset = signed(offset + expected[obj % 64])
            expected[obj % 64] = offset + moved
        addr = (c[9][0][i] + (addr if c[9][1] != 1 else 0)) & MASK
        rows.append(Row(t0, t1, result, moved, signed(offset), addr, obj,
                        c[5][0][i] & 0xFFFFFFFF, c[11][0][i] & 0xFFFFFFFF,
                        c[10][0][i] & 0xFFFF, op))
    return rows


def rows_of_half(data):
    """Section 3: events and definitions among the rows of a live half."""
    events, definitions, at = [], [], 0
    while at < len(data):
        fields = struct.unpack_from("<QQqqqQIIIHH", data, at)
        row = Row(*fields)
        at += ROW
        if is_event(row.op):
            events.append(row)
        elif row.op == STRING:
            if not 0 <= row.bytes <= len(data) - at:
                break
            definitions.append(Definition(STRING, row.obj, data[at:at + row.bytes], None))
            at += (row.bytes + ROW - 1) // ROW * ROW
            if at > len(data):
                break
        elif row.op == DESC:
            definitions.append(Definition(DESC, row.obj, None, row))
        elif row.op >= 0x8000:
            at += ROW * (max(row.op - 0x8000, 1) - 1)
    return events, definitions


def decompress(stored, raw_bytes):
    done = subprocess.run(["zstd", "-dcq"], input=stored, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    if done.returncode or len(done.stdout) != raw_bytes:
        raise Damage("a block that does not decompress")
    return done.stdout


class File:
    def __init__(self, path):
        self.damage, self.pieces, self.names = [], [], []
        self.raw_of = {}  # of compressed blocks, by place
        self.data = self.load(path)
        self.header = self.check_header()
        self.scan()
        self.settle()

    def lose(self, at, what):
        self.damage.append(f"byte {at}: {what}")

    @staticmethod
    def load(path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as e:
            raise Rejected(str(e)) from None
        with open(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise Rejected("not a regular file")
            # The file may be a sparse 4 GiB; only what is in use is wanted.
            head = file.read(232)
            used = struct.unpack_from("<I", head, 128)[0] if len(head) == 232 else 0
            return head + file.read(max(min(used * SEGMENT + 64, status.st_size) - len(head), 0))

    def check_header(self):
        head = self.data[:232]
        if not head:
            raise Rejected("empty")
        if head[:8] != b"iotrace\n"[:len(head)]:
            raise Rejected("not a trace file")
        if len(head) >= 12 and struct.unpack_from("<H", head, 8)[0] > MAJOR:
            raise Newer("version %d.%d, and this reads %d.%d" %
                        (*struct.unpack_from("<HH", head, 8), MAJOR, MINOR))
        if len(head) < 192:
            raise Rejected("ends within its header")
        whole = self.data[:248].ljust(248, b"\0")
        values = struct.unpack_from("<" + "".join(code for _, code in HEADER), whole, 8)
        h = collections.namedtuple("Header", [name for name, _ in HEADER])(*values)
        if h.checksum != xxh64(head[:112]):
            raise Rejected("the header's checksum does not match")
        if h.major == 0 or (h.header_bytes, h.segment_bytes, h.row_bytes, h.half_rows) != \
                (4096, SEGMENT, ROW, HALF_ROWS) or h.clock not in (1, 2) or h.start_mono >> 63:
            raise Rejected("a header that cannot be")
        if h.end > 2:
            self.lose(140, "an unknown kind of end")
            h = h._replace(end=0)
        return h

    def scan(self):
        segments = self.header.next_segment
        for k in range(1, segments):
            base = k * SEGMENT
            if base + SEGMENT > len(self.data):
                self.lose(min(len(self.data), base), "the file ends before its last segment does")
            if base >= len(self.data):
                break
            segment = self.data[base:base + SEGMENT].ljust(SEGMENT, b"\0")
            self.scan_segment(base, segment)
        behind = self.data[segments * SEGMENT:segments * SEGMENT + 4]
        if not segments or behind == SEGMENT_MAGIC.to_bytes(4, "little"):
            self.lose(128, "more segments than the header says")

    def scan_segment(self, base, segment):
        magic, kind, slot = struct.unpack_from("<III", segment)
        if magic != SEGMENT_MAGIC:
            if any(segment):
                self.lose(base, "a segment whose start is damaged")
                self.scan_blocks(base, segment)
        elif kind == 1:
            self.scan_halves(base, segment, slot)
        elif kind == 2:
            self.scan_blocks(base, segment)
        elif kind == 3:
            own, self.pieces = self.pieces, self.names
            self.scan_blocks(base, segment)
            self.pieces = own
        elif self.header.minor <= MINOR:
            self.lose(base, "a segment of unknown kind")

    def scan_halves(self, base, segment, slot):
        for at in (64, 64 + HALF):
            lane, tid, epoch, head, ticks, mono = struct.unpack_from("<IIIIQQ", segment, at)
            n = min(head, HALF_ROWS)
            if epoch or n:
                rows = segment[at + 64:at + 64 + n * ROW]
                self.pieces.append(Piece(base + at, lane, tid, slot, epoch, True, (ticks, mono),
                                         rows))

    @staticmethod
    def block_at(segment, at):
        """The block's header; None where there is no intact one."""
        if at + 64 > SEGMENT:
            return None
        h = struct.unpack_from("<10IQQQ", segment, at)
        if h[0] != BLOCK_MAGIC or h[9] > SEGMENT - at - 64:
            return None
        payload = segment[at + 64:at + 64 + h[9]]
        head = segment[at:at + 56] + xxh64(payload).to_bytes(8, "little")
        if xxh64(head) != h[12]:
            return None
        codec, n, d, raw = h[1], h[6], h[7], h[8]
        if codec > 1 or raw > RAW_MAX or n + d > HALF_ROWS or n + d > raw or \
                (not codec and raw != h[9]):
            return None
        return h

    def scan_blocks(self, base, segment):
        at = 64
        while at + 64 <= SEGMENT:
            h = self.block_at(segment, at)
            if not h:
                after = at + 8
                while after + 64 <= SEGMENT and not self.block_at(segment, after):
                    after = segment.find(b"IOTB", after + 1)
                    after = SEGMENT if after < 0 else (after + 7) // 8 * 8
                magic, codec = struct.unpack_from("<II", segment, at)
                if magic or codec > 1 or after + 64 <= SEGMENT:
                    self.lose(base + at, "a damaged block")
                at = after
                continue
            payload = segment[at + 64:at + 64 + h[9]]
            self.pieces.append(Piece(base + at, h[2], h[3], h[4], h[5], False, (h[10], h[11]),
                                     (h[1], h[6], h[7], h[8], payload)))
            at += 64 + (h[9] + 7) // 8 * 8

    def settle(self):
        """Each row once, and no epoch of a slot missing."""
        kept = []
        for p in sorted(self.pieces, key=lambda p: (p.slot, p.epoch, p.live, p.at)):
            before = kept[-1] if kept else None
            if before and (before.slot, before.epoch) == (p.slot, p.epoch):
                if before.live or not p.live:
                    self.lose(p.at, "rows that are there twice")
                continue
            follows = before and before.slot == p.slot
            if p.epoch > (before.epoch + 1 if follows else 1) and (follows or not self.header.older):
                self.lose(p.at, "rows that came before these are missing")
            kept.append(p)
        self.pieces = sorted(kept, key=lambda p: (p.lane, p.slot, p.epoch))

    def unpack_all(self):
        """All compressed blocks through one zstd, if all are whole."""
        blocks = [p for p in self.names + self.pieces if not p.live and p.rows[0] == 1]
        try:
            raw = decompress(b"".join(p.rows[4] for p in blocks), sum(p.rows[3] for p in blocks)) \
                if blocks else b""
        except Damage:
            return
        at = 0
        for p in blocks:
            self.raw_of[p.at] = raw[at:at + p.rows[3]]
            at += p.rows[3]

    def rows(self, piece):
        """The events and definitions of a piece."""
        if piece.live:
            return rows_of_half(piece.rows)
        codec, n, d, raw_bytes, payload = piece.rows
        try:
            if codec and piece.at not in self.raw_of:
                self.raw_of[piece.at] = decompress(payload, raw_bytes)
            return decode_payload(self.raw_of.get(piece.at, payload), n, d)
        except Damage as e:
            self.lose(piece.at, str(e))
            return [], []

    def facts(self):
        found, at, end = {}, 4096, min(len(self.data), SEGMENT)
        while at + 8 <= end:
            tag, size = struct.unpack_from("<II", self.data, at)
            if not tag:
                break
            at += 8
            if size > end - at:
                self.lose(at - 8, "a fact that is longer than its segment")
                break
            found.setdefault(tag, self.data[at:at + size])
            at += (size + 7) // 8 * 8
        return found
