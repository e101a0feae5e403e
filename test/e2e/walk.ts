/** Visits every page by following links, so that pages without an incoming link are found as well. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { CHANGES, CONSOLE_PAGES } from '../../runtime/http/console/table.ts'
import { PAGES } from '../../runtime/http/pages/table.ts'
import { SETTINGS_PAGES } from '../../runtime/http/settings/layout.ts'
import { ROOT } from './command.ts'

/** EVERY_PAGE: paths of all pages, by the name of their row in the page tables. */
export const EVERY_PAGE: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...PAGES, ...SETTINGS_PAGES, ...CONSOLE_PAGES, ...CHANGES }).map(
    ([name, { path }]) => [name, path],
  ),
)

/** Patterns of the rows, fixed and longer paths first: `new` is not an id. */
const PATTERNS = [...EVERY_PAGE]
  .map(([name, at]) => ({ name, fits: new RegExp(`^${at.replace(/:\w+/g, '[^/?#]+')}$`), at }))
  .sort(
    (a, b) => Number(a.at.includes(':')) - Number(b.at.includes(':')) || b.at.length - a.at.length,
  )

/**
 * Maximum number of addresses of one row that are searched for links: pages of a row link to the same rows,
 * apart from their state.
 */
const MAX_OF_A_ROW = 8

/** Returns the first linked address of each row, for the signed-in person. Only reads. */
export async function found(
  { request }: BrowserContext,
  origin: string,
  from: readonly string[],
): Promise<Map<string, string>> {
  const first = new Map<string, string>()
  const seen = new Set<string>()
  const counts = new Map<string, number>()
  const waiting = [...from]
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    const reply = await request.get(at, { headers: { accept: 'text/html' } })
    if (!reply.ok() || !/html/.test(reply.headers()['content-type'] ?? '')) continue
    for (const [, written = ''] of (await reply.text()).matchAll(/(?:href|action)="([^"]+)"/g)) {
      const to = new URL(written.replaceAll('&amp;', '&'), new URL(at, origin))
      const row = PATTERNS.find(({ fits }) => fits.test(to.pathname))
      const address = `${to.pathname}${to.search}`
      if (to.origin !== origin || row === undefined || seen.has(address)) continue
      seen.add(address)
      if (!first.has(row.name)) first.set(row.name, address)
      const count = (counts.get(row.name) ?? 0) + 1
      counts.set(row.name, count)
      if (count <= MAX_OF_A_ROW) waiting.push(address)
    }
  }
  return first
}

/** Read as a file, since it is a script for the page and not for Node. */
const AXE = path.join(ROOT, 'node_modules', 'axe-core', 'axe.min.js')

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] }

/**
 * Loads axe-core into each page that is opened, for a walk that checks all of them. The browser caches the
 * code, so it is not sent and compiled for each page.
 */
export const haveJudge = (page: Page): Promise<unknown> => page.addInitScript({ path: axe() })

function axe(): string {
  if (!existsSync(AXE)) throw new Error('axe-core is not installed: run npm install')
  return AXE
}

/** The violations that axe-core finds on the current page. */
export async function judge(page: Page): Promise<string[]> {
  // Through the debugger, which the content security policy does not restrict.
  if (await page.evaluate('typeof axe === "undefined"'))
    await page.evaluate(readFileSync(axe(), 'utf8'))
  // Only violations are described, not the rules that pass.
  const violations = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"], preload: false }).then(({ violations }) => violations)',
  )) as Violation[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

const GERMAN = { 'accept-language': 'de' }
/**
 * Colour schemes with their widths, ordered to resize the window rarely: each resize costs a layout and a
 * repaint.
 */
const LOOKS = [
  ['light', [1280, 375]],
  ['dark', [375, 1280]],
] as const
/**
 * `LOOKS=all` checks every page in each width and scheme. Otherwise wide and light, and narrow and dark: the
 * other combinations have the same sizes and colours.
 */
const ALL_LOOKS = process.env['LOOKS'] === 'all'

/** Opens folded parts and dialogs, which are part of the page. */
const UNFOLD = `for (const one of document.querySelectorAll('details')) one.open = true
document.querySelector('dialog')?.show()`

/**
 * Faults of a page by width and colour scheme: accessibility violations, and horizontal scrolling. Dark pages
 * are in German, which has longer words.
 *
 * @param photograph Saves a screenshot.
 */
export async function faultsOf(
  page: Page,
  place: string,
  photograph: (name: string) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const faults: Record<string, unknown> = {}
  for (const [colorScheme, widths] of LOOKS) {
    await page.emulateMedia({ colorScheme })
    await page.setExtraHTTPHeaders(colorScheme === 'dark' ? GERMAN : {})
    await page.setViewportSize({ width: widths[0], height: 800 })
    await page.goto(place)
    await page.evaluate(UNFOLD)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 })
      const look = `${place}, ${width} wide, ${colorScheme}`
      await photograph(look.replace(/\W+/g, '_'))
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
      const isJudged = ALL_LOOKS || width === widths[0]
      const wrong = isJudged ? await judge(page) : []
      if (wrong.length > 0 || wide > 0) faults[look] = { wrong, wide }
    }
  }
  return faults
}
