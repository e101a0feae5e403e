/** Tables on a narrow screen: words of usual length are not broken, and wide content scrolls. */
import { html } from 'hono/html'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outcomeBadge } from '../../runtime/http/console/connector.ts'
import { egressMap } from '../../runtime/http/console/egress-map.ts'
import { table } from '../../runtime/http/console/parts.ts'
import { localeOf } from '../../runtime/http/frame/locale.ts'
import { STYLE } from '../../runtime/http/frame/style/style.ts'
import { whole } from '../../runtime/http/pages/parts.ts'
import { CHROMIUM, startChromium } from './chromium.ts'

let browser: Browser
beforeAll(async () => {
  if (CHROMIUM !== null) browser = await startChromium()
})
afterAll(() => browser?.close())

/** Words in tables that span more than one line. */
const BROKEN = `(() => {
  const out = []
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) {
    const { data, parentElement } = walk.currentNode
    if (!parentElement.closest('td, th') || parentElement.closest('.unseen')) continue
    for (const { 0: word, index } of data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange()
      range.setStart(walk.currentNode, index)
      range.setEnd(walk.currentNode, index + word.length)
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) out.push(word)
    }
  }
  return out
})()`

const ADDRESSES = ['rafael.andersen@example.com', 'ines.becker@sub.example.co.uk']

test.skipIf(CHROMIUM === null)('tables break no e-mail address of usual length', async () => {
  const t = localeOf('de')
  const long = `${'x'.repeat(64)}@${'y'.repeat(63)}.example`
  const of = (addresses: readonly string[]) =>
    table(
      'Konten',
      [{ words: 'Konto' }, { words: 'Zustand' }, { words: 'Wer' }],
      addresses.map((one) => [
        whole(one),
        outcomeBadge('ok'),
        html`<span class="sub">${whole(`${one} · u-001`)}</span>`,
      ]),
      t,
    )
  const page = await browser.newPage({ viewport: { width: 375, height: 800 } })
  const show = (addresses: readonly string[]) =>
    page.setContent(
      `<html lang="de"><style>${STYLE}</style><main class="page">${of(addresses)}</main>`,
    )
  await show(ADDRESSES)
  expect(await page.evaluate(BROKEN)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
  // An extremely long address does break, so that nobody has to scroll past it.
  await show([long])
  expect(await page.evaluate(`document.querySelector('table').scrollWidth`)).toBeLessThan(700)
})

test.skipIf(CHROMIUM === null)('tables break no word of usual length', async () => {
  const t = localeOf('de')
  const rows = table(
    'Personen',
    [{ words: 'Wer' }, { words: 'Zustand' }, { words: 'Seit' }, { words: 'Was' }],
    [['Björn Nakamura Engineering Department', outcomeBadge('ok'), 'Vorgefunden', 'Entziehen']],
    t,
  )
  const way = {
    ...{
      host: 'api.github.com',
      methods: ['GET'],
      state: 'used' as const,
      requests: 2,
      refused: 0,
    },
    capability: 'list_custom_attributes',
  } as const
  const page = await browser.newPage({ viewport: { width: 375, height: 800 } })
  await page.setContent(
    `<html lang="de"><style>${STYLE}</style><main class="page">${rows}${egressMap(t, 'github', [way])}</main>`,
  )
  await page.evaluate(`document.querySelector('details').open = true`)
  expect(await page.evaluate(BROKEN)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
})

test.skipIf(CHROMIUM === null)(
  'a column that folds is below the name of the row on a phone, and beside it elsewhere',
  async () => {
    const t = localeOf('de')
    const rows = table(
      'Feststellungen',
      [
        { words: 'Was' },
        { words: 'Wer', folds: true },
        { words: 'p99', look: 'num', folds: true },
        { words: 'Aktion', look: 'num', unseen: true, folds: true },
      ],
      [['Ungenutztes Konto', whole(ADDRESSES[1] ?? ''), 12, html`<a href="/x">Entziehen</a>`]],
      t,
    )
    const page = await browser.newPage({ viewport: { width: 375, height: 800 } })
    await page.setContent(
      `<html lang="de"><style>${STYLE}</style><main class="page">${rows}</main>`,
    )
    const scroll = `document.querySelector('.scroll').scrollWidth <= document.querySelector('.scroll').clientWidth`
    expect(await page.evaluate(scroll)).toBe(true)
    expect(await page.innerText('tbody')).toMatch(
      /^Ungenutztes Konto\s+ines\S+\s+p99: 12\s+Entziehen$/,
    )
    expect(await page.getByRole('link').count()).toBe(1)
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(await page.getByRole('link').count()).toBe(1)
    expect(await page.getByRole('cell').count()).toBe(3)
  },
)
