/**
 * How worker processes stand behind the host for the processor. Lowering needs no privilege; what was
 * lowered by a nice value comes up again only for who may raise it, what was lowered by an autogroup
 * always. Measured: test/bench/RESULTS.md.
 */

import { execFile, spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { codeOf } from '../contract/errors/thrown.ts'
import { membersOf } from '../contract/schema/record.ts'
import { threadsOf } from './process-stat.ts'

/** As the host itself; behind it; behind everything else. */
export type Priority = 'usual' | 'low' | 'last'

/**
 * What lowers a process: its nice value, and on desktops and plain servers that of its autogroup. Where
 * Linux has these, every worker is in one of its own, and its nice value counts among its own threads alone.
 */
type Means = 'nice' | 'autogroup'

/** What this machine offers, for /readyz. */
export type Scheduling = {
  means: Means[]
  /** Whether a worker of good standing comes up again to where the host is. */
  raises: boolean
}

export type Priorities = {
  readonly scheduling: Scheduling
  /** False where it did not take effect, or not all of it: to be tried again. */
  set(pid: number, priority: Priority): boolean
}

/** How far behind the host, in steps of the nice value: ten are a tenth of its weight. */
const BEHIND: Record<Priority, number> = { usual: 0, low: 10, last: 39 }

/** The lowest priority there is. */
const LOWEST = 19

const below = (own: number, priority: Priority): number => Math.min(LOWEST, own + BEHIND[priority])

/** Looks once at what this machine offers. */
export function createPriorities(): Priorities {
  const ownNice = getPriority()
  const ownGroup = autogroupNice()
  const raisesNice = mayRaise(ownNice)
  const scheduling: Scheduling = {
    means: ownGroup === null ? ['nice'] : ['nice', 'autogroup'],
    raises: raisesNice || (ownGroup !== null && ownGroup >= 0),
  }

  function set(pid: number, priority: Priority): boolean {
    const group = ownGroup === null || setAutogroup(pid, below(ownGroup, priority))
    // Among the threads of an autogroup it changes nothing, so that what may not come up again need not.
    if (ownGroup !== null && priority === 'usual' && !raisesNice) return group
    return setNice(pid, below(ownNice, priority)) && group
  }

  return { scheduling, set }
}

/** The host's own; null where there are no autogroups, or not for what runs in a control group. */
function autogroupNice(): number | null {
  // Also where a service may not read it.
  const isOn = read('/proc/sys/kernel/sched_autogroup_enabled')?.trim() !== '0'
  const nice = /nice (-?\d+)/.exec(read('/proc/self/autogroup') ?? '')?.[1]
  return isOn && nice !== undefined && !isWeighed() ? Number(nice) : null
}

/** Whether a control group above this process shares the processor out: autogroups are not asked then. */
function isWeighed(): boolean {
  const rows = (read('/proc/self/cgroup') ?? '').trim().split('\n')
  return rows.some((row) => {
    const [, controllers = '', own = '/'] = row.split(':')
    if (controllers.split(',').includes('cpu')) return own !== '/'
    if (controllers !== '') return false
    const folders = own.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'))
    // A container may see its own as the root; the true root has no weight.
    return ['', ...folders].some((folder) => isThere(`/sys/fs/cgroup${folder}/cpu.weight`))
  })
}

/** What was found for an own nice value: it stays so for the life of this process. */
const raising = new Map<number, boolean>()

/** Tries it once with a process that ends at once: a capability may count for less than it says. */
function mayRaise(own: number): boolean {
  const known = raising.get(own) ?? raises(own)
  raising.set(own, known)
  return known
}

/** Lowers itself, raises itself again, and prints what has come of it. */
const ATTEMPT = ['-n', '1', 'nice', '-n', '-1', 'nice'] as const
const ATTEMPT_MS = 5000

function raises(own: number): boolean {
  const { status, stdout } = spawnSync('nice', ATTEMPT, { encoding: 'utf8', timeout: ATTEMPT_MS })
  return status === 0 && Number(stdout.trim()) === own
}

/** Begins the try, for what is made later: the program that it takes runs beside what is done until then. */
export function tryRaising(): void {
  const own = getPriority()
  execFile('nice', ATTEMPT, { timeout: ATTEMPT_MS }, (error, stdout) => {
    // What failed is tried again.
    if (error === null) raising.set(own, Number(stdout.trim()) === own)
  })
}

/** A nice value belongs to a thread: new ones inherit it. */
function setNice(pid: number, nice: number): boolean {
  const threads = threadsOf(pid)
  return (threads.length === 0 ? [pid] : threads).every((thread) => {
    try {
      setPriority(thread, nice)
      return true
    } catch (error) {
      const code = codeOf(membersOf(error)['info'])
      // The thread is gone, the others still are to be set; or it may not be raised.
      if (code === 'ESRCH') return true
      if (code === 'EACCES' || code === 'EPERM') return false
      throw error
    }
  })
}

const nameOfGroup = (pid: number | 'self'): string | undefined =>
  read(`/proc/${pid}/autogroup`)?.split(' ')[0]

function setAutogroup(pid: number, nice: number): boolean {
  // One that could not get a group of its own shares the host's: all of that would be lowered.
  if (nameOfGroup(pid) === nameOfGroup('self')) return true
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice))
    return true
  } catch (error) {
    const code = codeOf(error) ?? ''
    // The process is gone.
    if (code === 'ENOENT' || code === 'ESRCH') return true
    // Who is not root may do so ten times a second; or it may not be raised so far.
    if (code === 'EAGAIN' || code === 'EACCES' || code === 'EPERM') return false
    throw error
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Not Linux, or a kernel without it.
    return null
  }
}

function isThere(file: string): boolean {
  try {
    accessSync(file, constants.F_OK)
    return true
  } catch {
    return false
  }
}
