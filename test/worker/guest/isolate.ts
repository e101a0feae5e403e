/**
 * An isolate with the prelude, for tests. Synchronous operations are answered as in the worker; posts are
 * recorded for the test to answer.
 */
import { build } from 'esbuild'
import ivm from 'isolated-vm'
import { readBox } from '../../../runtime/worker/box.ts'
import { syncOp } from '../../../runtime/worker/sync-ops.ts'
import { writersSource } from '../../../runtime/worker/writers.ts'

/** One recorded post of the guest. */
export type Post = { op: string; id: number; head: Record<string, unknown>; body: string }

/** The three texts of an answer. */
export type RawAnswer = string[]

/** A parsed answer. */
export type Answer = { head: Record<string, unknown>; response: unknown; raw: unknown }

export type Guest = Awaited<ReturnType<typeof createGuest>>

let bundled: Promise<string> | undefined

/** The prelude as the worker bundles it. */
export function bundlePrelude(): Promise<string> {
  bundled ??= build({
    entryPoints: ['runtime/worker/guest/prelude.ts'],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'esnext',
    banner: { js: "'use strict';" },
  }).then((result) => (result.outputFiles[0] as { text: string }).text)
  return bundled
}

const EMPTY_CALL = {
  request: {},
  settings: {},
  auth: null,
  credentials: null,
  page: { cursor: null, size: null },
}
const RESULT = { result: { copy: true } } as const

/**
 * Makes a guest. `plugin` is the source of a default export (an expression), `top` code that runs
 * before it at the bundle's top level.
 */
export async function createGuest(plugin = '({})', top = '') {
  const isolate = new ivm.Isolate({ memoryLimit: 128 })
  const context = await isolate.createContext()
  const posts: Post[] = []
  await context.global.set('__hostSync', new ivm.Callback(syncOp, { sync: true }))
  const post = (op: string, id: number, headJson: string, body: string): void => {
    posts.push({ op, id, head: JSON.parse(headJson), body })
  }
  await context.global.set('__hostPost', new ivm.Callback(post, { ignored: true }))
  await context.eval(`${await bundlePrelude()}\n${writersSource()}`)
  const entries = await context.global.get('__keyway', { reference: true })
  const entry = (name: string): Promise<ivm.Reference> =>
    entries.get(name as never, { reference: true } as never) as Promise<ivm.Reference>
  const [adopt, run, deliver, abort, collect, ping] = await Promise.all(
    ['adopt', 'run', 'deliver', 'abort', 'collect', 'ping'].map(entry),
  )
  await context.global.delete('__keyway')
  await context.eval(`'use strict';${top};globalThis.__connector = { default: ${plugin} }`)
  const adopted = JSON.parse((await adopt?.apply(undefined, [])) as string)
  let lastCall = 0
  let lastEntry = 0
  const answers = new Map<number, PromiseWithResolvers<RawAnswer>>()

  const take = (box: unknown): void =>
    readBox(box, (op, id, one, two, three) => {
      if (op === 'answer') answers.get(id)?.resolve([one, two, three])
      else post(op, id, one, two)
    })

  /** Enters the guest as the worker does. Collects the box if the entry failed because of a stray. */
  async function enter(entry: ivm.Reference | undefined, args: unknown[]): Promise<void> {
    lastEntry += 1
    const own = lastEntry
    try {
      take(await entry?.apply(undefined, [own, 1, true, ...args], RESULT))
    } catch (error) {
      take(await collect?.apply(undefined, [own], RESULT))
      throw error
    }
  }

  const guest = {
    context,
    posts,
    adopted: adopted as { ok: boolean; capabilities?: string[]; message?: string },
    dispose: () => isolate.dispose(),

    /** The value of an expression, awaited and copied through JSON. */
    async value(expression: string): Promise<unknown> {
      const code = `(async () => JSON.stringify({ value: await (${expression}) }))()`
      const json = (await context.eval(code, { promise: true, copy: true })) as string
      return JSON.parse(json).value
    },

    /** `Name: message` of the error that an expression throws. */
    thrown(expression: string): Promise<unknown> {
      return guest.value(
        `(async () => { try { await (${expression}) } catch (e) { return e.name + ': ' + e.message } })()`,
      )
    },

    /** Starts a call. Throws what its first turn left unhandled. */
    async start(capability: string, call: object = {}, id = ++lastCall): Promise<RawAnswer> {
      const callJson = JSON.stringify({ ...EMPTY_CALL, ...call })
      answers.set(id, Promise.withResolvers())
      await enter(run, [id, capability, callJson])
      return guest.answer(id)
    },

    /** The answer of a call that was started. */
    answer: (id: number): Promise<RawAnswer> =>
      answers.get(id)?.promise ?? Promise.reject(new Error(`there is no call ${id}`)),

    /** A call's answer, parsed. */
    async run(capability: string, call: object = {}, id?: number): Promise<Answer> {
      return parseAnswer(await guest.start(capability, call, id))
    },

    /** The error of a failing call. */
    async error(capability: string, call: object = {}): Promise<Record<string, unknown>> {
      return (await guest.run(capability, call)).head['error'] as Record<string, unknown>
    },

    deliver: (id: number, head: object = {}, body = ''): Promise<void> =>
      enter(deliver, [id, JSON.stringify(head), body]),
    abort: (id: number): Promise<void> => enter(abort, [id]),
    ping: (): Promise<unknown> => ping?.apply(undefined, []) as Promise<unknown>,

    /** Waits for the nth post of an op. */
    async posted(op: string, count = 1): Promise<Post> {
      for (let tries = 0; tries < 500; tries += 1) {
        const found = posts.filter((one) => one.op === op)[count - 1]
        if (found) return found
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      throw new Error(`no ${op} was posted`)
    },

    /** The posts of an op, once the guest is idle. */
    async all(op: string): Promise<Post[]> {
      await guest.ping()
      await new Promise((resolve) => setTimeout(resolve, 5))
      return posts.filter((one) => one.op === op)
    },
  }
  return guest
}

/** The head of a plain answer to a fetch. */
export function reply(status = 200, headers: [string, string][] = [], url = 'https://a.example/x') {
  return { ok: true, status, url, redirected: false, headers, encoding: 'utf8' }
}

/** An answer, parsed. */
export function parseAnswer(answer: RawAnswer): Answer {
  const [head, response, raw] = answer.map((part) => (part === '' ? null : JSON.parse(part)))
  return { head, response, raw }
}
