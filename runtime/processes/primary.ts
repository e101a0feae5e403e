/**
 * The first of several processes that serve one port. It starts the others, distributes connections among
 * them in turn (node:cluster), restarts those that end, and forwards their questions to each other. It serves
 * no requests itself.
 */
import cluster, { type Worker } from 'node:cluster'
import * as v from 'valibot'
import { ANSWER_MS, FromMember, type FromPrimary, type SiblingQuestion } from './messages.ts'

/** Initial and maximum pause before a process is restarted, in milliseconds. Doubled each time. */
const RESTART_MS = 500
const MAX_RESTART_MS = 10_000
/** Serving time after which the pause is reset, in milliseconds. */
const CALM_MS = 60_000

type PrimaryEvents = {
  /** A process has begun to serve; `count` processes serve now. */
  onServing(pid: number, count: number): void
  /** A process ended unexpectedly. Another replaces it after `againMs` milliseconds. */
  onEnded(pid: number, how: string, againMs: number): void
}

type Primary = {
  /** Resolves with the exit code of a process that ended before any had served. It has reported why. */
  failed: Promise<number>
  /** Sends a signal to all processes, and resolves when they have ended. */
  stop(signal: NodeJS.Signals): Promise<void>
}

type Asking = { from: Worker; id: number; left: number; answers: unknown[]; timer: NodeJS.Timeout }

/**
 * Starts this number of processes of the same command. The others start when the first one has looked up its
 * connectors.
 */
export function startMembers(wanted: number, events: PrimaryEvents): Primary {
  const members = new Set<Worker>()
  const serving = new Set<Worker>()
  const asking = new Map<number, Asking>()
  const failed = Promise.withResolvers<number>()
  const gone = Promise.withResolvers<void>()
  let nextId = 1
  let stopping = false
  let hasServed = false
  let isSettled = false
  let pauseMs = RESTART_MS

  const send = (to: Worker, message: FromPrimary) => {
    if (to.isConnected()) to.send(message)
  }
  const tellAll = () => {
    for (const one of members) send(one, { kind: 'serving', count: serving.size })
  }

  function begin(): void {
    if (stopping) return
    const member = cluster.fork()
    const pid = member.process.pid ?? 0
    const begunMs = performance.now()
    members.add(member)
    member.on('message', (message: unknown) => hear(member, message))
    // If the channel breaks, the process ends, which `exit` handles.
    member.on('error', () => {})
    member.on('listening', () => {
      hasServed = true
      serving.add(member)
      tellAll()
      events.onServing(pid, serving.size)
    })
    member.on('exit', (code: number | null, signal: string | null) => {
      members.delete(member)
      serving.delete(member)
      for (const [id, { from }] of asking) if (from === member) end(id)
      tellAll()
      if (stopping) return members.size === 0 ? gone.resolve() : undefined
      if (!hasServed) return failed.resolve(code ?? 1)
      if (performance.now() - begunMs >= CALM_MS) pauseMs = RESTART_MS
      const againMs = pauseMs
      pauseMs = Math.min(2 * pauseMs, MAX_RESTART_MS)
      events.onEnded(pid, signal ?? `exit ${code}`, againMs)
      setTimeout(begin, againMs)
    })
    send(member, { kind: 'begin', wanted, isFirst: serving.size === 0 })
  }

  function hear(from: Worker, message: unknown): void {
    const parsed = v.safeParse(FromMember, message)
    // A message of node:cluster itself.
    if (!parsed.success) return
    const { output } = parsed
    if (output.kind === 'settled' && !isSettled) {
      isSettled = true
      for (let count = members.size; count < wanted; count += 1) begin()
    }
    if (output.kind === 'ask') askOthers(from, output.id, output.question)
    if (output.kind === 'answer') {
      const one = asking.get(output.id)
      if (!one) return
      one.answers.push(output.answer)
      one.left -= 1
      if (one.left === 0) end(output.id)
    }
  }

  function askOthers(from: Worker, itsId: number, question: SiblingQuestion): void {
    const id = nextId++
    const others = [...serving].filter((one) => one !== from)
    const timer = setTimeout(() => end(id), ANSWER_MS)
    asking.set(id, { from, id: itsId, left: others.length, answers: [], timer })
    for (const one of others) send(one, { kind: 'ask', id, question })
    if (others.length === 0) end(id)
  }

  function end(id: number): void {
    const one = asking.get(id)
    if (!one) return
    asking.delete(id)
    clearTimeout(one.timer)
    send(one.from, { kind: 'answers', id: one.id, answers: one.answers })
  }

  begin()
  return {
    failed: failed.promise,
    async stop(signal) {
      stopping = true
      if (members.size === 0) return
      for (const { process: child } of members) child.kill(signal)
      await gone.promise
    },
  }
}
