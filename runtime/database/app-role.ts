/**
 * The role that the host's questions run as: it owns nothing and may do to the log, and to the generations
 * of what is installed, nothing but add and read, so that a defect of ours cannot rewrite what happened. The login role migrates, and keeps all of
 * its rights for hosts of an earlier version.
 *
 * On the embedded server it is a login of its own: a session cannot become anybody else. On the
 * operator's server, whose rules of logging in are not ours, sessions switch to it; where the login may
 * not make roles, the triggers of the log alone hold (migrations/0001_append_only_log.sql).
 */

import { hkdfSync } from 'node:crypto'
import type { Client, ClientBase, ClientConfig, PoolConfig } from 'pg'
import { codeOf } from '../contract/errors/thrown.ts'
import { JOBS_SCHEMA } from './jobs.ts'
import { lockNumber } from './locks.ts'

const ROLE = 'keyway_app'

/** SQLSTATE of a right that one does not have. */
const NOT_ALLOWED = '42501'

/** Rights on what belongs to Keyway, which is what the owner of one table has: others' may lie in the same schemas. */
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
 * Makes the role and gives it its rights, also on tables that a migration has just added.
 *
 * @returns what of the pool's settings makes its sessions run as the role; null where that is not allowed.
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

/** The role's password on the embedded server, where the owner's is ours; null on the operator's. */
function loginPassword({ connectionString, password }: ClientConfig): string | null {
  if (connectionString !== undefined || typeof password !== 'string') return null
  return Buffer.from(hkdfSync('sha256', password, 'keyway', ROLE, 32)).toString('base64url')
}
