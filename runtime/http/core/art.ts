/** Body of the answer to `GET /art`: core-interface.md section 1.15. */
export const ART = `
   .--.
  /.-. '------------.
  \\'-' .--"--""-"-""
   '--'     Keyway
`
