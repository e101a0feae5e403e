/** FAULTS: faults that are applied to a running deployment, alone and in pairs, and removed again. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Scene } from './scene.ts'

export type Fault = {
  name: string
  /** Part of the short form that the tests run. */
  short?: true
  /** Requires that a disk can be mounted. */
  needsDisk?: true
  /** Applies the fault for `lastMs` milliseconds, and removes it. */
  run(scene: Scene, lastMs: number): Promise<void>
}

/** The system answers in this way for a while. */
const answers =
  (end: 'away' | 'denied' | 'hang' | 'before' | 'cut' | 'after' | 'refused') =>
  async ({ system }: Scene, lastMs: number): Promise<void> => {
    system.behave(() => end)
    await pause(lastMs)
    system.behave(() => 'well')
  }

async function refusesConnections({ system }: Scene, lastMs: number): Promise<void> {
  await system.listens(false)
  await pause(lastMs)
  await system.listens(true)
}

async function databaseAway(scene: Scene, lastMs: number): Promise<void> {
  await scene.killDatabase()
  await pause(lastMs)
  await scene.startDatabase()
}

async function oneHostKilled(scene: Scene, lastMs: number): Promise<void> {
  await scene.endHost(0, 'SIGKILL')
  await pause(lastMs)
  await scene.startHost(0)
}

async function allHostsKilled(scene: Scene, lastMs: number): Promise<void> {
  await Promise.all(scene.hosts.map((_, index) => scene.endHost(index, 'SIGKILL')))
  await pause(lastMs)
  await Promise.all(scene.hosts.map((_, index) => scene.startHost(index)))
}

const HOUR_MS = 3_600_000

/** The clocks of one or all hosts are wrong; the database's is right. */
const clockOff =
  (hosts: 'one' | 'all', offMs: number): Fault['run'] =>
  async (scene, lastMs) => {
    const script = `const now = Date.now; Date.now = () => now() + ${offMs}
    globalThis.Date = new Proxy(Date, { construct: (D, a) => a.length ? new D(...a) : new D(Date.now()) })`
    const off = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
    const which = hosts === 'one' ? [0] : [...scene.hosts.keys()]
    for (const index of which) {
      await scene.endHost(index, 'SIGTERM')
      await scene.startHost(index, off)
    }
    await pause(lastMs)
    for (const index of which) {
      await scene.endHost(index, 'SIGTERM')
      await scene.startHost(index)
    }
  }

/** Fills the disk to the last byte, while people request access and access expires; the server may crash. */
async function databaseDiskFull(scene: Scene, lastMs: number): Promise<void> {
  const makeRoom = await scene.disk?.fill()
  await pause(lastMs)
  await makeRoom?.()
  await scene.reviveDatabase()
}

/** Rotates the secret as documented, with a host killed during it. */
async function secretRotated(scene: Scene, lastMs: number): Promise<void> {
  const old = scene.secrets()
  const newest = `secret-that-is-new-${Date.now()}-`.repeat(2)
  scene.rotate(`${newest},${old}`)
  for (const index of scene.hosts.keys()) {
    await scene.endHost(index, 'SIGTERM')
    await scene.startHost(index)
    if (index > 0) continue
    await scene.endHost(index, 'SIGKILL')
    await scene.startHost(index)
  }
  await pause(lastMs)
}

/** The server's processes are alive but do not respond. */
async function databaseSilent(scene: Scene, lastMs: number): Promise<void> {
  scene.signalDatabase('SIGSTOP')
  await pause(lastMs)
  scene.signalDatabase('SIGCONT')
}

/** Like a standby before its promotion. */
async function databaseReadsOnly(scene: Scene, lastMs: number): Promise<void> {
  await scene.setReadOnly(true)
  await pause(lastMs)
  await scene.setReadOnly(false)
}

async function connectionsCut(scene: Scene, lastMs: number): Promise<void> {
  for (const endMs = performance.now() + lastMs; performance.now() < endMs; ) {
    await scene.cutConnections()
    await pause(1000)
  }
}

/** Replaces the hosts one after the other, like an upgrade. */
async function hostsReplaced(scene: Scene): Promise<void> {
  for (const index of scene.hosts.keys()) {
    await scene.endHost(index, 'SIGTERM')
    await scene.startHost(index)
  }
}

/** Single faults. Two faults that touch the same part cannot be combined. */
export type Alone = Fault & { touches: 'system' | 'database' | 'hosts' }

export const ALONE: readonly Alone[] = [
  { name: 'the system answers 503', touches: 'system', short: true, run: answers('away') },
  {
    name: 'the system answers 503 and asks to be left alone',
    touches: 'system',
    async run(scene, lastMs) {
      scene.system.asks(Math.ceil(lastMs / 1000))
      await answers('away')(scene, lastMs)
      scene.system.asks(0)
    },
  },
  { name: 'the system answers 500 to everything', touches: 'system', run: answers('before') },
  {
    name: 'the system does what it is told and answers 500',
    touches: 'system',
    run: answers('after'),
  },
  {
    name: 'the system does what it is told and cuts the connection',
    touches: 'system',
    run: answers('cut'),
  },
  {
    name: 'the system does what it is told and never answers',
    touches: 'system',
    run: answers('hang'),
  },
  { name: 'the system refuses the credentials', touches: 'system', run: answers('denied') },
  { name: 'the system refuses connections', touches: 'system', run: refusesConnections },
  { name: 'the database is killed', touches: 'database', run: databaseAway },
  { name: 'the database does not answer', touches: 'database', run: databaseSilent },
  { name: 'the database takes no changes', touches: 'database', run: databaseReadsOnly },
  { name: 'all connections to the database are cut', touches: 'database', run: connectionsCut },
  {
    name: 'the disk of the database is full',
    touches: 'database',
    needsDisk: true,
    run: databaseDiskFull,
  },
  { name: 'one of two hosts is killed', touches: 'hosts', run: oneHostKilled },
  { name: 'all hosts are killed', touches: 'hosts', run: allHostsKilled },
  { name: 'both hosts are replaced in order', touches: 'hosts', run: hostsReplaced },
  {
    name: 'the clock of a host is a day ahead',
    touches: 'hosts',
    run: clockOff('one', 24 * HOUR_MS),
  },
  {
    name: 'the clocks of all hosts are a day ahead',
    touches: 'hosts',
    run: clockOff('all', 24 * HOUR_MS),
  },
  {
    name: 'the clocks of all hosts are an hour behind',
    touches: 'hosts',
    run: clockOff('all', -HOUR_MS),
  },
  {
    name: 'the secret is rotated, and a host killed meanwhile',
    touches: 'hosts',
    run: secretRotated,
  },
]

/** The pair that the tests also run. */
const SHORT_PAIR = ['the system refuses connections', 'the database is killed']

/** Pairs: every two faults that touch different parts. */
const PAIRS: readonly Fault[] = ALONE.flatMap((one, index) =>
  ALONE.slice(index + 1)
    .filter(({ touches }) => touches !== one.touches)
    .map(
      (other): Fault => ({
        name: `${one.name}, while ${other.name}`,
        ...([one.name, other.name].every((name) => SHORT_PAIR.includes(name))
          ? { short: true }
          : {}),
        ...(one.needsDisk || other.needsDisk ? { needsDisk: true } : {}),
        async run(scene, lastMs) {
          await Promise.all([one.run(scene, lastMs), other.run(scene, lastMs)])
        },
      }),
    ),
)

export const FAULTS: readonly Fault[] = [...ALONE, ...PAIRS]
