/**
 * Signs in through a real provider in a real browser: consent, the page afterwards, and sign-out at both
 * sides.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newLoginLink } from '../../runtime/cli/login-link.ts'
import { freePort } from '../free-port.ts'
import { withFirstStart } from '../kit/template.ts'
import type { Oidc } from '../real-systems/oidc-person.ts'
import { missing, type RealSystem, startSystem } from '../real-systems/start.ts'
import { CHROMIUM, startChromium } from './chromium.ts'
import { begin, newHome, stopCommands } from './command.ts'
import { HANDS } from './hands.ts'
import { reportsOf } from './reports.ts'
import { judge } from './walk.ts'

const absent = CHROMIUM === null ? 'no Chromium' : missing()
const reason = absent === null ? '' : ` (SKIPPED: ${absent})`

/** An app whose access tokens come from the provider. */
const CONNECTOR = {
  'connector.json': JSON.stringify({
    ...{ id: 'acme', name: 'Acme', version: '1.0.0', runtime: '^1.0.0' },
    authentication_schema: { kind: 'oauth' },
    settings: {
      server: { type: 'string', format: 'url', required: true, title: 'Address of Acme' },
    },
    egress: [{ url: '{settings.server}/me' }],
    capabilities: { list_accounts: {} },
    oauth: {
      authorization_url: '{settings.server}/auth',
      token_url: '{settings.server}/token',
      scopes: { list_accounts: 'openid profile' },
      ...{ client_authentication: 'CLIENT_SECRET_BASIC', pkce: true },
    },
  }),
  'connector.ts': `import { defineConnector, paged } from 'keyway/sdk'
export default defineConnector({ async list_accounts() { return paged([]) } })`,
}

describe.skipIf(absent !== null)(`signing in by a provider in a browser${reason}`, () => {
  let browser: Browser
  let system: RealSystem & Oidc
  let url: string
  let env: Record<string, string>
  const complaints: string[] = []

  beforeAll(async () => {
    const home = await newHome()
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    system = (await startSystem('oidc', {
      REDIRECT_URIS: `${url}/sign-in/acme/callback,${url}/console/consent/callback`,
      LOGOUT_URIS: `${url}/`,
    })) as RealSystem & Oidc
    const file = path.join(home, 'providers.json')
    const provider = {
      ...{ id: 'acme', name: 'Acme', issuer: system.issuer, client_id: 'keyway' },
      ...{ client_secret_file: 'secret', unknown_people: 'make' },
    }
    await writeFile(file, JSON.stringify([provider]))
    await writeFile(path.join(home, 'secret'), 'keyway-secret')
    const plugins = path.join(home, 'plugins')
    await mkdir(path.join(plugins, 'acme'), { recursive: true })
    for (const [name, text] of Object.entries(CONNECTOR))
      await writeFile(path.join(plugins, 'acme', name), text)
    const provides = new URL(system.issuer).host
    env = {
      ...{ PORT: port, KEYWAY_DATA_DIR: await withFirstStart(path.join(home, 'data')) },
      ...{ KEYWAY_DROP_IN: 'open', KEYWAY_PLUGINS_DIR: plugins, KEYWAY_SIGN_IN: file },
      KEYWAY_PRIVATE_EGRESS: `sign-in=${provides} acme=${provides}`,
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

  test.each(HANDS)(
    'signs a person in and out, $name',
    async ({ context: options, press, fill }) => {
      const context = await browser.newContext(options)
      const page = await context.newPage()
      await reportsOf(page, complaints, url)
      await page.goto(`${url}/inbox`)
      await press(page.getByRole('link', { name: 'Continue with Acme' }))
      await fill(page.locator('input[name=user]'), 'alice')
      await fill(page.locator('input[name=password]'), 'pw-alice')
      await press(page.locator('button[value=login]'))
      await press(page.locator('button[value=allow]'))
      // The next request sends the cookie that the callback sets, although another site started the redirect.
      await page.waitForURL(`${url}/inbox`)
      await page.getByText('Nothing waits for you').waitFor()

      await press(page.locator('summary', { hasText: 'Account of Alice Admin' }))
      await press(page.getByRole('button', { name: 'Sign out', exact: true }))
      await press(page.getByRole('link', { name: 'Sign out of Acme too' }))
      await press(page.locator('button[name=logout]'))
      await page.waitForURL(/\/settings\/sign-in/)
      await context.close()
    },
  )

  test.each(HANDS)(
    'reports that the person refused, $name',
    async ({ context: options, press }) => {
      const context = await browser.newContext(options)
      const page = await context.newPage()
      await reportsOf(page, complaints, url)
      await page.goto(`${url}/sign-in/acme`)
      await press(page.locator('button[value=cancel]'))
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
      await context.close()
    },
  )

  /** Opens the form that connects the app as an operator, and fills it in up to the consent button. */
  async function askingForConsent(page: Page): Promise<void> {
    const code = /#code=([\w-]+)/.exec(await newLoginLink(env, { email: 'admin@localhost', url }))
    await page.goto(`${url}/settings/sign-in?next=/console/connect/acme`)
    await page.getByLabel('Code').fill(code?.[1] ?? '')
    await page.getByRole('button', { name: 'Sign in with the code' }).click()
    await page.waitForURL(`${url}/console/connect/acme`)
    await page.getByLabel('Client ID').fill('keyway')
    await page.getByLabel('Client secret').fill('keyway-secret')
    await page.getByLabel('Address of Acme').fill(system.issuer)
    await page.getByRole('button', { name: 'Get consent' }).click()
    await page.getByRole('heading', { name: /^Give consent at 127/ }).waitFor()
  }

  test('obtains consent for an app, and reports a refusal', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await reportsOf(page, complaints, url)
    await askingForConsent(page)
    expect(await judge(page)).toEqual([])
    await page.getByRole('link', { name: /^Go to 127/ }).click()
    await page.locator('button[value=cancel]').click()
    await page.getByText('Consent was refused at 127').waitFor()
    expect(await judge(page)).toEqual([])
    await page.getByLabel('Client secret').fill('keyway-secret')
    await page.getByRole('button', { name: 'Get consent' }).click()
    await page.getByRole('link', { name: /^Go to 127/ }).click()
    await page.locator('input[name=user]').fill('alice')
    await page.locator('input[name=password]').fill('pw-alice')
    await page.locator('button[value=login]').click()
    await page.locator('button[value=allow]').click()
    await page.getByText('It is connected.').waitFor()
    await page.goBack()
    await page.goto(`${url}/console/consent/callback?code=again&state=forged`)
    await page.getByRole('heading', { name: 'This consent is no longer awaited' }).waitFor()
    await context.close()
  })

  test('caused no errors or policy violations in the browser', () => {
    expect(complaints).toEqual([])
  })
})
