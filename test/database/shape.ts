/** The schema that migrations leave in a database, for comparison with another one. */
import type { ClientConfig } from 'pg'
import { withClient } from './kept.ts'

const LINES = {
  columns: `select concat_ws(' ', table_schema, table_name, column_name, data_type, is_nullable, column_default) as line
    from information_schema.columns where table_schema in ('public', 'jobs', 'migrations')`,
  indexes: `select indexdef as line from pg_indexes where schemaname in ('public', 'jobs')`,
  constraints: `select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as line from pg_constraint
    where connamespace in ('public'::regnamespace, 'jobs'::regnamespace)`,
  triggers: `select tgrelid::regclass || ' ' || tgname as line from pg_trigger where not tgisinternal`,
  migrations: 'select created_at::text as line from migrations.__drizzle_migrations',
  versions: `select migrated_to || ' ' || version as line from deployment_versions`,
  domains: 'select name as line from domains',
  queues: 'select name as line from jobs.queue',
  users: 'select email as line from users',
  requests: `select id || ' ' || status as line from access_requests`,
}

/** Everything that a migration may change, as sorted lines. */
export const shapeOf = (connection: ClientConfig) =>
  withClient(connection, async (client) => {
    const shape: Record<string, string[]> = {}
    for (const [name, question] of Object.entries(LINES)) {
      const { rows } = await client.query<{ line: string }>(question)
      shape[name] = rows.map(({ line }) => line).sort()
    }
    return shape
  })
