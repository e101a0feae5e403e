/**
 * Runs an embedded server for a data directory and writes rows until it is killed; prints the number of each
 * acknowledged row.
 */
import { Client } from 'pg'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'

const [dataDir = ''] = process.argv.slice(2)
const database = await startEmbedded({
  dataDir,
  password: 'p'.repeat(40),
  tell: () => {},
  onLine: () => {},
})
const opened = await openDatabase(database.connection, () => {})
await opened.close()
const client = new Client(database.connection)
await client.connect()
await client.query('create table if not exists marks (n serial primary key)')
console.log('ready')
for (;;) {
  const { rows } = await client.query('insert into marks default values returning n')
  console.log(rows[0].n)
}
