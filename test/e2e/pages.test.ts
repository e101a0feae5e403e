/** Runs the pages in a real browser: in both colour schemes and widths, by keyboard, and without script. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newLoginLink } from '../../runtime/cli/login-link.ts'
import { freePort } from '../free-port.ts'
import { openTestDatabase, type TestDatabase } from '../kit/databases.ts'
import type { Oidc } from '../real-systems/oidc-person.ts'
import { missing, type RealSystem, startSystem } from '../real-systems/start.ts'
import { CHROMIUM, startChromium } from './chromium.ts'
import { begin, newHome, stopCommands } from './command.ts'
import { FLOWS } from './flows.ts'
import { HANDS, type Hand } from './hands.ts'
import { reportsOf } from './reports.ts'
import { GRANTED, prepareStates, REVOKED } from './states.ts'
import { until } from './until.ts'
import { EVERY_PAGE, faultsOf, found, haveJudge, judge } from './walk.ts'

const reason =
  CHROMIUM === null ? ' (SKIPPED: no Chromium; install it, or name it in CHROMIUM)' : ''

const noMail = missing('openssl')
const noProvider = missing()
type MailSystem = RealSystem & { port: number; ca: string; page: string }
type Received = { envelope: { to: string[] }; subject: string; text: string }

/** Settings for sign-in at the provider; unknown people are refused. */
async function signInBy(issuer: string, home: string): Promise<Record<string, string>> {
  const file = path.join(home, 'providers.json')
  const client = { client_id: 'keyway', client_secret_file: 'secret' }
  await writeFile(file, JSON.stringify([{ id: 'acme', name: 'Acme', issuer, ...client }]))
  await writeFile(path.join(home, 'secret'), 'keyway-secret')
  return { KEYWAY_SIGN_IN: file, KEYWAY_PRIVATE_EGRESS: `sign-in=${new URL(issuer).host}` }
}

const TOKEN = `lsk_${'pages'.repeat(10)}`

describe.skipIf(CHROMIUM === null)(`the pages in a browser${reason}`, () => {
  let browser: Browser
  let database: TestDatabase
  let url: string
  let mail: MailSystem | null
  let provider: (RealSystem & Oidc) | null
  let samplePort: number
  let env: Record<string, string>
  /** Reports of the browser: scripts and styles that the policy blocked, and errors. */
  const complaints: string[] = []

  beforeAll(async () => {
    const home = await newHome()
    const registry = path.join(home, 'registry')
    database = await openTestDatabase()
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    mail = noMail === null ? ((await startSystem('mail')) as MailSystem) : null
    provider =
      noProvider === null
        ? ((await startSystem('oidc', {
            REDIRECT_URIS: `${url}/sign-in/acme/callback`,
            LOGOUT_URIS: `${url}/`,
          })) as RealSystem & Oidc)
        : null
    env = {
      ...(provider && (await signInBy(provider.issuer, home))),
      ...{ PORT: port, KEYWAY_DATA_DIR: path.join(home, 'data'), DATABASE_URL: database.url },
      ...{ KEYWAY_ADMIN_TOKEN: TOKEN, KEYWAY_SECRET: 'secret-of-pages-'.repeat(4) },
      KEYWAY_REGISTRY: registry,
      ...(mail && {
        KEYWAY_MAIL_SERVER: `smtp://keyway@127.0.0.1:${mail.port}`,
        KEYWAY_MAIL_PASSWORD: 'mail-secret',
        KEYWAY_MAIL_FROM: 'keyway@acme.example',
        KEYWAY_MAIL_LANGUAGE: 'de',
        KEYWAY_PUBLIC_URL: url,
        NODE_EXTRA_CA_CERTS: mail.ca,
      }),
    }
    samplePort = await freePort()
    const command = begin(['start', '--sample', '--sample-port', String(samplePort)], { env })
    await command.prints(/"msg":"ready"/)
    browser = await startChromium()
    await prepareStates({ url, token: TOKEN, databaseUrl: database.url, registry })
  })
  afterAll(async () => {
    await browser?.close()
    await stopCommands()
    await mail?.stop()
    await provider?.stop()
    await database?.drop()
  })

  const watched = async (page: Page): Promise<Page> => {
    await reportsOf(page, complaints)
    return page
  }

  /**
   * Stored sessions of people who have signed in. Only twenty sign-in attempts are allowed per minute, and
   * these tests take hardly longer.
   */
  const sessions = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>()

  async function signIn(
    email: string,
    options: BrowserContextOptions = {},
  ): Promise<{ context: BrowserContext; page: Page }> {
    const storageState = sessions.get(email)
    const context = await browser.newContext({
      ...{ baseURL: url, ...options },
      ...(storageState === undefined ? {} : { storageState }),
    })
    const page = await watched(await context.newPage())
    if (storageState) {
      await page.goto('/access')
      return { context, page }
    }
    const link = /http:\S+/.exec(await newLoginLink(env, { email, url }))?.[0] ?? ''
    await page.goto(link)
    await page.getByLabel('Code').fill(link.split('#code=')[1] ?? '')
    await page.getByRole('button', { name: 'Sign in with the code' }).click()
    await page.goto('/access')
    sessions.set(email, await context.storageState())
    return { context, page }
  }

  /** A person of the sample company with a manager. */
  const ASKER = 'hana.patel@example.com'

  /** Saves screenshots if `SHOTS=folder` is set. */
  async function photograph(page: Page, name: string): Promise<void> {
    const folder = process.env['SHOTS']
    if (folder) await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true })
  }

  const GERMAN = { 'accept-language': 'de' }
  test.each([true, false])(
    'let a person request access and read the decision, with script: %s',
    async (javaScriptEnabled) => {
      const { context, page } = await signIn(ASKER, { javaScriptEnabled })
      const why = `Month end, script ${javaScriptEnabled}`
      await page.getByRole('link', { name: 'Data Warehouse' }).first().click()
      await page.getByRole('link', { name: 'Read reports' }).click()
      await page.getByRole('button', { name: 'Send request' }).click()
      await page.getByText('Say why you need it, in a sentence or two.').first().waitFor()
      await page.getByRole('radio').first().check()
      await page.getByLabel('Why do you need it?').fill(why)
      await page.getByRole('button', { name: 'Send request' }).click()
      await page.getByText('Your request is sent.').waitFor()
      await page.getByText(`“${why}”`).first().waitFor()

      const boss = await signIn('admin@localhost', { javaScriptEnabled })
      await boss.page.goto('/inbox')
      await boss.page
        .getByRole('link', { name: /^Hana Patel.*Read reports/ })
        .first()
        .click()
      await boss.page.getByText(why).first().waitFor()
      await boss.page.getByLabel('Reason').fill('Not this month')
      await boss.page.getByRole('button', { name: 'Deny' }).click()
      await boss.page.getByText(/^Denied: Read reports/).waitFor()
      await boss.context.close()

      await page.goto('/access')
      await page.getByText('Not granted lately').waitFor()
      await page.getByText('“Not this month”').first().waitFor()
      await context.close()
    },
  )

  const OPERATOR = 'admin@localhost'

  /** The first mail to an operator that contains a text. */
  const mailWith = (words: string): Promise<Received> =>
    until(`a mail that says ${words}`, async () => {
      const all = (await (await fetch(`${mail?.page}/messages`)).json()) as Received[]
      return all.find(
        ({ envelope, text }) => envelope.to.includes(OPERATOR) && text.includes(words),
      )
    })

  /** The number of members of a group in the connected system itself. */
  async function membersOf(tenant: string, group: string): Promise<number> {
    const filter = new URLSearchParams({ filter: `displayName eq "${group}"` })
    const reply = await fetch(`http://127.0.0.1:${samplePort}/${tenant}/scim/Groups?${filter}`, {
      headers: { authorization: 'Bearer sample-token' },
    })
    const { Resources } = (await reply.json()) as { Resources: { members?: unknown[] }[] }
    return Resources[0]?.members?.length ?? 0
  }
  const officeMovers = () => membersOf('design', 'Office Move 2027')

  test.skipIf(noMail !== null || noProvider !== null)(
    "lead from sign-in at a provider to access; opening the link in the approver's mail decides nothing",
    async () => {
      const client = new Client({ connectionString: database.url })
      await client.connect()
      const { rowCount } = await client.query(
        "update users set email = 'alice@example.test' where email = 'emma.walker@example.com'",
      )
      await client.end()
      expect(rowCount).toBe(1)
      const context = await browser.newContext({ baseURL: url })
      const page = await watched(await context.newPage())
      await page.goto('/access')
      await page.getByRole('link', { name: 'Continue with Acme' }).click()
      await page.locator('input[name=user]').fill('alice')
      await page.locator('input[name=password]').fill('pw-alice')
      await page.locator('button[value=login]').click()
      await page.locator('button[value=allow]').click()
      await page.waitForURL(`${url}/access`)
      const before = await officeMovers()
      await page.getByRole('link', { name: 'Design Studio' }).first().click()
      await page.getByRole('link', { name: 'Office Move 2027' }).click()
      await page.getByRole('radio').first().check()
      await page.getByLabel('Why do you need it?').fill('Asked for by mail')
      await page.getByRole('button', { name: 'Send request' }).click()
      await page
        .getByRole('link', { name: /^Office Move 2027, for/ })
        .first()
        .click()
      await page.getByText('decides now').first().waitFor()

      const { subject, text } = await mailWith('Asked for by mail')
      expect(subject).toContain('Emma Walker beantragt')
      const link = /http:\S+\/inbox\/[\w-]+/.exec(text)?.[0] ?? ''
      // As mail scanners do.
      expect((await fetch(link, { redirect: 'manual' })).status).toBe(303)

      const boss = await browser.newContext({
        ...{ viewport: { width: 375, height: 800 }, extraHTTPHeaders: GERMAN },
      })
      const inbox = await watched(await boss.newPage())
      await inbox.goto(link)
      const code = (await newLoginLink(env, { email: OPERATOR, url })).split('#code=')[1] ?? ''
      await inbox.getByLabel('Anmeldecode').fill(code.split(/\s/)[0] ?? '')
      await inbox.getByRole('button', { name: 'Mit dem Code anmelden' }).click()
      await inbox.waitForURL(link)
      await page.reload()
      await page.getByText('decides now').first().waitFor()

      for (const words of ['Kommentar schreiben', 'An eine andere Person übergeben'])
        await inbox.locator('summary', { hasText: words }).click()
      expect(await judge(inbox)).toEqual([])
      const wide = await inbox.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect(wide).toBeLessThanOrEqual(0)
      await inbox.getByRole('button', { name: /^Genehmigen/ }).click()
      await inbox.getByText(/^Genehmigt: Office Move 2027/).waitFor()
      await page.reload()
      await page.getByText('said yes').first().waitFor()

      await until(
        'the upstream has the membership',
        async () => (await officeMovers()) === before + 1,
      )
      const held = page.locator('li', { has: page.getByRole('link', { name: /^Give back/ }) })
      await until('the access is listed', async () => {
        await page.goto('/access')
        return (await held.filter({ hasText: 'Office Move 2027' }).count()) > 0
      })
      const ends = await held.filter({ hasText: 'Office Move 2027' }).locator('time').all()
      const moments = await Promise.all(ends.map((one) => one.getAttribute('datetime')))
      expect(moments.some((at) => Date.parse(at ?? '') > Date.now())).toBe(true)
      await page
        .getByRole('link', { name: /^Give back/ })
        .first()
        .click()
      await page.getByRole('button', { name: 'Give back' }).first().click()
      await page
        .getByText(/gave it back/i)
        .first()
        .waitFor()
      await until(
        'the upstream no longer has the membership',
        async () => (await officeMovers()) === before,
      )
      await Promise.all([boss.close(), context.close()])
    },
    120_000,
  )

  /**
   * Open pages of people who have signed in with the current input method. They stay open, since each is
   * expensive.
   */
  const entered = new Map<string, Page>()

  /** Signs in as people do: by typing the code from the link. */
  async function enter({ context, press, fill }: Hand, email: string): Promise<Page> {
    const known = entered.get(email)
    if (known) {
      await known.goto('/access')
      return known
    }
    const opened = await browser.newContext({ baseURL: url, ...context })
    const page = await watched(await opened.newPage())
    const code = /#code=([\w-]+)/.exec(await newLoginLink(env, { email, url }))?.[1] ?? ''
    await page.goto('/settings/sign-in?next=/access')
    await fill(page.getByLabel('Code'), code)
    await press(page.getByRole('button', { name: 'Sign in with the code' }))
    await page.waitForURL(`${url}/access`)
    entered.set(email, page)
    return page
  }

  const [HANA, KAI] = [ASKER, 'kai.silva@example.com']
  describe.each([
    { hand: HANDS[0], who: { asker: HANA, account: 'anna', connector: 'acme', theme: 'dark' } },
    { hand: HANDS[1], who: { asker: KAI, account: 'chen', connector: 'apex', theme: 'light' } },
  ])('$hand.name, people', ({ hand, who }) => {
    afterAll(async () => {
      for (const page of entered.values()) await page.context().close()
      entered.clear()
    })
    test.each(Object.entries(FLOWS))(
      '%s',
      async (_name, flow) => {
        if (hand === undefined) throw new Error('there is no such keyboard or mouse user')
        await flow(hand, (email) => enter(hand, email), who)
      },
      120_000,
    )
  })

  /** People who sign in for the walk: each can open pages that the ones before cannot. */
  const WALKERS = [ASKER, 'ada.abbott@example.com', OPERATOR]
  /** Start pages: the top bar links to all others from there. */
  const BEGINNINGS = ['/access', '/inbox', '/console', '/settings/personal']
  /**
   * Pages that redirect or are files, and pages whose state the sample does not reach, with the test that
   * covers them.
   */
  const NOT_WALKED: Readonly<Record<string, string>> = {
    start: 'leads on',
    sign_in: 'leads on',
    begin: 'leads on',
    callback: 'leads on',
    licences_csv: 'a file',
    idle_seats_csv: 'a file',
    expenses_csv: 'a file',
    evidence: 'a file',
    person_evidence: 'a file',
    consent: 'of a consent that is being given: test/e2e/sign-in.test.ts',
    consented: 'leads on',
    'offboarding-cancelled': 'of one that waits for its day: test/http/console/console.test.ts',
    cancel: 'of a sync that runs, which none does for as long as a test looks',
    'reopen-finding': 'of one that is accepted: test/http/console/console.test.ts',
    release: 'of a connector that killed its worker: test/e2e/quarantine.test.ts has one',
  }
  /** Pages that no link leads to. */
  const STATES: Readonly<Record<string, readonly string[]>> = {
    [ASKER]: ['/access?q=nothing-of-it', '/access/nothing', '/console'],
    [OPERATOR]: [
      ...['/console/people?search_term=nobody-of-it', '/console/log?event_type=NOTHING'],
      ...[`/access/requests/${GRANTED}`, `/access/requests/${REVOKED}`],
      `/console/requests/${GRANTED}/revoke`,
    ],
    'ada.abbott@example.com': ['/access'],
  }

  test('have no fault of accessibility on any page, in both widths and colour schemes', async () => {
    const faults: Record<string, unknown> = {}
    const walked = new Set<string>()
    for (const walker of WALKERS) {
      const { context, page } = await signIn(walker)
      await haveJudge(page)
      const all = await found(context, url, BEGINNINGS)
      const mine = [...all].filter(([name]) => !walked.has(name) && !(name in NOT_WALKED))
      for (const [name] of mine) walked.add(name)
      for (const place of [...mine.map(([, at]) => at), ...(STATES[walker] ?? [])])
        Object.assign(faults, await faultsOf(page, place, (name) => photograph(page, name)))
      await context.close()
    }
    const context = await browser.newContext({ baseURL: url })
    const page = await watched(await context.newPage())
    await haveJudge(page)
    Object.assign(
      faults,
      await faultsOf(page, '/settings/sign-in', (name) => photograph(page, name)),
    )
    await context.close()
    expect(faults).toEqual({})
    const left = [...EVERY_PAGE.keys()].filter((name) => !walked.has(name))
    expect(left.toSorted()).toEqual(['way_in', ...Object.keys(NOT_WALKED)].toSorted())
  }, 480_000)

  /** Presses Tab until the focus is on a link or button with that name. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    for (let at = 0; at < 200; at += 1) {
      await page.keyboard.press('Tab')
      const words = await page.evaluate(
        '(document.activeElement.textContent || document.activeElement.ariaLabel || document.activeElement.id).trim()',
      )
      if (name.test(String(words))) return
    }
    throw new Error(`Tab reaches nothing that is named ${name}`)
  }

  test('let an operator disable and enable a connector by keyboard alone', async () => {
    const { context, page } = await signIn(OPERATOR)
    await page.goto('/console')
    const enter = () => Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
    for (const name of [/^Connectors$/, /^slack$/, /^Disable$/]) {
      await tabTo(page, name)
      await enter()
    }
    await page.getByText('slack: disabled for new calls').waitFor()
    await tabTo(page, /^reason$/)
    await page.keyboard.type('By keyboard')
    await enter()
    await page.getByText('It is disabled.').waitFor()
    for (const _ of ['the link', 'the button']) {
      await tabTo(page, /^Enable$/)
      await enter()
    }
    await page.getByText('It is enabled.').waitFor()
    await context.close()
  })

  test('let an operator change an app and read the log without script', async () => {
    const { context, page } = await signIn(OPERATOR, { javaScriptEnabled: false })
    await page.goto('/console')
    await page.getByRole('link', { name: 'Apps' }).click()
    await page.getByRole('link', { name: 'Data Warehouse' }).click()
    await page.getByRole('link', { name: 'Change', exact: true }).click()
    await page.getByLabel('Hours between scheduled syncs').fill('7')
    await page.getByRole('button', { name: 'Change it' }).click()
    await page.getByText('→ 7').waitFor()
    await page.getByRole('button', { name: 'Change it' }).click()
    await page.getByText('It is changed.').waitFor()
    await page.getByText('7 hours').waitFor()
    await page.getByRole('link', { name: 'Activity log' }).click()
    await page.getByText(/The newest \d+ entries each match the one before/).waitFor()
    await context.close()
  })

  test('reject ten lines of a review by a filter, and show them as removed once the system removed them', async () => {
    // Members by policy are not part of the review.
    const before = await membersOf('warehouse', 'On Call')
    expect(before).toBeGreaterThanOrEqual(10)
    const { context, page } = await signIn('ada.abbott@example.com')
    await page.goto('/inbox')
    await page
      .getByRole('link', { name: /Review \d+ lines/ })
      .first()
      .click()
    await page.locator('a[href^="/inbox/reviews/"]').first().click()
    await page.waitForURL('**/inbox/reviews/*')
    await page.getByLabel('Account, address or permission').fill('On Call')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.waitForURL(/search=/)
    await vi.waitFor(async () => expect(await page.locator('tbody tr').count()).toBe(10), 10_000)
    await page.locator('#all').check()
    await page.locator('#reason').fill('The nights are another team’s')
    await page.getByRole('button', { name: 'Remove' }).first().click()
    await page
      .getByText(/^10 lines/)
      .first()
      .waitFor()

    const operator = await signIn(OPERATOR)
    await operator.page.goto('/console/reviews')
    await operator.page.getByRole('link', { name: 'Who uses the Data Warehouse' }).click()
    await operator.page.getByRole('link', { name: /^Complete/ }).click()
    await operator.page.locator('main form button.btn').first().click()
    await until('the upstream no longer has the memberships', async () => {
      return (await membersOf('warehouse', 'On Call')) === before - 10
    })
    const shown = new URL(operator.page.url()).pathname
    await until('the page lists them as removed', async () => {
      await operator.page.goto(`${shown}?search=On+Call&state=REMOVED`)
      return (await operator.page.locator('tbody tr').count()) === 10
    })
    await Promise.all([context.close(), operator.context.close()])
  }, 120_000)

  test('caused no errors or policy violations, which the browser would have reported', async () => {
    const heard: string[] = []
    const context = await browser.newContext({ baseURL: url })
    const page = await context.newPage()
    await reportsOf(page, heard)
    await page.goto('/settings/sign-in')
    await page.evaluate("document.body.setAttribute('style', 'color: red')")
    await until('the browser reports a style', () =>
      heard.some((one) => /the policy refused/.test(one)),
    )
    await context.close()
    expect(complaints).toEqual([])
  })
})
