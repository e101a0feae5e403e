/** FLOWS: what people do on the pages from end to end, with any input method. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { packaged } from '../connectors/lifecycle/packaging.ts'
import type { Hand } from './hands.ts'
import { until } from './until.ts'

/** Returns a page of a person who has signed in with this input method. */
export type Enter = (email: string) => Promise<Page>
type Flow = (hand: Hand, enter: Enter, who: Who) => Promise<void>
/** People of the sample company, and values specific to an input method. */
export type Who = { asker: string; account: string; connector: string; theme: string }

const OPERATOR = 'admin@localhost'
const REVIEWER = 'ada.abbott@example.com'
const THING = 'Office Move 2027'

const link = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('link', { name }).first()
const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('button', { name }).first()
const says = (page: Page, words: string | RegExp): Promise<void> =>
  // On a wide page, what a table folds on a phone is there a second time, and hidden.
  page.getByText(words).filter({ visible: true }).first().waitFor()

async function ask(page: Page, { press, fill, tick }: Hand, why: string): Promise<void> {
  await press(button(page, 'Send request'))
  await says(page, 'Say why you need it, in a sentence or two.')
  await tick(page.getByRole('radio').first())
  await fill(page.getByLabel('Why do you need it?'), why)
  await press(button(page, 'Send request'))
  await says(page, 'Your request is sent.')
}

async function approve(page: Page, { press, fill }: Hand, why: string): Promise<void> {
  await page.goto('/inbox')
  await press(link(page, new RegExp(`${THING}`)))
  await says(page, why)
  await fill(page.getByLabel('Reason'), 'It is their turn')
  await press(button(page, /^Approve/))
  await says(page, /^Approved: /)
}

/**
 * Reloads the access page until the control is there or gone: the connected system is updated in the
 * background.
 */
const untilShown = (page: Page, control: Locator, is: boolean): Promise<unknown> =>
  until(`the control is ${is ? 'shown' : 'gone'}`, async () => {
    await page.goto('/access')
    return (await control.count()) > 0 === is
  })

/** Flows by name. */
export const FLOWS: Readonly<Record<string, Flow>> = {
  async 'ask, have it decided, ask for more time, and give it back'(hand, enter, { asker }) {
    const { press } = hand
    const page = await enter(asker)
    const boss = await enter(OPERATOR)
    await press(link(page, 'Design Studio'))
    await press(link(page, THING))
    await ask(page, hand, `I carry boxes, ${hand.name}`)
    await approve(boss, hand, `I carry boxes, ${hand.name}`)
    const more = link(page, /^Ask to extend/)
    await untilShown(page, more, true)
    await press(more)
    await ask(page, hand, `There are more boxes, ${hand.name}`)
    await approve(boss, hand, `There are more boxes, ${hand.name}`)
    await untilShown(page, page.getByText('There are more boxes'), false)
    const returnAccess = link(page, /^Give back/)
    await untilShown(page, returnAccess, true)
    await press(returnAccess)
    await press(button(page, 'Give back'))
    await says(page, /gave it back/i)
  },

  async 'lose access that an admin revokes, and read why'(hand, enter, { asker }) {
    const { press, fill, name } = hand
    const page = await enter(asker)
    const boss = await enter(OPERATOR)
    await press(link(page, 'Design Studio'))
    await press(link(page, THING))
    await ask(page, hand, `One box more, ${name}`)
    await approve(boss, hand, `One box more, ${name}`)
    await untilShown(page, link(page, /^Give back/), true)
    await boss.goto('/console/requests?status=active')
    await press(link(boss, THING))
    await press(link(boss, 'Revoke'))
    await says(boss, new RegExp(`no longer has “${THING}” in Design Studio`))
    await fill(boss.getByLabel('Why'), `The move is off, ${name}`)
    await press(button(boss, 'Revoke'))
    await says(boss, 'It is revoked.')
    await says(boss, 'You revoked it')
    await until('the request is revoked', async () => {
      await boss.reload()
      return (await boss.getByText('Revoked', { exact: true }).count()) > 0
    })
    await untilShown(page, link(page, /^Give back/), false)
    await press(page.locator('summary', { hasText: 'Requests that have ended' }))
    await says(page, /revoked it$/)
    await says(page, `“The move is off, ${name}”`)
  },

  async 'reject lines of a review by a filter'({ press, fill, tick, name }, enter, { account }) {
    const page = await enter(REVIEWER)
    // The review is launched after the first sync.
    await until('the review is in the inbox', async () => {
      await page.goto('/inbox')
      return (await link(page, /Review \d+ lines/).count()) > 0
    })
    await press(link(page, /Review \d+ lines/))
    await press(page.locator('a[href^="/inbox/reviews/"]').first())
    await page.waitForURL('**/inbox/reviews/*')
    await fill(page.getByLabel('Account, address or permission'), account)
    await press(button(page, 'Show'))
    const lines = page.locator('tbody tr')
    await page.waitForURL(/search=/)
    expect(await lines.count()).toBeGreaterThan(0)
    await tick(page.locator('#all'))
    await press(button(page, 'Remove'))
    await page.locator('#not-decided').waitFor()
    await fill(page.locator('#reason'), `Left the team, ${name}`)
    await press(button(page, 'Remove'))
    await says(page, /^(It is decided|\d+ lines? )/)
    await says(page, `“Left the team, ${name}”`)
  },

  async 'install a version, grant what the next one wants, and roll it back'(
    { press, fill, attach, name },
    enter,
    { connector: id },
  ) {
    const page = await enter(OPERATOR)
    const keep = async (made: { packed: Buffer; signature: string }) => {
      await page.goto('/console/connectors')
      await press(link(page, /Install/))
      const file = { name: 'made.tgz', mimeType: 'application/gzip', buffer: made.packed }
      const sign = {
        name: 'made.tgz.sig',
        mimeType: 'text/plain',
        buffer: Buffer.from(made.signature),
      }
      await attach(page.locator('#package'), file)
      await attach(page.locator('#signature'), sign)
      await fill(page.locator('#reason'), `Asked for, ${name}`)
      await press(button(page, /^Check and keep|^Keep/))
      await says(page, 'It is kept. No call goes to it yet.')
    }
    const serve = async () => {
      await press(page.locator('main form button.main').first())
      await press(link(page, 'Grant all that it wants'))
      await fill(page.locator('#reason'), 'Looked at')
      await press(page.locator('main form button.btn').first())
      await page.waitForURL(`**/console/connectors/${id}`)
    }
    await keep(await packaged({ id }))
    await serve()
    const egress = [{ url: 'https://api.acme.example' }, { url: 'https://more.acme.example' }]
    await keep(await packaged({ id, version: '1.1.0', egress }))
    await serve()
    await says(page, '1.1.0')
    await page.goto('/console/generations')
    await press(link(page, /^Roll back/))
    await fill(page.locator('#reason'), 'It is slower')
    await press(page.locator('main form button.btn').first())
    await page.waitForURL(/\/console\/generations$/)
    await page.goto(`/console/connectors/${id}`)
    await says(page, '1.0.0')
  },

  async 'change their settings'({ press, tick }, enter, { asker, theme }) {
    const page = await enter(asker)
    await press(page.locator('summary', { hasText: 'Account of' }))
    await press(link(page, 'Your settings'))
    await tick(page.locator('input[name=mail][value=DIGEST]'))
    await tick(page.locator(`input[name=theme][value=${theme}]`))
    await press(button(page, 'Save'))
    await says(page, /saved/i)
    expect(await page.locator('input[name=mail][value=DIGEST]').isChecked()).toBe(true)
    expect(await page.locator('html').getAttribute('data-theme')).toBe(theme)
  },
}
