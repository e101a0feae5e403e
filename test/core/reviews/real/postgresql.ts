/** Roles of a real PostgreSQL server. */
import pg from 'pg'
import { type Database, noDatabase, startDatabase } from '../../../egress/sql/database.ts'
import type { RealAccess } from '../../requests/real/paths.ts'

const ROLE = 'readers'

/** Why there is no server here, or null. */
export const why = noDatabase

export async function startPostgresql(): Promise<RealAccess> {
  const database: Database = await startDatabase()
  const { host, port, auth } = database
  const admin = new pg.Client({
    ...{ host, port, database: 'corp', user: 'admin', password: 'admin-secret', ssl: false },
  })
  await admin.connect()
  const quoted = (email: string) => admin.escapeIdentifier(email)
  return {
    egress: `postgresql=127.0.0.1:${port}`,
    app: {
      app_class_id: 'postgresql',
      auth: { username: auth.username, password: auth.password },
      settings: { url: `postgresql://127.0.0.1:${port}`, database: 'corp' },
    },
    label: ROLE,
    async holds(email) {
      const { rows } = await admin.query(
        `select exists (select from pg_auth_members m join pg_roles r on r.oid = m.roleid
          join pg_roles u on u.oid = m.member where r.rolname = $1 and u.rolname = $2) as has`,
        [ROLE, email],
      )
      return rows[0].has
    },
    async give(email) {
      await admin.query(`create role ${quoted(email)} login in role ${ROLE}`)
    },
    async take(email) {
      await admin.query(`revoke ${ROLE} from ${quoted(email)}`)
    },
    async stop() {
      await admin.end()
      await database.stop()
    },
  }
}
