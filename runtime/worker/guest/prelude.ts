/**
 * The script that every isolate runs before plugin code: the standard library, and the functions by which the
 * worker talks to the guest. It handles strings and plugin values. It must not know Node or give the two host
 * functions to plugin code.
 *
 * Bundled by esbuild as an iife with the banner `'use strict';`. Sloppy functions would expose themselves and
 * their arguments to a hostile `Error.prepareStackTrace` or `caller`.
 */
import { adopt } from './connector.ts'
import { installGlobals } from './globals.ts'
import { freeze } from './primordials.ts'
import { abort, collect, deliver, forget, ping, run } from './run.ts'
import { install } from './writers.ts'

const isStrict = (function (this: unknown) {
  return this === undefined
})()
if (!isStrict) throw new Error("the prelude must be bundled with the banner 'use strict'")

installGlobals()

Object.defineProperty(globalThis, '__keyway', {
  value: freeze({ adopt, run, deliver, abort, collect, forget, ping, install }),
  configurable: true,
})
