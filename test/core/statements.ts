/** Observes statements to the database: those of one operation, or each before it is sent. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Client, Pool } from 'pg'
import { vi } from 'vitest'

/** Statements to ignore: settings of a connection, and the last use of a token. */
const BESIDE = /set_config|"last_used_at" =/

const sent = new AsyncLocalStorage<string[]>()

/** Returns the result of `act` and the texts of its statements, without those of background work. */
export async function withStatements<T>(
  act: () => Promise<T>,
): Promise<{ answer: T; statements: string[] }> {
  const [ofPool, ofClient] = [Pool.prototype.query, Client.prototype.query]
  const statements: string[] = []
  // A pool may send a statement from the callback of another one's release, which has no store.
  const counted = new WeakSet<object>()
  const countedBy = (query: typeof ofPool | typeof ofClient) =>
    new Proxy(query, {
      apply(target, client, args: unknown[]) {
        const statement = Object(args[0])
        const text = String(statement.text ?? args[0])
        if (!BESIDE.test(text) && !counted.has(statement)) sent.getStore()?.push(text)
        counted.add(statement)
        return Reflect.apply(target, client, args)
      },
    })
  Pool.prototype.query = countedBy(ofPool)
  Client.prototype.query = countedBy(ofClient)
  try {
    return { answer: await sent.run(statements, act), statements }
  } finally {
    Pool.prototype.query = ofPool
    Client.prototype.query = ofClient
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
