/** The socket of a session: pg's types lack its connection. */
import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { ClientBase } from 'pg'

/** Returns the connection of a session. It emits `errorMessage` for each refusal of the server. */
export const connectionBelow = (session: ClientBase): EventEmitter & { stream: Socket } =>
  // The cast: pg's type of Client lacks this member.
  (session as unknown as { connection: EventEmitter & { stream: Socket } }).connection

/** Ends a session without a message to the server, as a lost connection does. Waiting statements fail. */
export const abandonSession = (session: ClientBase): void => {
  connectionBelow(session).stream.destroy()
}
