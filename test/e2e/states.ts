/** Creates states of a sample host that pages show and that the sample alone does not reach. */
import { Client } from 'pg'
import { type Made, packaged, publisher } from '../connectors/lifecycle/packaging.ts'
import { publishInto } from '../connectors/lifecycle/publishing.ts'
import { send } from './client.ts'

/** Two requests of one person: the access of the first is active, that of the second was revoked. */
export const GRANTED = '00000000-0000-4000-8000-000000000001'
export const REVOKED = '00000000-0000-4000-8000-000000000002'

type Sample = { url: string; token: string; databaseUrl: string; registry: string }

export async function prepareStates(sample: Sample): Promise<void> {
  const api = async (method: string, at: string, body: object | Buffer = {}, signature = '') => {
    const isPackage = Buffer.isBuffer(body)
    const { status, text } = await send(`${sample.url}${at}`, {
      method,
      headers: {
        authorization: `Bearer ${sample.token}`,
        'content-type': isPackage ? 'application/gzip' : 'application/json',
        ...(isPackage ? { 'keyway-signature': Buffer.from(signature).toString('base64') } : {}),
      },
      ...(method === 'GET' ? {} : { body: isPackage ? body : JSON.stringify(body) }),
    })
    if (status >= 300) throw new Error(`${method} ${at}: ${status} ${text}`)
    return JSON.parse(text)
  }
  const upload = ({ packed, signature }: Made) =>
    api('POST', '/operator/packages', packed, signature)

  await api('POST', '/operator/publishers', { name: 'Acme Inc.', public_key: publisher.publicKey })
  const egress = [{ url: 'https://api.acme.example' }, { url: 'https://more.acme.example' }]
  const one = await packaged({ id: 'walked', egress })
  await upload(one)
  const at = '/operator/connectors/walked'
  await api('POST', `${at}/activate`, { digest: one.digest, grant: 'all' })
  await api('POST', `${at}/revoke`, { wants: ['egress https://more.acme.example'] })
  await upload(await packaged({ id: 'walked', version: '1.1.0', egress }))
  await api('PUT', `${at}/probe`, { auth: { token: { token: 'a-token' } } })
  const envelope = { request: {}, auth: { token: { token: 'a-token' } }, settings: {} }
  await api('POST', '/connectors/walked/list_accounts', envelope)
  await api('POST', '/operator/connectors/github/disable', { reason: 'Not used' })
  await publishInto(sample.registry, [await packaged({ id: 'published' })])

  const hook = { hook_type: 'SIEM', name: 'Theirs', url: 'https://siem.example/in' }
  await api('POST', '/operator/webhooks', hook)
  const { webhook } = await api('POST', '/operator/webhooks', { ...hook, name: 'Ours' })
  await api('PATCH', `/operator/webhooks/${webhook.id}`, { enabled: false })

  const own = { category: 'Other', description: 'An app of ours' }
  const stopped = await api('POST', '/apps', { ...own, name: 'Stopped' })
  const gone = await api('POST', '/apps', { ...own, name: 'Brought back' })
  await api('DELETE', `/apps/${gone.id}`)
  const client = new Client({ connectionString: sample.databaseUrl })
  await client.connect()
  try {
    // States that no API call reaches within a test, such as a stopped sync and a licence.
    await client.query(`
      insert into access_policies select (jsonb_populate_record(one,
        jsonb_build_object('id', gen_random_uuid(), 'name', 'Switched off', 'is_enabled', false))).*
        from access_policies one limit 1;
      insert into entitlements
        (domain_id, app_id, entitlement_type, external_id, resource_id, label, is_assignable, seen_run)
        select domain_id, id, 'LICENCE', 'pro', '', 'Pro', true, 0 from apps order by id limit 1;
      insert into access_requests (id, domain_id, app_id, carried_app_id, requester_id, target_user_id, status, how,
          notes, plan, revoked_by_id)
        select one.id::uuid, a.domain_id, a.id, a.id, u.id, u.id, one.status, 'manual', one.notes::jsonb,
          '{"manager": false, "stages": [], "message": null, "validationWebhook": null}', by.id
        from (values ('${GRANTED}', 'COMPLETED', '{"PENDING": "Month end"}', null),
          ('${REVOKED}', 'REVERTED', '{"PENDING": "Month end", "REVERTING": "The laptop was stolen"}',
            'admin@localhost')) one (id, status, notes, revoker)
        join apps a on a.name = 'Stopped'
        join users u on u.email = 'ada.abbott@example.com'
        left join users by on by.email = one.revoker;
      insert into reason_spans (domain_id, since, until, user_id, request_id, app_id, carried_app_id)
        select domain_id, now() - interval '1 day', case status when 'REVERTED' then now() end, target_user_id, id,
          app_id, app_id from access_requests where id in ('${GRANTED}', '${REVOKED}');
      insert into sync_runs (domain_id, app_id, page_size, state, phase, problem, ended_at)
        select domain_id, id, 100, 'STOPPED', 'judge', 'half of it vanished', now() from apps
        where id = '${stopped.id}'`)
    const { rows } = await client.query(`
      select (select id from requestable_permissions order by id limit 1) as permission,
        (select id from groups where name = 'All Staff') as "group",
        (select id from entitlements where entitlement_type = 'LICENCE' limit 1) as licence`)
    const { permission, group, licence } = rows[0]
    const mark = { group_ids: [group], max_minutes: 60 }
    await api('PUT', `/break_glass/${permission}`, mark)
    const price = { amount: '12.50', currency: 'EUR', period: 'MONTH' }
    await api('PUT', `/licences/${licence}/price`, price)
  } finally {
    await client.end()
  }
}
