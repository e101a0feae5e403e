/**
 * `npm run pictures`: starts the sample, signs in, and takes the pictures of runtime/http/docs/pictures.ts in
 * a real Chromium, light and dark. `ONLY` is a part of the names of the pictures to take. Takes two to three
 * minutes.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { newLoginLink } from '../runtime/cli/login-link.ts'
import { PACKAGE } from '../runtime/http/docs/pages.ts'
import {
  PICTURES,
  PICTURES_FOLDER,
  type PictureName,
  pictureFile,
} from '../runtime/http/docs/pictures.ts'
import { startChromium } from '../test/e2e/chromium.ts'
import { begin, newHome, stopCommands } from '../test/e2e/command.ts'
import { until } from '../test/e2e/until.ts'
import { freePort } from '../test/free-port.ts'

/** Maximum duration of a first start, in milliseconds. */
const START_MS = 300_000
/** Maximum size of a picture, and of all pictures together, in bytes. */
export const PICTURE_LIMITS = { maxBytes: 120_000, maxBytesInAll: 1_500_000 } as const
/** Size in CSS pixels. A pixel of the picture is two thirds of a CSS pixel. */
const VIEW = { width: 1100, height: 720 }
const SCALE = 1.5
const QUALITY = 70

/**
 * People of the sample company: the operator, a person who requests access, and an app's admin who reviews
 * it.
 */
const OPERATOR = 'admin@localhost'
const ASKER = 'hana.patel@example.com'
const REVIEWER = 'ada.abbott@example.com'
const REVIEW = 'Who uses the Data Warehouse'

type Sample = { url: string; env: Record<string, string>; browser: Browser }
type Shot = {
  who: string
  /** Leads the page to the subject of the picture. */
  go(page: Page): Promise<unknown>
  /** Height in CSS pixels. */
  height?: number
}

async function open(page: Page, list: string, name: string | RegExp): Promise<void> {
  await page.goto(list)
  await page.getByRole('link', { name }).first().click()
  await page.waitForLoadState('load')
}

/** SHOTS: how each picture is taken. */
export const SHOTS: Readonly<Record<PictureName, Shot>> = {
  portal: { who: ASKER, go: (page) => page.goto('/access') },
  inbox: { who: OPERATOR, go: (page) => open(page, '/inbox', /^Hana Patel.*Read reports/) },
  'review-grid': {
    who: REVIEWER,
    async go(page) {
      await open(page, '/inbox', /Review \d{3} lines/)
      await page.locator('a[href^="/inbox/reviews/"]').first().click()
      await page.waitForURL('**/inbox/reviews/*')
      for (const at of [1, 2]) await page.locator('tbody input[type=checkbox]').nth(at).check()
    },
  },
  home: { who: OPERATOR, go: (page) => page.goto('/console') },
  connector: {
    who: OPERATOR,
    async go(page) {
      await page.goto('/console/connectors/scim')
      await page.getByRole('heading', { name: 'Egress' }).scrollIntoViewIfNeeded()
      await page.evaluate("document.getElementById('h-egress').scrollIntoView()")
    },
    height: 860,
  },
  person: {
    who: OPERATOR,
    go: (page) => open(page, '/console/people?search_term=hana', 'Hana Patel'),
  },
  review: { who: OPERATOR, go: (page) => open(page, '/console/reviews', REVIEW) },
}

async function started(): Promise<Sample> {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const env = { PORT: port, KEYWAY_DATA_DIR: path.join(await newHome(), 'data') }
  const command = begin(['start', '--sample', '--sample-port', String(await freePort())], { env })
  await until('it is ready', () => /"msg":"ready"/.test(command.output()), START_MS).catch(
    (error: Error) => {
      throw new Error(`${error.message}; it printed:\n${command.output()}`)
    },
  )
  return { url, env, browser: await startChromium() }
}

async function signIn({ url, env, browser }: Sample, email: string): Promise<Page> {
  const context = await browser.newContext({
    ...{ baseURL: url, viewport: VIEW, locale: 'en-GB', timezoneId: 'UTC' },
  })
  const page = await context.newPage()
  const link = /http:\S+/.exec(await newLoginLink(env, { email, url }))?.[0] ?? ''
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in with the code' }).click()
  await page.waitForURL((at) => !at.pathname.startsWith('/settings/sign-in'))
  return page
}

/** Requests access twice, grants one of the two, and waits for the review, so that the pages have content. */
async function prepare(sample: Sample): Promise<void> {
  const operator = await signIn(sample, OPERATOR)
  await until(
    'the review is under way',
    async () => {
      await operator.goto('/console/reviews')
      return operator.getByText('Under way').first().isVisible()
    },
    START_MS,
  )
  const page = await signIn(sample, ASKER)
  await ask(page, 'Design Studio', 'Office Move 2027', 'I carry boxes')
  await open(operator, '/inbox', /^Hana Patel.*Office Move/)
  await operator.getByRole('button', { name: /^Approve/ }).click()
  await ask(page, 'Data Warehouse', 'Read reports', 'Month end: the numbers of all departments')
  await until(
    'it is given',
    async () => {
      await page.goto('/access')
      return page.getByText('Give back').first().isVisible()
    },
    START_MS,
  )
  // The calls of a minute are written after its end.
  await pause(65_000)
  await Promise.all([page, operator].map((one) => one.context().close()))
}

async function ask(page: Page, app: string, permission: string, why: string): Promise<void> {
  await page.goto('/access')
  await page.getByRole('link', { name: app }).first().click()
  await page.getByRole('link', { name: permission }).click()
  await page.getByRole('radio').first().check()
  await page.getByLabel('Why do you need it?').fill(why)
  await page.getByRole('button', { name: 'Send request' }).click()
  await page.getByText('Your request is sent.').waitFor()
}

/**
 * Takes a picture of the visible part as WebP. The protocol of the browser offers this format, Playwright
 * does not.
 */
async function taken(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { cssVisualViewport: view } = await session.send('Page.getLayoutMetrics')
  const clip = {
    ...{ x: view.pageX, y: view.pageY },
    ...{ width: view.clientWidth, height: view.clientHeight, scale: SCALE },
  }
  const { data } = await session.send('Page.captureScreenshot', {
    ...{ format: 'webp', quality: QUALITY, clip },
  })
  await session.detach()
  return Buffer.from(data, 'base64')
}

async function take(sample: Sample, name: PictureName): Promise<void> {
  const { who, go, height = VIEW.height } = SHOTS[name]
  const page = await signIn(sample, who)
  await page.setViewportSize({ ...VIEW, height })
  await go(page)
  await page.waitForLoadState('load')
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await pause(200)
    const bytes = await taken(page)
    if (bytes.length > PICTURE_LIMITS.maxBytes)
      throw new Error(`${name} has ${bytes.length} bytes; show less`)
    await writeFile(path.join(PACKAGE, pictureFile(name, scheme)), bytes)
    console.log(`${pictureFile(name, scheme)}: ${(bytes.length / 1000).toFixed(0)} kB`)
  }
  await page.context().close()
}

if (import.meta.main) {
  const only = process.env['ONLY'] ?? ''
  await mkdir(path.join(PACKAGE, PICTURES_FOLDER), { recursive: true })
  let sample: Sample | null = null
  try {
    sample = await started()
    await prepare(sample)
    for (const name of Object.keys(PICTURES) as PictureName[])
      if (name.includes(only)) await take(sample, name)
  } finally {
    await sample?.browser.close()
    await stopCommands()
  }
}
