/**
 * The SQL that creates the tables of a database, for an empty database of the same or a later major version
 * of PostgreSQL. Read from the server's own catalog, because the package contains no pg_dump. Roles and their
 * rights are left out, because a start creates them (app-role.ts).
 */
import type { Client } from 'pg'
import * as v from 'valibot'
import { BackupError } from './format.ts'

const Statements = v.array(v.string())

export const Schema = v.object({
  /** Statements before the data: extensions, types, functions, sequences, tables. */
  before: Statements,
  /** Copied tables, in the order of the data, with names as in SQL. */
  tables: v.array(v.object({ name: v.string(), columns: v.string() })),
  /** Statements after the data: keys, indexes, partitions, triggers, values of sequences. */
  after: Statements,
})
export type Schema = v.InferOutput<typeof Schema>

/** Excludes the schemas of the server itself. */
const OURS = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`

/** Excludes objects of extensions. */
const OWN = (catalog: string, oid: string): string =>
  `not exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`

const RELATIONS = `pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS} and ${OWN('pg_class', 'c.oid')}`

/** Queries that return one statement per row, in the order of execution. */
const BEFORE: readonly string[] = [
  // A function may name a table that does not exist yet, and a default may name a function.
  `select 'set check_function_bodies = off' as one`,
  `select format('create schema if not exists %I', n.nspname) as one from pg_namespace n where ${OURS} order by n.nspname`,
  `select format('create extension if not exists %I with schema %I', e.extname, n.nspname) as one
   from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname <> 'plpgsql' order by e.extname`,
  `select format('create type %s as enum (%s)', format_type(t.oid, null),
     (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)) as one
   from pg_type t join pg_namespace n on n.oid = t.typnamespace
   where t.typtype = 'e' and ${OURS} and ${OWN('pg_type', 't.oid')} order by 1`,
  `select pg_get_functiondef(p.oid) as one from pg_proc p join pg_namespace n on n.oid = p.pronamespace
   where ${OURS} and p.prokind in ('f', 'p') and ${OWN('pg_proc', 'p.oid')} order by p.oid::regprocedure::text`,
  `select format('revoke execute on function %s from public', p.oid::regprocedure) as one
   from pg_proc p join pg_namespace n on n.oid = p.pronamespace
   where ${OURS} and p.proacl is not null and ${OWN('pg_proc', 'p.oid')}
     and not exists (select from aclexplode(p.proacl) a where a.grantee = 0 and a.privilege_type = 'EXECUTE') order by 1`,
  `select format('create sequence %s as %s increment %s minvalue %s maxvalue %s start %s cache %s%s', c.oid::regclass,
     format_type(s.seqtypid, null), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
     case when s.seqcycle then ' cycle' else '' end) as one
   from pg_sequence s join (select c.oid from ${RELATIONS}) c on c.oid = s.seqrelid order by 1`,
  `select format('create table %s (%s)%s%s', c.oid::regclass,
     (select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)) ||
        case when a.attgenerated = 's' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
             when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end ||
        case when a.attnotnull then ' not null' else '' end, ', ' order by a.attnum)
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
     case when c.relkind = 'p' then ' partition by ' || pg_get_partkeydef(c.oid) else '' end,
     case when c.reloptions is null then '' else format(' with (%s)', array_to_string(c.reloptions, ', ')) end) as one
   from (select c.* from ${RELATIONS} and c.relkind in ('r', 'p')) c order by c.oid::regclass::text`,
]

const AFTER: readonly string[] = [
  // A partition gets its own constraints before it is attached. They then count as those of the parent.
  `select format('alter table only %s add constraint %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)) as one
   from pg_constraint k join (select c.oid from ${RELATIONS} and c.relkind in ('r', 'p')) c on c.oid = k.conrelid
   where k.contype in ('p', 'u', 'x', 'c') order by k.conrelid::regclass::text, k.conname`,
  `select pg_get_indexdef(i.indexrelid) as one
   from pg_index i join (select c.oid from ${RELATIONS} and c.relkind in ('r', 'p')) c on c.oid = i.indrelid
   where i.indisvalid and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
   order by i.indexrelid::regclass::text`,
  `select format('alter table %s attach partition %s %s', h.inhparent::regclass, h.inhrelid::regclass, pg_get_expr(c.relpartbound, c.oid)) as one
   from pg_inherits h join (select c.* from ${RELATIONS} and c.relkind in ('r', 'p')) c on c.oid = h.inhrelid order by 1`,
  `select format('alter table %s add constraint %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)) as one
   from pg_constraint k join (select c.oid from ${RELATIONS}) c on c.oid = k.conrelid
   where k.contype = 'f' and k.conparentid = 0 order by k.conrelid::regclass::text, k.conname`,
  `select pg_get_triggerdef(t.oid) as one from pg_trigger t join (select c.oid from ${RELATIONS}) c on c.oid = t.tgrelid
   where not t.tgisinternal and t.tgparentid = 0 order by t.tgrelid::regclass::text, t.tgname`,
  // Triggers of the log fire whatever a session sets.
  `select format('alter table %s %s trigger %I', t.tgrelid::regclass,
     case t.tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'disable' end, t.tgname) as one
   from pg_trigger t join (select c.oid from ${RELATIONS}) c on c.oid = t.tgrelid
   where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled <> 'O' order by 1`,
  `select format('alter sequence %s owned by %s.%I', d.objid::regclass, d.refobjid::regclass, a.attname) as one
   from pg_depend d join pg_sequence s on s.seqrelid = d.objid
   join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
   where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.deptype = 'a'
     and d.objid in (select c.oid from ${RELATIONS}) order by 1`,
  `select format('select setval(%L, %s, %L)', c.oid::regclass, coalesce(s.last_value, s.start_value), s.last_value is not null) as one
   from pg_sequences s join (select c.oid, c.relname, n.nspname from ${RELATIONS} and c.relkind = 'S') c
     on c.relname = s.sequencename and c.nspname = s.schemaname order by 1`,
]

/** Ordinary tables and partitions. Partitioned tables hold no rows themselves. */
const TABLES = `
  select c.oid::regclass::text as name,
    (select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
  from (select c.* from ${RELATIONS} and c.relkind = 'r') c order by 1`

/** Objects that none of the statements above creates. */
const BEYOND = `
  select c.oid::regclass::text as one from ${RELATIONS} and c.relkind not in ('r', 'p', 'i', 'I', 'S', 't')
  union all
  select format_type(t.oid, null) from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where t.typtype in ('d', 'r') and ${OURS} and ${OWN('pg_type', 't.oid')}
  union all
  select c.oid::regclass::text from ${RELATIONS} and (c.relpersistence = 'u' or c.relrowsecurity or exists (
    select from pg_attribute a where a.attrelid = c.oid and a.attidentity <> ''))
  limit 1`

/**
 * Reads the schema in the transaction of `client`, and locks every table against changes of its definition
 * until that ends.
 *
 * @param without Tables whose rows are left out, with their schemas.
 * @throws BackupError if the database contains something that a backup cannot hold
 */
export async function readSchema(client: Client, without: ReadonlySet<string>): Promise<Schema> {
  // Write names with their schemas, because the search path of the reader is unknown.
  await client.query(`set local search_path = ''`)
  const tables = await client.query<{ name: string; columns: string | null }>(TABLES)
  const all = tables.rows.map(({ name }) => name)
  if (all.length > 0) await client.query(`lock table ${all.join(', ')} in access share mode`)
  const [beyond] = await statements(client, [BEYOND])
  if (beyond !== undefined)
    throw new BackupError(
      `the database has ${beyond}, which is none of Keyway's and which a backup cannot hold; drop it, or move it to a database of its own`,
    )
  const copied = tables.rows.filter(({ name, columns }) => columns !== null && !without.has(name))
  return {
    before: await statements(client, BEFORE),
    tables: copied.map(({ name, columns }) => ({ name, columns: columns ?? '' })),
    after: await statements(client, AFTER),
  }
}

async function statements(client: Client, questions: readonly string[]): Promise<string[]> {
  const all: string[] = []
  for (const question of questions) {
    const { rows } = await client.query<{ one: string }>(question)
    all.push(...rows.map(({ one }) => one))
  }
  return all
}
