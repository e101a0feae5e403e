/**
 * Stands before node:http: the usual capability call is read and answered on the bare socket, all others are handed on.
 * That spares node:http, its adaptor and their objects for each call.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type Connection, type ConnectionDeps, serveConnection } from './connection.ts'
import type { FrontCalls } from './usual-calls.ts'

/** How often is looked for connections that wait, in milliseconds. */
const SWEEP_MS = 1000

export type Front = {
  /** Ends the connections that no call is under way on. */
  endIdle(): void
  /** Ends all that are left. */
  stop(): void
}

/** Takes the connections of a server that does not listen yet. */
export function standBefore(server: Server, calls: FrontCalls): Front {
  const theirs = server.listeners('connection')
  server.removeAllListeners('connection')
  const connections = new Set<Connection>()
  const deps: ConnectionDeps = {
    ...calls,
    get keepAliveMs() {
      return server.keepAliveTimeout
    },
    handOver: (socket) => {
      for (const listener of theirs) listener.call(server, socket)
    },
  }
  server.on('connection', (socket: Socket) => {
    const connection = serveConnection(socket, deps, () => connections.delete(connection))
    connections.add(connection)
  })
  const timer = setInterval(() => {
    const nowMs = performance.now()
    for (const connection of connections) connection.sweep(nowMs)
  }, SWEEP_MS)
  timer.unref()
  return {
    endIdle() {
      for (const connection of connections) connection.endIdle()
    },
    stop() {
      clearInterval(timer)
      for (const connection of connections) connection.end()
    },
  }
}
