/**
 * Ends connections whose caller does not take its answer: a reply of 30 MB that nobody reads would be
 * held for ever, and forty of them are a gigabyte.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

type StallLimits = {
  /** How long an answer may make no progress, in milliseconds. */
  stallMs: number
  /** Largest sum of what waits to be taken; the largest goes first, in bytes. */
  maxUnsentBytes: number
  /** How often is looked, in milliseconds. */
  sweepMs: number
}

export const STALL_LIMITS: StallLimits = {
  stallMs: 30_000,
  maxUnsentBytes: 512 * 1024 * 1024,
  sweepMs: 1000,
}

/** Watches a server's connections; the answer stops it. */
export function endStalled(server: Server, limits: StallLimits = STALL_LIMITS): () => void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const timer = setInterval(() => {
    for (const socket of sockets) limit(socket, limits.stallMs)
    endSurplus(sockets, limits.maxUnsentBytes)
  }, limits.sweepMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Node's own time-out knows progress within one large write; it may count only while one is under way. */
function limit(socket: Socket, stallMs: number): void {
  const waiting = socket.writableLength > 0
  if (waiting && socket.timeout !== stallMs) socket.setTimeout(stallMs)
  if (!waiting && socket.timeout === stallMs) socket.setTimeout(0)
}

function endSurplus(sockets: ReadonlySet<Socket>, maxUnsentBytes: number): void {
  const largestFirst = [...sockets].sort((a, b) => b.writableLength - a.writableLength)
  let unsent = largestFirst.reduce((sum, { writableLength }) => sum + writableLength, 0)
  for (const socket of largestFirst) {
    if (unsent <= maxUnsentBytes) return
    unsent -= socket.writableLength
    socket.destroy()
  }
}
