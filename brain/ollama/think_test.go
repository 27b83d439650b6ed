package ollama

import "testing"

func TestThinkingThatWasOpenedByTheTemplateLeavesTheText(t *testing.T) {
	got, err := generate(t, `{"message":{"content":"They want "}}`+"\n"+`{"message":{"content":"tea.\n</thi"}}`+"\n"+`{"message":{"content":"nk>\n\nTea it is."}}`+"\n"+doneLine)
	if err != nil || got.Text != "Tea it is." {
		t.Errorf("got %+v, %v", got, err)
	}
}
