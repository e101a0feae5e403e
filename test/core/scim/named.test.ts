import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { accessReviews } from '../../../runtime/database/schema/reviews.ts'
import { app, domainOf, person } from '../host.ts'
import { type Provider, startProvider } from './provider.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())

/** Asks as the admin. @returns the answer, which succeeded */
async function asked(method: string, path: string, body?: object) {
  const reply = await provider.core.call(method, path, body === undefined ? {} : { body })
  expect({ status: reply.status, body: reply.body }).toMatchObject({
    status: expect.toBeOneOf([200, 201]),
  })
  return reply.body
}

test('a user who is deleted is named by no setting any more, and whoever gets the address next inherits nothing', async () => {
  const { core, scim, logged } = provider
  const gone = await person(core.db, 'named@acme.example', ['App Admin'])
  const stays = await person(core.db, 'stays@acme.example')
  const people = { users: [{ id: gone.id }, { id: stays.id }], groups: [] }
  const ids = [gone.id, stays.id]

  const appId = await app(core.db, 'Ledger', { adminUserIds: ids })
  await asked('POST', '/appstore/apps', { app_id: appId })
  const settings = `/appstore/apps/${appId}/settings`
  await asked('PATCH', settings, {
    request_flow: {
      ...{ approvers: people, approvers_stage_2: people },
      require_additional_approval: true,
    },
  })
  const stage = { approvers: ids.map((id) => ({ user: { id } })) }
  const permission = await asked('POST', '/appstore/requestable_permissions', {
    ...{ app_id: appId, label: 'Posting' },
    request_config: {
      request_approval_config: {
        request_approval_config_override: true,
        ...{ approvers: people, request_approval_stages: [stage] },
      },
    },
  })
  const rule = await asked('POST', '/separation_of_duties', {
    name: 'Post and pay',
    left: { apps: [appId], permissions: [] },
    right: { apps: [await app(core.db, 'Bank')], permissions: [] },
    approver_user_ids: ids,
  })
  const asker = await person(core.db, 'asker@acme.example')
  const request = await core.call('POST', '/appstore/access_request', {
    token: asker.token,
    body: { app_id: appId },
  })
  expect(request.body).toMatchObject([{ status: 'PENDING_APPROVAL' }])
  const plans = async () => JSON.stringify(await core.db.select().from(accessRequests))
  expect(await plans()).toContain(gone.id)
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const delegation = await asked('POST', '/delegations', {
    ...{ user_id: stays.id, delegate_id: gone.id, until: later },
  })
  const [review] = await core.db
    .insert(accessReviews)
    .values({
      ...{ domainId: await domainOf(core.db), name: 'Quarterly', deadlineAt: new Date(later) },
      status: 'IN_PREPARATION',
      reviewers: 'NAMED',
      reviewerUserIds: ids,
      secondReviewers: 'NAMED',
      secondUserIds: ids,
    })
    .returning()

  expect((await scim('DELETE', `/Users/${gone.id}`)).status).toBe(204)

  const idsOf = (list: { id: string }[]) => list.map(({ id }) => id)
  const { request_flow: flow } = await asked('GET', settings)
  for (const named of [flow.admins, flow.approvers, flow.approvers_stage_2])
    expect(idsOf(named.users)).toEqual([stays.id])
  const { request_approval_config: approval } = (
    await asked('GET', `/appstore/requestable_permissions/${permission.id}`)
  ).request_config
  expect(idsOf(approval.approvers.users)).toEqual([stays.id])
  const [first] = approval.request_approval_stages
  expect(first.approvers).toMatchObject([{ user: { id: stays.id } }])
  expect((await asked('GET', `/separation_of_duties/${rule.id}`)).approver_user_ids).toEqual([
    stays.id,
  ])
  const [ended] = (await asked('GET', '/delegations')).items.filter(
    ({ id }: { id: string }) => id === delegation.id,
  )
  expect(ended).toMatchObject({ active: false, ended_at: expect.any(String) })
  const [after] = await core.db
    .select()
    .from(accessReviews)
    .where(eq(accessReviews.id, review?.id ?? ''))
  expect(after).toMatchObject({ reviewerUserIds: [stays.id], secondUserIds: [stays.id] })

  expect(await plans()).not.toContain(gone.id)

  for (const type of [
    ...['ADMIN_UPDATED_APP_ADMINS', 'ADMIN_UPDATED_APP_STORE_SETTINGS', 'SOD_POLICY_UPDATED'],
    ...['APP_STORE_PERMISSION_UPDATED', 'DELEGATION_ENDED', 'ACCESS_REVIEW_SETTINGS_UPDATED'],
  ])
    expect([type, (await logged(type)).at(-1)?.event_metadata]).toEqual([
      type,
      expect.objectContaining({ source: 'SCIM', deleted_user_id: gone.id }),
    ])
})
