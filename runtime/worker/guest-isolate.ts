/**
 * One isolate that holds the prelude and one connector. Makes it and offers a few verbs to the worker. Knows
 * isolated-vm; knows nothing of the host, frames or contracts.
 */
import type ivmModule from 'isolated-vm'
import { onMainThread } from './main-thread.ts'
import type { Share } from './slices.ts'
import { syncOp } from './sync-ops.ts'
import { type GuestIsolate, type Hooks, verbs } from './verbs.ts'

type Ivm = typeof ivmModule

/** A bundle and V8's own cache of it, made at its first compilation in this process. */
export type GuestSource = {
  code: string
  name: string
  cached: ivmModule.ExternalCopy<ArrayBuffer> | null
}

/** Parts of an isolate. */
type GuestParts = {
  ivm: Ivm
  prelude: GuestSource
  connector: GuestSource
  memoryMb: number
  share: Share
  hooks: Hooks
}

/** Time limits of a connector's top-level code, in milliseconds of wall time. */
type LoadLimits = {
  loadMs: number
  /** Limit of the second attempt, on a machine that hardly let the first one run. */
  starvedMs: number
  /** Returns the processor time of this process so far, in milliseconds. */
  cpuMs(): number
}

const LOAD_LIMITS: LoadLimits = {
  loadMs: 2000,
  starvedMs: 5000,
  cpuMs() {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
}

/**
 * Makes an isolate and loads the prelude and the connector.
 *
 * The time limits count wall time. If the time ran out although this process has computed for less than half
 * of it, the machine was busy. The connector is then loaded again, into another isolate with a longer limit.
 *
 * @throws what the connector's top-level code threw, or isolated-vm's own error if time or memory ran out
 */
export async function createGuestIsolate(
  parts: GuestParts,
  limits: LoadLimits = LOAD_LIMITS,
): Promise<GuestIsolate> {
  const begunCpuMs = limits.cpuMs()
  try {
    return await load(parts, limits.loadMs)
  } catch (error) {
    const hasRun = limits.cpuMs() - begunCpuMs >= limits.loadMs / 2
    if (hasRun || !(error instanceof Error && /timed out/i.test(error.message))) throw error
  }
  return load(parts, limits.starvedMs)
}

async function load(
  { ivm, prelude, connector, memoryMb, share, hooks }: GuestParts,
  timeoutMs: number,
): Promise<GuestIsolate> {
  const make = () =>
    new ivm.Isolate({ memoryLimit: memoryMb, onCatastrophicError: hooks.onCatastrophe })
  const isolate = await onMainThread(make)
  const dispose = () => {
    if (!isolate.isDisposed) isolate.dispose()
  }
  hooks.onMade(dispose)
  try {
    const context = await isolate.createContext()
    const global = context.global
    await global.set('__hostSync', new ivm.Callback(syncOp, { sync: true }))
    await global.set('__hostPost', new ivm.Callback(hooks.post, { ignored: true }))
    await evaluate(isolate, context, prelude, timeoutMs)
    const entries: ivmModule.Reference<Record<string, unknown>> = await global.get('__keyway', {
      reference: true,
    })
    const entry = (name: string): Promise<ivmModule.Reference> =>
      entries.get(name, { reference: true })
    const adopt = await entry('adopt')
    const run = await entry('run')
    const deliver = await entry('deliver')
    const abort = await entry('abort')
    const ping = await entry('ping')
    const collect = await entry('collect')
    const forget = await entry('forget')
    // Before the plugin runs: its top-level code could take the entries.
    await global.delete('__keyway')
    const failure = await evaluate(isolate, context, connector, timeoutMs).then(
      () => null,
      (error: unknown) => ({ error }),
    )
    const adopted = await adoptedOf(isolate, adopt, hooks, failure, timeoutMs)
    const entered = { run, deliver, abort, collect, forget, ping }
    return verbs(isolate, entered, adopted.capabilities, memoryMb, share, hooks)
  } catch (error) {
    dispose()
    throw error
  }
}

/**
 * Returns the connector's exports. If it has exported something, its top-level code has finished: the failure
 * is then a promise that it left rejected.
 */
async function adoptedOf(
  isolate: ivmModule.Isolate,
  adopt: ivmModule.Reference,
  { onStray }: Hooks,
  failure: { error: unknown } | null,
  timeoutMs: number,
): Promise<{ capabilities: string[] }> {
  const ask = () => adopt.apply(undefined, [], { timeout: timeoutMs, result: { copy: true } })
  if (failure !== null && isolate.isDisposed) throw failure.error
  const adoptedJson = await ask().catch((error) => {
    // Reading the exports may run code of the connector, which may leave a rejection too.
    if (isolate.isDisposed) throw error
    onStray(error, null)
    return ask()
  })
  const adopted = JSON.parse(String(adoptedJson))
  if (adopted.ok !== true) throw failure === null ? new Error(adopted.message) : failure.error
  if (failure !== null) onStray(failure.error, null)
  return adopted
}

async function evaluate(
  isolate: ivmModule.Isolate,
  context: ivmModule.Context,
  source: GuestSource,
  timeoutMs: number,
): Promise<void> {
  const filename = source.name
  if (source.cached === null) {
    const script = await isolate.compileScript(source.code, { filename, produceCachedData: true })
    // Made before any of the source has run, so the guest cannot have influenced it. The cast: the types lack
    // the member.
    source.cached =
      (script as { cachedData?: ivmModule.ExternalCopy<ArrayBuffer> }).cachedData ?? null
    await script.run(context, { timeout: timeoutMs })
    return
  }
  const script = await isolate.compileScript(source.code, { filename, cachedData: source.cached })
  await script.run(context, { timeout: timeoutMs })
}
