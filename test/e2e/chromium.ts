/** Starts a real browser, if the machine has one. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = [
  // The same engine without windows, which needs a third less processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of the browser: `CHROMIUM`, or else the usual places; null if there is none. */
export const CHROMIUM: string | null =
  process.env['CHROMIUM'] || (PLACES.find((place) => existsSync(place)) ?? null)

export function startChromium(): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('Chromium was not found: set CHROMIUM to its path')
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      // It only loads our own pages, and its sandbox does not work for root, as which CI runs.
      '--no-sandbox',
      '--disable-gpu',
      // There is no GPU, so a GPU process would only cost communication. Pages live too briefly for V8 to
      // gain from optimizing or from threads. Pages are rendered identically with a third less processor
      // time.
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
