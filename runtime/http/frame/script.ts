/**
 * The script of the pages. Everything works without it. It opens dialogs over the page, marks a form that is
 * being sent, moves the focus by keyboard, and shows changes as they happen. It writes no style, and no
 * markup other than the server's, so that the strict content security policy holds.
 */
export const SCRIPT = `'use strict'
const all = (selector, root = document) => [...root.querySelectorAll(selector)]

// A link to the id of a <dialog> opens it over the page. Without the script the target is shown in place.
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

// The checkbox in the head of a table selects all its rows, and shows whether all of them are selected.
for (const whole of all('[data-choose-page]')) {
  const own = () => all('tbody input[type=checkbox]', whole.closest('table'))
  const tell = () => {
    const ticked = own().filter((one) => one.checked).length
    whole.checked = ticked > 0 && ticked === own().length
    whole.indeterminate = ticked > 0 && !whole.checked
  }
  whole.hidden = false
  whole.addEventListener('change', () => {
    for (const one of own()) one.checked = whole.checked
  })
  whole.closest('table').addEventListener('change', tell)
  addEventListener('pageshow', tell)
  tell()
}

// A form is not sent twice. When the person returns to the page, its buttons work again.
document.addEventListener('submit', (event) => {
  const button = event.submitter
  if (event.target.method !== 'post' || !button) return
  if (button.ariaBusy === 'true') event.preventDefault()
  else button.ariaBusy = 'true'
})
addEventListener('pageshow', () => {
  for (const button of all('[aria-busy=true]')) button.removeAttribute('aria-busy')
})

// Only one menu is open at a time. Escape and a click elsewhere close it.
const closeMenus = (except) => {
  for (const menu of all('details.menu[open]')) if (menu !== except) menu.open = false
}
document.addEventListener('click', (event) => closeMenus(event.target.closest('details.menu')))

// The code of a login link follows the #, so that no server and no Referer contains it. It is filled in but
// not sent: a link that signed in without a click would let its sender choose the account.
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

// Parts with the same stream share it. On a change the page is fetched again and the parts are replaced. A
// part that the person is using is replaced when they leave it. A hidden page follows nothing. An unavailable
// host is asked again with growing pauses; the stream reports the changes made in between.
const isBusy = (part) =>
  part.contains(document.activeElement) ||
  all('input:not([type=hidden]), textarea', part).some(
    (one) => one.value !== one.defaultValue || one.checked !== one.defaultChecked,
  )
const follow = (first, parts) => {
  let [address, pauseMs, turn, isStale, isOver] = [first, 0, 0, false, false]
  let events, timer
  const leave = () => {
    clearTimeout(timer)
    events?.close()
  }
  const end = () => {
    isOver = true
    leave()
  }
  const later = () => {
    leave()
    pauseMs = Math.min(30000, 2 * pauseMs || 1000)
    timer = setTimeout(async () => (await show()) && begin(), pauseMs)
  }
  const show = async () => {
    const own = ++turn
    const reply = await fetch(location.href).catch(() => null)
    const text = reply?.ok && !reply.redirected ? await reply.text().catch(() => null) : ''
    if (own !== turn || isOver || document.hidden) return false
    if (!reply || text === null || reply.status === 429 || reply.status >= 500) return later()
    if (text === '') return end()
    const page = new DOMParser().parseFromString(text, 'text/html')
    isStale = false
    for (const part of parts) {
      const fresh = page.getElementById(part.id)
      if (!fresh) continue
      address = fresh.dataset.events
      if (isBusy(part)) isStale = true
      else part.replaceChildren(...fresh.childNodes)
    }
    return true
  }
  const begin = () => {
    leave()
    if (isOver || document.hidden) return
    events = new EventSource(address)
    events.addEventListener('open', () => {
      pauseMs = 0
    })
    events.addEventListener('list', show)
    events.addEventListener('end', end)
    // The browser itself reconnects after a lost connection, but gives up after an error response.
    events.addEventListener('error', () => events.readyState === EventSource.CLOSED && later())
  }
  for (const part of parts) part.addEventListener('focusout', () => isStale && setTimeout(show))
  document.addEventListener('visibilitychange', begin)
  addEventListener('pagehide', leave)
  addEventListener('pageshow', (event) => event.persisted && begin())
  begin()
}
for (const [address, parts] of Map.groupBy(all('[data-events]'), (one) => one.dataset.events))
  follow(address, parts)

// A new token has a button that copies it. It is cleared before the browser caches the page for its history.
const token = document.getElementById('new-token')
if (token) {
  const copy = document.getElementById('copy')
  const say = (text) => {
    document.getElementById('copied').textContent = text
  }
  token.addEventListener('focus', () => token.select())
  copy.hidden = false
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(token.value)
      say(copy.dataset.done)
    } catch {
      // The clipboard API is missing without HTTPS, or not allowed. Try the old command; otherwise the person
      // copies by hand.
      token.focus()
      token.select()
      say(document.execCommand('copy') ? copy.dataset.done : copy.dataset.failed)
    }
  })
  addEventListener('pagehide', () => {
    token.value = ''
  })
}

// No single key makes a decision. It moves the focus to a control, and Enter activates it.
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') closeMenus()
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (document.documentElement.dataset.keys === 'off') return
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
