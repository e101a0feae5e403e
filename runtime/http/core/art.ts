/** What `GET /art` answers: core-interface.md section 1.15. */
export const ART = `
   .--.
  /.-. '------------.
  \\'-' .--"--""-"-""
   '--'     Keyway
`
