/** The socket below a session: pg's types leave out its connection. */
import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { ClientBase } from 'pg'

/** What a session speaks through; emits `errorMessage` for each refusal of the server. */
export const connectionBelow = (session: ClientBase): EventEmitter & { stream: Socket } =>
  // The cast: a member of pg's Client that its types leave out.
  (session as unknown as { connection: EventEmitter & { stream: Socket } }).connection

/** Ends a session without a word to the server, as a lost connection does: what waits for an answer is told so. */
export const abandonSession = (session: ClientBase): void => {
  connectionBelow(session).stream.destroy()
}
