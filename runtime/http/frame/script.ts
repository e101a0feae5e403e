/**
 * The pages' own small script. Everything works without it: it opens dialogs over the page, says that a form is on its
 * way, and moves by keyboard. It writes no style and no markup, so the strict policy holds.
 */
export const SCRIPT = `'use strict'
const all = (selector, root = document) => [...root.querySelectorAll(selector)]

// A link to the id of a <dialog> opens it over the page; without the script the target is shown in place.
for (const link of all('a[data-dialog]'))
  link.addEventListener('click', (event) => {
    event.preventDefault()
    document.querySelector(link.hash).showModal()
  })
for (const close of all('dialog [data-close]'))
  close.addEventListener('click', (event) => {
    event.preventDefault()
    close.closest('dialog').close()
  })

// A form that is on its way is not sent twice. Come back to, a page is as it was: its buttons work again.
document.addEventListener('submit', (event) => {
  const button = event.submitter
  if (event.target.method !== 'post' || !button) return
  if (button.ariaBusy === 'true') event.preventDefault()
  else button.ariaBusy = 'true'
})
addEventListener('pageshow', () => {
  for (const button of all('[aria-busy=true]')) button.removeAttribute('aria-busy')
})

// One menu open at a time; Escape and a click elsewhere close it.
const closeMenus = (except) => {
  for (const menu of all('details.menu[open]')) if (menu !== except) menu.open = false
}
document.addEventListener('click', (event) => closeMenus(event.target.closest('details.menu')))

// The code of a login link stands behind the #, which no server and no Referer ever sees. It is filled in and not sent:
// a link that signed in without a click would let its sender choose the account.
const fillInCode = () => {
  const at = (id) => document.getElementById(id)
  const [, code] = /^#code=([\\w-]+)$/.exec(location.hash) ?? []
  if (code === undefined || !at('code')) return
  history.replaceState(null, '', location.pathname + location.search)
  at('code').value = code
  at('code-ready').hidden = false
  at('use-code').focus()
}
fillInCode()
addEventListener('hashchange', fillInCode)

// No single key decides anything: it moves the focus to the control, and Enter presses it.
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') closeMenus()
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest('input, textarea, select, dialog[open]')) return
  const items = all('[data-item]')
  if ((event.key === 'j' || event.key === 'k') && items.length > 0) {
    const now = items.indexOf(document.activeElement)
    const from = now < 0 ? items.findIndex((one) => one.ariaCurrent) : now
    const next = from + (event.key === 'j' ? 1 : -1)
    items[Math.min(items.length - 1, Math.max(0, next))].focus()
    return
  }
  const control = all('[data-key]').find((one) => one.dataset.key === event.key)
  if (!control) return
  event.preventDefault()
  if (control.matches('a[data-dialog]')) control.click()
  else control.focus()
})
`
