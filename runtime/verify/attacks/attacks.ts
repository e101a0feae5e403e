/** All attacks, by family, for the run, the tests and the page of attacks. */
import type { Attack, Family } from './attack.ts'
import { COMPILER } from './compiler.ts'
import { DATABASE } from './database.ts'
import { DIRECTORY } from './directory.ts'
import { MEMORY } from './memory.ts'
import { NEIGHBOUR } from './neighbour.ts'
import { NETWORK } from './network.ts'
import { OUT } from './out.ts'
import { SECRETS } from './secrets.ts'
import { SHARED } from './shared.ts'
import { TIME } from './time.ts'
import { WALL } from './wall.ts'
import { WORKER } from './worker.ts'

export const ATTACKS: Record<Family, readonly Attack[]> = {
  time: TIME,
  memory: MEMORY,
  wall: WALL,
  out: OUT,
  compiler: COMPILER,
  network: NETWORK,
  directory: DIRECTORY,
  database: DATABASE,
  secrets: SECRETS,
  neighbour: NEIGHBOUR,
  shared: SHARED,
  worker: WORKER,
}
