package whatsapp

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quiet zone around a code, in modules. The standard asks for four; phones are content with two, and it has to fit a terminal.
const quietZone = 2

// QR draws a code for a terminal, two modules in one letter. With colours it is black on white whatever the terminal's own
// are; without, it supposes light letters on a dark ground.
func QR(content string, colours bool) (string, error) {
	code, err := qr.Encode(content, qr.L)
	if err != nil {
		return "", fmt.Errorf("draw QR code: %w", err)
	}
	light := func(x, y int) bool { return !code.Black(x, y) } // outside of it all is light
	var b strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		if colours {
			b.WriteString("\x1b[38;5;231;48;5;16m")
		}
		for x := -quietZone; x < code.Size+quietZone; x++ {
			switch upper, lower := light(x, y), light(x, y+1); {
			case upper && lower:
				b.WriteString("█")
			case upper:
				b.WriteString("▀")
			case lower:
				b.WriteString("▄")
			default:
				b.WriteString(" ")
			}
		}
		if colours {
			b.WriteString("\x1b[0m")
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// PNG draws a code as a picture.
func PNG(content string) ([]byte, error) {
	code, err := qr.Encode(content, qr.L)
	if err != nil {
		return nil, fmt.Errorf("draw QR code: %w", err)
	}
	code.Scale = 6
	return code.PNG(), nil
}
