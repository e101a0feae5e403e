/** Signing in by a real provider in a real browser: consent, the page behind it, and out again at both ends. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { withFirstStart } from '../kit/template.ts'
import type { Oidc } from '../real-systems/oidc-person.ts'
import { missing, type RealSystem, startSystem } from '../real-systems/start.ts'
import { CHROMIUM, startChromium } from './chromium.ts'
import { begin, newHome, stopCommands } from './command.ts'

const absent = CHROMIUM === null ? 'no Chromium' : missing()
const reason = absent === null ? '' : ` (SKIPPED: ${absent})`

describe.skipIf(absent !== null)(`signing in by a provider in a browser${reason}`, () => {
  let browser: Browser
  let system: RealSystem & Oidc
  let url: string
  const complaints: string[] = []

  beforeAll(async () => {
    const home = await newHome()
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    system = (await startSystem('oidc', {
      REDIRECT_URIS: `${url}/sign-in/acme/callback`,
      LOGOUT_URIS: `${url}/`,
    })) as RealSystem & Oidc
    const file = path.join(home, 'providers.json')
    const provider = {
      ...{ id: 'acme', name: 'Acme', issuer: system.issuer, client_id: 'keyway' },
      ...{ client_secret_file: 'secret', unknown_people: 'make' },
    }
    await writeFile(file, JSON.stringify([provider]))
    await writeFile(path.join(home, 'secret'), 'keyway-secret')
    const env = {
      ...{ PORT: port, KEYWAY_DATA_DIR: await withFirstStart(path.join(home, 'data')) },
      KEYWAY_DROP_IN: 'off',
      ...{ KEYWAY_SIGN_IN: file },
      KEYWAY_PRIVATE_EGRESS: `sign-in=${new URL(system.issuer).host}`,
    }
    const command = begin(['start'], { env })
    await command.prints(/"msg":"ready"/)
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await stopCommands()
    await system?.stop()
  })

  test.each([true, false])('leads in and out, script: %s', async (javaScriptEnabled) => {
    const context = await browser.newContext({ javaScriptEnabled })
    const page = await context.newPage()
    page.on('console', (one) => {
      if (one.type() === 'error' && page.url().startsWith(url)) complaints.push(one.text())
    })
    await page.goto(`${url}/inbox`)
    await page.getByRole('link', { name: 'Continue with Acme' }).click()
    await page.locator('input[name=user]').fill('alice')
    await page.locator('input[name=password]').fill('pw-alice')
    await page.locator('button[value=login]').click()
    await page.locator('button[value=allow]').click()
    // The cookie that the way back sets is sent on the very next request, though another site began it.
    await page.waitForURL(`${url}/inbox`)
    await page.getByText('Nothing waits for you').waitFor()

    await page.locator('summary', { hasText: 'Account of Alice Admin' }).click()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('link', { name: 'Sign out of Acme too' }).click()
    await page.locator('button[name=logout]').click()
    await page.waitForURL(/\/settings\/sign-in/)
    await context.close()
  })

  test('says so where the person says no', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${url}/sign-in/acme`)
    await page.locator('button[value=cancel]').click()
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
    await context.close()
  })

  test('gave the browser nothing to complain of', () => {
    expect(complaints).toEqual([])
  })
})
