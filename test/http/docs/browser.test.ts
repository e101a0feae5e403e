/** The documentation in a real browser: wide and narrow, light and dark, without scripts, by keyboard. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atOnce } from '../../../runtime/bounded/slices.ts'
import { DOCS_PAGES, docsAddressOf } from '../../../runtime/http/docs/pages.ts'
import { docsRoutes } from '../../../runtime/http/docs/routes.ts'
import { documentSteps } from '../../../runtime/http/documents/openapi.ts'
import { CHROMIUM, startChromium } from '../../e2e/chromium.ts'

const ADDRESSES = [
  ...DOCS_PAGES.map(docsAddressOf),
  '/docs/api',
  '/docs/search?q=secret',
  '/docs/nothing',
]
const SIZES = [
  { width: 1280, height: 800 },
  { width: 375, height: 700 },
] as const

describe.skipIf(CHROMIUM === null)(`pages${CHROMIUM ? '' : ' (needs Chromium)'}`, () => {
  let browser: Browser
  let server: Server
  let url: string

  beforeAll(async () => {
    const app = docsRoutes(async () => atOnce(documentSteps({ connectorsPath: '/connectors' })))
    // @hono/node-server types the server for HTTP/2 too; without options it is node:http's.
    server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }) as Server
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    server?.closeAllConnections()
    await new Promise((resolve) => server?.close(resolve))
  })

  async function opened(
    size: (typeof SIZES)[number],
    colorScheme: 'light' | 'dark',
  ): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext({
      viewport: size,
      colorScheme,
      javaScriptEnabled: false,
    })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('requestfailed', (request) => complaints.push(request.url()))
    return { page, complaints }
  }

  test('fit both widths, and cause no errors in the browser', async () => {
    const { page, complaints } = await opened(SIZES[0], 'light')
    const wide: string[] = []
    // Each page opens at the previous page's width: opening a page costs more than resizing it.
    let sizes = [...SIZES]
    for (const at of ADDRESSES) {
      await page.goto(url + at)
      for (const size of sizes) {
        await page.setViewportSize(size)
        const width = await page.evaluate<number>('document.documentElement.scrollWidth')
        if (width > size.width) wide.push(`${at}: ${width} in ${size.width}`)
      }
      sizes = sizes.toReversed()
    }
    await page.context().close()
    expect(wide).toEqual([])
    expect(complaints.filter((one) => !one.includes('404'))).toEqual([])
  })

  test('are dark if the browser prefers dark', async () => {
    const grounds = await Promise.all(
      (['light', 'dark'] as const).map(async (scheme) => {
        const { page } = await opened(SIZES[0], scheme)
        await page.goto(`${url}/docs/start`)
        const colour = await page.evaluate<string>(
          'getComputedStyle(document.body).backgroundColor',
        )
        await page.context().close()
        return colour
      }),
    )
    expect(grounds).toEqual(['rgb(255, 255, 255)', 'rgb(20, 23, 28)'])
  })

  test('are searched by keyboard alone', async () => {
    const { page } = await opened({ width: 1280, height: 800 }, 'light')
    await page.goto(`${url}/docs`)
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Skip to the content')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').getAttribute('name')).toBe('q')
    await page.keyboard.type('rotate the secret')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/search\?q=rotate\+the\+secret$/)
    expect(await page.locator('.hits li').count()).toBeGreaterThan(0)
    await page.context().close()
  })

  test('list all pages on a phone in a menu that opens without JavaScript', async () => {
    const { page } = await opened({ width: 375, height: 700 }, 'light')
    await page.goto(`${url}/docs`)
    const link = page.locator('details.pages a[href="/docs/operate/backup"]')
    expect(await link.isVisible()).toBe(false)
    await page.locator('details.pages summary').click()
    expect(await link.isVisible()).toBe(true)
    await link.click()
    expect(await page.locator('h1').textContent()).toBe('Backup and restore')
    await page.context().close()
  })
})
