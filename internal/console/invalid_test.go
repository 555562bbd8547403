package console

import (
	"strings"
	"testing"
)

// A problem stands at the field of the form that was sent, and the summary leads there. A hidden field, and the same name in
// another form, stay as they are.
func TestAProblemStandsAtItsField(t *testing.T) {
	const page = `<ul><li data-problem-of="amount">&#34;amount&#34; is wrong</li><li data-problem-of="">other</li></ul>` +
		`<form action="/app/other"><input name="amount"/></form>` +
		`<form method="post" action="/app/x"><input type="hidden" name="amount" value="1"/><input id="a" name="amount" value="2"/><select name="bank"><option>1</option></select></form>`
	got := mark(page, "/app/x", "amount", `"amount" is <wrong>`)
	for _, want := range []string{
		`<li><a href="#why-amount">&#34;amount&#34; is wrong</a></li><li data-problem-of="">other</li>`,
		`<form action="/app/other"><input name="amount"/></form>`, `<input type="hidden" name="amount" value="1"/>`,
		`<input aria-invalid="true" aria-errormessage="why-amount" id="a" name="amount" value="2"/><p class="help bad" id="why-amount">&#34;amount&#34; is &lt;wrong&gt;</p><select`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if got := mark(page, "/app/x", "bank", "no bank"); !strings.Contains(got, `</select><p class="help bad" id="why-bank">no bank</p></form>`) {
		t.Error(got)
	}
	if got := mark(page, "/app/x", "nothing", "x"); got != page {
		t.Error(got)
	}
	if fieldOf(`"bank_code" must be known`) != "bank_code" || fieldOf("The account number must have ten digits") != "account_number" || fieldOf("Nothing was sent") != "" || fieldOf(`"lines[2].amount" is wrong`) != "" {
		t.Error("a field has another name")
	}
}
