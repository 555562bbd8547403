// Making and using passkeys. A form names the options in data-options, and receives the answer of the browser in its
// field data-response.
"use strict";
(() => {
  if (!window.PublicKeyCredential || !PublicKeyCredential.parseRequestOptionsFromJSON) return;
  document.querySelectorAll("form[data-passkey]").forEach((form) => {
    form.hidden = false;
    const field = form.querySelector("[data-response]");
    const problem = form.querySelector("[data-problem]");
    form.addEventListener("submit", async (e) => {
      if (field.value !== "") return;
      e.preventDefault();
      problem.hidden = true;
      const options = JSON.parse(form.dataset.options).publicKey;
      try {
        const answer = form.dataset.passkey === "create"
          ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
          : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
        field.value = JSON.stringify(answer.toJSON());
        form.submit();
      } catch (why) {
        problem.textContent = why.name === "NotAllowedError" ? "No passkey was used. Try again, or choose another way."
          : why.name === "InvalidStateError" ? "This device has a passkey of yours already." : "The browser refused: " + why.message;
        problem.hidden = false;
        setTimeout(() => form.querySelectorAll("button").forEach((b) => { b.disabled = false; }), 10);
      }
    });
  });
})();
