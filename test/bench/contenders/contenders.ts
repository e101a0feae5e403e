/** The servers that are measured under the same load, in the order of the report. */
import path from 'node:path'
import type { Run } from '../run.ts'
import { type Server, startServer } from '../server.ts'
import { makeHome, startKeyway, untilServed } from './keyway.ts'
import { startWorkerd } from './workerd.ts'

export const NAMES = ['B', 'BS', 'Keyway', 'workerd'] as const
export type ContenderName = (typeof NAMES)[number]

export type Contender = Server & { name: ContenderName }

/** The contenders that run, and the reasons why others do not. */
export type Field = {
  contenders: Contender[]
  missing: { name: ContenderName; why: string }[]
  stop(): Promise<void>
}

const START: Record<ContenderName, (run: Run) => Promise<Server>> = {
  B: (run) => startNode(run, 'b.ts'),
  BS: (run) => startNode(run, 'bs.ts'),
  Keyway: startWhole,
  workerd: startWorkerd,
}

/** Without these there is nothing to compare. workerd is optional. */
const NEEDED: readonly ContenderName[] = ['B', 'BS', 'Keyway']

/** Starts contenders, one after another. */
export async function startField(run: Run, names: readonly ContenderName[]): Promise<Field> {
  const contenders: Contender[] = []
  const missing: Field['missing'] = []
  const stop = async () => {
    await Promise.all(contenders.map((one) => one.stop()))
  }
  for (const name of names) {
    run.tell(`starting ${name}`)
    try {
      contenders.push({ ...(await START[name](run)), name })
    } catch (error) {
      if (!NEEDED.includes(name) && !run.signal.aborted) {
        missing.push({ name, why: firstLine(error) })
        continue
      }
      await stop()
      throw error
    }
  }
  return { contenders, missing, stop }
}

const startNode = ({ signal }: Run, file: string): Promise<Server> =>
  startServer({
    name: file,
    command: process.execPath,
    args: () => [path.join(import.meta.dirname, file)],
    readyPath: '/readyz',
    signal,
  })

async function startWhole(run: Run): Promise<Server> {
  const home = await makeHome(run, 'keyway')
  const server = await startKeyway(run, home, path.join(import.meta.dirname, '..', 'connectors'))
  const stop = async () => {
    await server.stop()
    await home.remove()
  }
  try {
    await untilServed(run, server, (ids) => ids.includes('bench'))
  } catch (error) {
    await stop()
    throw error
  }
  return { ...server, stop }
}

const firstLine = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).split('\n')[0] as string
