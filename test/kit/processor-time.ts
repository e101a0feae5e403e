/**
 * Measures the cost of each file of tests. With KEYWAY_TESTS_CPU=FILE it appends a line per file, with the
 * seconds of processor time of the tests' own process and of its ended child processes. The server of the run
 * is not included. Linux only. `sort -rn FILE` shows the most expensive files.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import path from 'node:path'

const FILE = process.env['KEYWAY_TESTS_CPU']

/** Ticks of /proc/PID/stat in a second. */
const HZ = 100

/** Returns the times of this process and of its awaited children, in ticks (proc_pid_stat(5), 14 to 17). */
function ticks(): { own: number; others: number } {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const [user = 0, system = 0, ...others] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)
  return { own: user + system, others: others.reduce((sum, one) => sum + one, 0) }
}

/** Begins to count. Returns a function that records the time spent since. */
export function countProcessorTime(): (file: string) => void {
  if (FILE === undefined) return () => {}
  const before = ticks()
  return (file) => {
    const now = ticks()
    const [own, others] = [now.own - before.own, now.others - before.others]
    const seconds = [own + others, own, others].map((one) => (one / HZ).toFixed(2))
    const name = path.relative(process.cwd(), file)
    appendFileSync(FILE, `${seconds[0]} ${name} (own ${seconds[1]}, others ${seconds[2]})\n`)
  }
}
