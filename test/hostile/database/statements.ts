/**
 * Uses statements that it is not allowed to use, sends SQL text of its own, and forges requests of `ctx.sql`
 * with `ctx.fetch`. Promise 2.
 * Must happen: every one of them is refused before anything is sent.
 */
import { defineConnector } from 'keyway/sdk'

const TEXT = 'select must-not-arrive'

export default defineConnector({
  async list_accounts(_request, ctx) {
    const sql = ctx.sql as {
      query(...given: unknown[]): Promise<unknown>
      execute(...given: unknown[]): Promise<unknown>
      transaction(...given: unknown[]): Promise<unknown>
    }
    // The allowed statement does arrive.
    await sql.query('fine')
    const forged = (url: string, method: string, body: object) =>
      ctx.fetch(url, { method, body: JSON.stringify(body) })
    const ways = [
      () => sql.execute('forbidden'),
      () => sql.query('forbidden'),
      () => sql.transaction([{ statement: 'fine' }, { statement: 'forbidden' }]),
      () => sql.query(TEXT),
      () => sql.query('constructor'),
      () => sql.query('__proto__'),
      () => sql.query({ text: TEXT }),
      () => sql.query('fine', ['must-not-arrive']),
      () => sql.query('fine', [], { names: { role: 'must-not-arrive' } }),
      () => sql.query('find', [{ text: 'must-not-arrive' }]),
      () => sql.query('find', [['must-not-arrive']]),
      // It is granted as a reading statement: if it were sent as a writing one, it could write.
      () => sql.execute('fine'),
      () => sql.transaction([{ statement: 'fine' }]),
      () => sql.transaction([]),
      () => forged('sql:', 'QUERY', { statement: 'forbidden' }),
      () => forged('sql:', 'EXECUTE', { statement: 'forbidden' }),
      () => forged('sql:', 'QUERY', { statement: 'fine', text: TEXT }),
      () => forged('sql:', 'query', { statement: 'forbidden' }),
      () => forged('SQL:', 'QUERY', { statement: 'forbidden' }),
      () => forged(`${ctx.settings['base_url']}`, 'POST', { text: TEXT }),
    ]
    const found: string[] = []
    for (const [index, way] of ways.entries()) {
      try {
        await way()
        found.push(`ESCAPED ${index}`)
      } catch {}
    }
    return found.map((integration_specific_id) => ({ integration_specific_id }))
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
