/**
 * Closes connections whose client does not read the response: an unread response of 30 MB would be kept
 * forever, and forty of them take a gigabyte.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

type StallLimits = {
  /** Maximum time without progress of a response, in milliseconds. */
  stallMs: number
  /** Maximum total of unsent bytes. Above it, the connections with the most are closed first. */
  maxUnsentBytes: number
  /** Interval between two checks, in milliseconds. */
  sweepMs: number
}

export const STALL_LIMITS: StallLimits = {
  stallMs: 30_000,
  maxUnsentBytes: 512 * 1024 * 1024,
  sweepMs: 1000,
}

/** Watches a server's connections. Returns a function that stops watching. */
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

/** Node's own timeout sees progress within one large write. It must be set only while there is one. */
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
