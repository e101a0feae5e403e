/**
 * The script of the settings pages; without it everything works but the copy button, and a link's code
 * is pasted by hand. The code stands behind `#`, which no server and no Referer ever sees. It is filled
 * in and not sent: a link that signs one in unasked would let others choose as whom.
 */
export const SETTINGS_SCRIPT = `'use strict'
const at = (id) => document.getElementById(id)

function fillInCode() {
  const [, code] = /^#code=([\\w-]+)$/.exec(location.hash) ?? []
  if (code === undefined || !at('code')) return
  history.replaceState(null, '', location.pathname)
  at('code').value = code
  at('code-ready').hidden = false
  at('use-code').focus()
}
fillInCode()
addEventListener('hashchange', fillInCode)

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
