/** Tests the API tokens page in a real browser, from the login-link command to a revoked token. */
import { createServer } from 'node:http'
import path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newLoginLink } from '../../runtime/cli/login-link.ts'
import { listen, stopAll } from '../egress/fixtures/upstream.ts'
import { withFirstStart } from '../kit/template.ts'
import { CHROMIUM, startChromium } from './chromium.ts'
import { begin, newHome, stopCommands } from './command.ts'

const reason =
  CHROMIUM === null ? ' (SKIPPED: no Chromium; install it, or name it in CHROMIUM)' : ''

describe.skipIf(CHROMIUM === null)(`the API tokens page in a browser${reason}`, () => {
  let browser: Browser
  let url: string
  let env: Record<string, string>
  /** Reports of the browser: scripts and styles that the policy blocked, and errors. */
  const complaints: string[] = []

  beforeAll(async () => {
    const home = await newHome()
    env = {
      PORT: '0',
      KEYWAY_DATA_DIR: await withFirstStart(path.join(home, 'data')),
      KEYWAY_DROP_IN: 'off',
    }
    const command = begin(['start'], { env })
    url = (await command.prints(/"url":"([^"]+)"/))[1] ?? ''
    await command.prints(/"msg":"ready"/)
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await stopCommands()
    await stopAll()
  })

  async function linkOf(): Promise<string> {
    const text = await newLoginLink(env, { email: 'admin@localhost', url })
    return /http:\S+/.exec(text)?.[0] ?? ''
  }

  async function signIn(context: BrowserContext): Promise<Page> {
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      // The browser also reports a 4xx status that a test expects.
      const isStatus = /the server responded with a status of 4/.test(message.text())
      if (message.type() === 'error' && !isStatus) complaints.push(message.text())
    })
    await page.goto(await linkOf())
    await page.getByRole('button', { name: 'Sign in with the code' }).click()
    await page.waitForURL('**/console')
    await page.goto(`${url}/settings/api-tokens`)
    return page
  }

  const statusOf = async (token: string) =>
    (await fetch(`${url}/users/current`, { headers: { authorization: `Bearer ${token}` } })).status

  test('creates a token after sign-in by link, shows it once, and revokes it', async () => {
    const context = await browser.newContext()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
    const page = await signIn(context)
    await page.getByLabel('Name').fill('nightly report')
    await page.getByLabel('Description').fill('kept in the vault')
    await page.getByRole('button', { name: 'Create token' }).click()

    const field = page.getByLabel('Your new token')
    const token = await field.inputValue()
    expect(token).toMatch(/^lsk_[\w-]{43}$/)
    expect(await field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true)
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token)
    expect(await statusOf(token)).toBe(200)

    await page.reload()
    expect(await page.content()).not.toContain(token)
    expect(await page.getByRole('row', { name: /nightly report/ }).count()).toBe(1)

    await page.goto(`${url}/settings/api-tokens`)
    const row = page.getByRole('row', { name: /nightly report/ })
    await row.getByText('Revoke').first().click()
    await row.getByRole('button', { name: 'Revoke for good' }).click()
    await page.getByText('“nightly report” is revoked.').waitFor()
    expect(await statusOf(token)).toBe(401)
    await context.close()
  })

  test('removes the code from the address, and accepts it once', async () => {
    const context = await browser.newContext()
    const link = await linkOf()
    for (const words of ['Account of', 'used already']) {
      const page = await context.newPage()
      await page.goto(link)
      expect(page.url()).toBe(`${url}/settings/sign-in`)
      await page.getByRole('button', { name: 'Sign in with the code' }).click()
      await page.getByText(words).waitFor()
    }
    await context.close()
  })

  test('works without script, with a typed code', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    const link = await linkOf()
    await page.goto(link)
    await page.getByLabel('Code').fill(link.split('#code=')[1] ?? '')
    await page.getByRole('button', { name: 'Sign in with the code' }).click()
    await page.waitForURL('**/console')
    await page.goto(`${url}/settings/api-tokens`)
    await page.getByLabel('Name').fill('by hand')
    await page.getByRole('button', { name: 'Create token' }).click()
    expect(await statusOf(await page.getByLabel('Your new token').inputValue())).toBe(200)
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    await context.close()
  })

  test.each(['127.0.0.1', 'localhost'])(
    'refuses a form of a page of %s on another port',
    async (name) => {
      const context = await browser.newContext()
      const page = await signIn(context)
      const proof = await page.locator('.create [name=form_token]').inputValue()
      // The foreign page even has the form token, which it could not know: the browser's headers alone must
      // suffice.
      const port = await listen(
        createServer((_request, response) => {
          response.setHeader('content-type', 'text/html')
          response.end(`<form method="post" action="${url}/settings/api-tokens">
          <input name="form_token" value="${proof}"><input name="name" value="forged">
          <input name="form_id" value="33333333-3333-4333-8333-333333333333"></form>
          <script>document.forms[0].submit()</script>`)
        }),
      )
      const foreign = await context.newPage()
      const answer = foreign.waitForResponse((one) => one.request().method() === 'POST')
      await foreign.goto(`http://${name}:${port}/`)
      expect((await answer).status()).toBe(403)
      await page.reload()
      expect(await page.getByText('forged').count()).toBe(0)
      await context.close()
    },
  )

  test('caused no errors in the browser', () => {
    expect(complaints).toEqual([])
  })
})
