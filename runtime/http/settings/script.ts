/** The script of the API tokens page; without it everything works but the copy button. */
export const SETTINGS_SCRIPT = `'use strict'
const at = (id) => document.getElementById(id)

const token = at('new-token')
if (token) {
  const say = (text) => { at('copied').textContent = text }
  token.addEventListener('focus', () => token.select())
  at('copy').hidden = false
  at('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(token.value)
      say('Copied.')
    } catch {
      // No clipboard without https, or not allowed: the old way, else by hand.
      token.focus()
      token.select()
      say(document.execCommand('copy') ? 'Copied.' : 'It is selected: copy it with your keyboard.')
    }
  })
  // Before a browser keeps the page to go back to.
  addEventListener('pagehide', () => { token.value = '' })
}
`
