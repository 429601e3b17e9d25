package checks

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/net/http2"
)

// next reads one frame and deals with what concerns the connection as a whole.
func (c *h2) next() (http2.Frame, error) {
	f, err := c.fr.ReadFrame()
	if err != nil {
		return nil, c.readError(err)
	}
	if _, data := f.(*http2.DataFrame); !data {
		if c.budget -= 9 + int(f.Header().Length); c.budget < 0 { // a flood of pings and settings
			return nil, errHeadTooLarge
		}
	}
	switch f := f.(type) {
	case *http2.SettingsFrame:
		return f, c.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			return f, c.write(func(w *http2.Framer) { w.WritePing(true, f.Data) })
		}
	case *http2.WindowUpdateFrame:
		if f.StreamID == 0 {
			c.credit += int64(f.Increment)
		} else {
			c.stream += int64(f.Increment)
		}
		return f, c.write(c.feed)
	case *http2.RSTStreamFrame:
		if f.ErrCode == http2.ErrCodeNo && f.StreamID == h2stream && c.p.answer.status != 0 {
			c.ended = true // it has said all it will say and wants no more of our body
			return f, nil
		}
		return nil, errors.Join(errH2Ended, errors.New(f.ErrCode.String()))
	case *http2.GoAwayFrame:
		if f.ErrCode != http2.ErrCodeNo || f.LastStreamID < h2stream {
			return nil, errors.Join(errH2Ended, errors.New(f.ErrCode.String()))
		}
	case *http2.PushPromiseFrame:
		return nil, errH2Grammar
	}
	return f, nil
}

func (c *h2) readError(err error) error {
	var stream http2.StreamError
	var conn http2.ConnectionError
	switch {
	case errors.As(err, &stream), errors.As(err, &conn), errors.Is(err, http2.ErrFrameTooLarge):
		return errors.Join(errH2Grammar, err)
	}
	return err
}

func (c *h2) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	f.ForeachSetting(func(s http2.Setting) error {
		switch s.ID {
		case http2.SettingInitialWindowSize:
			c.stream += int64(s.Val) - c.initial
			c.initial = int64(s.Val)
		case http2.SettingMaxFrameSize:
			c.frameMax = int(min(s.Val, 1<<20))
		}
		return nil
	})
	return c.write(func(w *http2.Framer) {
		w.WriteSettingsAck()
		c.feed(w)
	})
}

func (c *h2) write(say func(*http2.Framer)) error {
	var out bytes.Buffer
	say(http2.NewFramer(&out, nil))
	if out.Len() == 0 {
		return nil
	}
	_, err := c.p.conn.Write(out.Bytes())
	return err
}

// Read is the body: the data frames of the stream, windows given back as they are read.
func (c *h2) Read(b []byte) (int, error) {
	for len(c.p.buf) == 0 {
		if c.ended {
			return 0, io.EOF
		}
		f, err := c.next()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return 0, errTruncated
		}
		if err != nil {
			return 0, err
		}
		switch f := f.(type) {
		case *http2.DataFrame:
			c.p.buf = append(c.p.buf[:0], f.Data()...)
			c.ended = f.StreamEnded()
			if n := f.Header().Length; n > 0 && !c.ended {
				if err := c.write(func(w *http2.Framer) { w.WriteWindowUpdate(0, n); w.WriteWindowUpdate(h2stream, n) }); err != nil {
					return 0, err
				}
			}
		case *http2.MetaHeadersFrame: // trailers
			c.ended = f.StreamEnded()
		}
	}
	n := copy(b, c.p.buf)
	c.p.buf = c.p.buf[:copy(c.p.buf, c.p.buf[n:])]
	return n, nil
}
