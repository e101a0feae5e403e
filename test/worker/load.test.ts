/** Top-level code may take its time; on a machine that hardly lets it run, it may take longer. */
import ivm from 'isolated-vm'
import { expect, test } from 'vitest'
import { createGuestIsolate, type GuestSource } from '../../runtime/worker/guest-isolate.ts'
import { createSlices } from '../../runtime/worker/slices.ts'
import { writersSource } from '../../runtime/worker/writers.ts'
import { bundlePrelude } from './guest/isolate.ts'

const source = (code: string, name: string): GuestSource => ({ code, name, cached: null })

/** Loads code that computes before it exports; what the process has computed meanwhile is told by `share` of a second. */
async function load(before: string, share: number) {
  const code = `'use strict';globalThis.__connector=(()=>{${before};return{default:{a:()=>1}}})()`
  let toldMs = 0
  const ends: (() => void)[] = []
  const made = createGuestIsolate(
    {
      ivm,
      prelude: source(`${await bundlePrelude()}\n${writersSource()}`, 'p.js'),
      connector: source(code, 'c.js'),
      memoryMb: 64,
      share: createSlices().share(),
      hooks: {
        post: () => {},
        onCatastrophe: () => {},
        onMade: (end) => void ends.push(end),
        onBox: () => {},
        onBroken: () => {},
        onHeavy: () => {},
        isThreaded: () => true,
        onStray: () => {},
      },
    },
    {
      loadMs: 400,
      starvedMs: 30_000,
      cpuMs() {
        const nowMs = toldMs
        toldMs += 400 * share
        return nowMs
      },
    },
  )
  try {
    return { capabilities: (await made).capabilities, isolates: ends.length }
  } finally {
    for (const end of ends) end()
  }
}

const LONG = 'const endMs = Date.now() + 1000; while (Date.now() < endMs)'

test('code that hardly ran in its time is loaded again, and may take longer', async () => {
  expect(await load(LONG, 0.2)).toEqual({ capabilities: ['a'], isolates: 2 })
})

test('code that has computed for its time is not loaded', async () => {
  await expect(load(LONG, 1)).rejects.toThrow(/timed out/)
})

test('code that throws is not loaded again, however little it ran', async () => {
  await expect(load("throw new Error('of its own')", 0)).rejects.toThrow('of its own')
})

test('code that is quick is loaded once', async () => {
  expect(await load('', 0)).toEqual({ capabilities: ['a'], isolates: 1 })
})
