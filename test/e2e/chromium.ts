/** A real browser, where the machine has one. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = [
  // The same engine without windows: a third less of processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Where the browser is: `CHROMIUM`, else the usual places; null for nowhere. */
export const CHROMIUM: string | null =
  process.env['CHROMIUM'] || (PLACES.find((place) => existsSync(place)) ?? null)

export function startChromium(): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('there is no Chromium')
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      // It only sees our own pages, and root, as which CI runs, cannot have its sandbox.
      '--no-sandbox',
      '--disable-gpu',
      // There is no GPU: a process for it would only be told of each frame. And pages live too briefly for V8 to win by
      // optimizing their code, or by threads on cores that have other work. Pages come out the same, to the pixel, for a
      // third less of processor time.
      '--in-process-gpu',
      '--js-flags=--single-threaded --no-maglev --no-opt',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
