/** FAULTS: what is done to a running deployment, alone and two at once, and undone again. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Scene } from './scene.ts'

export type Fault = {
  name: string
  /** In the short form that the tests run. */
  short?: true
  /** Does it, lets it last so long, and undoes it. `lastMs` is how long the fault is there. */
  run(scene: Scene, lastMs: number): Promise<void>
}

/** The system answers so for a while. */
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

/** The clock of one host is a day ahead; the database's is right. */
async function clockAhead(scene: Scene, lastMs: number): Promise<void> {
  const script = `const now = Date.now; Date.now = () => now() + 86400000
    globalThis.Date = new Proxy(Date, { construct: (D, a) => a.length ? new D(...a) : new D(Date.now()) })`
  await scene.endHost(0, 'SIGTERM')
  await scene.startHost(0, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
  })
  await pause(lastMs)
  await scene.endHost(0, 'SIGTERM')
  await scene.startHost(0)
}

/** The documented way, with a host killed in the middle of it. */
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

const both =
  (...runs: Fault['run'][]): Fault['run'] =>
  async (scene, lastMs) => {
    await Promise.all(runs.map((run) => run(scene, lastMs)))
  }

export const FAULTS: readonly Fault[] = [
  { name: 'the system answers 503', short: true, run: answers('away') },
  {
    name: 'the system answers 503 and asks to be left alone',
    async run(scene, lastMs) {
      scene.system.asks(Math.ceil(lastMs / 1000))
      await answers('away')(scene, lastMs)
      scene.system.asks(0)
    },
  },
  { name: 'the system answers 500 to everything', run: answers('before') },
  { name: 'the system does what it is told and answers 500', run: answers('after') },
  { name: 'the system does what it is told and cuts the connection', run: answers('cut') },
  { name: 'the system does what it is told and never answers', run: answers('hang') },
  { name: 'the system refuses the credentials', run: answers('denied') },
  { name: 'the system refuses connections', run: refusesConnections },
  { name: 'one of two hosts is killed', run: oneHostKilled },
  { name: 'all hosts are killed', run: allHostsKilled },
  { name: 'the database is killed', run: databaseAway },
  { name: 'the clock of a host is a day ahead', run: clockAhead },
  { name: 'the secret is rotated, and a host killed meanwhile', run: secretRotated },
  {
    name: 'the system refuses connections while the database is away',
    short: true,
    run: both(refusesConnections, databaseAway),
  },
  {
    name: 'the system answers 503 while all hosts are killed',
    run: both(answers('away'), allHostsKilled),
  },
  {
    name: 'the database is killed together with a host',
    run: both(databaseAway, oneHostKilled),
  },
]
