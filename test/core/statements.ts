/** Observes statements to the database: those of one operation, or each before it is sent. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Client } from 'pg'
import { vi } from 'vitest'

/** Statements to ignore: settings of a connection, and the last use of a token. */
const BESIDE = /set_config|"last_used_at" =/

const sent = new AsyncLocalStorage<string[]>()

/** Returns the result of `act` and the texts of its statements, without those of background work. */
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

/**
 * Calls `look` with each statement before it is sent, and waits for its promise. The cast is needed because
 * `query` has many overloads.
 */
export const lookAtStatements = (look: (text: string) => Promise<unknown> | undefined) =>
  vi.spyOn(Client.prototype, 'query').mockImplementation(function (
    this: Client,
    ...args: unknown[]
  ) {
    const waits = look(String(Object(args[0]).text ?? args[0]))
    const send = () => Reflect.apply(original, this, args)
    return waits === undefined ? send() : waits.then(send)
  } as never)
