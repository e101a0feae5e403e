/**
 * Processor priority of worker processes relative to the host. Lowering it needs no privilege. Raising a nice
 * value again does; raising an autogroup does not. Measured: test/bench/RESULTS.md.
 */

import { execFile, spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { codeOf } from '../contract/errors/thrown.ts'
import { membersOf } from '../contract/schema/record.ts'
import { threadsOf } from './process-stat.ts'

/** Like the host; below it; below everything else. */
export type Priority = 'usual' | 'low' | 'last'

/**
 * Means to lower a process: its nice value, and on desktops and plain servers also the nice value of its
 * autogroup. With autogroups, every worker is in one of its own, and its nice value counts only among its own
 * threads.
 */
type Mechanism = 'nice' | 'autogroup'

/** Means that this machine offers, for /readyz. */
export type Scheduling = {
  means: Mechanism[]
  /** Whether a well-behaved worker is raised to the host's priority again. */
  raises: boolean
}

export type Priorities = {
  readonly scheduling: Scheduling
  /** Sets a priority. Returns false if it did not fully take effect and should be retried. */
  set(pid: number, priority: Priority): boolean
}

/** Distance from the host's priority, in nice steps. Ten steps are a tenth of its weight. */
const BEHIND: Record<Priority, number> = { usual: 0, low: 10, last: 39 }

/** Lowest priority. */
const LOWEST = 19

const below = (own: number, priority: Priority): number => Math.min(LOWEST, own + BEHIND[priority])

/** Detects once which means this machine offers. */
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
    // Within an autogroup it has no effect, so a value that could not be raised again is not needed.
    if (ownGroup !== null && priority === 'usual' && !raisesNice) return group
    return setNice(pid, below(ownNice, priority)) && group
  }

  return { scheduling, set }
}

/**
 * Returns the nice value of the host's autogroup; null without autogroups, or inside a weighted control
 * group.
 */
function autogroupNice(): number | null {
  // Assume so if a service may not read it.
  const isOn = read('/proc/sys/kernel/sched_autogroup_enabled')?.trim() !== '0'
  const nice = /nice (-?\d+)/.exec(read('/proc/self/autogroup') ?? '')?.[1]
  return isOn && nice !== undefined && !isWeighed() ? Number(nice) : null
}

/**
 * Reports whether a control group above this process distributes the processor. Autogroups have no effect
 * then.
 */
function isWeighed(): boolean {
  const rows = (read('/proc/self/cgroup') ?? '').trim().split('\n')
  return rows.some((row) => {
    const [, controllers = '', own = '/'] = row.split(':')
    if (controllers.split(',').includes('cpu')) return own !== '/'
    if (controllers !== '') return false
    const folders = own.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'))
    // A container may see its own group as the root. The true root has no weight.
    return ['', ...folders].some((folder) => isThere(`/sys/fs/cgroup${folder}/cpu.weight`))
  })
}

/** Results of the tests, by own nice value. They hold for the life of this process. */
const raising = new Map<number, boolean>()

/** Tests once, with a short-lived process: a capability may have less effect than it claims. */
function mayRaise(own: number): boolean {
  const known = raising.get(own) ?? raises(own)
  raising.set(own, known)
  return known
}

/** Lowers itself, raises itself again, and prints the result. */
const ATTEMPT = ['-n', '1', 'nice', '-n', '-1', 'nice'] as const
const ATTEMPT_MS = 5000

function raises(own: number): boolean {
  const { status, stdout } = spawnSync('nice', ATTEMPT, { encoding: 'utf8', timeout: ATTEMPT_MS })
  return status === 0 && Number(stdout.trim()) === own
}

/** Starts the test in advance, in parallel with the work until its result is needed. */
export function tryRaising(): void {
  const own = getPriority()
  execFile('nice', ATTEMPT, { timeout: ATTEMPT_MS }, (error, stdout) => {
    // A failed test is repeated.
    if (error === null) raising.set(own, Number(stdout.trim()) === own)
  })
}

/** Sets the nice value of all threads. It belongs to a thread; new threads inherit it. */
function setNice(pid: number, nice: number): boolean {
  const threads = threadsOf(pid)
  return (threads.length === 0 ? [pid] : threads).every((thread) => {
    try {
      setPriority(thread, nice)
      return true
    } catch (error) {
      const code = codeOf(membersOf(error)['info'])
      // The thread has ended and the others are still to be set, or it may not be raised.
      if (code === 'ESRCH') return true
      if (code === 'EACCES' || code === 'EPERM') return false
      throw error
    }
  })
}

const nameOfGroup = (pid: number | 'self'): string | undefined =>
  read(`/proc/${pid}/autogroup`)?.split(' ')[0]

function setAutogroup(pid: number, nice: number): boolean {
  // A worker that could not get an autogroup shares the host's, which must not be lowered.
  if (nameOfGroup(pid) === nameOfGroup('self')) return true
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice))
    return true
  } catch (error) {
    const code = codeOf(error) ?? ''
    // The process has ended.
    if (code === 'ENOENT' || code === 'ESRCH') return true
    // Without root this is limited to ten times a second, or the value may not be raised so far.
    if (code === 'EAGAIN' || code === 'EACCES' || code === 'EPERM') return false
    throw error
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Not Linux, or a kernel without autogroups.
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
