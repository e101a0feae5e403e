/**
 * Sets the data limit of running processes through one long-lived shell. Each program that the host starts
 * itself costs a copy of the host's page tables, which blocks it: 8 to 17 ms for a host of 220 MB
 * (test/bench/RESULTS.md).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { SetDataLimit } from './data-limit.ts'

/**
 * Reads lines with a process id and bytes, and answers each with prlimit's exit code. Only the soft limit is
 * set, which may be raised again.
 */
const LOOP =
  'while read -r pid bytes; do "$0" --pid "$pid" "--data=$bytes:" 2>/dev/null; echo $?; done'

type Shell = {
  process: ChildProcess
  /** Callbacks for the answers, in order of the questions. */
  waiting: ((code: string) => void)[]
}

/** Creates the function. `prlimit` is the path of that program from util-linux. */
export function createSetDataLimit(prlimit: string): SetDataLimit {
  let shell: Shell | null = null

  function start(): Shell {
    const child = spawn('/bin/sh', ['-c', LOOP, prlimit], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
      // Ctrl-C in a terminal is for the host, which stops the shell.
      detached: true,
    })
    const made: Shell = { process: child, waiting: [] }
    const over = () => {
      if (shell === made) shell = null
      for (const tell of made.waiting.splice(0)) tell('it ended')
    }
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      const lines = (text + chunk.toString('latin1')).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) made.waiting.shift()?.(line)
    })
    child.on('error', over)
    child.on('close', over)
    // Broken pipe: the end is reported by `close`.
    child.stdin.on('error', () => {})
    // The shell ends with the host and must not keep it alive.
    child.unref()
    for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref()
    return made
  }

  return (pid, bytes) =>
    new Promise((resolve, reject) => {
      shell ??= start()
      shell.waiting.push((code) =>
        code === '0' ? resolve() : reject(new Error(`prlimit: ${code}`)),
      )
      shell.process.stdin?.write(`${pid} ${bytes}\n`)
    })
}
