/**
 * An isolate with the prelude, for tests: synchronous questions are answered as in the worker, posts
 * are recorded for the test to answer.
 */
import { build } from 'esbuild'
import ivm from 'isolated-vm'
import { syncOp } from '../../../runtime/worker/sync-ops.ts'
import { writersSource } from '../../../runtime/worker/writers.ts'

/** One recorded post of the guest. */
export type Post = { op: string; id: number; head: Record<string, unknown>; body: string }

/** What `run` resolved to, as isolated-vm hands it over. */
export type RawAnswer = unknown

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
const RESULT = { result: { copy: true, promise: true } } as const

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
  const [adopt, run, join, deliver, abort, ping] = await Promise.all(
    ['adopt', 'run', 'join', 'deliver', 'abort', 'ping'].map(entry),
  )
  await context.global.delete('__keyway')
  await context.eval(`'use strict';${top};globalThis.__connector = { default: ${plugin} }`)
  const adopted = JSON.parse((await adopt?.apply(undefined, [])) as string)
  let lastCall = 0

  const guest = {
    context,
    posts,
    adopted: adopted as { ok: boolean; capabilities?: string[]; message?: string },
    dispose: () => isolate.dispose(),

    /** The value of an expression, or of the promise that it is, through JSON. */
    async value(expression: string): Promise<unknown> {
      const code = `(async () => JSON.stringify({ value: await (${expression}) }))()`
      const json = (await context.eval(code, { promise: true, copy: true })) as string
      return JSON.parse(json).value
    },

    /** `Name: message` of what an expression throws. */
    thrown(expression: string): Promise<unknown> {
      return guest.value(
        `(async () => { try { await (${expression}) } catch (e) { return e.name + ': ' + e.message } })()`,
      )
    },

    /** What isolated-vm hands over for a call. */
    start(capability: string, call: object = {}, id = ++lastCall): Promise<RawAnswer> {
      const callJson = JSON.stringify({ ...EMPTY_CALL, ...call })
      return run?.apply(undefined, [id, capability, callJson], RESULT) as Promise<RawAnswer>
    },

    /** A call's answer, parsed. */
    async run(capability: string, call: object = {}, id?: number): Promise<Answer> {
      return parseAnswer(await guest.start(capability, call, id))
    },

    async join(id: number): Promise<Answer> {
      return parseAnswer(await join?.apply(undefined, [id], RESULT))
    },

    /** The error of a failing call. */
    async error(capability: string, call: object = {}): Promise<Record<string, unknown>> {
      return (await guest.run(capability, call)).head['error'] as Record<string, unknown>
    },

    deliver: (id: number, head: object = {}, body = ''): Promise<unknown> =>
      deliver?.apply(undefined, [id, JSON.stringify(head), body]) as Promise<unknown>,
    abort: (id: number): Promise<unknown> => abort?.apply(undefined, [id]) as Promise<unknown>,
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

    /** The posts of an op, after the guest has come to rest. */
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

function parseAnswer(answer: RawAnswer): Answer {
  if (!Array.isArray(answer) || answer.length !== 3) throw new Error('not an array of three')
  const [head, response, raw] = answer.map((part) => {
    if (typeof part !== 'string') throw new Error('not a string')
    return part === '' ? null : JSON.parse(part)
  })
  return { head, response, raw }
}
