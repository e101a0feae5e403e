/** Statements as they are sent to the database: those of one thing, or each before it is sent. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Client } from 'pg'
import { vi } from 'vitest'

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

const { query: original } = Client.prototype

/** Shows each statement before it is sent; one that `look` waits for is sent afterwards. The cast: `query` has many forms. */
export const lookAtStatements = (look: (text: string) => Promise<unknown> | undefined) =>
  vi.spyOn(Client.prototype, 'query').mockImplementation(function (
    this: Client,
    ...args: unknown[]
  ) {
    const waits = look(String(Object(args[0]).text ?? args[0]))
    const send = () => Reflect.apply(original, this, args)
    return waits === undefined ? send() : waits.then(send)
  } as never)
