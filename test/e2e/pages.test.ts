/** The pages for people in a real browser: seen in both schemes and widths, by keyboard, without script. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newLoginLink } from '../../runtime/cli/login-link.ts'
import { freePort } from '../free-port.ts'
import { withFirstStart } from '../kit/template.ts'
import { missing, type RealSystem, startSystem } from '../real-systems/start.ts'
import { CHROMIUM, startChromium } from './chromium.ts'
import { begin, newHome, ROOT, stopCommands } from './command.ts'
import { until } from './until.ts'

/** Read as a file: it is a script for the page, not for Node. */
const AXE = path.join(ROOT, 'node_modules', 'axe-core', 'axe.min.js')

const reason =
  CHROMIUM === null ? ' (SKIPPED: no Chromium; install it, or name it in CHROMIUM)' : ''

const noMail = missing('openssl')
type MailSystem = RealSystem & { port: number; ca: string; page: string }
type Received = { envelope: { to: string[] }; subject: string; text: string }

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] }

describe.skipIf(CHROMIUM === null)(`the pages in a browser${reason}`, () => {
  let browser: Browser
  let url: string
  let mail: MailSystem | null
  let env: Record<string, string>
  /** What the browser complained of: scripts and styles that the policy refused, errors. */
  const complaints: string[] = []

  beforeAll(async () => {
    const home = await newHome()
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    mail = noMail === null ? ((await startSystem('mail')) as MailSystem) : null
    env = {
      ...{ PORT: port, KEYWAY_DATA_DIR: await withFirstStart(path.join(home, 'data')) },
      ...(mail && {
        KEYWAY_MAIL_SERVER: `smtp://keyway@127.0.0.1:${mail.port}`,
        KEYWAY_MAIL_PASSWORD: 'mail-secret',
        KEYWAY_MAIL_FROM: 'keyway@acme.example',
        KEYWAY_MAIL_LANGUAGE: 'de',
        KEYWAY_PUBLIC_URL: url,
        NODE_EXTRA_CA_CERTS: mail.ca,
      }),
    }
    const sample = String(await freePort())
    const command = begin(['start', '--sample', '--sample-port', sample], { env })
    await command.prints(/"msg":"ready"/)
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await stopCommands()
    await mail?.stop()
  })

  function watch(page: Page): Page {
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      const isStatus = /the server responded with a status of 4/.test(message.text())
      if (message.type() === 'error' && !isStatus) complaints.push(message.text())
    })
    return page
  }

  async function signIn(
    email: string,
    options: BrowserContextOptions = {},
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({ baseURL: url, ...options })
    const page = watch(await context.newPage())
    const link = /http:\S+/.exec(await newLoginLink(env, { email, url }))?.[0] ?? ''
    await page.goto(link)
    await page.getByLabel('Code').fill(link.split('#code=')[1] ?? '')
    await page.getByRole('button', { name: 'Sign in with the code' }).click()
    await page.goto('/access')
    return { context, page }
  }

  /** A person of the sample company who has a manager, and that manager. */
  const ASKER = 'hana.patel@example.com'

  async function judge(page: Page): Promise<string[]> {
    if (!existsSync(AXE)) throw new Error('axe-core is not installed: npm install')
    // By the debugger, which the policy of the page does not bind; once for a page that is judged in several looks.
    if (await page.evaluate('typeof axe === "undefined"'))
      await page.evaluate(readFileSync(AXE, 'utf8'))
    // What passes is counted, and not described.
    const found = (await page.evaluate(
      'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
    )) as Violation[]
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    )
  }

  /** For who wants to look at them: `SHOTS=folder`. */
  async function photograph(page: Page, name: string): Promise<void> {
    const folder = process.env['SHOTS']
    if (folder) await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true })
  }

  const GERMAN = { 'accept-language': 'de' }
  const WIDTHS = [1280, 375]
  const SCHEMES = ['light', 'dark'] as const
  const looks = WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ width, scheme })))

  test.each(SCHEMES)(
    'have no fault of access in any width, %s',
    async (colorScheme) => {
      // One scheme begins on a phone, and is in the longer words.
      const isDark = colorScheme === 'dark'
      const widths = isDark ? WIDTHS.toReversed() : WIDTHS
      const viewport = { width: widths[0] ?? 0, height: 800 }
      const { context, page } = await signIn(ASKER, { viewport, colorScheme })
      if (isDark) await context.setExtraHTTPHeaders(GERMAN)
      await page.locator('.tile a').first().click()
      const request = page.url()
      const places = [
        '/access',
        request,
        '/access?q=nothing-of-it',
        '/inbox',
        '/access/nothing',
        '/settings/my-data',
      ]
      for (const place of [...places, '/settings/sign-in']) {
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 })
          if (width === widths[0]) await page.goto(place)
          const look = `${place}, ${width} wide`
          expect(await judge(page), look).toEqual([])
          const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          expect(wide, `${look}, scrolls sideways`).toBeLessThanOrEqual(0)
        }
      }
      await context.close()
    },
    120_000,
  )

  test.each([true, false])(
    'lead from asking to the decision and back, script: %s',
    async (javaScriptEnabled) => {
      const { context, page } = await signIn(ASKER, { javaScriptEnabled })
      const why = `Month end, script ${javaScriptEnabled}`
      await page.getByRole('link', { name: 'Data Warehouse' }).first().click()
      await page.getByRole('link', { name: 'Read reports' }).click()
      await page.getByRole('button', { name: 'Send request' }).click()
      await page.getByText('Say why you need it, in a sentence or two.').first().waitFor()
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
      await page.getByText('Requests that have ended').click()
      await page.getByText('“Not this month”').first().waitFor()
      await context.close()
    },
  )

  const OPERATOR = 'admin@localhost'

  /** The first mail to an operator that holds some words. */
  const mailWith = (words: string): Promise<Received> =>
    until(`a mail that says ${words}`, async () => {
      const all = (await (await fetch(`${mail?.page}/messages`)).json()) as Received[]
      return all.find(
        ({ envelope, text }) => envelope.to.includes(OPERATOR) && text.includes(words),
      )
    })

  test.skipIf(noMail !== null)(
    'are where a mail leads an approver, who decides there and not by opening it',
    async () => {
      const { context, page } = await signIn(ASKER)
      await page.getByRole('link', { name: 'Data Warehouse' }).first().click()
      await page.getByRole('link', { name: 'Read reports' }).click()
      await page.getByLabel('Why do you need it?').fill('Asked for by mail')
      await page.getByRole('button', { name: 'Send request' }).click()
      await page
        .getByRole('link', { name: /^Read reports, for/ })
        .first()
        .click()
      await page.getByText('decides now').first().waitFor()

      const { subject, text } = await mailWith('Asked for by mail')
      expect(subject).toContain('Hana Patel beantragt')
      const link = /http:\S+\/inbox\/[\w-]+/.exec(text)?.[0] ?? ''
      // As a program does that looks into mail.
      expect((await fetch(link, { redirect: 'manual' })).status).toBe(303)

      const boss = await browser.newContext({
        ...{ viewport: { width: 375, height: 800 }, extraHTTPHeaders: GERMAN },
      })
      const inbox = watch(await boss.newPage())
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
      await inbox.getByText(/^Genehmigt: Read reports/).waitFor()
      await page.reload()
      await page.getByText('said yes').first().waitFor()
      await Promise.all([boss.close(), context.close()])
    },
  )

  const CONSOLE = [
    '',
    '/connectors',
    '/connectors/scim',
    '/connectors/scim/disable',
    '/connectors/scim/calls',
    '/generations',
    '/install',
  ]
  const MORE = [
    '/webhooks',
    '/webhooks/new',
    '/background',
    '/publishers',
    '/settings',
    '/publishers/trust',
    '/apps',
    '/connect',
    '/connect/scim',
    '/people',
    '/requests',
    '/policies',
    '/policies/new',
    '/reviews',
    '/reviews/new',
    '/log',
  ]

  test('of the console have no fault of access in any look', async () => {
    const { context, page } = await signIn(OPERATOR)
    // The frame in its longer words; the bodies of these pages are English.
    await context.setExtraHTTPHeaders(GERMAN)
    const ones: string[] = []
    for (const list of [
      '/console/apps',
      '/console/people',
      '/console/policies',
      '/console/reviews',
    ]) {
      await page.goto(list)
      ones.push((await page.locator('tbody a.go').first().getAttribute('href')) ?? list)
    }
    const faults: Record<string, unknown> = {}
    for (const place of [...[...CONSOLE, ...MORE].map((one) => `/console${one}`), ...ones]) {
      await page.goto(place)
      for (const { width, scheme } of looks) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme: scheme })
        const look = `${place.replaceAll('/', '_')}-${width}-${scheme}`
        await photograph(page, look)
        const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        // Each width and each scheme once: the two others have the same sizes and the same colours.
        const found = (width === 1280) === (scheme === 'light') ? await judge(page) : []
        if (found.length > 0 || Number(wide) > 0) faults[look] = { found, wide }
      }
    }
    expect(faults).toEqual({})
    await context.close()
  }, 240_000)

  /** Moves by Tab until the focus is on a link or button of that name, and presses it. */
  async function tabTo(page: Page, name: RegExp): Promise<void> {
    for (let at = 0; at < 200; at += 1) {
      await page.keyboard.press('Tab')
      const words = await page.evaluate(
        '(document.activeElement.textContent || document.activeElement.ariaLabel || document.activeElement.id).trim()',
      )
      if (name.test(String(words))) return
    }
    throw new Error(`Tab comes to nothing that is called ${name}`)
  }

  test('lead through the console by keyboard alone', async () => {
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

  test('lead through the console without script', async () => {
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
    await page.getByText(/The newest \d+ entries fit/).waitFor()
    await context.close()
  })

  test('gave the browser nothing to complain of', () => {
    expect(complaints).toEqual([])
  })
})
