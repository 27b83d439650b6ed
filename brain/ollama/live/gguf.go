package live

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// gguf is a model file of version 3, as https://github.com/ggml-org/ggml/blob/master/docs/gguf.md describes it: what is
// said of the model, then a list of its tensors, then their numbers.
type gguf struct {
	facts   []fact
	tensors []tensor
}

type fact struct {
	key   string
	value any // string, uint32, float32, bool, []string, []float32 or []int32
}

type tensor struct {
	name string
	dims []uint64                    // the first is the length of a row
	half bool                        // 16 bits a number, else 32
	next func() (x float32, ok bool) // its numbers, row by row; what is missing is 0. nil = all are 1
}

// Numbers of the format.
const (
	ggufVersion = 3
	ggufAlign   = 32

	kindU32    = 4
	kindF32    = 6
	kindBool   = 7
	kindString = 8
	kindArray  = 9
	kindI32    = 5

	tensorF32 = 0
	tensorF16 = 1
)

func (g *gguf) say(key string, value any) { g.facts = append(g.facts, fact{key, value}) }

// matrix adds rows of numbers, 16 bits each.
func (g *gguf) matrix(name string, numbers []float32, dims ...uint64) {
	i := 0
	g.stream(name, func() (float32, bool) {
		if i == len(numbers) {
			return 0, false
		}
		i++
		return numbers[i-1], true
	}, dims...)
}

// stream adds rows of numbers that are made while they are written, 16 bits each.
func (g *gguf) stream(name string, next func() (float32, bool), dims ...uint64) {
	g.tensors = append(g.tensors, tensor{name: name, dims: dims, half: true, next: next})
}

// ones adds a norm that changes nothing.
func (g *gguf) ones(name string, length uint64) {
	g.tensors = append(g.tensors, tensor{name: name, dims: []uint64{length}})
}

func (t tensor) count() uint64 {
	n := uint64(1)
	for _, d := range t.dims {
		n *= d
	}
	return n
}

func (t tensor) size() uint64 {
	if t.half {
		return 2 * t.count()
	}
	return 4 * t.count()
}

func aligned(n uint64) uint64 { return (n + ggufAlign - 1) / ggufAlign * ggufAlign }

// head is all but the numbers. An error says that a fact is of a type which the format does not have, or this writer.
func (g *gguf) head() ([]byte, error) {
	var out bytes.Buffer
	put := func(v any) { _ = binary.Write(&out, binary.LittleEndian, v) } // a buffer takes everything of a fixed size
	text := func(s string) {
		put(uint64(len(s)))
		out.WriteString(s)
	}
	out.WriteString("GGUF")
	put(uint32(ggufVersion))
	put(uint64(len(g.tensors)))
	put(uint64(len(g.facts)))
	array := func(kind uint32, length int) {
		put(uint32(kindArray))
		put(kind)
		put(uint64(length))
	}
	for _, f := range g.facts {
		text(f.key)
		switch v := f.value.(type) {
		case string:
			put(uint32(kindString))
			text(v)
		case uint32:
			put(uint32(kindU32))
			put(v)
		case float32:
			put(uint32(kindF32))
			put(v)
		case bool:
			put(uint32(kindBool))
			put(v)
		case []string:
			array(kindString, len(v))
			for _, s := range v {
				text(s)
			}
		case []float32:
			array(kindF32, len(v))
			put(v)
		case []int32:
			array(kindI32, len(v))
			put(v)
		default:
			return nil, fmt.Errorf("write %s: a model file has no %T", f.key, v)
		}
	}
	offset := uint64(0)
	for _, t := range g.tensors {
		text(t.name)
		put(uint32(len(t.dims)))
		put(t.dims)
		kind := uint32(tensorF32)
		if t.half {
			kind = tensorF16
		}
		put(kind)
		put(offset)
		offset += aligned(t.size())
	}
	out.Write(make([]byte, aligned(uint64(out.Len()))-uint64(out.Len())))
	return out.Bytes(), nil
}

// writeTo writes the whole file.
func (g *gguf) writeTo(w io.Writer) error {
	head, err := g.head()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	_, _ = out.Write(head) // Flush gives its error
	var four [4]byte
	for _, t := range g.tensors {
		for range t.count() {
			x := float32(1)
			if t.next != nil {
				x, _ = t.next()
			}
			if t.half {
				binary.LittleEndian.PutUint16(four[:], half(x))
				_, _ = out.Write(four[:2])
			} else {
				binary.LittleEndian.PutUint32(four[:], math.Float32bits(x))
				_, _ = out.Write(four[:])
			}
		}
		_, _ = out.Write(make([]byte, aligned(t.size())-t.size()))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write a model file: %w", err)
	}
	return nil
}

// half rounds a number to 16 bits (IEEE 754 binary16), the nearest. What is too large becomes infinite.
func half(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits>>16) & 0x8000
	exponent := int(bits>>23&0xff) - 127 + 15
	fraction := bits & 0x7fffff
	switch {
	case exponent >= 31:
		return sign | 0x7c00
	case exponent < -10:
		return sign
	case exponent <= 0:
		shift := uint(14 - exponent)
		return sign | uint16(((fraction|0x800000)+1<<(shift-1))>>shift)
	}
	// A fraction that is rounded up to a whole carries into the exponent, which is what it should do.
	return sign | uint16((uint32(exponent)<<23+fraction+0x1000)>>13)
}
