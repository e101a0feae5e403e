/** HANDS: the two input methods for a flow: by pointer without script, and by keyboard alone with script. */
import type { BrowserContextOptions, Locator } from 'playwright-core'

export type Hand = {
  name: string
  context: BrowserContextOptions
  /** Follows a link, presses a button, opens a summary. */
  press(control: Locator): Promise<void>
  fill(field: Locator, text: string): Promise<void>
  /** Ticks a box, or chooses a radio button. */
  tick(box: Locator): Promise<void>
  attach(field: Locator, file: Attached): Promise<void>
}
type Attached = { name: string; mimeType: string; buffer: Buffer }

/** More than the Tab stops of any page. */
const MAX_STOPS = 400

/** @throws Error if Tab does not reach the control, which is then unusable by keyboard */
async function reach(control: Locator): Promise<void> {
  const { keyboard } = control.page()
  // Located once: a locator would search the whole page at each stop.
  let one = await control.elementHandle()
  for (let at = 0; at < MAX_STOPS; at += 1) {
    const [isThere, hasFocus] = await one.evaluate((it) => [
      it.isConnected,
      it === it.ownerDocument.activeElement,
    ])
    if (hasFocus) return
    // The page may have replaced this element.
    if (isThere) await keyboard.press('Tab')
    else one = await control.elementHandle()
  }
  throw new Error(`Tab does not reach ${control}`)
}

const isFocused = (control: Locator): Promise<boolean> =>
  control.evaluate((one) => one === one.ownerDocument.activeElement)

/** Tab stops once per group of radio buttons; arrows move within it. */
async function choose(choice: Locator): Promise<void> {
  const page = choice.page()
  const name = (await choice.getAttribute('name')) ?? ''
  const group = page.locator(`input[type=radio][name="${name}"]`)
  for (let at = 0; at < MAX_STOPS; at += 1) {
    await page.keyboard.press('Tab')
    if ((await page.locator(`input[name="${name}"]:focus`).count()) > 0) break
  }
  for (let at = 0; at < (await group.count()); at += 1) {
    if (await isFocused(choice)) {
      if (!(await choice.isChecked())) await page.keyboard.press('Space')
      return
    }
    await page.keyboard.press('ArrowDown')
  }
  throw new Error(`arrow keys do not reach ${choice}`)
}

export const HANDS: readonly Hand[] = [
  {
    name: 'without script',
    context: { javaScriptEnabled: false },
    press: (control) => control.click(),
    fill: (field, text) => field.fill(text),
    tick: (box) => box.check(),
    attach: (field, file) => field.setInputFiles(file),
  },
  {
    name: 'by keyboard alone',
    context: {},
    async press(control) {
      await reach(control)
      await control.page().keyboard.press('Enter')
    },
    async fill(field, text) {
      await reach(field)
      const { keyboard } = field.page()
      await keyboard.press('ControlOrMeta+A')
      await keyboard.type(text)
    },
    async tick(box) {
      if ((await box.getAttribute('type')) === 'radio') return choose(box)
      await reach(box)
      await box.page().keyboard.press('Space')
    },
    async attach(field, file) {
      const page = field.page()
      // Before the focus moves: the browser must know in advance that the file chooser is intercepted.
      const chosen = page.waitForEvent('filechooser')
      await reach(field)
      const [chooser] = await Promise.all([chosen, page.keyboard.press('Enter')])
      await chooser.setFiles(file)
    },
  },
]
