/**
 * The role of the host's statements. It owns nothing. On the log, and on the generations of installed
 * connectors, it may only insert and read, so that a defect in Keyway cannot rewrite history. The login role
 * migrates. It keeps all of its rights for hosts of an earlier version.
 *
 * On the embedded server the role is a login of its own: a session cannot switch to another role. On the
 * operator's server, whose login rules are not ours, sessions switch to the role. If the login may not create
 * roles, only the triggers of the log protect it (migrations/0001_append_only_log.sql).
 */

import { hkdfSync } from 'node:crypto'
import type { Client, ClientBase, ClientConfig, PoolConfig } from 'pg'
import { codeOf } from '../contract/errors/thrown.ts'
import { JOBS_SCHEMA } from './jobs.ts'
import { lockNumber } from './locks.ts'

const ROLE = 'keyway_app'

/** SQLSTATE of insufficient_privilege. */
const NOT_ALLOWED = '42501'

/**
 * Grants rights on Keyway's own objects, recognised by the owner of one table. Others may share the same
 * schemas.
 */
const GRANTS = `
do $$
declare
  one record;
begin
  if not exists (select from pg_roles where rolname = '${ROLE}') then
    create role ${ROLE} nologin;
  end if;
  -- Not before it is needed: a login that was given the role by an administrator may not give it.
  if not pg_has_role(current_user, '${ROLE}', 'member') then
    execute format('grant ${ROLE} to %I', current_user);
  end if;
  grant usage on schema public, ${JOBS_SCHEMA} to ${ROLE};
  for one in
    select c.oid::regclass as name, c.relkind = 'S' as is_sequence
    from pg_class c
    join pg_class ours on ours.relnamespace = c.relnamespace and ours.relowner = c.relowner
    where c.relkind in ('r', 'p', 'S')
      and ours.oid in ('public.domains'::regclass, '${JOBS_SCHEMA}.job'::regclass)
  loop
    if one.is_sequence then
      execute format('grant usage, select on sequence %s to ${ROLE}', one.name);
    else
      execute format('grant select, insert, update, delete on %s to ${ROLE}', one.name);
    end if;
  end loop;
  revoke update, delete, truncate, references, trigger
    on public.activity_logs, public.activity_waiting, public.generations, public.installed_states
    from ${ROLE};
  revoke update, truncate, references, trigger on public.activity_personal from ${ROLE};
  revoke insert, update, delete, truncate, references, trigger
    on public.activity_redactions, public.activity_turns from ${ROLE};
  grant execute on function public.chain_activity(uuid, integer, bigint, boolean),
    public.erase_from_generations(uuid, text[]),
    public.prune_activity(uuid, integer, integer, bigint),
    public.redact_activity(uuid, uuid, bigint[], text[]) to ${ROLE};
end
$$`

/**
 * Creates the role and grants its rights, also on tables that a migration has just added.
 *
 * @returns pool settings that make sessions run as the role, or null if that is not allowed
 */
export async function prepareAppRole(
  client: Client,
  connection: ClientConfig,
): Promise<PoolConfig | null> {
  const password = loginPassword(connection)
  await client.query('begin')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [lockNumber('giving rights')])
    await client.query(GRANTS)
    if (password !== null)
      await client.query(`alter role ${ROLE} login password ${client.escapeLiteral(password)}`)
    else await client.query(`set local role ${ROLE}`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    if (codeOf(error) === NOT_ALLOWED) return null
    throw error
  }
  if (password !== null) return { user: ROLE, password }
  return {
    // A session that cannot switch is not used.
    async onConnect(session: ClientBase) {
      await session.query(`set role ${ROLE}`)
    },
  }
}

/** Returns the role's password on the embedded server, whose owner is ours, or null on the operator's. */
function loginPassword({ connectionString, password }: ClientConfig): string | null {
  if (connectionString !== undefined || typeof password !== 'string') return null
  return Buffer.from(hkdfSync('sha256', password, 'keyway', ROLE, 32)).toString('base64url')
}
