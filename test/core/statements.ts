/** The statements by which the database is asked for one thing. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Client } from 'pg'

/** What a connection sets for itself, and that a token was used. */
const BESIDE = /set_config|"last_used_at" =/

const sent = new AsyncLocalStorage<string[]>()

/** What `act` answers and the texts of its statements; what runs in the background meanwhile is not among them. */
export async function withStatements<T>(
  act: () => Promise<T>,
): Promise<{ answer: T; statements: string[] }> {
  const { query } = Client.prototype
  const statements: string[] = []
  Client.prototype.query = new Proxy(query, {
    apply(target, client, args: unknown[]) {
      const text = String(Object(args[0]).text ?? args[0])
      if (!BESIDE.test(text)) sent.getStore()?.push(text)
      return Reflect.apply(target, client, args)
    },
  })
  try {
    return { answer: await sent.run(statements, act), statements }
  } finally {
    Client.prototype.query = query
  }
}
