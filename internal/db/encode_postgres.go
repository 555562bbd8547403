package db

import (
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// sender encodes the sets of rows that a connection sends. Its buffers are used again for each
// batch. Without them, pgx would allocate and copy each batch several times.
type sender struct {
	params  []byte // the parameters of one SQL statement
	message []byte // all messages of one round trip
	sent    int    // the size of the parameters since the last call of begin
}

// mostKept is the largest buffer that a sender keeps. A larger batch is rare.
const mostKept = 1 << 20

// senderOf returns the sender of a connection. The first call registers it for the array types of
// the connection.
func senderOf(conn *pgx.Conn) *sender {
	l := conn.PgConn().CustomData()[lineKey].(*line)
	if l.sender == nil {
		l.sender = &sender{}
		for _, oid := range []uint32{pgtype.TextArrayOID, pgtype.Int8ArrayOID} {
			t, _ := conn.TypeMap().TypeForOID(oid)
			conn.TypeMap().RegisterType(&pgtype.Type{Name: t.Name, OID: oid, Codec: columnCodec{t.Codec, l.sender}})
		}
	}
	return l.sender
}

// begin makes pgx write the next round trip into the buffer of the sender.
func (s *sender) begin(conn *pgx.Conn) {
	if need := s.sent + s.sent/4; need > cap(s.message) && need <= mostKept {
		s.message = make([]byte, 0, need)
	}
	s.sent = 0
	conn.PgConn().Frontend().Send(buffer{s.message})
}

// Encode appends a pgColumn to the parameters of an SQL statement.
func (s *sender) Encode(column any, to []byte) ([]byte, error) {
	if cap(to) < cap(s.params) {
		to = append(s.params[:0], to...) // pgx no longer uses the parameters of the last SQL statement
	}
	from := len(to)
	to, err := column.(*pgColumn).append(to)
	s.sent += len(to) - from
	if cap(to) > cap(s.params) && cap(to) <= mostKept {
		s.params = to
	}
	return to, err
}

// buffer is an empty message. Encoding it replaces the buffer to which pgx appends messages.
type buffer struct{ free []byte }

var _ pgproto3.FrontendMessage = buffer{}

// Frontend marks a message that a client sends.
func (buffer) Frontend() {}

// Decode does nothing, because no server sends this message.
func (buffer) Decode([]byte) error { return nil }

// Encode returns the free buffer with the messages that pgx has not sent yet.
func (b buffer) Encode(unsent []byte) ([]byte, error) { return append(b.free[:0], unsent...), nil }

// columnCodec is the codec of an array type. It encodes a pgColumn directly, and leaves all other
// values to pgx.
type columnCodec struct {
	pgtype.Codec
	sender *sender
}

// PlanEncode returns how pgx encodes a value.
func (c columnCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ours := value.(*pgColumn); ours && format == pgtype.BinaryFormatCode {
		return c.sender
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

// pgColumn is one column of a set of rows, which PostgreSQL receives as an array.
type pgColumn struct {
	rows [][]any
	at   int
	of   Type
}

// append appends the column as a binary array of one dimension without NULLs.
func (c *pgColumn) append(to []byte) ([]byte, error) {
	element := uint32(pgtype.TextOID)
	if c.of == Int {
		element = pgtype.Int8OID
	}
	for _, n := range [...]uint32{1, 0, element, uint32(len(c.rows)), 1} { // dimensions, NULLs, type, length, first index
		to = binary.BigEndian.AppendUint32(to, n)
	}
	for _, row := range c.rows {
		text, isText := row[c.at].(string)
		number, isNumber := row[c.at].(int64)
		switch {
		case isText && c.of == Text:
			to = append(binary.BigEndian.AppendUint32(to, uint32(len(text))), text...)
		case isNumber && c.of == Int:
			to = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(to, 8), uint64(number))
		default:
			return to, fmt.Errorf("db: the column does not hold a %T", row[c.at])
		}
	}
	return to, nil
}
