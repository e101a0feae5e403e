/** Top-level code has a time limit; on a machine that hardly lets it run, it gets more time. */
import ivm from 'isolated-vm'
import { expect, test } from 'vitest'
import { createGuestIsolate, type GuestSource } from '../../runtime/worker/guest-isolate.ts'
import { createSlices } from '../../runtime/worker/slices.ts'
import { writersSource } from '../../runtime/worker/writers.ts'
import { bundlePrelude } from './guest/isolate.ts'

const source = (code: string, name: string): GuestSource => ({ code, name, cached: null })

/** Loads code that computes before it exports. `share` is the part of its time counted as processor time. */
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

test('code that got little processor time is loaded again, with a longer limit', async () => {
  expect(await load(LONG, 0.2)).toEqual({ capabilities: ['a'], isolates: 2 })
})

test('code that computes for longer than its time limit fails to load', async () => {
  await expect(load(LONG, 1)).rejects.toThrow(/timed out/)
})

test('code that throws is not loaded again, however little processor time it got', async () => {
  await expect(load("throw new Error('of its own')", 0)).rejects.toThrow('of its own')
})

test('quick code is loaded once', async () => {
  expect(await load('', 0)).toEqual({ capabilities: ['a'], isolates: 1 })
})
