/** Activates, suspends and deletes people. */
import { ConnectorError, type Input, type Output, path } from 'keyway/sdk'
import { refuseOwnAccount } from './own.ts'
import { type Ctx, service } from './service.ts'
import { readUser, statusOf, type User, type UserStatus } from './users.ts'

/** Operation that makes a person active again, by current status. Null if the person is active. */
const ACTIVATIONS: Partial<Record<UserStatus, 'unsuspend' | 'unlock' | 'activate' | null>> = {
  ACTIVE: null,
  SUSPENDED: 'unsuspend',
  LOCKED_OUT: 'unlock',
  STAGED: 'activate',
  DEPROVISIONED: 'activate',
}

/**
 * Makes a person active by unsuspending, unlocking or activating them. A person who is activated without a
 * password gets an e-mail, and is PENDING until they have chosen one.
 */
export async function activateAccount(
  { account_id: id }: Input<'activate_account'>,
  ctx: Ctx,
): Promise<Output<'activate_account'>> {
  const user = await readUser(ctx, id)
  const step = ACTIVATIONS[user.status]
  if (step === undefined)
    throw wrongStatusError(user, 'is activated, and has to choose a password themselves')
  if (step === null) return { status: 'ACTIVE', activated: true }
  await change(ctx, id, step, step === 'activate' ? { sendEmail: true } : {})
  return { status: statusOf(await readUser(ctx, id)), activated: true }
}

/**
 * Suspends a person, which can be undone. Only active people can be suspended.
 *
 * @throws `unsupported_operation` for the person whose token is used
 */
export async function deactivateAccount(
  { account_id: id }: Input<'deactivate_account'>,
  ctx: Ctx,
): Promise<Output<'deactivate_account'>> {
  const user = await readUser(ctx, id)
  if (user.status === 'DEPROVISIONED') return { status: 'DEPROVISIONED', deactivated: true }
  if (user.status !== 'ACTIVE' && user.status !== 'SUSPENDED')
    throw wrongStatusError(user, 'cannot be suspended; delete the account to keep them out')
  if (user.status === 'ACTIVE') {
    await refuseOwnAccount(ctx, id, 'is suspended')
    await change(ctx, id, 'suspend')
  }
  return { status: 'SUSPENDED', deactivated: true }
}

/**
 * Deactivates a person, which removes all their applications, and then deletes them permanently.
 *
 * @throws `unsupported_operation` for the person whose token is used
 */
export async function deleteAccount(
  { account_id: id }: Input<'delete_account'>,
  ctx: Ctx,
): Promise<Output<'delete_account'>> {
  const user = await readUser(ctx, id)
  if (user.status !== 'DEPROVISIONED') {
    await refuseOwnAccount(ctx, id, 'is deleted')
    await change(ctx, id, 'deactivate', { sendEmail: false })
  }
  await service(ctx).delete(path`/users/${id}`, { query: { sendEmail: false } })
  return { status: 'DELETED', deleted: true }
}

const change = (ctx: Ctx, id: string, step: string, query: Record<string, boolean> = {}) =>
  service(ctx).post(path`/users/${id}/lifecycle/${step}`, undefined, { query })

const wrongStatusError = ({ status }: User, why: string) =>
  new ConnectorError('unsupported_operation', `Who is ${status} ${why}`)
