/** Tests pages that update live: from events on either host, and also if the page's host dies. */
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newLoginLink } from '../../runtime/cli/login-link.ts'
import { freePort } from '../free-port.ts'
import { openTestDatabase, type TestDatabase } from '../kit/databases.ts'
import { CHROMIUM, startChromium } from './chromium.ts'
import { send } from './client.ts'
import { begin, type Command, newHome, stopCommands } from './command.ts'
import { type Front, startFront } from './front.ts'
import { until } from './until.ts'

const reason =
  CHROMIUM === null ? ' (SKIPPED: no Chromium; install it, or name it in CHROMIUM)' : ''
const TOKEN = `lsk_${'streams'.repeat(8)}`
/** Timeouts for a start and for a visible change, on a loaded machine, in milliseconds. */
const START_MS = 90_000
const SEEN_MS = 45_000

type Running = { command: Command; port: number; url: string; env: Record<string, string> }

describe.skipIf(CHROMIUM === null)(`streams of pages${reason}`, () => {
  let database: TestDatabase
  let browser: Browser
  let front: Front
  /** The host with the sample company; it keeps running. */
  let one: Running
  /** The host that is killed. */
  let other: Running
  let appId: string
  let samplePort: number

  async function start(...args: string[]): Promise<Running> {
    const port = await freePort()
    const env = {
      ...{ PORT: String(port), KEYWAY_DATA_DIR: path.join(await newHome(), 'data') },
      ...{ DATABASE_URL: database.url, KEYWAY_SECRET: 'secret-of-both-'.repeat(4) },
      ...{ KEYWAY_ADMIN_TOKEN: TOKEN, KEYWAY_DROP_IN: 'off' },
      // Either host may run the sync.
      KEYWAY_PRIVATE_EGRESS: `scim=127.0.0.1:${samplePort}`,
    }
    const command = begin(['start', ...args], { env })
    const url = `http://127.0.0.1:${port}`
    const isReady = async () =>
      (await send(`${url}/readyz`, {}).catch(() => null))?.status === 200 ||
      command.output().includes('"level":60')
    await until(`a host is ready: ${command.output()}`, isReady, START_MS)
    return { command, port, url, env }
  }

  beforeAll(async () => {
    database = await openTestDatabase()
    samplePort = await freePort()
    one = await start('--sample', '--sample-port', String(samplePort))
    other = await start()
    front = await startFront(other.port)
    browser = await startChromium()
    const apps = await api('/apps?name_search=Data%20Warehouse')
    appId = apps.items[0].id
    await until(
      'the first sync has succeeded',
      async () => {
        const { items } = await api(`/operator/syncs?app_id=${appId}`)
        return items.some(({ state }: { state: string }) => state === 'SUCCEEDED')
      },
      START_MS,
    )
  }, 5 * START_MS)
  afterAll(async () => {
    await browser?.close()
    await front?.close()
    await stopCommands()
    await database?.drop()
  })

  async function api(at: string, body?: object) {
    const { status, text } = await send(`${one.url}${at}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (status >= 300) throw new Error(`${at}: ${status} ${text}`)
    return JSON.parse(text)
  }

  /** Signs in at one host; the session is valid on both. */
  async function signIn(email: string, url: string): Promise<Page> {
    const context = await browser.newContext({ baseURL: url })
    const page = await context.newPage()
    const link = /http:\S+/.exec(await newLoginLink(one.env, { email, url: one.url }))?.[0] ?? ''
    await page.goto(link.replace(one.url, url))
    await page.getByRole('button', { name: 'Sign in with the code' }).click()
    await page.waitForURL((at) => !at.pathname.startsWith('/settings/sign-in'))
    return page
  }

  const sync = (): Promise<{ id?: string }> =>
    api(`/apps/${appId}/sync`, { sync_type: 'full_sync' })
  const runsOn = (page: Page): Promise<number> => page.locator('#runs tbody tr').count()

  /** Waits until the page, without a reload, shows another completed run. */
  async function seesRun(page: Page, before: number): Promise<void> {
    await until('the page shows one more run', async () => (await runsOn(page)) > before, SEEN_MS)
    await page.locator('#runs tbody tr').first().getByText('Done').waitFor({ timeout: SEEN_MS })
    expect(await page.evaluate('globalThis.isTheSame')).toBe(true)
  }

  /** Opens the page of the app, with a mark that a reload would remove. */
  async function openApp(url: string): Promise<Page> {
    const page = await signIn('admin@localhost', url)
    await page.goto(`/console/apps/${appId}`)
    await page.evaluate('globalThis.isTheSame = true')
    return page
  }

  test(
    'a sync that one host starts is shown by a page of the other',
    async () => {
      const page = await openApp(other.url)
      const before = await runsOn(page)
      await sync()
      await seesRun(page, before)
      await page.context().close()
    },
    3 * SEEN_MS,
  )

  test(
    'a second approver sees the decision of the first without losing typed text',
    async () => {
      // All of them belong to the group that decides.
      const first = await signIn('amir.carter@example.com', one.url)
      const second = await signIn('daniel.evans@example.com', other.url)
      const third = await signIn('freya.hughes@example.com', other.url)
      for (const page of [first, second, third]) {
        await page.goto('/inbox')
        await page
          .getByRole('link', { name: /^José Meyer.*Viewer/ })
          .first()
          .click()
        await page.getByRole('button', { name: /^Approve/ }).waitFor()
      }
      await second.getByLabel('Reason').fill('I was about to say')
      await first.getByRole('button', { name: /^Approve/ }).click()
      for (const page of [second, third])
        await page.locator('#settled').getByText('Amir Carter').waitFor({ timeout: SEEN_MS })
      expect(await second.getByLabel('Reason').inputValue()).toBe('I was about to say')
      await until('the third page no longer has the button', async () => {
        return (await third.getByRole('button', { name: /^Approve/ }).count()) === 0
      })
      expect(await third.locator('#list').getByText('José Meyer').count()).toBe(0)
      for (const page of [first, second, third]) await page.context().close()
    },
    3 * SEEN_MS,
  )

  test(
    'a page whose host dies continues at the other one without missing an event',
    async () => {
      const page = await openApp(`http://127.0.0.1:${front.port}`)
      const before = await runsOn(page)
      other.command.killGroup('SIGKILL')
      await other.command.ended
      await sync()
      front.lead(one.port)
      await seesRun(page, before)

      // Simulates a proxy that answers for an unavailable host, which browsers treat as the end of the
      // stream.
      front.lead(null)
      await sync()
      await page.waitForTimeout(4000)
      front.lead(one.port)
      await seesRun(page, before + 1)
      await page.context().close()
    },
    5 * SEEN_MS,
  )
})
